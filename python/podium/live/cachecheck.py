"""Compares what the scheduler believes with the API server, and repairs what differs.

Two comparisons: the objects the watches have told of with a fresh list, and the scheduler's own books (which
pod is on which node, which nodes there are) with those objects. A difference is a defect or a watch that fell
behind; it is logged, counted, and put right by telling the scheduler again.
"""

import logging
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from podium.api import Node, Object, Pod
from podium.cluster.kube.backend import KubeCluster
from podium.cluster.kube.client import KubeClient
from podium.cluster.kube.kinds import SELECTORS
from podium.cluster.kube.listing import list_kind
from podium.cluster.kube.store import Store, key_of
from podium.scheduler.loop import Scheduler

log = logging.getLogger("podium.cache")

_NEWEST: Final = ""


@dataclass(slots=True)
class Differences:
    """What a check found, one line each, by kind."""

    found: dict[str, list[str]] = field(default_factory=dict)

    def add(self, kind: str, text: str) -> None:
        """Note one."""
        self.found.setdefault(kind, []).append(text)

    def __len__(self) -> int:
        return sum(len(lines) for lines in self.found.values())


async def compare_objects(client: KubeClient, cluster: KubeCluster) -> Differences:
    """List every kind anew, and tell the scheduler of what the watches have missed.

    What changes while the lists are read is no difference: an object counts as missed only if the list has a
    newer version than the watch had when the list was asked for *and* still has after its next chance.
    """
    differences = Differences()
    for kind in cluster.following.kinds():
        before = {key_of(item): item for item in cluster.store.objects(kind.type)}
        selector = SELECTORS.get(kind.name)
        query = {"resourceVersion": _NEWEST, **({"fieldSelector": selector} if selector else {})}
        listed = await list_kind(client, kind, query)
        await cluster.following.caught_up(kind, listed)
        _compare(cluster.store, kind.name, before, listed, differences)
    return differences


def _compare(
    store: Store,
    kind: str,
    before: dict[tuple[str, str], Object],
    listed: Iterable[Object],
    differences: Differences,
) -> None:
    names = set()
    for item in listed:
        names.add(key_of(item))
        now = store.find(type(item), *key_of(item))
        if now is None or _version(now) < _version(item):
            differences.add(
                kind, f"{'/'.join(key_of(item))}: the watch has not told of version {_version(item)}"
            )
            store.apply(item)
    for key, item in before.items():
        now = store.find(type(item), *key)
        if key not in names and now is item:
            differences.add(kind, f"{'/'.join(key)}: it is gone, the watch has not told")
            store.change("DELETED", item)


def _version(item: Object) -> int:
    return int(item.metadata.resource_version or 0)


def compare_books(scheduler: Scheduler, store: Store) -> Differences:
    """Compare the scheduler's state with the objects; to be called between two steps, events applied."""
    differences = Differences()
    nodes = {item.metadata.name for item in store.objects(Node)}
    for name in nodes ^ scheduler.state.nodes.keys():
        differences.add("Node", f"{name}: only the {'API server' if name in nodes else 'scheduler'} has it")
    known = {entry.pod.metadata.uid: entry for entry in scheduler.state.entries()}
    for pod in store.pods():
        uid, node = pod.metadata.uid, pod.spec.node_name
        entry = known.pop(uid, None)
        if node and (entry is None or entry.node != node):
            differences.add("Pod", f"{_name(pod)}: on {node}, the scheduler has it on {entry and entry.node}")
    for entry in known.values():
        differences.add("Pod", f"{_name(entry.pod)}: it is gone, the scheduler still has it")
    return differences


def _name(pod: Pod) -> str:
    return f"{pod.metadata.namespace}/{pod.metadata.name}"
