"""The rule as ``simulate`` runs it: queue, cycle and books together give what the shares alone give."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from podium.api import Node, Pod
from podium.api.manifest import Manifest
from podium.api.manifest.result import Loaded
from podium.framework.config import default_config, with_short_forms
from podium.simulator.run import Options, simulate
from podium.testing import make_node, make_pod

from tests.drf.rules import asset_fairness, largest_first, shipped
from tests.drf.test_divisible import broken, instances

if TYPE_CHECKING:
    from tests.drf.rules import Row, Sequence

RESOURCES = ("cpu", "memory", "example.com/a", "example.com/b")
CONFIG = with_short_forms(default_config(), queue_order="drf")


def amounts(row: Row) -> dict[str, str]:
    """The integers as requests; cpu counts in thousandths."""
    named = zip(RESOURCES, row, strict=False)
    return {name: f"{amount}m" if name == "cpu" else str(amount) for name, amount in named if amount}


def several(template: Pod, count: int) -> list[Pod]:
    """Pods that share their spec."""
    own = template.metadata
    names = (f"{own.name}{number}" for number in range(count))
    metadata = (replace(own, name=name, uid=f"{own.namespace}/{name}") for name in names)
    return [Pod(metadata=each, spec=template.spec, status=template.status) for each in metadata]


def simulated(capacity: Row, demands: Sequence[Row]) -> list[int]:
    """One node and a tenant per demand, the first with the oldest pods; everybody has more than fits."""
    node = make_node("farm").capacity({**amounts(capacity), "pods": "10000000"}).build()
    pods: list[Pod] = []
    for tenant, demand in enumerate(demands):
        most = min(total // need for total, need in zip(capacity, demand, strict=True) if need)
        pods += several(make_pod("p", f"t{tenant:03}").request(amounts(demand)).build(), most + 1)
    manifest = Manifest({Node: [Loaded(node, "")], Pod: [Loaded(pod, "") for pod in pods]})
    answer = simulate(manifest, CONFIG, Options(attempts="none"))
    counts = [0] * len(demands)
    for placement in answer.placements:
        counts[int(placement.pod[1:4])] += 1
    return counts


def test_whole_pods_get_what_the_shares_say() -> None:
    for instance in instances(400, pods_per_task=1, seed=11):
        assert simulated(instance.capacity, instance.demands) == shipped(
            instance.capacity, instance.demands
        ), instance


def test_pods_of_a_thousandth_of_a_task_get_what_the_shares_say_and_the_four_properties() -> None:
    """The shares themselves are held to the properties over 2,000 such instances in ``test_divisible``."""
    for instance in instances(2, pods_per_task=1000, seed=5):
        assert simulated(instance.capacity, instance.demands) == shipped(instance.capacity, instance.demands)
        assert not broken(simulated, instance), instance


@pytest.mark.deep
@pytest.mark.timeout(2 * 3600)
def test_the_four_properties_over_2000_instances_of_small_pods() -> None:
    for instance in instances(2000, pods_per_task=1000, seed=5, most=9):
        assert not broken(simulated, instance), instance


def test_the_comparison_can_fail() -> None:
    drawn = instances(40, pods_per_task=1, seed=11)
    for rule in (asset_fairness, largest_first):
        assert any(simulated(i.capacity, i.demands) != rule(i.capacity, i.demands) for i in drawn)
