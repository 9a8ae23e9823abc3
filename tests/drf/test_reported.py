"""Fairness bugs that users of other schedulers reported, as far as they are arithmetic of shares."""

from __future__ import annotations

import itertools
import math
import random

import numpy as np
import pytest
from podium._core import FairShares

from tests.drf.rules import tenants


def may_move(shares: FairShares, gainer: int, gain: int, losers: dict[int, int]) -> bool:
    """Whether a reclaim is fair: afterwards the gainer must not have more than any loser. Undone if not."""
    moves = [(shares.refund, shares.charge, tenant, [amount]) for tenant, amount in losers.items()]
    moves.append((shares.charge, shares.refund, gainer, [gain]))
    for do, _, tenant, amount in moves:
        do(tenant, amount)
    fair = all(shares.compare(gainer, loser) <= 0 for loser in losers)
    if not fair:
        for _, undo, tenant, amount in reversed(moves):
            undo(tenant, amount)
    return fair


def test_volcano_1661_weights_of_siblings_are_part_of_the_rescaling() -> None:
    """A tiny queue beside one of weight 1000 must not make their parent look starved."""
    shares = FairShares([1000])
    dev, alt = shares.add("dev"), shares.add("alt")
    little, big = shares.add("little", dev), shares.add("big", dev)
    shares.set_weight(big, 1000)
    for age, leaf in enumerate([little, big, alt]):
        shares.set_head(leaf, age)
    shares.fill([little, big, alt], np.ones((3, 1), dtype=np.int64))
    assert [shares.used(leaf) for leaf in (little, big, alt)] == [[1], [499], [500]]
    assert shares.compare(dev, alt) == 0
    assert not may_move(shares, big, 1, {alt: 1})
    assert not may_move(shares, alt, 1, {big: 1})
    shares.set_capacity([2000])  # not full: now the share counts
    assert shares.weighted_share(dev) == pytest.approx(0.24975, abs=1e-5)  # 0.001 without the weights


def test_volcano_1748_an_entitled_queue_on_a_full_cluster() -> None:
    shares = tenants([9], ["test1", "test2"])
    test1, test2 = shares.tenants()
    shares.charge(test1, [9])
    assert shares.pick() == test2
    moved = sum(may_move(shares, test2, 1, {test1: 1}) for _ in range(9))
    assert (moved, shares.used(test1), shares.used(test2)) == (4, [5], [4])


@pytest.mark.parametrize("deserved", [None, 5])
def test_volcano_3729_eleven_cpus_and_pods_of_two(deserved: int | None) -> None:
    shares = tenants([11], ["q1", "q2"])
    q1, q2 = shares.tenants()
    for queue in (q1, q2):
        shares.set_limits(queue, deserved=[deserved])
    shares.charge(q1, [10])
    history = []
    for gainer, loser in [(q2, q1)] * 5 + [(q1, q2)] * 5 + [(q2, q1)]:
        allowed = shares.releases(loser, [2], gainer) is None
        if allowed and may_move(shares, gainer, 2, {loser: 2}):
            history.append((shares.used(q1)[0], shares.used(q2)[0]))
    assert history == [(8, 2), (6, 4)]


def test_volcano_4947_a_pod_that_would_only_turn_the_tables() -> None:
    """Four CPUs: evicting the 3-CPU pod for one of 4 leaves its queue with nothing, and first in line."""
    shares = tenants([4], ["small", "large"])
    small, large = shares.tenants()
    shares.charge(small, [3])
    assert not may_move(shares, large, 4, {small: 3})
    assert shares.pick() == large


def test_volcano_561_extreme_weights_do_not_ping_pong() -> None:
    shares = tenants([8], ["default", "queue1"], [1, 100_000])
    default, queue1 = shares.tenants()
    shares.charge(default, [7])
    shares.charge(queue1, [1])
    moves = [may_move(shares, queue1, 1, {default: 1}) for _ in range(7)]
    assert (sum(moves), shares.used(default)) == (6, [1])
    assert not may_move(shares, default, 1, {queue1: 1})


@pytest.mark.parametrize(
    ("gang", "victims", "fair"), [(6, 3, False), (5, 3, False), (4, 2, True), (3, 2, True), (2, 1, True)]
)
def test_kueue_7101_gangs_of_two_against_a_gang(gang: int, victims: int, fair: bool) -> None:
    """Eight GPUs, all with project 1. From 8:0 to 4:4 is fair, and what is fair cannot be claimed back."""
    shares = tenants([8], ["proj-1", "proj-2"])
    one, two = shares.tenants()
    shares.charge(one, [8])
    assert may_move(shares, two, gang, {one: 2 * victims}) == fair
    if fair:
        assert not may_move(shares, one, 2, {two: gang})


def test_kueue_14543_the_final_books_decide_not_the_order_of_victims() -> None:
    """P evicts two of its own and two of Q's for four: fair half-way, unfair with P's own filled back."""
    shares = tenants([10], ["P", "Q"])
    p, q = shares.tenants()
    shares.charge(p, [4])
    shares.charge(q, [6])
    before = shares.digest()
    for order in itertools.permutations([(p, 2), (q, 2)]):
        for victim, amount in order:
            shares.refund(victim, [amount])
        assert shares.compare(p, q) == -1  # P 2, Q 4
        shares.charge(p, [4])
        assert shares.compare(p, q) == 1  # P 6, Q 4: no
        shares.refund(p, [4])
        for victim, amount in order:
            shares.charge(victim, [amount])
        assert shares.digest() == before
    assert may_move(shares, p, 1, {q: 1})  # 5 and 5


def test_fair_moves_come_to_an_end() -> None:
    """Whatever moves are tried: the larger of the two shares falls with each, so none can go on for ever."""
    source = random.Random(3)
    for _ in range(200):
        weights = [source.randint(1, 4) for _ in range(4)]
        shares = tenants([40], ["a", "b", "c", "d"], weights)
        everybody = shares.tenants()
        for tenant in everybody:
            shares.charge(tenant, [source.randint(0, 10)])
        seen, moves = {tuple(shares.used(tenant)[0] for tenant in everybody)}, 0
        for _ in range(400):
            gainer, loser = source.sample(everybody, 2)
            amount = source.randint(1, 3)
            if shares.used(loser)[0] >= amount and may_move(shares, gainer, amount, {loser: amount}):
                state = tuple(shares.used(tenant)[0] for tenant in everybody)
                assert state not in seen
                seen.add(state)
                moves += 1
        assert moves <= 60


def test_volcano_1485_capability_caps_what_it_lists() -> None:
    """One list names only the CPU, one gives zero GPUs, one names nothing: three different things."""
    shares = tenants([20, 20], ["lab", "nogpu", "main"])
    lab, nogpu, main = shares.tenants()
    shares.set_limits(lab, capability=[6])
    shares.set_limits(nogpu, capability=[math.inf, 0])
    shares.charge(lab, [5, 20])
    assert shares.admits(lab, [1, 10]) is None
    assert shares.admits(lab, [2, 0]) == ("capability", lab, 0, 6)
    assert shares.admits(nogpu, [20, 0]) is None
    assert shares.admits(nogpu, [1, 1]) == ("capability", nogpu, 1, 0)
    assert shares.admits(main, [100, 100]) is None  # what fits is not the books' business


def test_yunikorn_1988_unset_zero_and_unlimited_guarantees() -> None:
    shares = tenants([10], ["unset", "zero", "some"])
    unset, zero, some = shares.tenants()
    shares.set_limits(zero, guarantee=[0])
    shares.set_limits(some, guarantee=[4])
    for tenant in (unset, zero, some):
        shares.charge(tenant, [3])
    assert shares.releases(unset, [3], some) is None
    assert shares.releases(zero, [3], some) is None
    assert shares.releases(some, [1], unset) == ("guarantee", some, 0, 4)
    # Four are kept for the third queue, of which it uses three; so six are left for the others.
    assert shares.admits(unset, [3]) is None
    assert shares.admits(unset, [4]) == ("guarantee", unset, 0, 6)
    assert shares.admits(some, [7]) is None


def test_unset_zero_and_unlimited_deserved() -> None:
    shares = tenants([10], ["unset", "zero", "five", "unlimited"])
    unset, zero, five, unlimited = shares.tenants()
    for tenant, deserved in [(zero, 0), (five, 5), (unlimited, math.inf)]:
        shares.set_limits(tenant, deserved=[deserved])
    for tenant in shares.tenants():
        shares.charge(tenant, [6])
    assert shares.releases(unset, [6], zero) is None
    assert shares.releases(zero, [6], unset) is None
    assert shares.releases(five, [1], unset) is None
    assert shares.releases(five, [2], unset) == ("deserved", five, 0, 5)
    assert shares.releases(unlimited, [1], unset) == ("deserved", unlimited, 0, None)


def test_yunikorn_2678_limits_do_not_touch_the_order() -> None:
    """There a missing guarantee sorted as zero, or as infinity. The order knows shares and weights alone."""
    source = random.Random(4)
    for _ in range(100):
        names = [f"q{i}" for i in range(6)]
        plain, limited = tenants([10, 10], names), tenants([10, 10], names)
        for tenant in plain.tenants():
            used = [source.randint(0, 3), source.randint(0, 3)]
            limit = [source.choice([None, 0, 5]) for _ in range(2)]
            limited.set_limits(tenant, guarantee=limit, deserved=limit, capability=limit)
            for shares in (plain, limited):
                shares.charge(tenant, used)
        assert limited.order() == plain.order()


def test_volcano_drf_sorts_jobs_many_small_ones_are_one_tenant() -> None:
    """A tenant's hundred small jobs count together: they do not beat another's one large job."""
    shares = tenants([60], ["red", "blue"])
    red, blue = shares.tenants()
    grants = shares.fill([red, blue], np.ones((2, 1), dtype=np.int64))
    assert np.bincount(grants).tolist() == [30, 30]


def test_floats_would_leave_a_residue() -> None:
    """Adding and taking back a hundred thousand pods of 0.7 leaves -1.6e-12 in floating point."""
    shares = tenants([10**9], ["a", "b"])
    a, _ = shares.tenants()
    source = random.Random(5)
    pods = [[source.randint(1, 700)] for _ in range(100_000)]
    for pod in pods:
        shares.charge(a, pod)
    source.shuffle(pods)
    for pod in pods:
        shares.refund(a, pod)
    assert shares.share(a) == (None, 0, 1)
    assert shares.pick() == a
