"""Drives the scheduler on a live cluster: events in, a step, actions out, and again when something happens.

The step runs on a thread of its own, so that requests go on while the core decides; it is the only thing that
touches the scheduler. What ``podium.cluster`` sends runs on the asyncio loop that runs this.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, Protocol, TypeVar

from podium.cluster.port import Action, Event
from podium.scheduler.loop import Scheduler

log = logging.getLogger("podium.live")

S = TypeVar("S")
T = TypeVar("T")

#: Scheduling cycles in one step: between two steps requests are sent and events are heard.
SLICE: Final = 512

#: Seconds for which events are gathered before a step: little while few pods are on their way, so that a
#: single pod is quick; more when many are, so that hundreds of events cost one step.
GATHER: Final = 0.002
GATHER_BUSY: Final = 0.02
_BUSY: Final = 32

#: Seconds between two steps when nothing happens; parked pods are looked at then.
_IDLE: Final = 1.0


class Backend(Protocol):
    """What the driver needs of a cluster beside the port."""

    def events(self) -> Sequence[Event]:
        """Return what happened since the last call."""

    def perform(self, actions: Sequence[Action]) -> None:
        """Begin to carry out actions."""

    def now(self) -> int:
        """Return the time in nanoseconds."""

    @property
    def binding(self) -> int:
        """How many bindings are under way."""

    @property
    def idle(self) -> bool:
        """Whether nothing is under way that may bring about an event."""


class Driver:
    """Runs a scheduler until it is stopped.

    Args:
        scheduler: used by nobody else while this runs.
        cluster: the backend.
        leads: whether pods may be scheduled now; while not, the driver only keeps up with the cluster.

    """

    def __init__(self, scheduler: Scheduler, cluster: Backend, leads: Callable[[], bool]) -> None:
        self.scheduler = scheduler
        self._cluster = cluster
        self._leads = leads
        self._wake = asyncio.Event()
        self._stopping = False
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="scheduler")
        self._lock = asyncio.Lock()

    def wake(self) -> None:
        """Make a step soon; to be called on the loop."""
        self._wake.set()

    def stop(self) -> None:
        """Place no more pods; what is under way goes on."""
        self._stopping = True
        self._wake.set()

    async def run(self, *, once: bool = False) -> None:
        """Step until stopped; with ``once`` until nothing that is pending can be placed by waiting."""
        while not self._stopping:
            moved = await self.step()
            if once and not moved and self._drained():
                return
            if not moved:
                await self._pause()
            await asyncio.sleep(GATHER_BUSY if self._cluster.binding >= _BUSY else GATHER)
        await self.step()

    async def step(self) -> bool:
        """Make one step; returns whether anything came of it."""
        async with self._lock:
            return await self._step()

    async def inspect(self, work: Callable[[], T]) -> T:
        """Do something with the scheduler while no step runs."""
        async with self._lock:
            await self._step()
            return await self._call(work)

    async def compare(self, heard: Callable[[], S], work: Callable[[S], T]) -> T:
        """Do something with the scheduler and what it has heard.

        What comes while it is busy is in neither: ``heard`` is called when its events are taken.
        """
        async with self._lock:
            known = heard()
            await self._step()
            return await self._call(lambda: work(known))

    async def _step(self) -> bool:
        self._wake.clear()
        scheduler = self.scheduler
        events = self._cluster.events()
        before = scheduler.tries
        limit = SLICE if self._leads() and not self._stopping else 0
        now = self._cluster.now()
        actions = await self._call(lambda: scheduler.step(events, now, limit))
        self._cluster.perform(actions)
        return bool(actions) or scheduler.tries != before

    async def _call(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    def close(self) -> None:
        """End the thread."""
        self._pool.shutdown(cancel_futures=True)

    def _drained(self) -> bool:
        counts = self.scheduler.engine.queue_counts()
        waiting = counts.get("active", 0) + counts.get("backoff", 0)
        return self._leads() and not waiting and self._cluster.idle

    async def _pause(self) -> None:
        """Wait for an event, or until a pod is due."""
        due = self.scheduler.next_due()
        seconds = _IDLE
        if due is not None:
            seconds = min(max((due - self._cluster.now()) / 1e9, 0.0), _IDLE)
        # Not wait_for: in Python 3.11 it may swallow a cancellation.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._wake.wait()
