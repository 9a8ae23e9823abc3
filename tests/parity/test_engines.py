"""Every way in which Podium finds a node says the same of the same state.

Tier B is played through each of them (engines.py): as upstream chooses against recorded answers of
kube-scheduler, as the seed chooses against an engine that remembers nothing. And on the one that remembers,
the decision about every pod that waits is held against ``audit`` after each step, which looks at every node.
"""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

import msgspec
import pytest
from podium._core import Decision, Engine

from tests.parity.answer import FIRST, Answer, Object, Sequence
from tests.parity.engines import ENGINES, disagreements, upstream_disagreements
from tests.parity.generator.scenarios import seeded
from tests.parity.record import read_golden

RANDOM = range(600_003, 600_015)
REGRESSIONS = sorted((Path(__file__).parent / "regressions").glob("*.json"))


def _ways(number: int) -> list[str]:
    """All ways of playing for one sequence in five; the detours take longer than the others together."""
    return [name for name in ENGINES if name != "with detours" or number % 5 == 0]


class _Followed(Sequence):
    """A sequence on the engine that follows; every decision is checked."""

    def __init__(self, scenario: Object, seed: int) -> None:
        super().__init__(scenario, Engine(choose="seeded", seed=seed, sample=False))
        self.wrong: list[str] = []
        self.compared = 0

    def _step(self, number: int, step: Object) -> Answer | None:
        answer = super()._step(number, step)
        for key, handle in list(self._world.handles.items()):
            pod = self._world.pods[key]
            if not pod["spec"].get("nodeName") and self._world.verdict_without_cycle(pod) is None:
                self._check(f"after step {number}: {key}", handle)
        return answer

    def decide(self, key: str, handle: int) -> Decision:
        return self._check(f"cycle of {key}", handle)

    def _check(self, where: str, handle: int) -> Decision:
        engine = self._world.engine
        decision = engine.schedule(handle, FIRST)
        fresh = json.loads(engine.audit(handle))
        nominated = engine.nominated(handle)
        self.wrong += [f"{where}: {text}" for text in _differences(engine, decision, fresh, nominated)]
        self.compared += 1
        return decision


def _differences(engine: Engine, decision: Decision, fresh: Answer, nominated: str | None) -> list[str]:
    """What a decision and an evaluation from scratch do not agree about."""
    results = {"placed": "feasible", "unschedulable": "unschedulable", "failed": "error"}
    if results[decision.result] != fresh["result"]:
        return [f"{decision.result} ({decision.message}), from scratch {fresh['result']}"]
    if decision.result == "failed":
        return []
    if decision.row is None:
        # PostFilter's text comes behind the diagnosis.
        same = f"{fresh['message']} ".startswith(f"{decision.message} ")
        return [] if same else [f"{decision.message!r}, from scratch {fresh['message']!r}"]
    node = engine.node_name(decision.row)
    if nominated in fresh["feasible"]:
        return [] if node == nominated else [f"{node}, nominated {nominated}"]
    found = []
    if decision.feasible != len(fresh["feasible"]):
        found.append(f"{decision.feasible} feasible, from scratch {fresh['feasible']}")
    totals = {name: score["total"] for name, score in fresh.get("scores", {}).items()}
    best = {name for name, total in totals.items() if total == max(totals.values())}
    if node not in (best or fresh["feasible"]):
        found.append(f"{node}, from scratch {totals or fresh['feasible']}")
    return found


@pytest.mark.timeout(900)
def test_all_ways_say_what_kube_scheduler_says() -> None:
    wrong = {}
    for number, (scenario, recorded) in enumerate(read_golden("B")):
        if found := upstream_disagreements(scenario, recorded, _ways(number)):
            wrong[scenario["id"]] = found[:5]
    assert wrong == {}


@pytest.mark.timeout(900)
def test_what_is_remembered_equals_what_is_found_afresh() -> None:
    """Seeded, bit for bit: one by one, from the queue, in batches and with detours."""
    recorded = [scenario for scenario, _ in read_golden("B")]
    assert sum(len(scenario["steps"]) for scenario in recorded) > 5000
    wrong = {}
    for seed, scenario in enumerate([*recorded, *(seeded("B", number) for number in RANDOM)]):
        if found := disagreements(scenario, seed, _ways(seed)):
            wrong[scenario["id"]] = found[:5]
    assert wrong == {}


@pytest.mark.parametrize("path", REGRESSIONS, ids=lambda path: path.stem)
def test_what_was_wrong_once_goes_alike_in_every_way(path: Path) -> None:
    scenario = msgspec.json.decode(path.read_bytes())["scenario"]
    assert scenario["tier"] == "A" or disagreements(scenario, 0) == []


@pytest.mark.timeout(900)
def test_every_pod_that_waits_is_judged_as_afresh() -> None:
    wrong, compared = {}, 0
    for seed, scenario in enumerate(scenario for scenario, _ in islice(read_golden("B"), 12)):
        sequence = _Followed(scenario, seed)
        sequence.answer()
        compared += sequence.compared
        if sequence.wrong:
            wrong[scenario["id"]] = sequence.wrong[:5]
    assert wrong == {}
    assert compared > 600


def test_a_node_gets_the_label_of_a_term_that_was_skipped() -> None:
    """The pod that the term selects is on a node without its key, so no node scores, until it has the key."""
    region = "topology.kubernetes.io/region"

    def node(name: str, labels: Object) -> Object:
        amounts = {"cpu": "8", "memory": "8Gi", "pods": "20"}
        return {"metadata": {"name": name, "labels": labels}, "spec": {}, "status": {"allocatable": amounts}}

    def pod(name: str, spec: Object, labels: Object) -> Object:
        spec = {"schedulerName": "default-scheduler", "priority": 0, "containers": [{"name": "c"}]} | spec
        return {
            "metadata": {"name": name, "namespace": "default", "uid": name, "labels": labels},
            "spec": spec,
        }

    term = {"topologyKey": region, "labelSelector": {"matchLabels": {"app": "web"}}}
    wish = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 7, "podAffinityTerm": term}]}
    scenario = {
        "tier": "B",
        "nodes": [node(name, {}) for name in "abcdefgh"],  # by chance it is the right one rarely
        "pods": [pod("web", {"nodeName": "a"}, {"app": "web"})],
        "templates": {"t": pod("t", {"affinity": {"podAffinity": wish}}, {})},
        "steps": [
            {"op": "schedule", "template": "t", "name": "p1"},
            {"op": "schedule", "template": "t", "name": "p2"},
            {"op": "updateNode", "node": node("a", {region: "r1"})},
            {"op": "schedule", "template": "t", "name": "p3"},
        ],
    }
    sequence = _Followed(scenario, 0)
    answers = sequence.answer()
    assert sequence.wrong == []
    assert answers[-1] is not None
    assert answers[-1]["node"] == "a"


def test_a_difference_is_seen() -> None:
    fresh = {"result": "feasible", "feasible": ["a", "b"], "scores": {"a": {"total": 1}, "b": {"total": 2}}}

    class Placed:
        result, row, feasible, message = "placed", 0, 2, ""

    class Names:
        def node_name(self, row: int) -> str:
            return "ab"[row]

    found = _differences(Names(), Placed(), fresh, None)  # type: ignore[arg-type]
    assert found == ["a, from scratch {'a': 1, 'b': 2}"]
