"""Every way in which Podium finds a node says the same of the same state.

Tier B is played on an engine that remembers results from pod to pod and follows what changes (seeded choice,
no sample). Before each cycle, and for every pod that waits, its decision is held against ``audit``, which
looks at every node afresh and remembers nothing.
"""

from __future__ import annotations

import json
from itertools import islice
from typing import Any

import numpy as np
import pytest
from podium._core import Decision, Engine

from tests.parity.answer import Answer, Object, Sequence
from tests.parity.generator.scenarios import seeded
from tests.parity.record import read_golden

RANDOM = range(600_003, 600_015)


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
        decision = engine.schedule(handle)
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


class _WithDetours(_Followed):
    """Each pod is put on nodes and taken off again before it is decided for good."""

    def decide(self, key: str, handle: int) -> Decision:
        engine = self._world.engine
        before, nominated = engine.audit(handle), engine.nominated(handle)
        decision = engine.schedule(handle)
        for name in islice(json.loads(before)["feasible"], 3):
            row = engine.row(name)
            assert row is not None
            engine.assume(handle, row)
            engine.forget(handle)
            engine.nominate(handle, nominated)
        if engine.audit(handle) != before:
            self.wrong.append(f"{key}: assume and forget leave something behind")
        again = super().decide(key, handle)
        if _said(again) != _said(decision):
            self.wrong.append(f"{key}: {_said(decision)}, after detours {_said(again)}")
        return again


def _said(decision: Decision) -> tuple[Any, ...]:
    return decision.result, decision.row, decision.feasible, decision.evaluated, decision.message


class _Batched(Sequence):
    """Decides through ``schedule_batch``; the cycle that follows only repeats what the batch found."""

    def __init__(self, scenario: Object, seed: int) -> None:
        super().__init__(scenario, Engine(choose="seeded", seed=seed, sample=False))
        self.wrong: list[str] = []
        self.compared = 0

    def decide(self, key: str, handle: int) -> Decision:
        engine = self._world.engine
        nominated, decision = engine.nominated(handle), engine.schedule(handle)
        handles, attempts = np.array([handle], np.uint32), np.zeros(1, np.uint64)
        [row] = engine.schedule_batch(handles, attempts).tolist()
        if row >= 0:
            engine.forget(handle)
            engine.nominate(handle, nominated)
        if decision.row is not None and row not in (decision.row, -1):
            self.wrong.append(f"{key}: {decision.row}, in a batch {row}")
        if decision.row is None and row != -1:
            self.wrong.append(f"{key}: {decision.message}, in a batch {row}")
        self.compared += 1
        return decision


ENGINES = {"followed": _Followed, "with detours": _WithDetours, "batched": _Batched}


def _wrong(kind: str, scenarios: list[Object]) -> tuple[dict[str, list[str]], int]:
    wrong, compared = {}, 0
    for seed, scenario in enumerate(scenarios):
        sequence = ENGINES[kind](scenario, seed)
        sequence.answer()
        compared += sequence.compared
        if sequence.wrong:
            wrong[scenario["id"]] = sequence.wrong[:5]
    return wrong, compared


@pytest.mark.timeout(900)
@pytest.mark.parametrize("kind", ENGINES)
def test_recorded_sequences(kind: str) -> None:
    wrong, compared = _wrong(kind, [scenario for scenario, _ in read_golden("B")])
    assert wrong == {}
    assert compared > 3000


@pytest.mark.parametrize("kind", ENGINES)
def test_random_sequences(kind: str) -> None:
    wrong, compared = _wrong(kind, [seeded("B", number) for number in RANDOM])
    assert wrong == {}
    assert compared > 500


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
        "nodes": [node("a", {}), node("b", {})],
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
