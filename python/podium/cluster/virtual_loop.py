"""An event loop on a virtual clock: ``asyncio.sleep`` takes no real time."""

import asyncio
import heapq
import itertools
import logging
from collections import deque
from collections.abc import Callable, Coroutine
from contextvars import Context
from typing import Any

SECOND = 1_000_000_000

log = logging.getLogger("podium.cluster")


class VirtualLoop(asyncio.AbstractEventLoop):
    """Runs coroutines that wait for nothing but each other and the clock; no I/O, no threads.

    ``run`` goes on until every coroutine waits; ``next_time`` says until when. Times are nanoseconds of the
    clock that ``now`` reads.
    """

    def __init__(self, now: Callable[[], int]) -> None:
        self._now = now
        self._ready: deque[asyncio.Handle] = deque()
        self._timers: list[tuple[int, int, asyncio.TimerHandle]] = []
        self._order = itertools.count()
        self._tasks: set[asyncio.Task[Any]] = set()

    def start(self, coroutine: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Begin a coroutine; it runs when ``run`` does."""
        return self._keep(asyncio.Task(coroutine, loop=self))

    def _keep(self, task: asyncio.Task[Any]) -> asyncio.Task[Any]:
        # Nobody else holds a task that waits.
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def run(self) -> None:
        """Run whatever can run now."""
        before = asyncio._get_running_loop()  # noqa: SLF001 (published for those who implement loops)
        asyncio._set_running_loop(self)  # noqa: SLF001
        try:
            while True:
                while self._timers and self._timers[0][0] <= self._now():
                    self._ready.append(heapq.heappop(self._timers)[2])
                if not self._ready:
                    return
                handle = self._ready.popleft()
                if not handle.cancelled():
                    handle._run()  # noqa: SLF001 (how a loop runs a handle)
        finally:
            asyncio._set_running_loop(before)  # noqa: SLF001

    def next_time(self) -> int | None:
        """Return when a sleeper wakes, None if nobody sleeps."""
        while self._timers and self._timers[0][2].cancelled():
            heapq.heappop(self._timers)
        return self._timers[0][0] if self._timers else None

    def close(self) -> None:
        """Cancel what is still waiting."""
        for task in list(self._tasks):
            task.cancel()
        self.run()

    def time(self) -> float:
        """Return the virtual time in seconds."""
        return self._now() / SECOND

    def call_soon(  # type: ignore[override]  # typeshed has a TypeVarTuple that a subclass cannot spell here
        self, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        """Queue a callback."""
        handle = asyncio.Handle(callback, args, self, context)
        self._ready.append(handle)
        return handle

    def call_later(  # type: ignore[override]  # as call_soon
        self, delay: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """Queue a callback for later."""
        return self._at(self._now() + max(0, round(delay * SECOND)), callback, args, context)

    def call_at(  # type: ignore[override]  # as call_soon
        self, when: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """Queue a callback for a time."""
        return self._at(round(when * SECOND), callback, args, context)

    def _at(
        self, when: int, callback: Callable[..., object], args: tuple[Any, ...], context: Context | None
    ) -> asyncio.TimerHandle:
        handle = asyncio.TimerHandle(when / SECOND, callback, args, self, context)
        heapq.heappush(self._timers, (when, next(self._order), handle))
        return handle

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """Be told by a handle; it is skipped when its time comes."""

    def create_future(self) -> asyncio.Future[Any]:
        """Return a future of this loop."""
        return asyncio.Future(loop=self)

    def create_task(  # type: ignore[override]  # as call_soon
        self, coro: Coroutine[Any, Any, Any], *, name: str | None = None, context: Context | None = None
    ) -> asyncio.Task[Any]:
        """Begin a coroutine."""
        task: asyncio.Task[Any] = asyncio.Task(coro, loop=self, name=name, context=context)
        return self._keep(task)

    def get_debug(self) -> bool:
        """Return False."""
        return False

    def is_running(self) -> bool:
        """Return True: whoever asks runs on it."""
        return True

    def is_closed(self) -> bool:
        """Return False."""
        return False

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Log what nobody awaited."""
        log.error("%s", context.get("message"), exc_info=context.get("exception"))
