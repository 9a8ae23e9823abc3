"""Durations as Kubernetes writes them: Go's ``time.Duration``, exact in nanoseconds."""

import re
from fractions import Fraction
from functools import total_ordering
from typing import Final, Self

_UNITS: Final = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "μs": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
_MAX: Final = 2**63 - 1
_PART: Final = re.compile(r"(\d*)(?:\.(\d*))?([^\d.]*)", re.ASCII)


@total_ordering
class Duration:
    """A length of time in whole nanoseconds; it fits 64 signed bits and prints as Go prints it (``1m0s``).

    Immutable and hashable. No dataclass: msgspec would read and write it as a map.
    """

    __slots__ = ("_nanoseconds",)

    def __init__(self, nanoseconds: int) -> None:
        self._nanoseconds = nanoseconds

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read Go's notation (``1h30m``, ``50ms``, ``0``).

        Raises:
            ValueError: with the wording of Go's ``time.ParseDuration``.

        """
        sign, rest = (-1, text[1:]) if text.startswith("-") else (1, text.removeprefix("+"))
        if rest == "0":
            return cls(0)
        if not rest:
            raise ValueError(f'time: invalid duration "{text}"')
        total = Fraction(0)
        at = 0
        while at < len(rest):
            part = _PART.match(rest, at)
            if part is None or not (part[1] or part[2]):
                raise ValueError(f'time: invalid duration "{text}"')
            whole, fraction, unit = part[1] or "0", part[2] or "", part[3]
            if not unit:
                raise ValueError(f'time: missing unit in duration "{text}"')
            if unit not in _UNITS:
                raise ValueError(f'time: unknown unit "{unit}" in duration "{text}"')
            total += Fraction(int(whole + fraction), 10 ** len(fraction)) * _UNITS[unit]
            at = part.end()
        nanoseconds = int(total)
        if nanoseconds > _MAX:
            raise ValueError(f'time: invalid duration "{text}"')
        return cls(sign * nanoseconds)

    @classmethod
    def from_seconds(cls, seconds: float) -> Self:
        """Round seconds to the nearest nanosecond."""
        return cls(round(seconds * 1_000_000_000))

    @property
    def nanoseconds(self) -> int:
        """The length in nanoseconds."""
        return self._nanoseconds

    @property
    def seconds(self) -> float:
        """The length in seconds."""
        return self.nanoseconds / 1_000_000_000

    def __eq__(self, other: object) -> bool:
        return self._nanoseconds == other._nanoseconds if isinstance(other, Duration) else NotImplemented

    def __lt__(self, other: "Duration") -> bool:
        return self._nanoseconds < other._nanoseconds

    def __hash__(self) -> int:
        return hash((Duration, self._nanoseconds))

    def __repr__(self) -> str:
        return f"Duration({self._nanoseconds})"

    def __str__(self) -> str:
        ns = abs(self.nanoseconds)
        sign = "-" if self.nanoseconds < 0 else ""
        if ns == 0:
            return "0s"
        for unit, size in (("ns", 1), ("µs", 1_000), ("ms", 1_000_000)):
            if ns < size * 1_000:
                return f"{sign}{_decimal(ns, size)}{unit}"
        minutes, rest = divmod(ns, _UNITS["m"])
        seconds = f"{_decimal(rest, _UNITS['s'])}s"
        if not minutes:
            return f"{sign}{seconds}"
        hours, minutes = divmod(minutes, 60)
        return f"{sign}{hours}h{minutes}m{seconds}" if hours else f"{sign}{minutes}m{seconds}"


def _decimal(value: int, unit: int) -> str:
    whole, rest = divmod(value, unit)
    digits = f"{rest:0{len(str(unit)) - 1}d}".rstrip("0") if rest else ""
    return f"{whole}.{digits}" if digits else str(whole)
