"""From lists and watches to events."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from podium.api import BY_NAME, Node, ObjectMeta, Pod, PodSpec
from podium.cluster.kube.store import Store
from podium.cluster.port import Applied, Event, Removed

_POD, _NODE = BY_NAME["v1", "Pod"], BY_NAME["v1", "Node"]


def _pod(name: str, uid: str, version: int, node: str = "") -> Pod:
    meta = ObjectMeta(name=name, namespace="a", uid=uid, resource_version=str(version))
    return Pod(metadata=meta, spec=PodSpec(node_name=node))


def _store() -> tuple[Store, list[Event]]:
    heard: list[Event] = []
    return Store(heard.append, lambda _item: None), heard


def test_a_list_tells_what_came_and_what_is_gone():
    store, heard = _store()
    store.replace(_POD, [_pod("x", "1", 1), _pod("y", "2", 1)])
    heard.clear()
    store.replace(_POD, [_pod("y", "2", 1), _pod("z", "3", 4)])
    assert [(type(e), e.object.metadata.uid) for e in heard] == [(Removed, "1"), (Applied, "3")]
    assert store.pod("1") is None


def test_another_pod_of_the_same_name_is_another_pod():
    store, heard = _store()
    store.apply(_pod("x", "1", 1))
    store.replace(_POD, [_pod("x", "2", 5)])
    assert [(type(e), e.object.metadata.uid) for e in heard] == [
        (Applied, "1"),
        (Removed, "1"),
        (Applied, "2"),
    ]
    # The deletion of the first one comes late and means nothing to the second.
    store.change("DELETED", _pod("x", "1", 4))
    assert store.pod("2") is not None


def test_old_news_is_no_news():
    store, heard = _store()
    store.apply(_pod("x", "1", 10, "n"))
    store.apply(_pod("x", "1", 9))
    assert len(heard) == 1
    pod = store.pod("1")
    assert pod is not None
    assert pod.spec.node_name == "n"


def test_updates_that_change_nothing_are_not_told():
    store, heard = _store()
    for version in (1, 2, 3):
        store.apply(Node(metadata=ObjectMeta(name="n", uid="1", resource_version=str(version))))
    assert len(heard) == 1
    node = store.find(Node, "", "n")
    assert node is not None
    assert node.metadata.resource_version == "3"


_CHANGES = st.lists(
    st.tuples(st.sampled_from("xyz"), st.sampled_from("12"), st.sampled_from(["ADDED", "DELETED", "LIST"])),
    max_size=40,
)


@given(_CHANGES)
def test_what_was_told_adds_up_to_what_is_there(changes):
    store, heard = _store()
    for version, (name, uid, change) in enumerate(changes, 1):
        item = _pod(name, name + uid, version)
        if change == "LIST":
            store.replace(_POD, [item])
        else:
            store.change(change, item)
    told: dict[str, str] = {}
    for event in heard:
        meta = event.object.metadata
        if isinstance(event, Applied):
            assert told.get(meta.name, meta.uid) == meta.uid, "one of a name at a time"
            told[meta.name] = meta.uid
        else:
            assert told.pop(meta.name) == meta.uid
    assert told == {pod.metadata.name: pod.metadata.uid for pod in store.pods()}
