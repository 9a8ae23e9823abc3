"""What tier A says of a pod is what a scheduling cycle does with it: the oracle checked against itself."""

from __future__ import annotations

from typing import Any

from tests.parity.generator.scenarios import seeded
from tests.parity.process import Oracle, Scenario

SAME = ("message", "nominating", "nominated", "victims", "candidates", "best")


def _cycle(scenario: Scenario, pod: dict[str, Any]) -> Scenario:
    """The same cluster, with one cycle for one of the pending pods."""
    others = [other for other in scenario["pending"] if other is not pod and "nodeName" not in other["spec"]]
    kept = {key: value for key, value in scenario.items() if key != "pending"}
    pods = [*scenario.get("pods", []), *others]
    return kept | {"tier": "B", "pods": pods, "steps": [{"op": "schedule", "pod": pod}]}


def _walks_in_random_order(judgement: dict[str, Any]) -> bool:
    """Upstream visits the nodes of a PreFilter set in the order of a map."""
    return len(judgement.get("preFilterResult", {}).get("nodes") or []) > 1


def test_a_judgement_is_what_the_cycle_does(oracle: Oracle) -> None:
    compared = 0
    for number in range(1, 100):
        scenario = seeded("A", number)
        judgements = oracle.answer(scenario)["pods"]
        for pod, judgement in zip(scenario["pending"], judgements, strict=True):
            if "nodeName" in pod["spec"]:
                continue
            step = oracle.answer(_cycle(scenario, pod))["steps"][0]
            where = f"{scenario['id']} {judgement['pod']}"
            result = "scheduled" if judgement["result"] == "feasible" else judgement["result"]
            assert step["result"] == result, where
            if result == "scheduled" and not _walks_in_random_order(judgement):
                assert step["node"] == judgement["winner"], where
            assert [step.get(name) for name in SAME] == [judgement.get(name) for name in SAME], where
            compared += 1
    assert compared > 170
