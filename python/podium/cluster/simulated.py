"""A cluster in memory with a virtual clock. Nothing waits: time moves when the driver says so."""

import heapq
import itertools
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta

import msgspec

from podium._core import VolumeController
from podium.api import (
    Condition,
    Object,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    kind_of,
)
from podium.cluster.port import (
    Action,
    Applied,
    Bind,
    BindVolumes,
    Bound,
    Emit,
    Event,
    PatchStatus,
    Preempt,
    Removed,
    Returned,
)
from podium.errors import CoreError

SECOND = 1_000_000_000
_EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
_GRACE_SECONDS = 30

#: Kinds that the controllers of storage write.
_STORAGE: dict[str, Callable[[bytes], Object]] = {
    "PersistentVolume": msgspec.json.Decoder(PersistentVolume).decode,
    "PersistentVolumeClaim": msgspec.json.Decoder(PersistentVolumeClaim).decode,
}


class SimulatedCluster:
    """Holds the objects, carries out actions at once, and lets victims leave after their grace period."""

    def __init__(self) -> None:
        self._now = 0
        self._events: list[Event] = []
        self._later: list[tuple[int, int, Event]] = []
        self._order = itertools.count()
        self._pods: dict[str, Pod] = {}
        self._bound_to: dict[str, str] = {}
        self._storage = VolumeController()
        self._stored: dict[tuple[str, str, str], Object] = {}
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
        self._settle()

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
                if not isinstance(item, Pod):
                    meta = item.metadata
                    self._storage.remove(kind_of(type(item)), meta.namespace, meta.name)
            elif isinstance(item, Pod):
                self._pods[uid] = item
            else:
                self._store(item)
        self._events.append(event)

    def _store(self, item: Object) -> None:
        """Show an object to the controllers of storage."""
        kind = kind_of(type(item))
        self._storage.apply(kind, msgspec.json.encode(item))
        if kind in _STORAGE:
            self._stored[kind, item.metadata.namespace, item.metadata.name] = item

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
            elif isinstance(action, BindVolumes):
                self._bind_volumes(action)
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

    def _bind_volumes(self, action: BindVolumes) -> None:
        """Write claims and volumes; the controllers act at once, so the answer is known."""
        message = ""
        try:
            for write in action.writes:
                self._storage.write(write.action)
        except CoreError as error:
            message = str(error)
        self._settle()
        self._events.append(Returned(action.uid, action.epoch, "preBind", "VolumeBinding", message))

    def _settle(self) -> None:
        """Let the controllers of storage act, and tell what they changed."""
        for kind, namespace, name, json in self._storage.settle():
            at = (kind, namespace, name)
            if json is None:
                gone = self._stored.pop(at, None)
                if gone is not None:
                    self._events.append(Removed(gone))
            else:
                self._stored[at] = _STORAGE[kind](json)
                self._events.append(Applied(self._stored[at]))

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
        if leaves <= self._now:
            self._happen(Removed(leaving))
        else:
            self.schedule(leaves, Removed(leaving))

    def _patch(self, action: PatchStatus) -> None:
        """Keep the nomination with the pod; the scheduler knows it already, so no event tells it."""
        pod = self._pods.get(action.uid)
        if pod is not None and action.nominated is not None:
            status = msgspec.structs.replace(pod.status, nominated_node_name=action.nominated)
            self._pods[action.uid] = msgspec.structs.replace(pod, status=status)
