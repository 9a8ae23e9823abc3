"""The four properties of divisible DRF, on pods of a thousandth of a task, within one such pod.

Pareto efficiency, sharing incentive, envy-freeness and strategy-proofness are theorems for divisible demands
(Ghodsi et al., 2011; Parkes, Procaccia and Shah, 2012) and cannot all hold for whole pods. With small pods
the shipped heap must come as near as its unit allows; rules without the theorems must not.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from tests.drf.rules import (
    asset_fairness,
    fewest_pods_first,
    largest_first,
    shipped,
    stop_when_blocked,
    times,
    worth,
)

if TYPE_CHECKING:
    from tests.drf.rules import Row, Rule


@dataclass(frozen=True)
class Instance:
    """A pool, true demands, and a lie that one tenant might tell."""

    capacity: list[int]
    demands: list[list[int]]
    liar: int
    lie: list[int]

    def claims(self) -> list[list[int]]:
        return [self.lie if i == self.liar else demand for i, demand in enumerate(self.demands)]


def instances(count: int, pods_per_task: int, seed: int, most: int = 50) -> list[Instance]:
    """Half of them with demands of zero; of each resource there are 5 to ``most`` tasks' worth."""
    source = random.Random(seed)

    def demand(least: int, most: int, resources: int) -> list[int]:
        drawn = [source.randint(least, most) for _ in range(resources)]
        return drawn if any(drawn) else [1, *drawn[1:]]

    drawn = []
    for turn in range(count):
        resources, tenants = source.randint(1, 4), source.randint(2, 5)
        capacity = times(pods_per_task, [source.randint(5, most) for _ in range(resources)])
        demands = [demand(turn % 2, 9, resources) for _ in range(tenants)]
        drawn.append(Instance(capacity, demands, source.randrange(tenants), demand(turn % 2, 12, resources)))
    return drawn


def dominant(capacity: Row, demand: Row) -> Fraction:
    return max(Fraction(need, total) for need, total in zip(demand, capacity, strict=True))


def broken(rule: Rule, instance: Instance) -> set[str]:
    """The properties that an allocation misses by more than one pod."""
    capacity, demands, liar = instance.capacity, instance.demands, instance.liar
    counts = rule(capacity, demands)
    unit = [dominant(capacity, demand) for demand in demands]
    one_pod = max(unit)
    found = set()

    # Whoever cannot get one more pod from what is free could only gain, by less than a pod, at others' cost.
    used = [sum(column) for column in zip(*map(times, counts, demands), strict=True)]
    free = [total - amount for total, amount in zip(capacity, used, strict=True)]
    if any(worth(free, demand) >= 1 for demand in demands):
        found.add("pareto efficiency")

    split = [Fraction(total, len(demands)) for total in capacity]
    for i, demand in enumerate(demands):
        if (worth(split, demand) - counts[i]) * unit[i] > one_pod:
            found.add("sharing incentive")
        for j, other in enumerate(demands):
            spared = times(max(counts[j] - 1, 0), other)
            if j != i and worth(spared, demand) - counts[i] > 1:
                found.add("envy-freeness")

    gained = rule(capacity, instance.claims())[liar]
    useful = worth(times(gained, instance.lie), demands[liar])
    if (useful - counts[liar]) * unit[liar] > max(one_pod, dominant(capacity, instance.lie)):
        found.add("strategy-proofness")
    return found


def test_the_shipped_rule_has_all_four_properties() -> None:
    for instance in instances(2000, pods_per_task=1000, seed=5):
        assert not broken(shipped, instance), instance


@pytest.mark.parametrize(
    ("rule", "lost"),
    [
        (asset_fairness, {"sharing incentive"}),
        (largest_first, {"sharing incentive", "envy-freeness"}),
        (fewest_pods_first, {"sharing incentive", "envy-freeness", "strategy-proofness"}),
        (stop_when_blocked, {"pareto efficiency"}),
    ],
)
def test_other_rules_do_not(rule: Rule, lost: set[str]) -> None:
    drawn = instances(60, pods_per_task=60, seed=5)
    assert not set().union(*(broken(shipped, instance) for instance in drawn))
    assert lost <= set().union(*(broken(rule, instance) for instance in drawn))
