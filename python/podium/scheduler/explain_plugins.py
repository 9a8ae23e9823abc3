"""Why a pod that Python plugins concern may or may not run where: its cycle, without the effects.

Reserve and Permit are asked about the best node alone, as in a cycle, on an overlay; Unreserve follows.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from podium.errors import CoreError
from podium.framework.duration import Duration
from podium.framework.runner import PluginScores, RejectedNodes, Runner
from podium.framework.state import CycleState
from podium.framework.status import Code, Status
from podium.scheduler.cycle import Cycle, Left, Unexpected, refused_by_native
from podium.scheduler.entry import Entry
from podium.scheduler.explanation import Explanation, NodeRejection, scores_of
from podium.scheduler.failures import Refusal
from podium.scheduler.fit import Misfit, absent_status
from podium.scheduler.nodes import frozen
from podium.scheduler.single import SingleTurns

#: The nodes that PreFilter left out, None if none, and by whom.
Narrowed = tuple[NDArray[np.bool_] | None, tuple[str, ...]]


def judge_with_plugins(turns: SingleTurns, entry: Entry, name: str, top: int) -> Explanation:
    """Judge one pending pod that Python plugins concern; ``top`` bounds the scores that are returned."""
    plugins = turns.profiles.of(entry.pod)
    assert plugins is not None, "only profiles with Python plugins have any that concern a pod"
    runner, state = plugins.runner, CycleState(concerned=entry.concerned)
    left = turns.cycle.left(entry, runner, state, sampling=False)
    if isinstance(left, Unexpected):
        return Explanation(name, "error", left.message)
    if isinstance(left, Misfit):
        result = Explanation(name, "unschedulable", left.message)
        result.nodes = _rejections_of_misfit(turns.cycle, entry, left)
        _make_room(turns, entry, runner, state, left, result)
        return result
    return _Feasible(turns.cycle, entry, runner, state, left).judge(name, top)


def _make_room(
    turns: SingleTurns, entry: Entry, runner: Runner, state: CycleState, why: Misfit, result: Explanation
) -> None:
    """Say what PostFilter would do."""
    room = turns.post_filter.ask(entry, runner, state, why)
    if room.text:
        result.message = f"{result.message} {room.text}"
    if not room.nominated:
        return
    result.nominated = room.nominated
    if room.eviction is not None:
        victims = turns.cycle.services.state.by_handles(room.eviction.victims)
        result.victims = [f"{e.pod.metadata.namespace}/{e.pod.metadata.name}" for e in victims]


def _rejections_of_misfit(cycle: Cycle, entry: Entry, why: Misfit) -> dict[str, NodeRejection]:
    if why.as_such is not None:
        rejection = _rejection(why.as_such)
        return dict.fromkeys(cycle.engine.node_order(), rejection)
    return _rejections(cycle, entry, why.rejected, (why.left_out, why.narrowed_by))


def _rejections(
    cycle: Cycle, entry: Entry, rejected: tuple[RejectedNodes, ...], narrowed: Narrowed
) -> dict[str, NodeRejection]:
    """Return why each rejected node is out, in node order: the first plugin of either kind counts."""
    own: dict[str, NodeRejection] = {}
    names = cycle.services.facts.names
    left_out, narrowed_by = narrowed
    if left_out is not None:
        own.update(dict.fromkeys(names[left_out], _rejection(absent_status(narrowed_by))))
    for group in rejected:
        own.update(dict.fromkeys(names[group.rows], _rejection(group.status)))
    native = cycle.engine.explain(entry.handle)["nodes"]
    found: dict[str, NodeRejection] = {}
    for name in cycle.engine.node_order():
        if name in own:
            found[name] = own[name]
        elif name in native:
            found[name] = NodeRejection(**native[name])
    return found


def _rejection(status: Status) -> NodeRejection:
    return NodeRejection(status.plugin, status.reasons, str(status.code))


class _Feasible:
    """One pod for which nodes are left after the filters."""

    def __init__(self, cycle: Cycle, entry: Entry, runner: Runner, state: CycleState, left: Left) -> None:
        self._cycle = cycle
        self._engine = cycle.engine
        self._entry = entry
        self._runner = runner
        self._state = state
        self._left = left
        self._own: tuple[PluginScores, ...] = ()

    def judge(self, name: str, top: int) -> Explanation:
        """Say which nodes are left and how they score, then what Reserve and Permit say of the best one."""
        left = self._left
        answer = self._engine.explain_within(self._entry.handle, left.feasible)
        result = Explanation(name, "feasible", answer["message"], answer["feasible"])
        result.nodes = _rejections(self._cycle, self._entry, left.filtered.rejected, left.narrowed)
        failure = self._score()
        if answer["state"] == "error":
            failure = answer["message"]
        # Where one node is left, a cycle takes it without scoring it: a failing score does no harm.
        if failure is not None and left.count > 1:
            result.state, result.message = "error", failure
            return result
        if failure is None and answer["totals"]:
            result.scores = scores_of(self._with_own(answer), top)
        self._after(result)
        return result

    def _score(self) -> str | None:
        """Ask the Python scores; returns the message of one that fails."""
        runner, state, pod = self._runner, self._state, self._entry.pod
        view = self._left.view.with_candidates(frozen(self._left.feasible))
        status = runner.pre_score(state, pod, view)
        if not status.is_success:
            return status.message
        scores = runner.score(state, pod, view)
        if not scores.status.is_success:
            return scores.status.message
        self._own = scores.plugins
        return None

    def _with_own(self, answer: Mapping[str, Any]) -> dict[str, Any]:
        """Add the Python scores to the native ones, in the order of the profile."""
        facts = self._cycle.services.facts
        rows = np.array([facts.index(node) for node in answer["feasible"]], np.intp)
        parts = {part[0]: part for part in answer["scores"]}
        totals = np.array(answer["totals"], np.int64)
        for own in self._own:
            totals += own.weighted[rows]
            parts[own.plugin] = (
                own.plugin,
                own.weight,
                own.raw[rows].tolist(),
                own.normalized[rows].tolist(),
            )
        order = [name for name in self._runner.order("score") if name in parts]
        return {**answer, "totals": totals.tolist(), "scores": [parts[name] for name in order]}

    def _after(self, result: Explanation) -> None:
        try:
            row = self._best()
        except CoreError as error:
            result.state, result.message = "error", str(error)
            return
        node = self._engine.node_name(row)
        refusal, status = self._reserve_and_permit(row, node)
        if refusal is not None:
            result.state, result.message = refusal.result, refusal.message
            if status.is_rejected:
                result.nodes = {**result.nodes, node: _rejection(status)}
        elif status.code is Code.WAIT:
            result.message = status.message

    def _best(self) -> int:
        """Return the row that a cycle would choose."""
        engine, facts, feasible = self._engine, self._cycle.services.facts, self._left.feasible
        nominated = engine.nominated(self._entry.handle)
        if nominated is not None and nominated in facts.positions and feasible[facts.index(nominated)]:
            return facts.row(facts.index(nominated))
        if self._left.count == 1:
            return facts.row(int(feasible.argmax()))
        own = [(plugin.normalized, plugin.weight) for plugin in self._own]
        row = engine.best(self._entry.handle, feasible, own)
        assert row is not None, "a node is left"
        return row

    def _reserve_and_permit(self, row: int, node: str) -> tuple[Refusal | None, Status]:
        """Return what Reserve and Permit say, undone: a refusal and its status, or success, or WAIT."""
        runner, state, pod = self._runner, self._state, self._entry.pod
        self._engine.begin_overlay()
        try:
            native = self._engine.place_in_overlay(self._entry.handle, row)
            if native is not None:
                plugin, code, reasons = native
                return refused_by_native(native), Status(Code(code), tuple(reasons), plugin)
            status = runner.reserve(state, pod, node)
            if not status.is_success:
                return Refusal.on_one_node(status), status
            outcome = runner.permit(state, pod, node)
            if outcome.status.code is Code.WAIT:
                waits = ", ".join(
                    f"{plugin} for {Duration.from_seconds(seconds)}"
                    for plugin, seconds in outcome.waits.items()
                )
                said = ", ".join(outcome.status.reasons[:-1])
                text = f"would wait in Permit on {node}: {waits}{f': {said}' if said else ''}"
                return None, Status(Code.WAIT, (text,))
            if not outcome.status.is_success:
                return Refusal.on_one_node(outcome.status), outcome.status
            return None, outcome.status
        finally:
            runner.unreserve(state, pod, node)
            self._engine.end_overlay()
