"""Guarded mode over random clusters and many cycles: it does no harm, and it does more good than compat."""

import statistics

import pytest

from tests.descheduler.guarded.clusters import case
from tests.descheduler.guarded.measure import DRIFT, EPS, Comparison, compare, course

#: Fixed, so that the answer is; more of them, and coarser ones, with ``make guarded-descheduler``.
SEEDS = range(40)


@pytest.fixture(scope="module")
def comparisons() -> list[Comparison]:
    return [compare(case(seed)) for seed in SEEDS]


def test_it_never_makes_things_worse(comparisons):
    for one in comparisons:
        assert one.guarded.gain >= -EPS, one.seed
        assert one.guarded.worst_step <= DRIFT, one.seed
        assert one.guarded.worst_resource <= DRIFT, one.seed


def test_nobody_is_evicted_again_and_nobody_is_left_pending(comparisons):
    assert [one.seed for one in comparisons if one.guarded.again or one.guarded.pending] == []
    assert any(one.compat.again for one in comparisons), "these clusters show no ping-pong at all"
    assert any(one.compat.pending for one in comparisons), "these clusters leave nobody pending"


def test_against_compat_after_as_many_evictions(comparisons):
    ahead = [one.ahead for one in comparisons if one.common]
    assert len(ahead) >= 20
    assert sum(value >= -EPS for value in ahead) >= 0.95 * len(ahead)
    assert statistics.mean(ahead) > 0


def test_it_gets_most_of_what_compat_gets_with_fewer_evictions(comparisons):
    better = [one for one in comparisons if one.compat.gain > EPS]
    assert statistics.median(one.guarded.gain / one.compat.gain for one in better) >= 0.8
    assert statistics.median(one.guarded.evicted / one.compat.evicted for one in better) <= 1


def test_other_plugins_do_no_harm_either():
    courses = [course(case(seed, mixed=True), "guarded") for seed in range(40)]
    assert [item.again or item.pending for item in courses] == [0] * len(courses)
    assert sum(item.evicted for item in courses) > 100
