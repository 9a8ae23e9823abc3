"""DefaultPreemption where Python plugins filter: kube-scheduler's dry run on the core's hypothetical nodes.

The same rules as in the core, which does it alone for pods that no Python plugin concerns: victims of lower
priority leave, the pod is tried, victims are taken back by importance as long as it still fits. Python
filters see one hypothetical node at a time, after ``remove_pod`` and ``add_pod`` on a cloned state.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from podium._core import Engine, Eviction
from podium.api import Pod
from podium.errors import ExtenderError
from podium.framework.results import NodeStatuses, PostFilterResult
from podium.framework.runner import Runner
from podium.framework.state import CycleState
from podium.framework.status import Code, Status
from podium.scheduler.entry import Entry
from podium.scheduler.extenders import ExtenderPlugin
from podium.scheduler.fit import Misfit
from podium.scheduler.handle import Services
from podium.scheduler.nodes import SnapshotRow

#: Row, victims, how many of them violate a budget.
Candidate = tuple[int, list[int], int]

_NO_VICTIMS = (int(Code.UNSCHEDULABLE_AND_UNRESOLVABLE), ["No preemption victims found for incoming pod"])


@dataclass(slots=True)
class Failed:
    """The cycle that PostFilter follows."""

    entry: Entry
    runner: Runner
    misfit: Misfit
    extenders: Sequence[ExtenderPlugin] = ()


@dataclass(slots=True)
class Preemption:
    """Stands for the native plugin among the PostFilter plugins of a profile."""

    services: Services
    failed: Failed | None = None
    eviction: Eviction | None = field(default=None)
    """What it came to in the last cycle."""

    def post_filter(self, state: CycleState, pod: Pod, statuses: NodeStatuses) -> PostFilterResult:  # noqa: ARG002
        """Find victims; the loop evicts them."""
        failed = self.failed
        assert failed is not None, "PostFilter follows a failed cycle"
        try:
            eviction = self.eviction = self._run(failed, state)
        except ExtenderError as error:
            return PostFilterResult(status=Status.error(error))
        reasons = (eviction.message,) if eviction is not None and eviction.message else ()
        if eviction is None or eviction.result in ("ineligible", "helpless"):
            withdrawn = "" if eviction is not None and eviction.result == "helpless" else None
            return PostFilterResult(withdrawn, Status.unschedulable(*reasons))
        if eviction.result == "failed":
            return PostFilterResult(status=Status(Code.ERROR, reasons))
        assert eviction.row is not None, "a nomination has a node"
        return PostFilterResult(self.services.state.engine.node_name(eviction.row), Status(reasons=reasons))

    def _run(self, failed: Failed, state: CycleState) -> Eviction | None:
        engine, handle = self.services.state.engine, failed.entry.handle
        plan = engine.plan_preemption(handle, engine.attempts(handle), failed.misfit.codes)
        if plan is None:
            return None
        rows, wanted, end = plan
        if end is not None:
            return end
        if failed.misfit.as_such is not None:
            # No node has a status of its own, so eviction is not helpful anywhere.
            return engine.conclude_preemption([], [])
        if not engine.begin_trial(handle):
            return engine.conclude_preemption([], [])
        try:
            candidates, statuses = self._dry_run(_Trial(self.services, failed, state), rows, wanted)
        finally:
            engine.end_trial()
        candidates = self._agreed(failed, candidates)
        return engine.conclude_preemption(candidates, statuses)

    def _agreed(self, failed: Failed, candidates: list[Candidate]) -> list[Candidate]:
        """Return the candidates, and their victims, that the extenders agree to."""
        state, pod = self.services.state, failed.entry.pod
        for extender in failed.extenders:
            if not candidates or not extender.preempts or extender.name not in failed.entry.concerned:
                continue
            rows = {state.engine.node_name(row): row for row, _, _ in candidates}
            victims = {
                state.engine.node_name(row): ([state.by_handle(pod).pod for pod in pods], violations)
                for row, pods, violations in candidates
            }
            try:
                agreed = extender.preempt(pod, victims)
                candidates = [
                    (rows[node], [self._on(node, uid) for uid in uids], violations)
                    for node, (uids, violations) in agreed.items()
                ]
            except (ExtenderError, KeyError) as error:
                if not extender.is_ignorable:
                    raise ExtenderError(str(error)) from error
        return candidates

    def _on(self, node: str, uid: str) -> int:
        entry = self.services.state.entry(uid)
        if entry is None or entry.node != node:
            raise ExtenderError(
                f"extender claims to preempt pod (UID: {uid}) on node {node}, which is not there"
            )
        return entry.handle

    def _dry_run(
        self, trial: "_Trial", rows: Sequence[int], wanted: int
    ) -> tuple[list[Candidate], list[tuple[int, list[str]]]]:
        clean: list[Candidate] = []
        violating: list[Candidate] = []
        statuses = []
        for row in rows:
            victims, violations, why = trial.victims(row)
            trial.engine.restart_trial()
            if why is not None:
                statuses.append(why)
                continue
            (violating if violations else clean).append((row, victims, violations))
            if clean and len(clean) + len(violating) >= wanted:
                break
        return clean + violating, statuses


class _Trial:
    """One pod on one hypothetical node after the other."""

    def __init__(self, services: Services, failed: Failed, state: CycleState) -> None:
        self.engine: Engine = services.state.engine
        self._services = services
        self._entry, self._runner = failed.entry, failed.runner
        self._original = state
        self._state = state

    def victims(self, row: int) -> tuple[list[int], int, tuple[int, list[str]] | None]:
        """Return the fewest pods that must leave, how many violate a budget, or why it is in vain."""
        engine = self.engine
        below = engine.pods_below(self._entry.handle, row)
        if not below:
            return [], 0, _NO_VICTIMS
        self._state = self._original.clone()
        for victim in below:
            self._remove(victim, row)
        refused = self._judge(row)
        if refused is not None:
            return [], 0, refused
        violating, others = engine.rank_victims(below)
        evicted: list[int] = []
        violations = 0
        for victims, counts in ((violating, 1), (others, 0)):
            for victim in victims:
                self._add(victim, row)
                if self._judge(row) is not None:
                    self._remove(victim, row)
                    evicted.append(victim)
                    violations += counts
        if not evicted:
            text = f'expected at least one victim pod on node "{engine.node_name(row)}"'
            return [], 0, (int(Code.ERROR), [text])
        if violating and others:
            evicted = engine.by_importance(evicted)
        return evicted, violations, None

    def _node(self, row: int) -> SnapshotRow:
        view = self._services.view()
        return view.row(view.index(self.engine.node_name(row)))

    def _remove(self, victim: int, row: int) -> None:
        self.engine.try_without(victim)
        pod = self._services.state.by_handle(victim).pod
        self._runner.remove_pod(self._state, self._entry.pod, pod, self._node(row))

    def _add(self, pod: int, row: int) -> None:
        self.engine.try_with(pod, row)
        added = self._services.state.by_handle(pod).pod
        self._runner.add_pod(self._state, self._entry.pod, added, self._node(row))

    def _judge(self, row: int) -> tuple[int, list[str]] | None:
        """Return code and reasons of a refusal of the hypothetical node, None if the pod fits."""
        native = self.engine.try_row(row)
        if native is not None:
            return native[1], native[2]
        nominated = self.engine.nominated_above(self._entry.handle, row)
        if nominated:
            before = self._state
            self._state = before.clone()
            for pod in nominated:
                self._add(pod, row)
            refused = judge_one(self._services, self._runner, self._state, (self._entry.pod, row))
            for pod in nominated:
                self.engine.try_without(pod)
            self._state = before
            if refused is not None:
                return int(refused.code), list(refused.reasons)
        refused = judge_one(self._services, self._runner, self._state, (self._entry.pod, row))
        return None if refused is None else (int(refused.code), list(refused.reasons))


def judge_one(
    services: Services, runner: Runner, state: CycleState, question: tuple[Pod, int]
) -> Status | None:
    """Ask the Python filters about one row as it is in the core now; returns the refusal, None for yes."""
    pod, row = question
    view = services.view()
    at = view.index(services.state.engine.node_name(row))
    one = view.select(np.array([at], np.intp))
    outcome = runner.filter(state, pod, one)
    if not outcome.status.is_success:
        return outcome.status
    return outcome.rejected[0].status if outcome.rejected else None
