"""How fast requests may follow one another, and how long to wait after a failure."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from podium.errors import ApiError, Unreachable

T = TypeVar("T")

#: Tries of a request whose answer was lost or which met a conflict, and the pause before each.
_PAUSES: Final = (0.0, 0.05, 0.25, 1.0, 3.0)
_CONFLICT: Final = 409
_BROKEN: Final = 500


class TokenBucket:
    """client-go's rate limit: ``qps`` requests a second on average, ``burst`` at once.

    A rate of zero or less is no limit.
    """

    def __init__(self, qps: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._qps = qps
        self._burst = max(burst, 1)
        self._clock = clock
        self._tokens = float(self._burst)
        self._at = clock()

    def take(self) -> float:
        """Take a token; returns how many seconds to wait before using it."""
        if self._qps <= 0:
            return 0.0
        now = self._clock()
        self._tokens = min(self._burst, self._tokens + max(now - self._at, 0.0) * self._qps)
        self._at = now
        self._tokens -= 1
        return max(-self._tokens / self._qps, 0.0)

    async def wait(self) -> None:
        """Wait for one's turn; turns come in the order of the calls."""
        delay = self.take()
        if delay > 0:
            await asyncio.sleep(delay)


class Backoff:
    """Growing waits with jitter; whoever was well for ``reset`` seconds starts from the beginning.

    The defaults are those of client-go's reflector: 0.8 s doubling to 30 s, each up to twice as long.
    """

    def __init__(
        self, first: float = 0.8, most: float = 30.0, *, jitter: float = 1.0, reset: float = 120.0
    ) -> None:
        self._first = first
        self._most = most
        self._jitter = jitter
        self._reset = reset
        self._next = first
        self._last = float("-inf")

    def step(self) -> float:
        """Return how many seconds to wait now."""
        now = time.monotonic()
        if now - self._last > self._reset:
            self._next = self._first
        self._last = now
        wait = self._next
        self._next = min(self._next * 2, self._most)
        return wait * (1 + random.random() * self._jitter)

    async def wait(self) -> None:
        """Wait one step."""
        await asyncio.sleep(self.step())


async def persist(send: Callable[[], Awaitable[T]]) -> T:
    """Send until there is an answer that says something, a few times; for what may be done twice.

    Raises:
        ApiError, Unreachable: what the last try ended with, or a refusal that will not change.

    """
    last: ApiError | Unreachable | None = None
    for pause in _PAUSES:
        await asyncio.sleep(pause)
        try:
            return await send()
        except Unreachable as error:
            last = error
        except ApiError as error:
            if error.status != _CONFLICT and error.status < _BROKEN:
                raise
            last = error
    assert last is not None, "every try has failed"
    raise last
