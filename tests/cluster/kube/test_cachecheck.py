"""The cache check beside a watch that goes on while the lists are read."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import msgspec
from podium.api import BY_NAME, ObjectMeta, Pod, PodSpec
from podium.cluster.kube.store import Store
from podium.cluster.port import Applied, Event, Removed
from podium.framework.config import default_config
from podium.live.cachecheck import Heard, compare_books, compare_objects
from podium.live.driver import Driver
from podium.scheduler.loop import Scheduler

_POD = BY_NAME["v1", "Pod"]


def _pod(name: str, version: int, uid: str = "", node: str = "") -> Pod:
    meta = ObjectMeta(name=name, namespace="a", uid=uid or f"u-{name}", resource_version=str(version))
    return Pod(metadata=meta, spec=PodSpec(node_name=node))


class Server:
    """Answers a list in parts; ``between`` is called after each part, as a watch would be heard then."""

    def __init__(self, parts: Sequence[Sequence[Pod]], between: Callable[[int], None]) -> None:
        self.parts = parts
        self.between = between

    async def get(self, path: str, query: Mapping[str, str]) -> bytes:
        number = int(query.get("continue", "0"))
        more = str(number + 1) if number + 1 < len(self.parts) else ""
        listed = {"metadata": {"resourceVersion": "9", "continue": more}, "items": self.parts[number]}
        self.between(number)
        return msgspec.json.encode(listed)


def _check(
    store: Store, parts: Sequence[Sequence[Pod]], between: Callable[[int], None] = lambda _: None
) -> list[str]:
    cluster: Any = SimpleNamespace(store=store, following=SimpleNamespace(kinds=lambda: (_POD,)))
    client: Any = Server(parts, between)
    found = asyncio.run(compare_objects(client, cluster, patience=0.1))
    return found.found.get("Pod", [])


def _store(*pods: Pod) -> tuple[Store, list[Event]]:
    heard: list[Event] = []
    store = Store(heard.append, lambda _item: None)
    store.replace(_POD, pods)
    heard.clear()
    return store, heard


def test_pods_that_go_while_the_list_is_read_stay_gone():
    pods = [_pod("x", 1), _pod("y", 2), _pod("z", 3)]
    store, heard = _store(*pods)

    def between(part: int) -> None:
        if part == 1:
            store.change("DELETED", _pod("x", 7))

    assert _check(store, [pods[:2], pods[2:]], between) == []
    assert store.pod("u-x") is None
    assert [type(event) for event in heard] == [Removed]


def test_pods_that_come_and_go_while_the_list_is_read_stay_gone():
    store, heard = _store(_pod("x", 1))

    def between(part: int) -> None:
        store.apply(_pod("new", 5))
        store.change("DELETED", _pod("new", 6))

    # The list was made while the pod was there.
    assert _check(store, [[_pod("x", 1), _pod("new", 5)]], between) == []
    assert store.pod("u-new") is None
    assert [type(event) for event in heard] == [Applied, Removed]


def test_changes_and_new_pods_while_the_list_is_read_are_no_differences():
    store, _ = _store(_pod("x", 1), _pod("y", 2))

    def between(part: int) -> None:
        store.apply(_pod("x", 6, node="n"))
        store.apply(_pod("later", 7))

    assert _check(store, [[_pod("x", 1), _pod("y", 2)]], between) == []
    bound = store.pod("u-x")
    assert bound is not None
    assert bound.spec.node_name == "n"


def test_a_pod_of_the_same_name_made_while_the_list_is_read_stays():
    store, _ = _store(_pod("x", 1, "old"))

    def between(part: int) -> None:
        store.change("DELETED", _pod("x", 5, "old"))
        store.apply(_pod("x", 6, "new"))

    assert _check(store, [[_pod("x", 1, "old")]], between) == []
    assert store.pod("new") is not None


def test_what_the_watch_has_missed_is_told_and_said():
    store, heard = _store(_pod("x", 1), _pod("y", 2))
    assert _check(store, [[_pod("x", 4, node="n")], [_pod("z", 3)]]) == [
        "a/x: the watch has not told of version 4",
        "a/z: the watch has not told of version 3",
        "a/y: it is gone, the watch has not told",
    ]
    assert [(type(event), event.object.metadata.name) for event in heard] == [
        (Applied, "x"),
        (Applied, "z"),
        (Removed, "y"),
    ]
    # Put right, a second look finds nothing.
    assert _check(store, [[_pod("x", 4, node="n")], [_pod("z", 3)]]) == []


def test_an_answer_that_comes_after_the_end_of_its_object_is_dropped():
    store, heard = _store(_pod("x", 1, "old"))
    store.change("DELETED", _pod("x", 5, "old"))
    store.answered(_pod("x", 4, "old", node="n"))
    assert store.pod("old") is None
    store.apply(_pod("x", 6, "new"))
    store.answered(_pod("x", 4, "old", node="n"))
    assert store.pod("new") is not None
    assert [type(event) for event in heard] == [Removed, Applied]
    store.answered(_pod("x", 8, "new", node="n"))
    assert isinstance(heard[-1], Applied)


class _Hectic:
    """A cluster in which something else happens whenever the scheduler is busy."""

    binding = 0
    idle = True

    def __init__(self, store: Store, heard: list[Event], while_busy: Callable[[], None]) -> None:
        self.store = store
        self.heard = heard
        self.while_busy = while_busy

    def events(self) -> Sequence[Event]:
        taken = [*self.heard]
        self.heard.clear()
        asyncio.get_running_loop().call_soon(self.while_busy)
        return taken

    def perform(self, actions: object) -> None:
        pass

    def now(self) -> int:
        return 0


def test_what_is_heard_while_the_books_are_read_is_no_difference():
    store, heard = _store()
    for number in range(20):
        store.apply(_pod(f"p{number}", number + 1, node="n"))

    def while_busy() -> None:
        gone = next(iter(store.pods()))
        store.change("DELETED", gone)
        store.apply(_pod(f"new-{gone.metadata.name}", 99, node="n"))

    scheduler = Scheduler(default_config())

    async def run() -> list[int]:
        driver = Driver(scheduler, _Hectic(store, heard, while_busy), lambda: True)
        found = [
            await driver.compare(lambda: Heard.so_far(store), lambda heard: compare_books(scheduler, heard))
            for _ in range(5)
        ]
        lost = store.pod("u-p9")
        assert lost is not None
        store.change("DELETED", lost)
        heard.pop()  # the scheduler is never told
        found.append(
            await driver.compare(lambda: Heard.so_far(store), lambda heard: compare_books(scheduler, heard))
        )
        driver.close()
        return [len(differences) for differences in found]

    assert asyncio.run(run()) == [0, 0, 0, 0, 0, 1]
