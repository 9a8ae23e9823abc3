"""Pods share what they say alike, and say the same afterwards."""

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from podium.api import Pod
from podium.api.likeness import likeness
from podium.api.manifest import Options, load_objects
from podium.api.sharing import Sharing

PART = {
    "labels": st.dictionaries(st.sampled_from("ab"), st.sampled_from("xy"), max_size=2),
    "toleration": st.sampled_from([[], [{"operator": "Exists"}], [{"key": "a"}]]),
    "selector": st.sampled_from([None, {}, {"a": "x"}]),
    "cpu": st.sampled_from(["1", "2"]),
    "volume": st.sampled_from([None, "v", "w"]),
    "restarts": st.integers(0, 1),
    "created": st.sampled_from(["2026-03-02T07:00:00Z", None]),
}


def pod(number, labels, toleration, selector, cpu, volume, restarts, created):
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}
    spec = {"nodeName": f"n{number % 2}", "tolerations": toleration, "containers": [container]}
    if selector is not None:
        spec["nodeSelector"] = selector
    if volume is not None:
        spec["volumes"] = [{"name": volume, "configMap": {}}]
        container["volumeMounts"] = [{"name": volume, "mountPath": "/x"}]
    meta = {"name": f"p{number}", "namespace": "a", "labels": labels}
    if created is not None:
        meta["creationTimestamp"] = created
    status = {"phase": "Running", "containerStatuses": [{"name": "c", "restartCount": restarts}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec, "status": status}


@settings(max_examples=60, deadline=None)
@given(st.lists(st.fixed_dictionaries(PART), min_size=2, max_size=6))
def test_each_says_what_it_said(parts):
    written = [pod(number, **part) for number, part in enumerate(parts)]
    apart, shared = ([msgspec.convert(item, Pod) for item in written] for _ in range(2))
    sharing = Sharing()
    for item in shared:
        sharing.share(item)
    assert [msgspec.json.encode(item) for item in shared] == [msgspec.json.encode(item) for item in apart]
    assert [likeness(item) for item in shared] == [likeness(item) for item in apart]


def test_pods_on_nodes_that_are_loaded_share_their_parts():
    part = {"labels": {"a": "x"}, "toleration": [{"operator": "Exists"}], "selector": {"a": "x"}, "cpu": "1"}
    written = [pod(number, **part, volume=None, restarts=1, created=None) for number in (0, 2)]
    one, two = load_objects(written, "test", Options(validate="off")).of(Pod)
    assert one.metadata.labels is two.metadata.labels
    assert one.spec.containers is two.spec.containers
    assert one.spec.tolerations is two.spec.tolerations
    assert one.spec.node_selector is two.spec.node_selector
    assert one.spec.node_name is two.spec.node_name
    assert one.status.container_statuses is two.status.container_statuses
    assert likeness(one) is likeness(two)
    assert one.metadata.name != two.metadata.name


def test_a_copy_is_read_anew():
    (one,) = load_objects([pod(0, {}, [], None, "1", None, 0, None)], "test", Options(validate="off")).of(Pod)
    labelled = msgspec.structs.replace(one, metadata=msgspec.structs.replace(one.metadata, labels={"a": "x"}))
    assert likeness(labelled) != likeness(one)
