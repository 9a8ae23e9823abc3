"""A cluster in memory with a virtual clock. Nothing waits: time moves when the driver says so."""

import asyncio
import heapq
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache, partial
from itertools import groupby
from types import CoroutineType
from typing import cast

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
    Answer,
    Applied,
    Bind,
    BindFailed,
    BindVolumes,
    Bound,
    Call,
    Emit,
    Event,
    Evict,
    PatchGroup,
    PatchStatus,
    Preempt,
    Removed,
    Returned,
)
from podium.cluster.virtual_loop import SECOND, VirtualLoop
from podium.errors import CoreError

__all__ = ["SECOND", "Latency", "SimulatedCluster"]

_EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
_GRACE_SECONDS = 30

#: Kinds that the controllers of storage write.
_STORAGE: dict[str, Callable[[bytes], Object]] = {
    "PersistentVolume": msgspec.json.Decoder(PersistentVolume).decode,
    "PersistentVolumeClaim": msgspec.json.Decoder(PersistentVolumeClaim).decode,
}


@dataclass(frozen=True, slots=True)
class Latency:
    """How long calls take, in nanoseconds of virtual time.

    Attributes:
        bind: a binding, from request to answer.
        calls: a call of a plugin by its extension point (``preBind``, ``bind``, ``postBind``), on top of what
            an ``async def`` sleeps by itself.

    """

    bind: int = 0
    calls: Mapping[str, int] = field(default_factory=dict)


class SimulatedCluster:
    """Holds the objects, carries out actions, and lets victims leave after their grace period.

    Actions are done at once and without a thread, unless ``latency`` says how long they take; coroutines of
    plugins run on the virtual clock. ``bind_fails`` is asked before each binding for the text of its failure,
    empty if it is to succeed.
    """

    def __init__(
        self, latency: Latency | None = None, bind_fails: Callable[[str, str], str] | None = None
    ) -> None:
        self._now = 0
        self._latency = latency or Latency()
        self._bind_fails = bind_fails
        self._loop = VirtualLoop(self.now)  # type: ignore[abstract]  # what it lacks raises when it is used
        self._events: list[Event] = []
        self._later: list[tuple[int, int, Event]] = []
        self._order = itertools.count()
        self._pods: dict[str, Pod] = {}
        self._bound_to: dict[str, str] = {}
        self._unheard: set[str] = set()
        """Pods that are gone without the scheduler knowing: the only ones that it may still bind."""
        self._binding: dict[str, str] = {}
        self._storage = VolumeController()
        self._stored: dict[tuple[str, str, str], Object] = {}
        self.emitted: list[Emit] = []
        self.evicted: list[Preempt] = []
        self.withdrawn: list[Evict] = []
        """Members of gangs that could not be completed."""
        self.group_status: dict[str, Mapping[str, object]] = {}
        """What was written last to each PodGroup, by uid."""

    def now(self) -> int:
        """Return the virtual time in nanoseconds since the start."""
        return self._now

    def advance(self, to: int) -> None:
        """Move the clock; what was due until then has happened."""
        while True:
            next_time = self.next_time()
            if next_time is None or next_time > to:
                break
            self._now = max(self._now, next_time)
            self._loop.run()
            later, now, events = self._later, self._now, self._events
            while later and later[0][0] <= now:
                event = heapq.heappop(later)[2]
                if isinstance(event, Returned):
                    events.append(event)
                else:
                    self._happen(event)
        self._now = max(self._now, to)

    def next_time(self) -> int | None:
        """Return when the next thing happens by itself, None if nothing will."""
        times = (self._later[0][0] if self._later else None, self._loop.next_time())
        return min((time for time in times if time is not None), default=None)

    def apply(self, objects: Iterable[Object]) -> None:
        """Add or change objects now."""
        for kind, run in groupby(objects, type):
            items = list(run)
            if kind is Pod:
                self._pods.update({item.metadata.uid: item for item in cast("list[Pod]", items)})
                self._events += [Applied(item) for item in items]
                continue
            for item in items:
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
                if isinstance(item, Pod):
                    if self._pods.pop(uid, None) is None:
                        return
                    self._unheard.add(uid)
                self._bound_to.pop(uid, None)
                if not isinstance(item, Pod):
                    meta = item.metadata
                    self._storage.remove(kind_of(type(item)), meta.namespace, meta.name)
            elif isinstance(item, Pod):
                self._pods[uid] = item
            else:
                self._store(item)
        elif isinstance(event, Bound):
            # The pods may have gone while the request was under way.
            pods, binding = self._pods, self._binding
            present = {uid: binding[uid] for uid in event.uids if uid in pods}
            self._bound_to |= present
            event = Bound(list(present))
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
        self._unheard.clear()
        return happened

    def pods(self) -> Iterable[Pod]:
        """Return all pods as they are now; bound ones name their node."""
        pods = self._pods
        return (pods | {uid: self.pod(uid) for uid in self._bound_to if uid in pods}).values()

    def pod(self, uid: str) -> Pod:
        """Return one pod as it is now."""
        pod = self._pods[uid]
        node = self._bound_to.get(uid)
        if node is None or pod.spec.node_name:
            return pod
        return msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, node_name=node))

    def perform(self, actions: Sequence[Action]) -> None:
        """Carry out actions, or begin to; they succeed unless their pod is gone."""
        for action in actions:
            if isinstance(action, Call):
                self._call(action)
            elif isinstance(action, Bind):
                self._bind(action)
            elif isinstance(action, Emit):
                self.emitted.append(action)
            elif isinstance(action, BindVolumes):
                self._bind_volumes(action)
            elif isinstance(action, Preempt):
                self._preempt(action)
            elif isinstance(action, Evict):
                self._evict(action)
            elif isinstance(action, PatchGroup):
                self.group_status[action.group.metadata.uid] = action.status
            elif isinstance(action, PatchStatus):
                self._patch(action)

    def _bind(self, action: Bind) -> None:
        uids: Sequence[str] = action.uids
        if not self._latency.bind and self._bind_fails is None:
            bound = dict(zip(uids, action.nodes, strict=True))
            for uid in bound.keys() & self._unheard:
                del bound[uid]
            self._bound_to.update(bound)
            self._events.append(Bound(list(bound)))
            return
        self._binding.update(zip(uids, action.nodes, strict=True))
        if self._bind_fails is not None:
            failures = {uid: self._bind_fails(uid, self._binding[uid]) for uid in uids}
            uids = [uid for uid in uids if not failures[uid]]
            for uid, message in failures.items():
                if message:
                    self.schedule(self._now + self._latency.bind, BindFailed(uid, message))
        if self._latency.bind:
            self.schedule(self._now + self._latency.bind, Bound(uids))
        else:
            self._happen(Bound(uids))

    def _call(self, action: Call) -> None:
        """Run a plugin; what it awaits, and how long it is said to take, passes on the virtual clock."""
        answer = action.run()
        if not isinstance(answer, CoroutineType):
            self._answer(action, answer)  # type: ignore[arg-type]  # either a coroutine or an answer
            return
        task = self._loop.start(answer)
        task.add_done_callback(partial(self._finished, action))
        self._loop.run()

    def _finished(self, action: Call, task: asyncio.Task[Answer]) -> None:
        if not task.cancelled():
            self._answer(action, task.result())

    def _answer(self, action: Call, answer: Answer) -> None:
        """Let an answer come, at the earliest when the clock is moved next.

        Were it to come between two cycles of one moment, the number of cycles per step would matter.
        """
        point, uid = action.point, action.uid
        at = self._now
        if self._latency.calls:
            at += self._latency.calls.get(point, 0)
        if point == "bind" and answer.is_success and uid in self._pods:
            self._bound_to[uid] = action.node
        returned = Returned(uid, action.epoch, point, action.plugin, "", answer)
        heapq.heappush(self._later, (at, next(self._order), returned))

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
        if action.victim.metadata.uid in self._pods:
            self.evicted.append(action)
            self._delete(action.victim.metadata.uid, "PreemptionByScheduler", action.message)

    def _evict(self, action: Evict) -> None:
        uid = action.pod.metadata.uid
        if uid in self._pods and not self._pods[uid].metadata.deletion_timestamp:
            self.withdrawn.append(action)
            self._delete(uid, "GangIncomplete", action.message)

    def _delete(self, uid: str, reason: str, message: str) -> None:
        """Let a pod leave after its grace period, which begins now."""
        victim = self.pod(uid)
        grace = victim.spec.termination_grace_period_seconds
        leaves = self._now + (_GRACE_SECONDS if grace is None else grace) * SECOND
        at = _timestamp(leaves // SECOND)
        condition = Condition(type="DisruptionTarget", status="True", reason=reason, message=message)
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


@lru_cache(maxsize=64)
def _timestamp(seconds: int) -> str:
    """Return a second of the virtual clock as the API writes times."""
    return (_EPOCH + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")
