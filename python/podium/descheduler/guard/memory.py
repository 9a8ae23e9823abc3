"""What was moved before, so that no workload is moved again for the same reason.

A workload that was moved is left alone until something outside changes, or its back-off ends: the nodes, its
own pods' specification, the number of its pods. Exempt are nodes on which a limit cut the plan short: there
the work goes on in the next cycle. Where a pod landed it stays in any case.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

import msgspec

from podium.api import Node, Pod
from podium.descheduler.guard.workload import Workload, workload_of
from podium.descheduler.world import World

HOUR: Final = 3_600_000_000_000

#: The first back-off, in nanoseconds; every further move doubles it up to the longest.
FIRST: Final = 24 * HOUR
LONGEST: Final = 7 * 24 * HOUR


@dataclass(slots=True)
class _Move:
    """The last move of a workload."""

    until: int
    backoff: int
    sign: tuple[bytes, int]
    """Specification and number of its pods after the move."""
    landed: set[str] = field(default_factory=set)
    limited: set[str] = field(default_factory=set)
    """Nodes on which a limit ended the plan."""


class Memory:
    """Moves by workload."""

    def __init__(self) -> None:
        self._moves: dict[Workload, _Move] = {}
        self._nodes: bytes | None = None
        self._counts: Mapping[Workload, int] = {}

    def begin(self, world: World) -> None:
        """Forget what an outside change has made void."""
        nodes = _digest(world.nodes)
        if self._nodes is not None and nodes != self._nodes:
            self._moves.clear()
        self._nodes = nodes
        counts: dict[Workload, int] = {}
        for pod in world.pods:
            if not world.is_terminating(pod):
                workload = workload_of(pod)
                counts[workload] = counts.get(workload, 0) + 1
        self._counts = counts

    def forbids(self, pod: Pod, now: int) -> bool:
        """Tell whether a pod's workload has moved lately."""
        workload = workload_of(pod)
        move = self._moves.get(workload)
        if move is None:
            return False
        if now >= move.until or move.sign != self._sign(pod, workload):
            return False
        node = pod.spec.node_name
        return node in move.landed or node not in move.limited

    def remember(self, moved: Iterable[tuple[Pod, str]], limited: Iterable[Pod], now: int) -> None:
        """Note pods and where they land, and those that only a limit kept."""
        for pod, destination in moved:
            workload = workload_of(pod)
            before = self._moves.get(workload)
            if before is None or before.until <= now:
                backoff = FIRST if before is None else min(2 * before.backoff, LONGEST)
                before = _Move(now + backoff, backoff, self._sign(pod, workload))
                self._moves[workload] = before
            before.landed.add(destination)
        for move in self._moves.values():
            move.limited.clear()
        for pod in limited:
            found = self._moves.get(workload_of(pod))
            if found is not None:
                found.limited.add(pod.spec.node_name)

    def _sign(self, pod: Pod, workload: Workload) -> tuple[bytes, int]:
        spec = msgspec.structs.replace(pod.spec, node_name="")
        return _hash(msgspec.json.encode(spec)), self._counts.get(workload, 0)


def _digest(nodes: Iterable[Node]) -> bytes:
    """Return what is equal as long as no node comes, goes, or changes what it offers."""
    parts = [
        msgspec.json.encode((node.metadata.name, node.metadata.labels, node.spec, node.status.allocatable))
        for node in nodes
    ]
    return _hash(b"\n".join(sorted(parts)))


def _hash(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16).digest()
