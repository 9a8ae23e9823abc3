"""Nodes that pods are to leave, and which pod of all of them goes next where that may be chosen."""

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from podium.api import Node, Pod
from podium.descheduler.framework import Evictor
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
    gains: dict[str, tuple[int, float]] = field(default_factory=dict)
    """By uid: after how many moves a pod's gain was asked for, and what it was."""

    def next(self) -> Iterator[Pod]:
        """Return the pods of the lowest priority that is left: those of which one goes next."""
        first = self.pods[0].spec.priority
        for pod in self.pods:
            if pod.spec.priority != first:
                return
            yield pod


@dataclass(slots=True)
class Promises:
    """The sources by what moving their best pod gains.

    A promise, which is quick and hardly ever too low, puts a source in its place; what comes up first is
    asked for, and waits again if the promise was too high. Both hold until something moves, and are made anew
    when their source comes up. A node whose pods cannot promise enough to come up is never begun.

    Attributes:
        evictor: says what pods promise.
        gain: asks what a pod gains; None for one that would be refused.
        begin: looks at the pods of a node.

    """

    evictor: Evictor
    gain: Callable[[Pod], float | None]
    begin: Callable[[NodeInfo], Source]
    _heap: list[tuple[float, int, int, NodeInfo | tuple[Source, Pod]]] = field(default_factory=list)
    _moves: int = 0

    def add(self, order: int, info: NodeInfo) -> None:
        """Add a source; ``order`` decides among equals."""
        heapq.heappush(self._heap, (-self.evictor.bound(info.node.metadata.name), order, 0, info))

    def push(self, order: int, source: Source) -> None:
        """Put a source back."""
        if source.is_open and source.pods:
            value, _, best = max((self._value(source, pod), -at, pod) for at, pod in enumerate(source.next()))
            heapq.heappush(self._heap, (-value, order, self._moves, (source, best)))

    def _value(self, source: Source, pod: Pod) -> float:
        asked = source.gains.get(pod.metadata.uid)
        return asked[1] if asked is not None and asked[0] == self._moves else self.evictor.promise(pod)

    def moved(self) -> None:
        """Let all promises be old."""
        self._moves += 1

    def pop(self) -> tuple[int, Source, Pod] | None:
        """Take the source that gains most, and its pod; or one whose pod would be refused."""
        while self._heap:
            _, order, made, best = heapq.heappop(self._heap)
            if isinstance(best, NodeInfo):
                self.push(order, self.begin(best))
                continue
            source, pod = best
            if made == self._moves:
                asked = source.gains.get(pod.metadata.uid)
                if asked is not None and asked[0] == self._moves:
                    return order, source, pod
                gain = self.gain(pod)
                if gain is None:
                    return order, source, pod
                source.gains[pod.metadata.uid] = (self._moves, gain)
            self.push(order, source)
        return None
