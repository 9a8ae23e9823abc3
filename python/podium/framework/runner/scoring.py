"""PreScore, Score and NormalizeScore.

Rules: ``RunPreScorePlugins`` and ``RunScorePlugins`` of ``k8s.io/kubernetes/pkg/scheduler/framework/runtime``
at v1.37.2.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from podium.api import Pod
from podium.errors import PluginError
from podium.framework.nodes import NodesView
from podium.framework.runner.arrays import check_range, check_scores
from podium.framework.runner.calls import Calls, Failure, error
from podium.framework.runner.members import Member, Members
from podium.framework.state import CycleState
from podium.framework.status import SUCCESS, Code, Status


@dataclass(slots=True, eq=False)
class PluginScores:
    """The scores of one plugin, int64 of shape (nodes,); only the rows of feasible nodes mean anything."""

    plugin: str
    weight: int
    raw: NDArray[np.int64]
    normalized: NDArray[np.int64]

    @property
    def weighted(self) -> NDArray[np.int64]:
        """The plugin's part of the total."""
        return self.normalized if self.weight == 1 else self.normalized * np.int64(self.weight)


@dataclass(slots=True, eq=False)
class ScoreOutcome:
    """The scores of all Python plugins, or the error that ends the cycle."""

    status: Status
    plugins: tuple[PluginScores, ...]
    candidates: NDArray[np.bool_]

    @property
    def total(self) -> NDArray[np.int64]:
        """The weighted sum, int64 of shape (nodes,), 0 for nodes that are not feasible."""
        total = np.zeros(len(self.candidates), np.int64)
        for own in self.plugins:
            total += own.weighted
        return total * self.candidates


@dataclass(frozen=True, slots=True)
class ScoreRunner:
    """Runs the Python scores of a profile; ``nodes.candidates`` are the feasible nodes."""

    calls: Calls
    members: Members

    def pre_score(
        self, state: CycleState, pod: Pod, nodes: NodesView, native_skips: frozenset[str]
    ) -> Status:
        """Run PreScore; sets ``state.skip_score`` to the plugins that have no score, native ones too."""
        skipped = native_skips
        result = SUCCESS
        for member in self.members.at("preScore", state):
            status = self.calls.status("PreScore", member.name, member.call, state, pod, nodes)
            if status is SUCCESS:
                continue
            if status.code is Code.SKIP:
                skipped = skipped | {member.name}
            elif not status.is_success:
                result = error(f'running PreScore plugin "{member.name}"', status)
                break
        state.skip_score = skipped
        return result

    def score(self, state: CycleState, pod: Pod, nodes: NodesView) -> ScoreOutcome:
        """Run Score of every plugin, then NormalizeScore, then check the range and add up."""
        candidates = nodes.candidates
        skipped = state.skip_score
        active: Sequence[Member] = self.members.at("score", state)
        if skipped:
            active = [member for member in active if member.name not in skipped]
        raw: list[NDArray[np.int64]] = []
        for member in active:
            answer = ask_score(self.calls, member, state, pod, nodes)
            if isinstance(answer, Failure):
                return _failed(
                    f'running Score plugins: plugin "{member.name}" failed with', answer, candidates
                )
            raw.append(answer)
        plugins = []
        for member, scores in zip(active, raw, strict=True):
            answer = scores
            if member.also is not None:
                answer = self._normalize(member, state, pod, nodes, scores)
            if isinstance(answer, Failure):
                text = f'running Normalize on Score plugins: plugin "{member.name}" failed with'
                return _failed(text, answer, candidates)
            plugins.append(PluginScores(member.name, member.weight, scores, answer))
        failure = _check_ranges(plugins, candidates)
        if failure is not None:
            return _failed("applying score defaultWeights on Score plugins", failure, candidates)
        return ScoreOutcome(SUCCESS, tuple(plugins), candidates)

    def _normalize(
        self, member: Member, state: CycleState, pod: Pod, nodes: NodesView, scores: NDArray[np.int64]
    ) -> Any:
        view = scores.view()
        view.flags.writeable = False
        args = (member, state, pod, nodes, view)
        return self.calls.run("ScoreExtensionNormalize", member.name, _normalized, _success, *args)


def ask_score(
    calls: Calls, member: Member, state: CycleState, pod: Pod, nodes: NodesView
) -> "NDArray[np.int64] | Failure":
    """Call one score plugin."""
    answer: NDArray[np.int64] | Failure = calls.run(
        "Score", member.name, _raw_scores, _success, member, state, pod, nodes
    )
    return answer


def _raw_scores(member: Member, state: CycleState, pod: Pod, nodes: NodesView) -> NDArray[np.int64]:
    return check_scores(member.name, "score", member.call(state, pod, nodes), len(nodes))


def _normalized(
    member: Member, state: CycleState, pod: Pod, nodes: NodesView, scores: NDArray[np.int64]
) -> NDArray[np.int64]:
    assert member.also is not None, "only plugins that normalise are asked to"
    return check_scores(member.name, "normalize_score", member.also(state, pod, nodes, scores), len(nodes))


def _success(_: Any) -> Code:
    return Code.SUCCESS


def _check_ranges(plugins: list[PluginScores], candidates: NDArray[np.bool_]) -> Failure | None:
    try:
        for own in plugins:
            check_range(own.plugin, own.normalized, candidates)
    except PluginError as bad:
        return Failure(Status.error(bad))
    return None


def _failed(text: str, failure: Failure, candidates: NDArray[np.bool_]) -> ScoreOutcome:
    return ScoreOutcome(error(text, failure.status), (), candidates)
