"""The cluster as it would be after the moves so far: load per node, replicas per node, pods per domain.

Counts that only some plugins ask for are made when they are first asked for.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Self

from podium.api import Node, Pod
from podium.descheduler.guard.levels import Levels, Meter
from podium.descheduler.plugins.topology_spread.constraint import Constraint, Places, read
from podium.descheduler.world import World

Owner = tuple[str, str]
"""Owner's uid, images."""


@dataclass(slots=True)
class _Spread:
    """A constraint with the pods per domain."""

    constraint: Constraint
    counts: Counter[str]


class Before:
    """The counts before any move; every plan of a cycle starts from them. Made when first asked for."""

    def __init__(self, world: World, nodes: Sequence[Node]) -> None:
        self.world = world
        self.nodes = nodes
        self._places = Places(nodes)
        self._replicas: dict[str, Counter[Owner]] = {}
        self._spreads: dict[str, Sequence[_Spread]] = {}

    def replicas(self, owner: Owner, node: str) -> int:
        """Return how many pods of an owner, with the same images, are on a node."""
        counts = self._replicas.get(node)
        if counts is None:
            pods = self.world.active_on(node)
            counts = self._replicas[node] = Counter(one for pod in pods for one in owners(pod))
        return counts[owner]

    def spreads(self, namespace: str) -> Sequence[_Spread]:
        """Return all constraints of pods in a namespace, hard and soft, with the pods that they count.

        Unlike for the plugin, protected pods count.
        """
        if namespace not in self._spreads:
            found = {
                constraint.key: constraint
                for shape in self.world.labelled.shapes(namespace)
                for constraint in (
                    read(item, shape.example) for item in shape.spec.topology_spread_constraints
                )
            }
            self._spreads[namespace] = [
                _Spread(constraint, self._count(namespace, constraint)) for constraint in found.values()
            ]
        return self._spreads[namespace]

    def _count(self, namespace: str, constraint: Constraint) -> Counter[str]:
        counts: Counter[str] = Counter(dict.fromkeys(self._places.domains(constraint), 0))
        for pod in self.world.labelled.selected(namespace, constraint.selector):
            node = self.world.node.get(pod.spec.node_name)
            domain = node.metadata.labels.get(constraint.topology_key) if node is not None else None
            if domain is not None:
                counts[domain] += 1
        return counts


class Ledger:
    """One plan in the making."""

    def __init__(self, before: Before, meter: Meter) -> None:
        self._before = before
        self.load = Levels(before.nodes, meter)
        self._replicas: Counter[tuple[Owner, str]] = Counter()
        self._spreads: dict[str, list[_Spread]] = {}
        self._moves: dict[str, list[tuple[Pod, str, str]]] = defaultdict(list)
        self._at: dict[str, str] = {}

    def __copy__(self) -> Self:
        other = object.__new__(type(self))
        spreads = {
            namespace: [_Spread(item.constraint, item.counts.copy()) for item in found]
            for namespace, found in self._spreads.items()
        }
        own = {
            "load": copy(self.load),
            "_replicas": self._replicas.copy(),
            "_spreads": spreads,
            "_moves": defaultdict(list, {name: list(moves) for name, moves in self._moves.items()}),
            "_at": dict(self._at),
        }
        other.__dict__.update(self.__dict__ | own)
        return other

    def node_of(self, pod: Pod) -> str:
        """Return where a pod is after the moves so far."""
        return self._at.get(pod.metadata.uid, pod.spec.node_name)

    def node(self, name: str) -> Node:
        """Return a node by name."""
        return self._before.world.node[name]

    def move(self, pod: Pod, to: str) -> None:
        """Book a pod on another node."""
        source = self.node_of(pod)
        self.load.move(pod, self.node(source), self.node(to))
        for owner in owners(pod):
            self._replicas[owner, source] -= 1
            self._replicas[owner, to] += 1
        namespace = pod.metadata.namespace
        self._moves[namespace].append((pod, source, to))
        for spread in self._spreads.get(namespace, ()):
            self._shift(spread, pod, source, to)
        self._at[pod.metadata.uid] = to

    def _shift(self, spread: _Spread, pod: Pod, source: str, to: str) -> None:
        for name, sign in ((source, -1), (to, 1)):
            domain = self.node(name).metadata.labels.get(spread.constraint.topology_key)
            if domain is not None and spread.constraint.counts(pod):
                spread.counts[domain] += sign

    def replicas(self, pod: Pod, node: str) -> int:
        """Return how many pods like this one are on a node, the most over its owners."""
        return max(
            (self._before.replicas(owner, node) + self._replicas[owner, node] for owner in owners(pod)),
            default=0,
        )

    def spreads(self, pod: Pod) -> list[tuple[str, Counter[str]]]:
        """Return topology key and pods per domain for every constraint that counts a pod."""
        namespace = pod.metadata.namespace
        spreads = self._spreads.get(namespace)
        if spreads is None:
            first = self._before.spreads(namespace)
            spreads = [_Spread(item.constraint, Counter(item.counts)) for item in first]
            for spread in spreads:
                for moved, source, to in self._moves[namespace]:
                    self._shift(spread, moved, source, to)
            self._spreads[namespace] = spreads
        return [
            (item.constraint.topology_key, item.counts) for item in spreads if item.constraint.counts(pod)
        ]


def owners(pod: Pod) -> list[Owner]:
    """Return a pod's owners, each with its images: revisions of a workload are kept apart."""
    return [(owner.uid, images(pod)) for owner in pod.metadata.owner_references]


def images(pod: Pod) -> str:
    """Return a pod's images as one text."""
    return "#".join(sorted(container.image for container in pod.spec.containers))
