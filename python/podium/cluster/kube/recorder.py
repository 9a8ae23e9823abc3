"""Writes events (events.k8s.io/v1), alike ones as one series, and gives way to bindings.

As client-go's: what has type, reason, action, note and objects in common within six minutes is one event with
a count; a series is written when it begins and when it ends. Unlike there nothing is dropped under load:
events wait while bindings are under way, so that a burst of pods is bound first and told of right after.
"""

import asyncio
import contextlib
import math
import secrets
import socket
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from podium.api import BY_TYPE, Pod
from podium.cluster.kube.client import KubeClient
from podium.cluster.kube.pace import Backoff
from podium.cluster.port import Emit
from podium.errors import ApiError, ClusterError

#: A series that was not added to for this long is over.
SERIES: Final = 360.0

#: While bindings are under way, events younger than this many seconds wait; those twice as old wait no more.
_PATIENCE: Final = 5.0

#: Requests at once, and beside bindings: there a server that is busy keeps an eighth of its time for events.
_WRITERS: Final = 32
_BESIDE: Final = 12

#: Series that are remembered, in all (client-go's number) and of one pod: what is said of a pod that waits
#: for long changes often. The longest unseen is forgotten first.
_REMEMBERED: Final = 4096
_OF_ONE_POD: Final = 4

#: What is said of a pod once only: it needs no memory.
_ONCE: Final = frozenset({"Scheduled", "Preempted"})

#: Events kept while the server cannot be reached; beyond that the oldest are lost.
_KEPT: Final = 200_000
_TRIES: Final = 12
_CONFLICT, _NOT_FOUND, _FORBIDDEN = 409, 404, 403


class _Ref(msgspec.Struct, rename="camel", frozen=True, omit_defaults=True):
    kind: str
    name: str
    namespace: str
    uid: str
    api_version: str
    resource_version: str = ""


class _Meta(msgspec.Struct):
    name: str
    namespace: str


class _Series(msgspec.Struct, rename="camel"):
    count: int
    last_observed_time: str


class _Event(msgspec.Struct, rename="camel", omit_defaults=True):
    api_version: str
    kind: str
    metadata: _Meta
    event_time: str
    reporting_controller: str
    reporting_instance: str
    action: str
    reason: str
    regarding: _Ref
    note: str
    type: str
    related: _Ref | None = None
    series: _Series | None = None


_About = tuple[str, str, str, str, str]
"""Type, action, reason, and the uids of the objects in question: events alike but for the note."""


@dataclass(slots=True)
class _Known:
    """An event, when it was last seen, and the count that is in the API or about to be."""

    event: _Event
    seen: float
    told: int = 1


class Recorder:
    """Takes events at once and writes them when there is time.

    Args:
        client: with a rate limit of its own, so that events never delay bindings.
        busy: tells how many bindings are under way.
        log: hears of events that could not be written.

    """

    def __init__(self, client: KubeClient, busy: Callable[[], int], log: Callable[[str], None]) -> None:
        self._client = client
        self._busy = busy
        self._log = log
        self._host = socket.gethostname()
        self._series: dict[tuple[Any, ...], _Known] = {}
        """The longest unseen first."""
        self._keys: dict[str, dict[tuple[Any, ...], None]] = {}
        """The series of each pod, by its uid, the longest unseen first."""
        self._waiting: deque[tuple[float, _Event]] = deque()
        self._unheard: dict[_About, _Event] = {}
        """What waits and may be replaced by a newer word."""
        self._writing = 0
        self._wake = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self.lost = 0
        """Events that were refused or given up."""

    @property
    def unwritten(self) -> int:
        """How many events are not in the API yet."""
        return len(self._waiting) + self._writing

    def record(self, event: Emit) -> None:
        """Take an event about a pod."""
        now = time.monotonic()
        made = self._make(event)
        if made.reason in _ONCE:
            self._push(made)
            return
        about = _about(made)
        key = (*about, made.note)
        known = self._take_out(key)
        if known is None or now - known.seen > SERIES:
            self._put(key, _Known(self._say(about, made), now))
            if len(self._series) > _REMEMBERED:
                self._end(next(iter(self._series)))
            return
        self._put(key, known)
        known.seen = now
        begins = known.event.series is None
        count = 2 if known.event.series is None else known.event.series.count + 1
        known.event.series = _Series(count, _micro())
        if begins and self._unheard.get(about) is not known.event:
            self._push(known.event)
            known.told = count

    def forget(self, uid: str) -> None:
        """End the series of a pod that is gone."""
        for key in [*self._keys.get(uid, ())]:
            self._end(key)

    def _put(self, key: tuple[Any, ...], known: _Known) -> None:
        self._series[key] = known
        keys = self._keys.setdefault(known.event.regarding.uid, {})
        keys[key] = None
        if len(keys) > _OF_ONE_POD:
            self._end(next(iter(keys)))

    def _take_out(self, key: tuple[Any, ...]) -> _Known | None:
        known = self._series.pop(key, None)
        if known is not None:
            uid = known.event.regarding.uid
            keys = self._keys[uid]
            del keys[key]
            if not keys:
                del self._keys[uid]
        return known

    def _say(self, about: _About, event: _Event) -> _Event:
        """Let a newer word replace one that is not written yet: there are never more than pods.

        Returns:
            The event that is going to be written.

        """
        unheard = self._unheard.get(about)
        if unheard is None:
            self._unheard[about] = event
            self._push(event)
            return event
        self._take_out((*about, unheard.note))
        unheard.note, unheard.event_time, unheard.series = event.note, event.event_time, None
        unheard.regarding = event.regarding
        return unheard

    def _push(self, event: _Event) -> None:
        if len(self._waiting) == _KEPT:
            self.lost += 1
            self._next()
        self._waiting.append((time.monotonic(), event))
        self._wake.set()

    def _next(self) -> tuple[_Event, bool]:
        """Take the event that has waited longest; also returns whether it may be in the API already."""
        event = self._waiting.popleft()[1]
        about = _about(event)
        if self._unheard.get(about) is not event:
            return event, event.series is not None
        del self._unheard[about]
        return event, False

    def _make(self, event: Emit) -> _Event:
        regarding = _reference(event.pod)
        controller = event.pod.spec.scheduler_name or "default-scheduler"
        name = f"{regarding.name[:200]}.{time.time_ns():x}{secrets.token_hex(2)}"
        return _Event(
            api_version="events.k8s.io/v1",
            kind="Event",
            metadata=_Meta(name, regarding.namespace),
            event_time=_micro(),
            reporting_controller=controller,
            reporting_instance=f"{controller}-{self._host}"[:128],
            action=event.action,
            reason=event.reason,
            regarding=regarding,
            note=event.note,
            type=event.type,
            related=None if event.related is None else _reference(event.related),
        )

    async def run(self) -> None:
        """Write until cancelled."""
        tidied = time.monotonic()
        while True:
            if time.monotonic() - tidied > SERIES:
                self._tidy()
                tidied = time.monotonic()
            if not self._waiting:
                self._wake.clear()
                await _wait(self._wake, SERIES)
            elif self._writing < self._may_write():
                self._writing += 1
                event, written = self._next()
                task = asyncio.create_task(self._write(event, written=written))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
            else:
                self._wake.clear()
                await _wait(self._wake, 0.05)

    def _may_write(self) -> int:
        if not self._busy():
            return _WRITERS
        late = time.monotonic() - self._waiting[0][0] - _PATIENCE
        return max(0, min(_BESIDE, math.ceil(_BESIDE * late / _PATIENCE)))

    async def flush(self, seconds: float, *, patient: bool = False) -> bool:
        """Wait until everything is written, at most so long; returns whether it is.

        Args:
            seconds: the longest wait.
            patient: let the time begin anew whenever an event is written.

        """
        left, until = self.unwritten, time.monotonic() + seconds
        while left and time.monotonic() < until:
            await asyncio.sleep(0.02)
            if patient and self.unwritten < left:
                until = time.monotonic() + seconds
            left = self.unwritten
        return not left

    def _tidy(self) -> None:
        """Write the counts of the series that are over, and forget them."""
        now = time.monotonic()
        for key, known in [*self._series.items()]:
            if now - known.seen > SERIES:
                self._end(key)

    def _end(self, key: tuple[Any, ...]) -> None:
        known = self._take_out(key)
        if known is None or known.event.series is None:
            return
        unwritten = self._unheard.get(_about(known.event)) is known.event
        if not unwritten and known.event.series.count > known.told:
            self._push(known.event)

    async def _write(self, event: _Event, *, written: bool) -> None:
        backoff = Backoff(1.0, 10.0, jitter=0.25)
        try:
            for _ in range(_TRIES):
                try:
                    await self._send(event, written=written)
                except ApiError as error:
                    if error.status == _CONFLICT:
                        return  # an earlier try, whose answer was lost, has written it
                    self.lost += 1
                    self._log(f"event {event.reason} of {event.regarding.name} was refused: {error}")
                    return
                except ClusterError:
                    await backoff.wait()
                else:
                    return
            self.lost += 1
            self._log(f"event {event.reason} of {event.regarding.name} was given up: no answer")
        finally:
            self._writing -= 1
            self._wake.set()

    async def _send(self, event: _Event, *, written: bool) -> None:
        path = f"/apis/events.k8s.io/v1/namespaces/{event.metadata.namespace}/events"
        if written:
            try:
                await self._client.patch(f"{path}/{event.metadata.name}", {"series": event.series})
            except ApiError as error:
                if error.status != _NOT_FOUND:
                    raise
            else:
                return
        await self._client.post(path, event)


def _about(event: _Event) -> _About:
    related = "" if event.related is None else event.related.uid
    return event.type, event.action, event.reason, event.regarding.uid, related


def _reference(pod: Pod) -> _Ref:
    meta = pod.metadata
    version = BY_TYPE[Pod].api_version
    return _Ref("Pod", meta.name, meta.namespace, meta.uid, version, meta.resource_version)


def _micro() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


async def _wait(event: asyncio.Event, seconds: float) -> None:
    # Not wait_for: in Python 3.11 it may swallow a cancellation.
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
