"""Nodes that pods are to leave, and which pod of all of them goes next where that may be chosen."""

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from podium.api import Node, Pod
from podium.descheduler.requests import Amounts


@dataclass(slots=True)
class NodeInfo:
    """A node of one class, what it uses now, what it may hold, and its pods when usage was read."""

    node: Node
    usage: Amounts
    available: Amounts
    pods: Sequence[Pod]


@dataclass(slots=True)
class Source:
    """A node at work: the pods that may still go, least important first, and how many went."""

    info: NodeInfo
    pods: list[Pod]
    is_open: bool
    evicted: int = 0

    def next(self) -> Iterator[Pod]:
        """Return the pods of the lowest priority that is left: those of which one goes next."""
        first = self.pods[0].spec.priority
        for pod in self.pods:
            if pod.spec.priority != first:
                return
            yield pod


@dataclass(slots=True)
class Promises:
    """The sources by the promise of their best pod.

    A promise holds until something moves; then it can only be an old one, and is made anew when its source
    comes up.
    """

    promise: Callable[[Pod], float]
    _heap: list[tuple[float, int, int, Source, Pod]] = field(default_factory=list)
    _moves: int = 0

    def push(self, order: int, source: Source) -> None:
        """Put a source back; ``order`` decides among equals."""
        if source.is_open and source.pods:
            value, _, best = max((self.promise(pod), -at, pod) for at, pod in enumerate(source.next()))
            heapq.heappush(self._heap, (-value, order, self._moves, source, best))

    def moved(self) -> None:
        """Let all promises be old."""
        self._moves += 1

    def pop(self) -> tuple[int, Source, Pod] | None:
        """Take the source with the best promise, and its pod."""
        while self._heap:
            _, order, made, source, pod = heapq.heappop(self._heap)
            if made == self._moves:
                return order, source, pod
            self.push(order, source)
        return None
