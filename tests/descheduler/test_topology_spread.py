"""How many pods leave which domains; sizes as in upstream's own table."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from podium.descheduler.plugins.topology_spread.balance import Domain, is_balanced, moves

from tests.descheduler.scene import evicted, node, owned, per_node, policy, running

PLUGIN = "RemovePodsViolatingTopologySpreadConstraint"


def domains(sizes):
    """Nodes a, b, … of as many zones, with that many pods each."""
    names = "abcdefghij"[: len(sizes)]
    objects = [node(name, cpu="1000", pods=1000, zone=name) for name in names]
    for name, size in zip(names, sizes, strict=True):
        objects += [spread(f"{name}{i}", name) for i in range(size)]
    return objects


def spread(name, on, skew=1, priority=0):
    return running(
        owned(name, on).label("app", "a").spread("zone", {"app": "a"}, max_skew=skew).priority(priority)
    )


@pytest.mark.parametrize(
    ("sizes", "count"),
    [
        ([2, 2], 0),
        ([3, 2], 0),
        ([3, 1], 1),
        ([5, 0, 0], 3),
        ([0, 1, 100], 66),
        ([8, 7, 0], 5),
        ([0, 1, 3, 5], 3),
        ([4, 0], 2),
    ],
)
def test_numbers(sizes, count):
    assert sum(per_node(domains(sizes), policy(PLUGIN)).values()) == count


def test_the_most_important_of_a_domain_goes_as_upstream():
    objects = [
        node("a", zone="a"),
        node("b", zone="b"),
        spread("low", "a", priority=5),
        spread("high", "a", priority=20),
    ]
    assert evicted([*objects, spread("mid", "a", priority=7)], policy(PLUGIN)) == ["high"]


def test_pods_that_may_not_go_are_not_counted():
    bare = [running(owned(f"q{i}", "b").label("app", "a").priority(2_000_000_000)) for i in range(3)]
    assert per_node([*domains([3, 0]), *bare], policy(PLUGIN)) == {"a": 1}


def test_soft_constraints_only_where_asked_for():
    pods = [
        running(
            owned(f"p{i}", "a").label("app", "a").spread("zone", {"app": "a"}, unsatisfiable="ScheduleAnyway")
        )
        for i in range(4)
    ]
    objects = [node("a", zone="a"), node("b", zone="b"), *pods]
    assert per_node(objects, policy(PLUGIN)) == {}
    assert per_node(objects, policy(PLUGIN, {"constraints": ["ScheduleAnyway"]})) == {"a": 2}


def test_pods_that_fit_nowhere_stay_unless_told_otherwise():
    objects = [node("a", zone="a"), node("b", zone="b", pods=0)]
    pods = [spread(f"p{i}", "a") for i in range(4)]
    assert per_node([*objects, *pods], policy(PLUGIN)) == {}
    assert per_node([*objects, *pods], policy(PLUGIN, {"topologyBalanceNodeFit": False})) == {"a": 2}


@settings(deadline=None)
@given(st.lists(st.integers(0, 30), min_size=1, max_size=8), st.integers(1, 4))
def test_domains_move_towards_the_average_and_not_far_beyond(sizes, skew):
    pods = [[owned(f"p{i}-{j}", "a").build() for j in range(size)] for i, size in enumerate(sizes)]
    found = sorted((Domain(str(i), items) for i, items in enumerate(pods)), key=len)
    average = sum(sizes) / len(sizes)
    leaving = moves(found, average, skew, lambda _: True)
    for domain in found:
        before, after = sizes[int(domain.value)], len(domain)
        assert after == before or (after > before and after <= average + 1) or after >= average - 1
    assert sum(map(len, found)) == sum(sizes)
    filled = {value: members for value, members in enumerate(pods) if members}
    if is_balanced(filled, skew, has_empty=len(filled) < len(pods)):
        assert not leaving
