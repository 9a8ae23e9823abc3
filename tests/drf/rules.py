"""Ways to share one pool among tenants with constant demands: the shipped rule, and others to compare with.

A rule takes a capacity per resource and a demand per tenant and resource, and says how many grants each
tenant gets. Ties go to the earlier tenant.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from podium._core import FairShares

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Row = Sequence[int]
    Rule = Callable[[Row, Sequence[Row]], list[int]]


def tenants(capacity: Row, names: Sequence[str], weights: Sequence[Fraction] | None = None) -> FairShares:
    """Flat tenants with handles in the order of the names, the first with the oldest head."""
    shares = FairShares(capacity)
    for age, name in enumerate(names):
        handle = shares.add(name)
        shares.set_head(handle, age)
        shares.set_weight(handle, weights[age] if weights else None)
    return shares


def shipped(
    capacity: Row,
    demands: Sequence[Row],
    weights: Sequence[Fraction] | None = None,
    most: Sequence[int] | None = None,
) -> list[int]:
    """The rule of the core."""
    shares = tenants(capacity, [f"t{i:03}" for i in range(len(demands))], weights)
    grants = shares.fill(shares.tenants(), np.array(demands, dtype=np.int64), most=most)
    return np.bincount(grants, minlength=len(demands)).tolist()


def greedy(
    capacity: Row,
    demands: Sequence[Row],
    key: Callable[[Row, int], object],
    *,
    work_conserving: bool = True,
) -> list[int]:
    """One grant after the other to the tenant of the least key(usage, tenant) whose demand fits.

    If not work-conserving, everything ends where the next one's does not fit.
    """
    counts, free, live = [0] * len(demands), list(capacity), set(range(len(demands)))
    keys = {i: (key([0] * len(capacity), i), i) for i in live}
    while live:
        i = min(live, key=keys.__getitem__)
        if any(need > left for need, left in zip(demands[i], free, strict=True)):
            live = live - {i} if work_conserving else set()
            continue
        counts[i] += 1
        free = [left - need for need, left in zip(demands[i], free, strict=True)]
        keys[i] = (key([counts[i] * need for need in demands[i]], i), i)
    return counts


def shares_of(capacity: Row, used: Row) -> list[Fraction]:
    return [Fraction(amount, total) for amount, total in zip(used, capacity, strict=True) if total]


def drf(capacity: Row, demands: Sequence[Row]) -> list[int]:
    """The least dominant share first, in fractions: what `shipped` must equal."""
    return greedy(capacity, demands, lambda used, _: max(shares_of(capacity, used), default=Fraction(0)))


def asset_fairness(capacity: Row, demands: Sequence[Row]) -> list[int]:
    """The least sum of shares first; without the sharing incentive (Ghodsi et al., section 5.1)."""
    scale = np.prod([total or 1 for total in capacity], dtype=object)
    return greedy(
        capacity,
        demands,
        lambda used, _: sum(
            amount * (scale // (total or 1)) for amount, total in zip(used, capacity, strict=True)
        ),
    )


def largest_first(capacity: Row, demands: Sequence[Row]) -> list[int]:
    """The largest dominant share first: whoever is ahead stays ahead."""
    return greedy(capacity, demands, lambda used, _: -max(shares_of(capacity, used), default=Fraction(0)))


def fewest_pods_first(capacity: Row, demands: Sequence[Row]) -> list[int]:
    """Equal numbers of pods, as slots would have it: whoever asks for larger ones gets more."""
    return greedy(capacity, demands, lambda used, i: max(used) // max(demands[i]))


def stop_when_blocked(capacity: Row, demands: Sequence[Row]) -> list[int]:
    """The pseudo-code of the paper to the letter: it ends with the first demand that does not fit."""
    return greedy(capacity, demands, lambda used, _: max(shares_of(capacity, used)), work_conserving=False)


def fluid(
    capacity: Row,
    demands: Sequence[Row],
    weights: Sequence[Fraction] | None = None,
) -> list[Fraction]:
    """Divisible DRF: all weighted dominant shares rise alike; who needs a resource that is full stops."""
    weights = weights or [Fraction(1)] * len(demands)
    unit = [
        max(shares_of(capacity, demand)) / weight for demand, weight in zip(demands, weights, strict=True)
    ]
    given, free, live = (
        [Fraction(0)] * len(demands),
        [Fraction(total) for total in capacity],
        set(range(len(demands))),
    )
    while live:
        rates = [sum(demands[i][r] / unit[i] for i in live) for r in range(len(capacity))]
        step = min(left / rate for left, rate in zip(free, rates, strict=True) if rate)
        for i in live:
            given[i] += step / unit[i]
        free = [left - rate * step for left, rate in zip(free, rates, strict=True)]
        full = [r for r, left in enumerate(free) if left == 0]
        live = {i for i in live if not any(demands[i][r] for r in full)}
    return given


def worth(bundle: Row, demand: Row) -> int:
    """Whole grants of `demand` that a bundle is good for."""
    return min((have // need for have, need in zip(bundle, demand, strict=True) if need), default=0)


def times(count: int, demand: Row) -> list[int]:
    return [count * need for need in demand]
