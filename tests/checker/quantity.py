"""Resource quantities, exactly, as the API server reads them (the checker's own reader)."""

import re
from fractions import Fraction
from functools import cache
from math import ceil

LARGEST = 2**63 - 1
NANO = 10**9
SUFFIX = {
    "": Fraction(1),
    **{s: Fraction(1, 1000**i) for i, s in enumerate(("m", "u", "n"), 1)},
    **{s: Fraction(1000**i) for i, s in enumerate(("k", "M", "G", "T", "P", "E"), 1)},
    **{s: Fraction(1024**i) for i, s in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"), 1)},
}
FORM = re.compile(r"([+-]?)(\d*)(?:\.(\d*))?([eE][+-]?\d+|[KMGTPE]i|[numkMGTPE]|)")


@cache
def parse(text: str) -> Fraction:
    """The exact amount; finer than a nano is rounded away from zero, larger than int64 is capped."""
    found = FORM.fullmatch(text)
    if found is None or not (found[2] or found[3]):
        raise ValueError(f"{text!r} is not a quantity")
    digits = Fraction(int((found[2] or "") + (found[3] or "") or 0), 10 ** len(found[3] or ""))
    suffix = found[4]
    scale = SUFFIX[suffix] if suffix in SUFFIX else Fraction(10) ** int(suffix[1:])
    amount = min(Fraction(ceil(digits * scale * NANO), NANO), Fraction(LARGEST))
    return -amount if found[1] == "-" else amount


def read(mapping: dict | None) -> dict[str, Fraction]:
    """A resource list, each amount rounded up to a milli unit as API defaulting does.

    YAML may have read a plain number as one.
    """
    return {name: Fraction(ceil(parse(str(amount)) * 1000), 1000) for name, amount in (mapping or {}).items()}


def whole(name: str, amount: Fraction) -> int:
    """The int64 that the scheduler counts with: milli for cpu, else the unit itself, rounded up.

    Upstream overflows here rather than refusing: milli-cpu beyond int64 is 0, and a sum beyond
    int64 wraps and is dropped when it comes out negative.
    """
    if name == "cpu":
        milli = ceil(amount * 1000)
        return milli if milli <= LARGEST else 0
    return max(0, (ceil(amount) + 2**63) % 2**64 - 2**63)
