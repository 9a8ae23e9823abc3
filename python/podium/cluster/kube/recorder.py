"""Writes events (events.k8s.io/v1), alike ones as one series, and gives way to bindings.

As client-go's: what has type, reason, action, note and objects in common within six minutes is one event with
a count; a series is written when it begins and when it ends. Unlike there nothing is dropped under load:
events wait while bindings are under way, so that a burst of pods is bound first and told of right after. And
where only the note changes, as the counts in a waiting pod's reasons do, a newer one waits for some seconds.
"""

import asyncio
import contextlib
import math
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from podium.cluster.kube.client import KubeClient
from podium.cluster.kube.event import About, Event, Series, about, make, micro_time
from podium.cluster.kube.pace import Backoff
from podium.cluster.port import Emit
from podium.errors import ApiError, ClusterError

#: A series that was not added to for this long is over.
SERIES: Final = 360.0

#: Seconds from one text to the next where nothing else differs, in events and conditions: in a busy cluster
#: the counts in the reasons of every pod that waits change all the time. As long as its longest back-off.
REST: Final = 10.0

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


@dataclass(slots=True, eq=False)
class _Known:
    """What is said of a pod: when first and last, how often, and what of it the API has."""

    about: About
    emit: Emit | None
    """Let go of once it is written: it holds a pod."""
    began: float
    seen: float
    count: int = 1
    told: int = 0
    """The count that is in the API or on its way there."""
    event: Event | None = None
    queued: bool = False

    def tell(self) -> Event:
        """Return what is to be written now."""
        ago = time.time() - time.monotonic()
        if self.event is None:
            assert self.emit is not None, "an event is made of what was emitted"
            self.event, self.emit = make(self.emit, ago + self.began), None
        if self.count > 1:
            self.event.series = Series(self.count, micro_time(ago + self.seen))
        self.told = self.count
        return self.event


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
        self._series: dict[tuple[Any, ...], _Known] = {}
        """The longest unseen first."""
        self._keys: dict[str, dict[tuple[Any, ...], None]] = {}
        """The series of each pod, by its uid, the longest unseen first."""
        self._waiting: deque[tuple[float, _Known]] = deque()
        self._unheard: dict[About, _Known] = {}
        """What waits and may be replaced by a newer word."""
        self._resting: dict[About, asyncio.TimerHandle] = {}
        """What of it waits for its time."""
        self._said: dict[str, tuple[About, float]] = {}
        """By uid of a pod that waits: what was written last, and when."""
        self._writing = 0
        self._wake = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self.lost = 0
        """Events that were refused or given up."""

    @property
    def unwritten(self) -> int:
        """How many events are not in the API yet."""
        return len(self._waiting) + len(self._resting) + self._writing

    def record(self, event: Emit) -> None:
        """Take an event about a pod."""
        now = time.monotonic()
        said = about(event)
        if event.reason in _ONCE:
            self._said.pop(event.pod.metadata.uid, None)
            self._push(_Known(said, event, now, now))
            return
        key = (*said, event.note)
        known = self._take_out(key)
        if known is not None and now - known.seen > SERIES:
            self._finish(known)
            known = None
        if known is None:
            self._put(key, self._say(said, event, now))
            if len(self._series) > _REMEMBERED:
                self._end(next(iter(self._series)))
            return
        self._put(key, known)
        known.seen = now
        known.count += 1
        if known.told == 1 and known.count == 2:
            self._push(known)

    def forget(self, uid: str) -> None:
        """End the series of a pod that is gone."""
        for key in [*self._keys.get(uid, ())]:
            self._end(key)
        said = self._said.pop(uid, None)
        if said is not None and said[0] in self._resting:
            self._rested(said[0])

    def _put(self, key: tuple[Any, ...], known: _Known) -> None:
        self._series[key] = known
        keys = self._keys.setdefault(known.about[3], {})
        keys[key] = None
        if len(keys) > _OF_ONE_POD:
            self._end(next(iter(keys)))

    def _take_out(self, key: tuple[Any, ...]) -> _Known | None:
        known = self._series.pop(key, None)
        if known is not None:
            uid = known.about[3]
            keys = self._keys[uid]
            del keys[key]
            if not keys:
                del self._keys[uid]
        return known

    def _say(self, said: About, event: Emit, now: float) -> _Known:
        """Let a newer word replace one that is not written yet: there are never more than pods.

        Returns:
            What is going to be written.

        """
        unheard = self._unheard.get(said)
        if unheard is not None and unheard.emit is not None:
            self._take_out((*said, unheard.emit.note))
            unheard.emit, unheard.began, unheard.seen, unheard.count = event, now, now, 1
            return unheard
        known = self._unheard[said] = _Known(said, event, now, now)
        last = self._said.get(said[3])
        if last is not None and last[0] == said and now < last[1] + REST:
            wait = last[1] + REST - now
            self._resting[said] = asyncio.get_running_loop().call_later(wait, self._rested, said)
        else:
            self._push(known)
        return known

    def _rested(self, said: About) -> None:
        self._resting.pop(said).cancel()
        self._push(self._unheard[said])

    def _push(self, known: _Known) -> None:
        if known.queued:
            return
        if len(self._waiting) == _KEPT:
            self.lost += 1
            self._next()
        known.queued = True
        self._waiting.append((time.monotonic(), known))
        self._wake.set()

    def _next(self) -> _Known:
        """Take the event that has waited longest."""
        known = self._waiting.popleft()[1]
        known.queued = False
        if self._unheard.get(known.about) is known:
            del self._unheard[known.about]
            if known.about[3] in self._keys:  # not of a pod that is gone
                self._said[known.about[3]] = (known.about, time.monotonic())
        return known

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
                known = self._next()
                written = known.told > 0
                task = asyncio.create_task(self._write(known.tell(), written=written))
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
        for said in [*self._resting]:
            self._rested(said)
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
        if known is not None:
            self._finish(known)

    def _finish(self, known: _Known) -> None:
        """Write a count that has grown; what was never written is on its way with its own."""
        if 0 < known.told < known.count:
            self._push(known)

    async def _write(self, event: Event, *, written: bool) -> None:
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

    async def _send(self, event: Event, *, written: bool) -> None:
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


async def _wait(event: asyncio.Event, seconds: float) -> None:
    # Not wait_for: in Python 3.11 it may swallow a cancellation.
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
