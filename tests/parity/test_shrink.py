from __future__ import annotations

from typing import Any

from tests.parity.coverage import Coverage
from tests.parity.generator.scenarios import seeded
from tests.parity.judge import one_way
from tests.parity.process import Answer, Oracle, Scenario
from tests.parity.run import play, shrunk
from tests.parity.shrink import shrink


def test_only_what_the_failure_needs_is_left() -> None:
    scenario = seeded("A", 3)
    wanted = scenario["nodes"][1]["metadata"]["name"]

    def fails(smaller: Scenario) -> bool:
        names = [node["metadata"]["name"] for node in smaller.get("nodes", [])]
        return wanted in names and bool(smaller.get("pending"))

    small = shrink(scenario, fails)
    assert [node["metadata"]["name"] for node in small["nodes"]] == [wanted]
    assert len(small["pending"]) == 1
    assert small.keys() == {"id", "tier", "nodes", "pending"}


def test_the_budget_bounds_the_questions() -> None:
    asked = []
    shrink(seeded("A", 3), lambda s: bool(asked.append(s) or True), budget=7)
    assert len(asked) == 7


def test_the_scenario_itself_stays() -> None:
    scenario = seeded("A", 3)
    shrink(scenario, lambda _: True, budget=100)
    assert scenario == seeded("A", 3)


def _forgets_hosts(oracle: Oracle, scenario: Scenario) -> Answer:
    """A planted defect: without the ports plugin."""
    answer: dict[str, Any] = oracle.answer(scenario)
    for pod in answer["pods"]:
        for rejections in pod.get("filter", {}).values():
            rejections.pop("NodePorts", None)
    return answer


def test_a_planted_defect_is_found_and_shrunk(oracle: Oracle) -> None:
    scenarios = (seeded("A", number) for number in range(1, 60))
    outcome = play(oracle, lambda s: _forgets_hosts(oracle, s), scenarios)
    assert outcome.mismatches
    scenario, found = min(outcome.mismatches, key=lambda pair: len(str(pair[0])))
    assert all("NodePorts" in mismatch.path for mismatch in found)
    small = shrunk(oracle, one_way(lambda s: _forgets_hosts(oracle, s)), scenario)
    assert len(small["nodes"]) == 1
    assert len(small["pending"]) == 1
    assert len(str(small)) < 1500


def test_an_error_is_a_mismatch_and_shrinks_to_one(oracle: Oracle) -> None:
    def fails_on_ports(scenario: Scenario) -> Answer:
        if "hostPort" in str(scenario.get("pending")):
            raise ValueError("no ports")
        return oracle.answer(scenario)

    outcome = play(oracle, fails_on_ports, (seeded("A", number) for number in range(1, 40)))
    assert {str(found[0]) for _, found in outcome.mismatches} == {
        "raised: kube-scheduler 'an answer', Podium \"ValueError('no ports')\""
    }
    scenario, found = min(outcome.mismatches, key=lambda pair: len(str(pair[0])))
    small = shrunk(oracle, one_way(fails_on_ports), scenario, found)
    assert "nodes" not in small
    assert len(small["pending"]) == 1


def test_coverage_adds_up(oracle: Oracle) -> None:
    answers = [oracle.answer(seeded(tier, number)) for tier in "AB" for number in (1, 2, 3)]
    whole, left, right = Coverage(), Coverage(), Coverage()
    for number, answer in enumerate(answers):
        whole.add(answer)
        (left if number % 2 else right).add(answer)
    left.merge(right)
    assert left == whole
