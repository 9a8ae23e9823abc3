"""How full nodes are after the moves so far, and how uneven that is.

Unevenness of a resource is the sum of squared distances of its levels from their mean, over the nodes whose
load is known; a level is the part in use. Every question costs the same however many nodes there are.
"""

import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Self

from podium.api import Node, Pod

Share = Mapping[str, float]
"""Resource to part of what a node has, 1.0 for all of it."""

#: What rounding may add to an unevenness.
_ROUNDING: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Meter:
    """How load is measured.

    Attributes:
        nodes: part in use by node and resource, before any move; nodes of unknown load are missing.
        of_pod: what a pod adds to a node, as parts of that node; None if it is not known. Answers live as
            long as the meter; pods that are alike may share theirs.
        hot: the part above which a node is hot, by resource.
        weighed: resources in which no plan may leave the nodes more uneven than they were.
        largest: no pod adds more to a node than this, by resource; None if that is not known.

    """

    nodes: Mapping[str, Mapping[str, float]]
    of_pod: Callable[[Pod, Node], Share | None]
    hot: Share
    weighed: frozenset[str] = frozenset()
    largest: Callable[[Node], Share] | None = None


class Levels:
    """Levels of one plan."""

    def __init__(self, nodes: Iterable[Node], meter: Meter) -> None:
        self._node = {node.metadata.name: node for node in nodes}
        self._meter = meter
        self._used = {name: dict(parts) for name, parts in meter.nodes.items()}
        self._sums: dict[str, float] = defaultdict(float)
        self._squares: dict[str, float] = defaultdict(float)
        self._counts: Counter[str] = Counter()
        for parts in self._used.values():
            for resource, part in parts.items():
                self._sums[resource] += part
                self._squares[resource] += part * part
                self._counts[resource] += 1
        self._first = {resource: self._unevenness(resource) for resource in self._counts}
        self._promised: dict[tuple[str, int], float] = {}
        #: The most that one move has gained so far.
        self.best = 0.0

    def __copy__(self) -> Self:
        other = object.__new__(type(self))
        used = {name: dict(parts) for name, parts in self._used.items()}
        own = {"_used": used, "_sums": self._sums.copy(), "_squares": self._squares.copy(), "_promised": {}}
        other.__dict__.update({key: item for key, item in self.__dict__.items() if key != "_ranks"} | own)
        return other

    def unevenness(self) -> dict[str, float]:
        """Return how uneven each resource is."""
        return {name: self._unevenness(name) for name in self._counts}

    def _unevenness(self, resource: str, sum_by: float = 0.0, squares_by: float = 0.0) -> float:
        total = self._sums[resource] + sum_by
        return self._squares[resource] + squares_by - total * total / self._counts[resource]

    def is_known(self, node: str) -> bool:
        """Tell whether the load of a node is known."""
        return node in self._used

    def move(self, pod: Pod, source: Node, destination: Node) -> None:
        """Book a pod on another node; what it uses and what is not known stays out."""
        self.best = max(self.best, sum((self.gains(pod, source, destination) or {}).values()))
        for node, sign in ((source, -1), (destination, 1)):
            used = self._used.get(node.metadata.name)
            parts = self._meter.of_pod(pod, node)
            if used is None or parts is None:
                continue
            for resource, part in parts.items():
                if resource in used:
                    before = used[resource]
                    used[resource] = after = before + sign * part
                    self._sums[resource] += after - before
                    self._squares[resource] += after * after - before * before
            self._rank(node.metadata.name)
        self._promised.clear()

    def is_hot_with(self, pod: Pod, node: Node) -> bool:
        """Tell whether a node would be above the target in some resource with one more pod."""
        used = self._used.get(node.metadata.name, {})
        added = self._meter.of_pod(pod, node) or {}
        return any(
            used.get(resource, 0.0) + added.get(resource, 0.0) > part
            for resource, part in self._meter.hot.items()
        )

    def is_hot(self, node: str) -> bool:
        """Tell whether a node is above the target in some resource."""
        used = self._used.get(node, {})
        return any(used.get(resource, 0.0) > part for resource, part in self._meter.hot.items())

    def gained(self, before: "Levels") -> dict[str, float]:
        """Return by how much the unevenness of each resource is lower than in other levels."""
        now = self.unevenness()
        return {name: level - now[name] for name, level in before.unevenness().items()}

    def gains(self, pod: Pod, source: Node, destination: Node) -> dict[str, float] | None:
        """Return by how much a move lowers the unevenness of each resource; None: its load is not known."""
        deltas: dict[str, list[tuple[float, float]]] = {}
        for node, sign in ((source, -1), (destination, 1)):
            parts = self._meter.of_pod(pod, node)
            if parts is None:
                return None
            used = self._used.get(node.metadata.name, {})
            for resource, part in parts.items():
                if resource in used:
                    deltas.setdefault(resource, []).append((used[resource], sign * part))
        return {resource: self._gain(resource, found) for resource, found in deltas.items()}

    def _gain(self, resource: str, deltas: Iterable[tuple[float, float]]) -> float:
        shift = squares = 0.0
        for level, delta in deltas:
            shift += delta
            squares += delta * (2 * level + delta)
        return self._unevenness(resource) - self._unevenness(resource, shift, squares)

    def worth(self, gains: Mapping[str, float]) -> float:
        """Return by how much gains lower the sum of the resources' standard deviations."""
        total = 0.0
        for resource, gain in gains.items():
            before, number = self._unevenness(resource), self._counts[resource]
            total += math.sqrt(max(before, 0.0) / number) - math.sqrt(max(before - gain, 0.0) / number)
        return total

    def deviation(self) -> float:
        """Return the sum of the resources' standard deviations."""
        return sum(
            math.sqrt(max(self._unevenness(name), 0.0) / number) for name, number in self._counts.items()
        )

    def spoils(self, gains: Mapping[str, float]) -> str | None:
        """Return a resource that gains (negative ones) would leave more uneven than it was at the start."""
        for resource, gain in gains.items():
            if resource not in self._meter.weighed or gain >= 0:
                continue
            if self._unevenness(resource) - gain > self._first[resource] + _ROUNDING:
                return resource
        return None

    def promise(self, pod: Pod) -> float:
        """Estimate what moving a pod would gain: the most that an emptiest node of any size promises.

        Pods of unknown load promise nothing.
        """
        source = self._node.get(pod.spec.node_name)
        taken = self._meter.of_pod(pod, source) if source is not None else None
        if taken is None or source is None:
            return 0.0
        key = (source.metadata.name, id(taken))
        known = self._promised.get(key)
        if known is None:
            found = (self.gains(pod, source, node) or {} for node in self._emptiest_nodes())
            known = self._promised[key] = max(map(self.worth, found), default=0.0)
        return known

    def bound(self, name: str) -> float:
        """Return what no promise of a pod of a node exceeds; infinite if that cannot be said.

        Moving the part p of a node at level u to one at level v where it is the part r·p lowers a resource's
        unevenness by b·p - a·p², with b = 2(u - r·v + (r - 1)·m), a = 1 + r² - (r - 1)²/n, m the mean level.
        """
        source = self._node.get(name)
        if self._meter.largest is None or source is None:
            return math.inf
        return max((self._bound(source, node) for node in self._emptiest_nodes()), default=0.0)

    def _bound(self, source: Node, node: Node) -> float:
        levels, there = self._used.get(source.metadata.name, {}), self._used[node.metadata.name]
        most, most_there = (self._meter.largest(at) if self._meter.largest else {} for at in (source, node))
        gains: dict[str, float] = {}
        for resource, part in most.items():
            if resource not in levels or resource not in there:
                return math.inf
            if part <= 0.0:
                continue
            ratio, number = most_there.get(resource, 0.0) / part, self._counts[resource]
            mean = self._sums[resource] / number
            slope = 2 * (levels[resource] - ratio * there[resource] + (ratio - 1) * mean)
            curve = 1 + ratio * ratio - (ratio - 1) ** 2 / number
            best = min(max(slope / (2 * curve), 0.0), part)
            gains[resource] = best * (slope - curve * best)
        return self.worth(gains)

    def _emptiest_nodes(self) -> list[Node]:
        """Return the emptiest open node of each size."""
        return [self._node[self._emptiest(ranks)] for ranks in self._ranks.values()]

    def _emptiest(self, ranks: list[tuple[float, str]]) -> str:
        """Return the first of a heap whose level is still true; each node has one entry that is."""
        while ranks[0][0] != self._level(ranks[0][1]):
            heapq.heappop(ranks)
        return ranks[0][1]

    def _level(self, node: str) -> float:
        return sum(self._used[node].values())

    def _rank(self, node: str) -> None:
        """Note a changed level, once anybody has asked for the emptiest nodes."""
        if "_ranks" in self.__dict__ and node in self._sizes:
            heapq.heappush(self._ranks[self._sizes[node]], (self._level(node), node))

    @cached_property
    def _ranks(self) -> dict[tuple[str, ...], list[tuple[float, str]]]:
        """Heaps of level and name, by size."""
        ranks: dict[tuple[str, ...], list[tuple[float, str]]] = defaultdict(list)
        for name, size in self._sizes.items():
            ranks[size].append((self._level(name), name))
        for heap in ranks.values():
            heapq.heapify(heap)
        return ranks

    @cached_property
    def _sizes(self) -> dict[str, tuple[str, ...]]:
        """What the nodes offer that take pods without being asked to tolerate anything."""
        resources = sorted(self._counts)
        return {
            name: tuple(str((node.status.allocatable or {}).get(resource)) for resource in resources)
            for name, node in self._node.items()
            if name in self._used and not node.spec.unschedulable and not node.spec.taints
        }
