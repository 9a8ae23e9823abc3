"""Deep JSON is cut, everything else stays as it is."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from podium.api import BY_NAME
from podium.cluster.kube.listing import Reader
from podium.cluster.kube.nesting import shallow

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=30,
)


def cut(value: object, levels: int) -> object:
    if not isinstance(value, dict | list):
        return value
    if levels == 0:
        return None
    if isinstance(value, list):
        return [cut(item, levels - 1) for item in value]
    return {key: cut(item, levels - 1) for key, item in value.items()}


@given(JSON, st.integers(0, 6))
def test_what_is_deeper_is_null_and_nothing_else_changes(value: object, levels: int):
    assert msgspec.json.decode(shallow(msgspec.json.encode(value), levels)) == cut(value, levels)


def test_a_list_with_a_deep_object_is_read():
    deep = b'{"a":' * 5000 + b"1" + b"}" * 5000
    group = b'{"kind":"PodGroup","metadata":{"name":"g"},"spec":{"minMember":3,"x":' + deep + b"}}"
    body = b'{"items":[' + group + b'],"kind":"PodGroupList","metadata":{"resourceVersion":"7"}}'
    kind = BY_NAME["scheduling.x-k8s.io/v1alpha1", "PodGroup"]
    version, items = Reader(kind, lambda _kind, text: None).items(body)
    assert version == "7"
    assert [(item.metadata.name, item.spec.min_member) for item in items] == [("g", 3)]
