"""A cluster in memory with a virtual clock. Nothing waits: time moves when the driver says so."""

import heapq
import itertools
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

import msgspec

from podium.api import Condition, Object, Pod
from podium.cluster.port import (
    Action,
    Applied,
    Bind,
    Bound,
    Emit,
    Event,
    PatchStatus,
    Preempt,
    Removed,
)

SECOND = 1_000_000_000
_EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
_GRACE_SECONDS = 30


class SimulatedCluster:
    """Holds the objects, carries out actions at once, and lets victims leave after their grace period."""

    def __init__(self) -> None:
        self._now = 0
        self._events: list[Event] = []
        self._later: list[tuple[int, int, Event]] = []
        self._order = itertools.count()
        self._pods: dict[str, Pod] = {}
        self._bound_to: dict[str, str] = {}
        self.emitted: list[Emit] = []
        self.evicted: list[Preempt] = []

    def now(self) -> int:
        """Return the virtual time in nanoseconds since the start."""
        return self._now

    def advance(self, to: int) -> None:
        """Move the clock; what was due until then has happened."""
        self._now = max(self._now, to)
        while self._later and self._later[0][0] <= self._now:
            _, _, event = heapq.heappop(self._later)
            self._happen(event)

    def next_time(self) -> int | None:
        """Return when the next thing happens by itself, None if nothing will."""
        return self._later[0][0] if self._later else None

    def apply(self, objects: Iterable[Object]) -> None:
        """Add or change objects now."""
        for item in objects:
            self._happen(Applied(item))

    def schedule(self, at: int, event: Event) -> None:
        """Let something happen at a time to come."""
        heapq.heappush(self._later, (at, next(self._order), event))

    def _happen(self, event: Event) -> None:
        if isinstance(event, Applied | Removed):
            item = event.object
            uid = item.metadata.uid
            if isinstance(event, Removed):
                if isinstance(item, Pod) and self._pods.pop(uid, None) is None:
                    return
                self._bound_to.pop(uid, None)
            elif isinstance(item, Pod):
                self._pods[uid] = item
        self._events.append(event)

    def events(self) -> Sequence[Event]:
        """Return what happened since the last call."""
        happened, self._events = self._events, []
        return happened

    def pods(self) -> Iterable[Pod]:
        """Return all pods as they are now; bound ones name their node."""
        return [self.pod(uid) for uid in self._pods]

    def pod(self, uid: str) -> Pod:
        """Return one pod as it is now."""
        pod = self._pods[uid]
        node = self._bound_to.get(uid)
        if node is None or pod.spec.node_name:
            return pod
        return msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, node_name=node))

    def perform(self, actions: Sequence[Action]) -> None:
        """Carry out actions; they succeed at once unless their pod is gone."""
        for action in actions:
            if isinstance(action, Bind):
                self._bind(action)
            elif isinstance(action, Preempt):
                self._preempt(action)
            elif isinstance(action, PatchStatus):
                self._patch(action)
            elif isinstance(action, Emit):
                self.emitted.append(action)

    def _bind(self, action: Bind) -> None:
        present = [uid for uid in action.uids if uid in self._pods]
        self._bound_to.update(zip(action.uids, action.nodes, strict=True))
        for uid in action.uids:
            if uid not in self._pods:
                del self._bound_to[uid]
        self._events.append(Bound(present))

    def _preempt(self, action: Preempt) -> None:
        uid = action.victim.metadata.uid
        if uid not in self._pods:
            return
        victim = self.pod(uid)
        self.evicted.append(action)
        grace = victim.spec.termination_grace_period_seconds
        leaves = self._now + (_GRACE_SECONDS if grace is None else grace) * SECOND
        at = (_EPOCH + timedelta(microseconds=leaves // 1000)).strftime("%Y-%m-%dT%H:%M:%SZ")
        condition = Condition(
            type="DisruptionTarget",
            status="True",
            reason="PreemptionByScheduler",
            message=action.message,
        )
        leaving = msgspec.structs.replace(
            victim,
            metadata=msgspec.structs.replace(victim.metadata, deletion_timestamp=at),
            status=msgspec.structs.replace(victim.status, conditions=[*victim.status.conditions, condition]),
        )
        self._happen(Applied(leaving))
        self.schedule(leaves, Removed(leaving))

    def _patch(self, action: PatchStatus) -> None:
        """Keep the nomination with the pod; the scheduler knows it already, so no event tells it."""
        pod = self._pods.get(action.uid)
        if pod is not None and action.nominated is not None:
            status = msgspec.structs.replace(pod.status, nominated_node_name=action.nominated)
            self._pods[action.uid] = msgspec.structs.replace(pod, status=status)
