"""The hierarchical rule in exact fractions, written from its definition: slow, and nothing is remembered."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ZERO = Fraction(0)


@dataclass(eq=False)
class Node:
    name: str
    parent: Node | None
    used: list[int]
    weight: Fraction = Fraction(1)
    head: tuple[int, int, int] | None = None  # time, sequence, band
    blocked: bool = False
    children: list[Node] = field(default_factory=list)

    def leaves(self) -> Iterator[Node]:
        if not self.children:
            yield self
        for child in self.children:
            yield from child.leaves()

    def path(self) -> list[Node]:
        """From below the root down to this node."""
        return [*(self.parent.path() if self.parent else []), *([self] if self.parent else [])]


class Model:
    def __init__(self, capacity: list[int]) -> None:
        self.capacity = list(capacity)
        self.resource_weights = [Fraction(1)] * len(capacity)
        self.root = Node("", None, [])

    def add(self, name: str, parent: Node | None = None) -> Node:
        node = Node(name, parent or self.root, [0] * len(self.capacity))
        node.parent.children.append(node)
        return node

    def usage(self, node: Node) -> list[int]:
        columns = zip(*(leaf.used for leaf in node.leaves() if leaf.used), strict=True)
        return [sum(column) for column in columns] or [0] * len(self.capacity)

    def shares(self, used: list[int]) -> list[Fraction]:
        rows = zip(used, self.capacity, self.resource_weights, strict=True)
        return [
            weight * Fraction(amount, capacity) if capacity else ZERO for amount, capacity, weight in rows
        ]

    def ready(self, node: Node) -> bool:
        if node.blocked:
            return False
        return any(self.ready(child) for child in node.children) if node.children else node.head is not None

    def first(self, node: Node) -> Node | None:
        """The child that goes next, by the whole rule."""
        return min((child for child in node.children if self.ready(child)), key=self.key, default=None)

    def served(self, node: Node) -> Node:
        """The leaf that a ready node would be served with."""
        return self.served(self.first(node)) if node.children else node

    def key(self, node: Node) -> tuple[object, ...]:
        time, sequence, band = self.served(node).head
        return (-band, node.weight == 0, self.weighted(node), time, sequence, node.name)

    def weighted(self, node: Node) -> Fraction:
        return self.share(node) / (node.weight or 1)

    def share(self, node: Node) -> Fraction:
        """A leaf's dominant share; an inner node's, without the resources that are full."""
        if not node.children:
            return max(self.shares(node.used), default=ZERO)
        full = [
            0 < capacity <= used for used, capacity in zip(self.usage(self.root), self.capacity, strict=True)
        ]
        return max((x for x, f in zip(self.vector(node), full, strict=True) if not f), default=ZERO)

    def vector(self, node: Node) -> list[Fraction]:
        """Consumption; ready children with a claim, of the band served, are rescaled to the least share."""
        if not node.children:
            return self.shares(node.used)
        first = self.first(node)
        band = self.served(first).head[2] if first else None
        total = [ZERO] * len(self.capacity)
        rescaled = [c for c in node.children if c.weight and self.ready(c) and self.served(c).head[2] == band]
        least = min(map(self.weighted, rescaled), default=ZERO)
        for child in node.children:
            factor = Fraction(1)
            if child in rescaled:
                factor = least / self.weighted(child) if self.weighted(child) else ZERO
            total = [sum_ + factor * x for sum_, x in zip(total, self.vector(child), strict=True)]
        return total
