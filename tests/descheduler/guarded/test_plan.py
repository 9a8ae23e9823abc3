"""A plan is what comes: pods land where it says, and small plans are the better ones of several."""

from collections import Counter

import pytest
from podium.api.manifest import Options as Loading
from podium.api.manifest import load_objects
from podium.descheduler.evictor import Evicted
from podium.descheduler.guard.variants import MOST, WORK, improve, variants
from podium.descheduler.table import IN_TREE
from podium.framework.config import default_config
from podium.simulator.rebalance import Options, rebalance

from tests.descheduler.guarded.clusters import case
from tests.descheduler.scene import NOW, load, owned, running

LOW = "LowNodeUtilization"


@pytest.mark.parametrize("seed", range(12))
def test_pods_land_where_the_plan_says(seed):
    item = case(seed, grain="coarse")
    manifest = load_objects(item.objects, "case", Loading(validate="off"))
    result = rebalance(
        manifest, load(item.policy), IN_TREE, default_config(), Options(now=NOW, mode="guarded")
    )
    expected = Counter(obj["spec"]["nodeName"] for obj in item.objects if obj["kind"] == "Pod")
    for move in result.turns[0].cycle.evicted:
        expected[move.pod.spec.node_name] -= 1
        expected[move.destination] += 1
    found = {node.node: node.utilisation.get("pods", 0.0) for node in result.turns[0].nodes}
    if any(found.values()):
        assert {name: round(part * 110) for name, part in found.items()} == {
            name: expected[name] for name in found
        }


def move(name: str, node: str, priority: int = 0, plugin: str = LOW) -> Evicted:
    return Evicted(running(owned(name, node).priority(priority)), plugin, "p", "there")


def names(plan) -> list[str]:
    return [item.pod.metadata.name for item in plan]


def test_a_variant_is_another_pod_of_the_same_node_or_another_order():
    plan = [move("a", "n0"), move("b", "n1", 5)]
    others = {"n0": [plan[0], move("c", "n0"), move("d", "n0", 9)], "n2": [move("e", "n2")]}
    assert [names(item) for item in variants(plan, others)] == [["c", "b"], ["b", "a"]]


def test_lower_priorities_still_leave_a_node_first():
    plan = [move("low", "n0", 1), move("high", "n0", 2), move("other", "n1")]
    found = [names(item) for item in variants(plan, {})]
    assert found == [["low", "other", "high"]]


def test_plans_of_other_plugins_and_large_ones_stay():
    assert not list(variants([move("a", "n0"), move("b", "n1", plugin="RemoveDuplicates")], {}))
    assert not list(variants([move(f"p{at}", "n0") for at in range(MOST + 1)], {}))


def test_the_best_that_holds_is_taken_and_the_search_ends():
    plan = [move("a", "n0"), move("b", "n1"), move("c", "n2")]
    asked = []

    def together(other):
        asked.append(names(other))
        return list(other), ["bad"] if names(other)[0] == "c" else []

    def deviation(other):
        return -float(names(other).index("a")) + names(other).index("b") / 10

    best = improve(plan, {}, together, deviation)
    assert names(best) == ["b", "c", "a"]
    assert sum(map(len, asked)) <= WORK
