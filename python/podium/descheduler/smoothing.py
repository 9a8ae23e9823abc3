"""Smoothing of measured load as upstream does it, and how old a sample may be."""

from typing import Final

from podium.api.objects.base import Timestamp
from podium.descheduler.world import SECOND, parse_time

#: How often the metrics API is read, in nanoseconds.
POLL: Final = 5 * SECOND

#: The weight of what was known before.
KEPT: Final = 0.9

#: The age in nanoseconds beyond which guarded mode takes a sample for missing.
OLDEST: Final = 300 * SECOND


def smooth(value: int, sample: int) -> int:
    """Return the next value, rounded."""
    return _round(KEPT * float(value) + (1 - KEPT) * float(sample))


def is_fresh(timestamp: Timestamp | None, now: int) -> bool:
    """Tell whether a sample is young enough; one that does not say when it was taken is."""
    return timestamp is None or now - parse_time(str(timestamp)) <= OLDEST


def _round(value: float) -> int:
    """Round half away from zero, as Go's ``math.Round``."""
    whole = int(value)
    return whole + (1 if value > 0 else -1) if abs(value - whole) >= 0.5 else whole
