"""The cluster as it would be after the moves so far: load per node, replicas per node, pods per domain.

Counts that only some plugins ask for are made when they are first asked for.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from podium.api import Node, Pod
from podium.descheduler.guard.levels import Levels, Meter
from podium.descheduler.plugins.topology_spread.constraint import Constraint, read
from podium.descheduler.world import World, is_active

Owner = tuple[str, str]
"""Owner's uid, images."""


@dataclass(slots=True)
class _Spread:
    """A constraint with the pods per domain."""

    constraint: Constraint
    counts: Counter[str]


class Ledger:
    """One plan in the making."""

    def __init__(self, world: World, nodes: Sequence[Node], meter: Meter) -> None:
        self._world = world
        self._nodes = nodes
        self.load = Levels(nodes, meter)
        self._spreads: dict[str, list[_Spread]] = {}
        self._at: dict[str, str] = {}

    def node_of(self, pod: Pod) -> str:
        """Return where a pod is after the moves so far."""
        return self._at.get(pod.metadata.uid, pod.spec.node_name)

    def node(self, name: str) -> Node:
        """Return a node by name."""
        return self._world.node[name]

    def move(self, pod: Pod, to: str) -> None:
        """Book a pod on another node."""
        source = self.node_of(pod)
        self.load.move(pod, self.node(source), self.node(to))
        for name, sign in ((source, -1), (to, 1)):
            if "_replicas" in self.__dict__:
                for owner in owners(pod):
                    self._replicas[owner, name] += sign
            for spread in self._spreads.get(pod.metadata.namespace, ()):
                domain = self.node(name).metadata.labels.get(spread.constraint.topology_key)
                if domain is not None and spread.constraint.counts(pod):
                    spread.counts[domain] += sign
        self._at[pod.metadata.uid] = to

    @cached_property
    def _replicas(self) -> Counter[tuple[Owner, str]]:
        return Counter(
            (owner, self.node_of(pod))
            for pod in self._world.pods
            if pod.spec.node_name and is_active(pod)
            for owner in owners(pod)
        )

    def replicas(self, pod: Pod, node: str) -> int:
        """Return how many pods like this one are on a node, the most over its owners."""
        return max((self._replicas[owner, node] for owner in owners(pod)), default=0)

    def spreads(self, pod: Pod) -> list[tuple[str, Counter[str]]]:
        """Return topology key and pods per domain for every constraint that counts a pod.

        All constraints in its namespace, hard and soft; unlike for the plugin, protected pods count.
        """
        namespace = pod.metadata.namespace
        if namespace not in self._spreads:
            self._spreads[namespace] = self._count(namespace)
        return [
            (item.constraint.topology_key, item.counts)
            for item in self._spreads[namespace]
            if item.constraint.counts(pod)
        ]

    def _count(self, namespace: str) -> list[_Spread]:
        pods = [pod for pod in self._world.pods if pod.metadata.namespace == namespace and is_active(pod)]
        found = {
            constraint.key: constraint
            for pod in pods
            for constraint in (read(item, pod) for item in pod.spec.topology_spread_constraints)
        }
        result = []
        for constraint in found.values():
            eligible = (node.metadata.labels for node in self._nodes if constraint.includes(node))
            key = constraint.topology_key
            counts: Counter[str] = Counter({labels[key]: 0 for labels in eligible if key in labels})
            for pod in pods:
                node = self._world.node.get(self.node_of(pod))
                domain = node.metadata.labels.get(key) if node is not None else None
                if domain is not None and constraint.counts(pod):
                    counts[domain] += 1
            result.append(_Spread(constraint, counts))
        return result


def owners(pod: Pod) -> list[Owner]:
    """Return a pod's owners, each with its images: revisions of a workload are kept apart."""
    images = "#".join(sorted(container.image for container in pod.spec.containers))
    return [(owner.uid, images) for owner in pod.metadata.owner_references]
