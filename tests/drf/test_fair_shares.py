"""The Python face of the fair shares: what it accepts, what it refuses, and from how many threads."""

from __future__ import annotations

import math
import threading
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest
from podium._core import FairShares
from podium.errors import CoreError

from tests.drf.rules import tenants

if TYPE_CHECKING:
    from collections.abc import Callable


def test_names_handles_and_parents() -> None:
    shares = FairShares([1])
    queue = shares.add("queue")
    leaf = shares.add("leaf", queue)
    assert (shares.find("leaf"), shares.find("other")) == (leaf, None)
    assert (shares.name(leaf), shares.parent(leaf), shares.parent(queue)) == ("leaf", queue, None)
    assert shares.tenants() == [queue, leaf]
    shares.set_parent(leaf, None)
    assert shares.parent(leaf) is None
    shares.remove(queue)
    assert shares.tenants() == [leaf]


def test_heads_decide_ties() -> None:
    shares = FairShares([10])
    old, young, urgent = (shares.add(name) for name in "abc")
    assert shares.pick() is None
    shares.set_head(young, 5)
    shares.set_head(old, 4, 7)
    assert shares.head(old) == (4, 7, 0)
    assert shares.pick() == old
    shares.set_head(old, 5, 1)
    assert shares.pick() == young
    shares.set_head(urgent, 9, band=2_000_000_000)
    shares.charge(urgent, [10])
    assert shares.order() == [urgent, young, old]
    shares.block(urgent)
    assert (shares.pick(), shares.is_blocked(urgent)) == (young, True)
    shares.clear_head(young)
    assert (shares.pick(), shares.head(young)) == (old, None)
    shares.unblock_all()
    assert shares.pick() == urgent


@pytest.mark.parametrize(
    ("weight", "want"),
    [
        (None, (1, 1)),
        (0, (0, 1)),
        (3, (3, 1)),
        (0.5, (1, 2)),
        (Fraction(2, 6), (1, 3)),
        (Decimal("0.1"), (1, 10)),
    ],
)
def test_weights(weight: Fraction | None, want: tuple[int, int]) -> None:
    shares = tenants([1], ["t"])
    (tenant,) = shares.tenants()
    shares.set_weight(tenant, weight)
    assert shares.weight(tenant) == want


def test_weight_zero_comes_last_and_unset_is_one() -> None:
    shares = tenants([10], ["zero", "one", "unset"], [0, 1, None])
    zero, one, unset = shares.tenants()
    shares.charge(one, [9])
    shares.charge(unset, [1])
    assert shares.order() == [unset, one, zero]
    assert shares.compare(one, zero) == -1


def test_resource_weights() -> None:
    shares = tenants([10, 10], ["a", "b"])
    a, b = shares.tenants()
    shares.charge(a, [2, 0])
    shares.charge(b, [0, 3])
    assert shares.pick() == a
    shares.set_resource_weights([2, 1])
    assert shares.pick() == b
    shares.set_resource_weights([2, 0])
    assert shares.share(b) == (None, 0, 1)
    assert shares.share(a) == (0, 2, 10)
    assert shares.weighted_share(a) == 0.4


ROWS = np.zeros((2, 2), dtype=np.int64)
REFUSED: list[tuple[Callable[[FairShares, int], object], str]] = [
    (
        lambda s, t: s.charge(t, [2**63, 0]),
        "request of resource 0 is 9223372036854775808: it must be an integer",
    ),
    (lambda s, t: s.charge(t, [0, 1.0]), "request of resource 1 is 1.0"),
    (lambda s, t: s.charge(t, [0, -1]), "request of resource 1 is -1: it must not be negative"),
    (lambda s, t: s.charge(t, [1]), "request has 1 amounts, but there are 2 resources"),
    (
        lambda s, t: s.charge(t, [2**63 - 1, 0]),
        "charging 9223372036854775807 of resource 0 on top of 1 in use",
    ),
    (lambda s, t: s.refund(t, [2, 0]), r'tenant "t" gives back 2 of resource 0 but uses 1'),
    (lambda s, t: s.charge(77, [0, 0]), "no tenant has the handle 77"),
    (lambda s, t: s.charge(0, [0, 0]), "no tenant has the handle 0"),
    (lambda s, t: s.set_weight(t, -1), "weight -1 must be a finite number, not negative"),
    (lambda s, t: s.set_weight(t, math.inf), "weight inf must be a finite number"),
    (lambda s, t: s.set_weight(t, math.nan), "weight nan must be a finite number"),
    (lambda s, t: s.set_weight(t, 1 / 3), "needs more than 32 bits in lowest terms: use a simpler fraction"),
    (lambda s, t: s.set_weight(t, "2"), "weight 2 must be a finite number"),
    (lambda s, t: s.add("t"), r'tenant "t" exists already'),
    (lambda s, t: s.add("child", t), r'tenant "t" cannot get children: it has usage or a waiting pod'),
    (lambda s, t: s.remove(t), r'tenant "t" cannot be removed: it has usage'),
    (lambda s, t: s.remove(s.find("queue")), r'tenant "queue" cannot be removed: it has children'),
    (lambda s, t: s.charge(s.find("queue"), [0, 0]), r'tenant "queue" has children: pods are charged to'),
    (lambda s, t: s.set_parent(s.find("queue"), s.find("leaf")), r'"queue" cannot move below "leaf"'),
    (lambda s, t: s.set_capacity([1]), "capacity has 1 amounts, but there are 2 resources"),
    (lambda s, t: s.set_capacity([1, -1]), "capacity of resource 1 is -1"),
    (lambda s, t: s.set_resource_weights([1]), "resource weights has 1 amounts"),
    (
        lambda s, t: s.fill([s.find("leaf")], np.zeros((1, 2), dtype=np.int64)),
        r'tenant "t" has a waiting pod but',
    ),
    (lambda s, t: s.fill([t], np.zeros((2, 2), dtype=np.int64)), "demands has 4 amounts"),
]


@pytest.mark.parametrize(("act", "message"), REFUSED)
def test_refusals_name_what_is_wrong_and_change_nothing(
    act: Callable[[FairShares, int], object], message: str
) -> None:
    shares = FairShares([10, 10])
    tenant = shares.add("t")
    shares.add("leaf", shares.add("queue"))
    shares.charge(tenant, [1, 0])
    shares.set_head(tenant, 0)
    before = shares.digest()
    with pytest.raises(CoreError, match=message):
        act(shares, tenant)
    assert (shares.digest(), shares.order()) == (before, [tenant])


def test_depth_is_bounded() -> None:
    shares = FairShares([1])
    parent = None
    for level in range(32):
        parent = shares.add(f"level {level}", parent)
    with pytest.raises(CoreError, match='"one more" would be 33 levels deep: at most 32'):
        shares.add("one more", parent)
    other = shares.add("other")
    shares.add("below", other)
    with pytest.raises(CoreError, match='"other" would be 33 levels deep'):
        shares.set_parent(other, shares.find("level 30"))


def test_fill_stops_at_its_limit_and_leaves_nobody_blocked() -> None:
    shares = tenants([10], ["a", "b"])
    a, b = shares.tenants()
    ones = np.ones((2, 1), dtype=np.int64)
    assert shares.fill([a, b], ones, limit=3).tolist() == [0, 1, 0]
    assert shares.fill([a, b], ones, most=[1, 2]).tolist() == [1, 0, 1]
    assert shares.fill([a, b], ones).tolist() == [0, 1, 0, 1]
    assert (shares.total(), shares.is_blocked(a), shares.is_blocked(b)) == ([10], False, False)


def test_threads_do_not_lose_charges() -> None:
    shares = tenants([10**9], [f"t{i}" for i in range(4)])

    def work(tenant: int) -> None:
        for amount in range(1, 2000):
            shares.charge(tenant, [amount])
            shares.pick()
            if amount % 2:
                shares.refund(tenant, [amount])

    threads = [threading.Thread(target=work, args=(tenant,)) for tenant in shares.tenants()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {shares.used(tenant)[0] for tenant in shares.tenants()} == {sum(range(2, 2000, 2))}
