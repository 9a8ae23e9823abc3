"""The cluster as it would be after the moves so far: load per node, replicas per node, pods per domain.

Counts that only some plugins ask for are made when they are first asked for.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from podium.api import Node, Pod
from podium.descheduler.plugins.topology_spread.constraint import Constraint, read
from podium.descheduler.world import World, is_active

Share = Mapping[str, float]
"""Resource to part of what a node has, 1.0 for all of it."""

Owner = tuple[str, str]
"""Owner's uid, images."""


@dataclass(frozen=True, slots=True)
class Meter:
    """How load is measured.

    Attributes:
        nodes: part in use by node and resource, before any move; nodes of unknown load are missing.
        of_pod: what a pod adds to a node, as parts of that node; None if it is not known.
        hot: the part above which a node is hot, by resource.

    """

    nodes: Mapping[str, Mapping[str, float]]
    of_pod: Callable[[Pod, Node], Share | None]
    hot: Share


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
        self._meter = meter
        self._used = {name: dict(parts) for name, parts in meter.nodes.items()}
        self._sums: dict[str, float] = defaultdict(float)
        self._sizes: Counter[str] = Counter()
        for parts in self._used.values():
            for resource, part in parts.items():
                self._sums[resource] += part
                self._sizes[resource] += 1
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
        for name, sign in ((self.node_of(pod), -1), (to, 1)):
            self._book(pod, name, sign)
            if "_replicas" in self.__dict__:
                for owner in owners(pod):
                    self._replicas[owner, name] += sign
            for spread in self._spreads.get(pod.metadata.namespace, ()):
                domain = self.node(name).metadata.labels.get(spread.constraint.topology_key)
                if domain is not None and spread.constraint.counts(pod):
                    spread.counts[domain] += sign
        self._at[pod.metadata.uid] = to

    def _book(self, pod: Pod, name: str, sign: int) -> None:
        used = self._used.get(name)
        parts = self._meter.of_pod(pod, self.node(name))
        if used is None or parts is None:
            return
        for resource, part in parts.items():
            if resource in used:
                used[resource] += sign * part
                self._sums[resource] += sign * part

    def is_hot_with(self, pod: Pod, name: str) -> bool:
        """Tell whether a node would be above the target in some resource with one more pod."""
        used = self._used.get(name, {})
        added = self._meter.of_pod(pod, self.node(name)) or {}
        return any(
            used.get(resource, 0.0) + added.get(resource, 0.0) > part
            for resource, part in self._meter.hot.items()
        )

    def is_known(self, node: str) -> bool:
        """Tell whether the load of a node is known."""
        return node in self._used

    def unevenness(self) -> float:
        """Return the sum of squared distances from the mean, over nodes and resources."""
        total = 0.0
        for resource, size in self._sizes.items():
            mean = self._sums[resource] / size
            values = (parts[resource] for parts in self._used.values() if resource in parts)
            total += sum((value - mean) ** 2 for value in values)
        return total

    def gain(self, pod: Pod, source: str, destination: str) -> float | None:
        """Return by how much a move lowers ``unevenness``, None if the pod's load is not known.

        In constant time: only two nodes change, and the mean where they differ in size.
        """
        deltas: dict[str, list[tuple[float, float]]] = {}
        for name, sign in ((source, -1), (destination, 1)):
            parts = self._meter.of_pod(pod, self.node(name))
            if parts is None:
                return None
            used = self._used.get(name, {})
            for resource, part in parts.items():
                if resource in used:
                    deltas.setdefault(resource, []).append((used[resource], sign * part))
        change = 0.0
        for resource, found in deltas.items():
            size, total = self._sizes[resource], self._sums[resource]
            shift = sum(delta for _, delta in found)
            change += sum((value + delta) ** 2 - value**2 for value, delta in found)
            change -= ((total + shift) ** 2 - total**2) / size
        return -change

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
