"""The worked examples of the literature, exact (reference: Ghodsi et al. 2011; Bhattacharya et al. 2013)."""

from __future__ import annotations

import importlib.util
import itertools
import random
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from podium._core import FairShares

from tests.drf.rules import asset_fairness, drf, fluid, shares_of, shipped, tenants, times, worth

ORACLE = Path(__file__).parents[3] / "shared" / "reference" / "drf_oracle.py"
NEAR_LIMIT = 10_000

# capacity, demands, divisible grants, whole grants
EXAMPLES = [
    ((9, 18), [(1, 4), (3, 1)], ["3", "2"], [3, 2]),
    ((100, 100), [(1, 4), (3, 1)], ["75/4", "25"], [19, 24]),
    ((100, 100), [(2, 1), (1, 2)], ["100/3", "100/3"], [33, 33]),
    ((100, 100), [(4, 1), (1, 4)], ["20", "20"], [20, 20]),
    ((100, 100), [(1, 0), (0, 1)], ["100", "100"], [100, 100]),
    ((100, 100), [(8, 1), (1, 0)], ["25/4", "50"], [6, 52]),
    ((100, 100), [(1, 1), (2, 8)], ["50", "25/4"], [52, 6]),
    ((100, 100), [(4, 1), (1, 4), (1, 1)], ["100/9", "100/9", "400/9"], [11, 11, 45]),
    (
        (100, 100),
        [(10, 1), (1, 10), (5, 5), (1, 0)],
        ["100/31", "100/31", "200/31", "1000/31"],
        [3, 4, 7, 31],
    ),
    ((100, 100), [(4, 1), (1, 16), (16, 1)], ["400/33", "100/33", "100/33"], None),
    ((100, 100), [(4, 1), (1, 16)], ["20", "5"], [20, 5]),
    ((12, 12), [(2, 1), (1, 2)], ["4", "4"], [4, 4]),
    ((24, 12), [(2, 1), (1, 2)], ["6", "3"], [6, 3]),  # not resource monotone: the second falls from 4
    ((4, 4), [(0, 1), (0, 3)], ["2", "2/3"], [1, 1]),  # whole pods: below its equal split of 2
]


@pytest.mark.parametrize(("capacity", "demands", "divisible", "whole"), EXAMPLES)
def test_example(
    capacity: tuple[int, ...], demands: list[tuple[int, ...]], divisible: list[str], whole: list[int] | None
) -> None:
    limit = [Fraction(x) for x in divisible]
    assert fluid(capacity, demands) == limit
    if whole:
        assert shipped(capacity, demands) == whole
    near = shipped(times(NEAR_LIMIT, capacity), demands)
    assert all(abs(count - NEAR_LIMIT * x) <= 2 for count, x in zip(near, limit, strict=True))


def test_the_first_example_step_by_step() -> None:
    shares = tenants([9, 18], ["A", "B"])
    a, b = shares.tenants()
    grants = shares.fill([a, b], np.array([[1, 4], [3, 1]]))
    assert grants.tolist() == [0, 1, 0, 1, 0]
    assert shares.total() == [9, 14]
    assert (shares.share(a), shares.share(b)) == ((1, 12, 18), (0, 6, 9))
    assert shares.compare(a, b) == 0


@pytest.mark.parametrize(
    ("weights", "divisible", "whole"),
    [((1, 2), ("9/5", "12/5"), None), ((2, 1), ("54/13", "18/13"), [4, 1])],
)
def test_weights(weights: tuple[int, int], divisible: tuple[str, str], whole: list[int] | None) -> None:
    demands = [(1, 4), (3, 1)]
    limit = [Fraction(x) for x in divisible]
    exact = [Fraction(weight) for weight in weights]
    assert fluid((9, 18), demands, exact) == limit
    near = shipped((9 * NEAR_LIMIT, 18 * NEAR_LIMIT), demands, weights)
    assert all(abs(count - NEAR_LIMIT * x) <= 3 for count, x in zip(near, limit, strict=True))
    if whole:
        assert shipped((9, 18), demands, weights) == whole


def test_other_rules_differ() -> None:
    asset = asset_fairness((9 * NEAR_LIMIT, 18 * NEAR_LIMIT), [(1, 4), (3, 1)])
    assert all(
        abs(count - NEAR_LIMIT * Fraction(x)) <= 3 for count, x in zip(asset, ("63/25", "54/25"), strict=True)
    )
    assert asset_fairness((30, 30), [(1, 3), (1, 1)]) == [6, 12]  # below the second's equal split of 15
    assert shipped((30, 30), [(1, 3), (1, 1)])[1] >= 15


def test_not_competitive_equilibrium() -> None:
    """There the first gets 100/31, and by claiming (16, 8) 25/6. Here it gets 25/6, lie or not."""
    near = times(NEAR_LIMIT, (100, 100))
    for claim in [(16, 1), (16, 8)]:
        count, other = shipped(near, [claim, (1, 2)])
        assert abs(count - NEAR_LIMIT * Fraction(25, 6)) <= 1
        assert abs(other - NEAR_LIMIT * Fraction(100, 3)) <= 16


def test_nobody_falls_when_a_tenant_leaves() -> None:
    near = times(NEAR_LIMIT, (100, 100))
    with_third = shipped(near, [(4, 1), (1, 16), (16, 1)])
    without = shipped(near, [(4, 1), (1, 16)])
    assert all(later >= earlier for later, earlier in zip(without, with_third, strict=False))


@pytest.mark.parametrize(
    ("size", "gangs", "singles"),
    [(1, 50, 50), (5, 50, 50), (10, 50, 50), (20, 60, 40), (34, 34, 66), (60, 60, 40)],
)
def test_the_grant_is_the_gang(size: int, gangs: int, singles: int) -> None:
    granted, single = shipped((100, 100), [(size, size), (1, 1)])
    assert (granted * size, single) == (gangs, singles)
    assert (
        abs(gangs - singles) <= size or size == 34
    )  # there the next gang does not fit, and the others fill up


def queues(capacity: list[int], tree: dict[str, object], weights: dict[str, int] | None = None) -> FairShares:
    """A tree of names; a leaf's value is its (demand, most grants or None)."""
    shares = FairShares(capacity)
    ages = itertools.count()

    def plant(branch: dict[str, object], parent: int | None) -> None:
        for name, below in branch.items():
            handle = shares.add(name, parent)
            shares.set_weight(handle, (weights or {}).get(name))
            if isinstance(below, dict):
                plant(below, handle)
            else:
                shares.set_head(handle, next(ages))

    plant(tree, None)
    return shares


def leaves(tree: dict[str, object]) -> dict[str, tuple[tuple[int, ...], int | None]]:
    found = {}
    for name, below in tree.items():
        found |= leaves(below) if isinstance(below, dict) else {name: below}
    return found


def filled(capacity: list[int], tree: dict[str, object], weights: dict[str, int] | None = None) -> list[int]:
    shares, demand = queues(capacity, tree, weights), leaves(tree)
    most = [2**60 if bound is None else bound for _, bound in demand.values()]
    rows = np.array([row for row, _ in demand.values()], dtype=np.int64)
    grants = shares.fill([shares.find(name) for name in demand], rows, most=most)
    return np.bincount(grants, minlength=len(demand)).tolist()


CPU, GPU, BOTH = ((1, 0), None), ((0, 1), None), ((1, 1), None)


def test_complementary_siblings() -> None:
    assert filled([10, 10], {"sci": BOTH, "eng": {"dev": CPU, "prod": GPU}}) == [5, 5, 5]


def test_blocked_sibling() -> None:
    tree = {"n1": CPU, "n2": CPU, "n3": {"n31": CPU, "n32": GPU}, "n4": GPU}
    assert filled([30, 30], tree) == [10, 10, 10, 15, 15]


def test_nobody_starves_in_churn() -> None:
    """Naive sums give n2 the CPU share of n21, and every GPU that is freed to n1 (H-DRF paper, section 4)."""
    tree = {"n1": GPU, "n2": {"n21": CPU, "n22": GPU}}
    shares = queues([10, 10], tree)
    names = list(leaves(tree))
    handles = [shares.find(name) for name in names]
    rows = np.array([row for row, _ in leaves(tree).values()], dtype=np.int64)
    shares.fill(handles, rows)
    assert [shares.used(handle) for handle in handles] == [[0, 5], [10, 0], [0, 5]]
    random.seed(7)
    for _ in range(500):
        victim = random.choice([0, 2])
        if any(shares.used(handles[victim])):
            shares.refund(handles[victim], rows[victim])
        shares.block(handles[1])  # the CPUs are used up: it cannot be served
        shares.fill(handles, rows)
        assert [shares.used(handle)[1] for handle in handles] in ([5, 0, 5], [6, 0, 4], [4, 0, 6])
        shares.unblock(handles[1])


def test_weights_of_siblings() -> None:
    gpu = ((1,), None)
    tree = {"C1": {"1A": gpu, "1B": gpu, "1C": gpu}, "C2": {"2A": gpu}}
    assert filled([300], tree, {"1C": 3}) == [30, 30, 90, 150]


@pytest.mark.parametrize(
    ("weights", "grants"),
    [({}, [4, 4, 6, 2]), ({"q1": 1, "q2": 3, "ns1": 3, "ns2": 1, "ns3": 2, "ns4": 6}, [3, 1, 10, 2])],
)
def test_two_queues_with_finite_demands(weights: dict[str, int], grants: list[int]) -> None:
    tree = {
        "q1": {"ns1": ((1,), 5), "ns2": ((1,), 10)},
        "q2": {"ns3": ((1,), 10), "ns4": ((1,), 2)},
    }
    assert filled([16], tree, weights) == grants


def test_audit_of_small_instances() -> None:
    """What whole pods keep and lose, over every pair of demands below 6: the counts of the reference."""
    lost = dict.fromkeys(("sharing incentive", "envy", "envy up to one", "maximality"), 0)
    vectors = [v for v in itertools.product(range(6), repeat=2) if any(v)]
    for capacity in [(4, 4), (6, 6), (8, 8), (9, 18), (12, 12)]:
        for demands in itertools.product(vectors, repeat=2):
            counts = shipped(capacity, demands)
            used = np.array(counts) @ np.array(demands)
            for i, j in ((0, 1), (1, 0)):
                split = min(int(Fraction(c, 2) // d) for c, d in zip(capacity, demands[i], strict=True) if d)
                lost["sharing incentive"] += counts[i] < split
                lost["envy"] += worth(times(counts[j], demands[j]), demands[i]) > counts[i]
                spared = max(counts[j] - 1, 0)
                lost["envy up to one"] += worth(times(spared, demands[j]), demands[i]) > counts[i]
            lost["maximality"] += any(all(used + d <= capacity) for d in np.array(demands))
    assert lost == {"sharing incentive": 615, "envy": 1095, "envy up to one": 0, "maximality": 0}


def random_instance(source: random.Random) -> tuple[list[int], list[list[int]]]:
    resources, count = source.randint(1, 4), source.randint(1, 6)
    capacity = [
        source.randint(1, 60),
        *(source.choice([0, source.randint(1, 60)]) for _ in range(resources - 1)),
    ]
    demands = [[source.randint(0, 9) if total else 0 for total in capacity] for _ in range(count)]
    return capacity, [demand if any(demand) else [1, *demand[1:]] for demand in demands]


def test_equals_the_rule_in_fractions() -> None:
    source = random.Random(1)
    for _ in range(500):
        capacity, demands = random_instance(source)
        assert shipped(capacity, demands) == drf(capacity, demands)


def test_equals_the_independent_oracle() -> None:
    if not ORACLE.exists():
        pytest.skip("no ../shared/reference/drf_oracle.py")
    spec = importlib.util.spec_from_file_location("drf_oracle", ORACLE)
    oracle = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(oracle)
    source = random.Random(2)
    for _ in range(500):
        capacity, demands = random_instance(source)
        weights = [Fraction(source.randint(1, 5), source.randint(1, 5)) for _ in demands]
        most = [source.choice([None, source.randint(0, 9)]) for _ in demands]
        want, _, _ = oracle.alg1(capacity, demands, weights, most)
        bounds = [2**60 if bound is None else bound for bound in most]
        assert shipped(capacity, demands, weights, bounds) == want


def test_zero_capacity_is_no_part_of_any_share() -> None:
    assert shipped((10, 0), [(1, 0), (2, 0), (0, 1)]) == drf((10, 0), [(1, 0), (2, 0), (0, 1)])
    assert shares_of((10, 0), (5, 0)) == [Fraction(1, 2)]
