"""Compares what the scheduler believes with the API server, and repairs what differs.

Two comparisons: the objects the watches have told of with a fresh list, and the scheduler's own books (which
pod is on which node, which nodes there are) with those objects. A difference is a defect or a watch that fell
behind; it is logged, counted, and put right by telling the scheduler again.
"""

import asyncio
import logging
import time
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from typing import Final, Self

from podium.api import Kind, Node, Object, Pod
from podium.cluster.kube.backend import KubeCluster
from podium.cluster.kube.client import KubeClient
from podium.cluster.kube.kinds import SELECTORS
from podium.cluster.kube.listing import list_in_parts
from podium.cluster.kube.store import Store, key_of, version_of
from podium.scheduler.loop import Scheduler

log = logging.getLogger("podium.cache")

_NEWEST: Final = ""

#: Seconds between two looks at what a watch has told.
_LOOK: Final = 0.05


@dataclass(slots=True)
class Differences:
    """What a check found, one line each, by kind."""

    found: dict[str, list[str]] = field(default_factory=dict)

    def add(self, kind: str, text: str) -> None:
        """Note one."""
        self.found.setdefault(kind, []).append(text)

    def __len__(self) -> int:
        return sum(len(lines) for lines in self.found.values())


async def compare_objects(client: KubeClient, cluster: KubeCluster, patience: float = 10.0) -> Differences:
    """List every kind anew, and tell the scheduler of what the watches have missed.

    What changes while the lists are read is no difference, however long that takes: an object is missed if
    the list has a newer version than the watch tells of within ``patience`` seconds, unless the watch tells
    that it is gone; or if the list lacks it and the watch has nothing to say of it.
    """
    differences = Differences()
    for kind in cluster.following.kinds():
        with cluster.store.noting_removals() as gone:
            comparison = _Comparison(cluster.store, kind, gone)
            for line in await _compare(comparison, kind, client, patience):
                differences.add(kind.name, line)
    return differences


class _Comparison:
    """One kind in the store beside a list that is read in parts."""

    def __init__(self, store: Store, kind: Kind, gone: Set[str]) -> None:
        self._store = store
        self._gone = gone
        self._before = {key_of(item): item for item in store.objects(kind.type)}
        self._late: list[Object] = []

    def take(self, part: Sequence[Object]) -> None:
        """Look at a part of the list."""
        for item in part:
            self._before.pop(key_of(item), None)
        self._late += self._behind(part)

    def _behind(self, listed: Iterable[Object]) -> list[Object]:
        find = self._store.find
        return [
            item
            for item in listed
            if item.metadata.uid not in self._gone
            and ((known := find(type(item), *key_of(item))) is None or version_of(known) < version_of(item))
        ]

    def untold(self) -> tuple[Sequence[Object], Sequence[Object]]:
        """Return listed objects that the watch has not told of by now, and those whose end it has not."""
        self._late = self._behind(self._late)
        find = self._store.find
        ended = [item for key, item in self._before.items() if find(type(item), *key) is item]
        return self._late, ended

    def repair(self) -> Iterator[str]:
        """Tell the scheduler what the watch has not; yields a line for each object."""
        late, ended = self.untold()
        for item in late:
            yield f"{'/'.join(key_of(item))}: the watch has not told of version {version_of(item)}"
            self._store.apply(item)
        for item in ended:
            yield f"{'/'.join(key_of(item))}: it is gone, the watch has not told"
            self._store.change("DELETED", item)


async def _compare(comparison: _Comparison, kind: Kind, client: KubeClient, patience: float) -> Iterator[str]:
    """List a kind, give its watch a little time to tell of everything in the list, and repair the rest."""
    selector = SELECTORS.get(kind.name)
    query = {"resourceVersion": _NEWEST, **({"fieldSelector": selector} if selector else {})}
    async for part in list_in_parts(client, kind, query):
        comparison.take(part)
    until = time.monotonic() + patience
    while any(comparison.untold()) and time.monotonic() < until:
        await asyncio.sleep(_LOOK)
    return comparison.repair()


@dataclass(frozen=True, slots=True)
class Heard:
    """What the watches had told of at some time."""

    nodes: Set[str]
    pods: Sequence[Pod]

    @classmethod
    def so_far(cls, store: Store) -> Self:
        """Take it down; the store goes on."""
        return cls({item.metadata.name for item in store.objects(Node)}, [*store.pods()])


def compare_books(scheduler: Scheduler, heard: Heard) -> Differences:
    """Compare the scheduler's state with the objects; to be called when it has applied just these."""
    differences = Differences()
    nodes = heard.nodes
    for name in nodes ^ scheduler.state.nodes.keys():
        differences.add("Node", f"{name}: only the {'API server' if name in nodes else 'scheduler'} has it")
    known = {entry.pod.metadata.uid: entry for entry in scheduler.state.entries()}
    for pod in heard.pods:
        uid, node = pod.metadata.uid, pod.spec.node_name
        entry = known.pop(uid, None)
        if node and (entry is None or entry.node != node):
            differences.add("Pod", f"{_name(pod)}: on {node}, the scheduler has it on {entry and entry.node}")
    for entry in known.values():
        differences.add("Pod", f"{_name(entry.pod)}: it is gone, the scheduler still has it")
    return differences


def _name(pod: Pod) -> str:
    return f"{pod.metadata.namespace}/{pod.metadata.name}"
