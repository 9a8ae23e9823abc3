"""What was moved before, so that no workload is moved again for the same reason.

A workload that was moved is left alone until its back-off ends or something outside changes: its pods'
specification, their number, a node it left or landed on, or a node that is new. Exempt are sources where a
limit or a budget cut the work short: there it goes on in the next cycle. Where a workload has gained pods
since, they stay in any case; where they came back to the node they had left, the back-off doubles.
"""

import hashlib
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Final

import msgspec

from podium.api import Node, Pod
from podium.descheduler.guard.workload import Workload, is_shared, likeness, workload_of
from podium.descheduler.limits import Cuts
from podium.descheduler.shapes import Shape
from podium.descheduler.world import World

HOUR: Final = 3_600_000_000_000

#: The first back-off, in nanoseconds; every further one doubles it up to the longest.
FIRST: Final = 24 * HOUR
LONGEST: Final = 7 * 24 * HOUR


@dataclass(slots=True)
class _Move:
    """The moves of a workload."""

    until: int
    backoff: int
    sign: bytes
    """Specification and number of its pods after the move."""
    left: Counter[str] = field(default_factory=Counter)
    """Nodes that pods were taken from in the last cycle, and how many."""
    landed: set[str] = field(default_factory=set)
    sources: set[str] = field(default_factory=set)


class Memory:
    """Moves by workload."""

    def __init__(self) -> None:
        self._moves: dict[Workload, _Move] = {}
        self._nodes: Mapping[str, bytes] | None = None
        self._counts: dict[Workload, Counter[str]] = {}
        """Pods by node at the beginning of the cycle, of the workloads that were moved."""
        self._cuts = Cuts()
        self._kept: set[tuple[Workload, str]] = set()

    def begin(self, world: World) -> None:
        """Look at what has become of the moves, and forget those that an outside change has made void."""
        self._forget(world.nodes)
        before, counts = self._counts, _count(world, self._moves.keys())
        for workload, move in self._moves.items():
            now, then = counts.get(workload, Counter()), before.get(workload, Counter())
            expected = then - move.left
            gained = {node for node, number in now.items() if node and number > expected[node]}
            move.landed |= gained
            if gained & move.left.keys():
                move.backoff = min(2 * move.backoff, LONGEST)
                move.until = world.now + move.backoff
            move.left.clear()
        self._counts = counts

    def _forget(self, nodes: Iterable[Node]) -> None:
        """Drop the moves that changed nodes take part in; all of them if a node has come."""
        now = {node.metadata.name: _digest(node) for node in nodes}
        before = self._nodes
        self._nodes = now
        if before is None or before == now:
            return
        if now.keys() - before.keys():
            self._moves.clear()
            return
        changed = {name for name, digest in before.items() if now.get(name) != digest}
        for workload in [w for w, move in self._moves.items() if (move.landed | move.sources) & changed]:
            del self._moves[workload]

    def forbids(self, pod: Pod, now: int) -> bool:
        """Tell whether a pod's workload has moved lately."""
        workload = workload_of(pod)
        move = self._moves.get(workload)
        if move is None:
            return False
        if now >= move.until or move.sign != self._sign(pod, workload):
            return False
        return pod.spec.node_name in move.landed or not self._was_cut(pod, workload)

    def _was_cut(self, pod: Pod, workload: Workload) -> bool:
        cuts, node = self._cuts, pod.spec.node_name
        if cuts.everywhere or node in cuts.nodes or pod.metadata.namespace in cuts.namespaces:
            return True
        return (workload, node) in self._kept

    def remember(self, moved: Sequence[tuple[Pod, str]], cuts: Cuts, world: World) -> None:
        """Note pods and where they are to land, and what cut the cycle short.

        The cluster is that of the cycle: pods do not leave it before the cycle ends.
        """
        now = world.now
        new = {workload_of(pod) for pod, _ in moved} - self._counts.keys()
        self._counts.update(_count(world, new))
        for pod, destination in moved:
            workload = workload_of(pod)
            move = self._moves.get(workload)
            sign = self._sign(pod, workload)
            if move is None or move.sign != sign:
                move = self._moves[workload] = _Move(now + FIRST, FIRST, sign)
            elif move.until <= now:
                backoff = min(2 * move.backoff, LONGEST)
                move = self._moves[workload] = _Move(now + backoff, backoff, sign)
            move.landed.add(destination)
            move.sources.add(pod.spec.node_name)
            move.left[pod.spec.node_name] += 1
        self._cuts = cuts
        self._kept = {(workload_of(pod), pod.spec.node_name) for pod in cuts.pods}

    def _sign(self, pod: Pod, workload: Workload) -> bytes:
        return likeness(pod) + str(self._counts.get(workload, Counter()).total()).encode()


def _count(world: World, wanted: Set[Workload]) -> dict[Workload, Counter[str]]:
    """Count the pods of workloads by node; those that have ended or are leaving do not count."""
    counts: dict[Workload, Counter[str]] = {workload: Counter() for workload in wanted}
    if not counts:
        return counts
    shapes = {shape for node in world.places() for shape in world.shapes_on(node)}
    theirs = {shape for shape in shapes if _may_be_of(shape, counts)}
    for node in world.places():
        for pod in world.active_of(node, theirs):
            count = counts.get(workload_of(pod))
            if count is not None:
                count[node] += 1
    return counts


def _may_be_of(shape: Shape, workloads: Container[Workload]) -> bool:
    """Tell whether pods of a shape may be of one of some workloads, and stay."""
    pod = shape.example
    if pod.metadata.deletion_timestamp:
        return False
    return not is_shared(pod) or workload_of(pod) in workloads


def _digest(node: Node) -> bytes:
    """Return what is equal as long as a node does not change what it offers."""
    meta = node.metadata
    return _hash(msgspec.json.encode((meta.name, meta.labels, node.spec, node.status.allocatable)))


def _hash(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16).digest()
