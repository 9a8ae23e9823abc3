"""Every way in which Podium finds a node: a sequence of tier B, played through each.

As upstream chooses, all of them must say what kube-scheduler says; as the seed chooses, they must say the
same, bit for bit, whether results are remembered from pod to pod or found afresh.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

import numpy as np
from podium._core import Decision, Engine

from tests.parity.answer import FIRST, Answer, Object, Sequence

#: What is said of a cycle in every way of playing it; how many nodes were looked at is not known of a batch.
SAID = ("result", "node", "message", "nominating", "nominated", "victims")


class _Stopped:
    """A pod of a batch was not placed."""


class Detours(Sequence):
    """Each pod is put on nodes and taken off again before it is decided for good."""

    def decide(self, key: str, handle: int) -> Decision:
        engine = self._world.engine
        before, nominated = engine.audit(handle), engine.nominated(handle)
        for name in islice(json.loads(before)["feasible"], 3):
            row = engine.row(name)
            assert row is not None, "a feasible node has a row"
            engine.assume(handle, row)
            engine.forget(handle)
            engine.nominate(handle, nominated)
        if engine.audit(handle) != before:
            raise AssertionError(f"{key}: assume and forget leave something behind")
        return super().decide(key, handle)


class _Together(Sequence):
    """Consecutive pods of one priority are decided together."""

    def answer(self) -> list[Answer | None]:
        answers: list[Answer | None] = []
        while len(answers) < len(self._steps):
            number = len(answers)
            pods = self._pods_from(number)
            answers += self._decide(number, pods) if pods else [self._step(number, self._steps[number])]
        return answers

    def _pods_from(self, number: int) -> list[Object]:
        """Return the pods of the steps from this one on that go together."""
        pods: list[Object] = []
        for step in self._steps[number:]:
            pod = self._appear(step) if step["op"] == "schedule" else None
            if pod is None or self._world.verdict_without_cycle(pod) is not None:
                break
            alone = bool(pod.get("status", {}).get("nominatedNodeName"))  # counts as soon as it is there
            if pods and (alone or _priority(pod) != _priority(pods[0])):
                break
            pods.append(pod)
            if alone:
                break
        return pods

    def _decide(self, number: int, pods: list[Object]) -> list[Answer]:
        handles = [self._added(pod) for pod in pods]
        answers: list[Answer] = []
        self._begin(handles)
        while len(answers) < len(pods):
            nodes, decision = self._next(handles[len(answers) :])
            for node in nodes:
                at = len(answers)
                self._look()
                self._bound(pods[at], node, self._time(number + at))
                answers.append({"pod": _key(pods[at]), "result": "scheduled", "node": node})
            if decision is not None:
                at = len(answers)
                self._look()
                outcome = self._outcome(pods[at], handles[at], decision, self._time(number + at))
                answers.append({"pod": _key(pods[at])} | outcome)
        return answers

    def _added(self, pod: Object) -> int:
        handle = self._world.add(pod)
        assert handle is not None, "a pod that is to be scheduled has not ended"
        return handle

    def _look(self) -> None:
        """Bring the snapshot up to date, as the pod's own cycle would between two bindings."""
        self._world.engine.node_order()

    def _begin(self, handles: list[int]) -> None:
        """Take note of the pods, in order."""

    def _next(self, handles: list[int]) -> tuple[list[str], Decision | _Stopped | None]:
        """Assume a run of the pods; its nodes, and what stopped it."""
        raise NotImplementedError


class Queued(_Together):
    """Through the queue: ``run_batch``."""

    def _begin(self, handles: list[int]) -> None:
        for since, handle in enumerate(handles):
            self._world.engine.enqueue(handle, since, False)

    def _next(self, handles: list[int]) -> tuple[list[str], Decision | None]:
        engine = self._world.engine
        batch = engine.run_batch(len(handles), 0)
        if batch.stopped is not None:
            engine.dequeue(batch.stopped)
        return engine.node_names(batch.rows), batch.decision


class Batched(_Together):
    """Without the queue: ``schedule_batch``, which says no more of a failure than that there was one."""

    def _next(self, handles: list[int]) -> tuple[list[str], Decision | _Stopped | None]:
        engine = self._world.engine
        attempts = np.full(len(handles), FIRST, np.uint64)
        rows = engine.schedule_batch(np.array(handles, np.uint32), attempts)
        placed = rows[rows >= 0]
        stopped = len(placed) < len(rows)
        decision = _Stopped() if stopped else None
        return engine.node_names(placed.astype(np.uint32)), decision

    def _outcome(self, pod: Object, handle: int, decision: Decision | _Stopped, time: str) -> Answer:
        """Say why, without another cycle: that would turn the rotation of samples further."""
        if not isinstance(decision, _Stopped):
            return super()._outcome(pod, handle, decision, time)
        told = json.loads(self._world.engine.audit(handle))
        if told["result"] == "error":
            self._nominate(pod, "")
            return {"result": "error", "error": told["error"]}
        if told["result"] == "feasible":  # what Reserve refused
            return super()._outcome(pod, handle, self._world.engine.schedule(handle, FIRST), time)
        answer = self._fail(pod, handle, "", time)
        diagnosis, after = told["message"], answer["message"]
        if diagnosis.endswith(after):
            diagnosis = diagnosis.removesuffix(after)
        else:  # preemption as the seed has it, of several that are equal
            diagnosis = diagnosis.partition(" preemption: ")[0]
        return answer | {"message": f"{diagnosis}{after}"}


Player = Callable[[Object, Engine], Sequence]
ENGINES: dict[str, Player] = {
    "one by one": Sequence,
    "with detours": Detours,
    "from the queue": Queued,
    "in batches": Batched,
}


def said(steps: list[Answer | None]) -> list[dict[str, Any] | None]:
    """What an answer says of each step, without what some ways of playing do not know."""
    return [step and {name: step[name] for name in SAID if name in step} for step in steps]


def as_upstream(player: Player, scenario: Object) -> list[Answer | None]:
    """Play as kube-scheduler chooses, sampling included."""
    return player(scenario, Engine(choose="upstream", sample=True)).answer()


def as_seeded(player: Player, scenario: Object, seed: int, *, afresh: bool = False) -> list[Answer | None]:
    """Play as the seed chooses. ``afresh``: by samples that are all nodes: for those nothing is kept."""
    if afresh:
        scenario = scenario | {"configuration": _all_nodes(scenario.get("configuration"))}
    return player(scenario, Engine(choose="seeded", seed=seed, sample=afresh)).answer()


def _scores(scenario: Object) -> bool:
    """Whether all profiles have score plugins."""
    profiles = (scenario.get("configuration") or {}).get("profiles") or []
    sets = [profile.get("plugins", {}).get("score", {}) for profile in profiles]
    return not any({"name": "*"} in s.get("disabled", []) and not s.get("enabled") for s in sets)


def _all_nodes(configuration: Object | None) -> Object:
    """The same configuration with samples of 100 %."""
    whole = {"percentageOfNodesToScore": 100}
    kind = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    configuration = (configuration or kind) | whole
    if "profiles" not in configuration:
        return configuration
    return configuration | {"profiles": [profile | whole for profile in configuration["profiles"]]}


def disagreements(scenario: Object, seed: int, names: Iterable[str] = tuple(ENGINES)) -> list[str]:
    """Where ways of playing say something else than the one that finds all results afresh, in seeded mode.

    Without scores a sample is one node: then the others are held against playing one by one.
    """
    expected = said(as_seeded(Sequence, scenario, seed, afresh=_scores(scenario)))
    found = []
    for name in names:
        played = said(as_seeded(ENGINES[name], scenario, seed))
        for number, (want, got) in enumerate(zip(expected, played, strict=True)):
            if want != got:
                found.append(f"{name}, step {number}: {got}, afresh {want}")
    return found


def upstream_disagreements(
    scenario: Object, recorded: Answer, names: Iterable[str] = tuple(ENGINES)
) -> list[str]:
    """Where ways of playing say something else than kube-scheduler."""
    expected, found = said(recorded["steps"]), []
    for name in names:
        if name == "with detours" and "staleImages" in scenario["traits"]:
            continue  # putting a pod on a node refreshes what the node says of its images
        played = said(as_upstream(ENGINES[name], scenario))
        for number, (want, got) in enumerate(zip(expected, played, strict=True)):
            if want != got and not (want and got and want["result"] == got["result"] == "error"):
                found.append(f"{name}, step {number}: {got}, kube-scheduler {want}")
    return found


def _key(pod: Object) -> str:
    meta = pod["metadata"]
    return f"{meta.get('namespace', 'default')}/{meta['name']}"


def _priority(pod: Object) -> int:
    priority: int = pod["spec"].get("priority", 0)
    return priority
