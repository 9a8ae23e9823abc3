"""Filter and PostFilter.

Rules: ``RunFilterPlugins`` and ``RunPostFilterPlugins`` of
``k8s.io/kubernetes/pkg/scheduler/framework/runtime`` at v1.37.2.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from podium.api import Pod
from podium.framework.nodes import NodesView
from podium.framework.results import FilterResult, NodeStatuses, PostFilterResult
from podium.framework.runner.arrays import RejectedNodes, check_filter, group_rejections
from podium.framework.runner.calls import Calls, Failure, as_status, error
from podium.framework.runner.members import Member, Members
from podium.framework.state import CycleState
from podium.framework.status import SUCCESS, Code, Status


@dataclass(frozen=True, slots=True, eq=False)
class FilterOutcome:
    """What the filters came to.

    Attributes:
        status: success, or the error that ends the cycle (``first`` and ``rejected`` are then incomplete).
        first: int16, shape (nodes,): the place in the profile's list of the first plugin that rejected the
            node, native plugins included; -1 where none did.
        answers: the answers of Python plugins, each with the nodes that it rejected first.
        more: further rejections.

    """

    status: Status
    first: NDArray[np.int16]
    answers: tuple["Answer", ...] = ()
    more: tuple[RejectedNodes, ...] = ()

    @property
    def rejected(self) -> tuple[RejectedNodes, ...]:
        """The nodes that Python plugins rejected, grouped by plugin, code and reasons."""
        return tuple(group for answer in self.answers for group in answer.groups()) + self.more

    @property
    def feasible(self) -> NDArray[np.bool_]:
        """Which nodes passed every filter, shape (nodes,)."""
        return self.first < 0


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """What one plugin answered, and the nodes, shape (nodes,), whose first rejection it is."""

    plugin: str
    result: FilterResult
    out: NDArray[np.bool_]

    def groups(self) -> Iterator[RejectedNodes]:
        """Split the nodes by code and reasons; done only where somebody asks why."""
        return group_rejections(self.plugin, self.result, self.out)


@dataclass(frozen=True, slots=True)
class FilterRunner:
    """Runs the Python filters of a profile."""

    calls: Calls
    members: Members

    def run(
        self, state: CycleState, pod: Pod, nodes: NodesView, native_first: NDArray[np.int16] | None
    ) -> FilterOutcome:
        """Run each filter over the nodes that nothing before it in the profile rejected.

        ``native_first`` says which native plugin rejected each node first, as in ``FilterOutcome.first``.
        """
        first = np.full(len(nodes), -1, np.int16) if native_first is None else native_first.copy()
        last: int | None = None
        answers: list[Answer] = []
        candidates = first < 0
        for member in self.members.at("filter", state):
            if member.name in state.skip_filter:
                continue
            if last is None:
                last = int(first.max(initial=-1))
            asked = candidates if last <= member.order else candidates | (first > member.order)
            if not np.count_nonzero(asked):
                continue
            result = self._ask(member, state, pod, nodes.with_candidates(asked))
            if isinstance(result, Status):
                return FilterOutcome(result, first, tuple(answers))
            out = asked > result.mask
            if not np.count_nonzero(out):
                continue
            answer = Answer(member.name, result, out)
            unusable = _unusable(answer)
            if unusable is not None:
                status = error(f'running "{member.name}" filter plugin', unusable)
                return FilterOutcome(status, first, tuple(answers))
            # A native plugin further down the list had rejected some of them; the first one counts.
            np.copyto(first, member.order, where=out)
            candidates = candidates > out
            answers.append(answer)
        return FilterOutcome(SUCCESS, first, tuple(answers))

    def _ask(self, member: Member, state: CycleState, pod: Pod, nodes: NodesView) -> FilterResult | Status:
        answer = self.calls.run(
            "Filter",
            member.name,
            lambda: check_filter(member.name, member.plugin.filter(state, pod, nodes), len(nodes)),
            _filter_code,
        )
        if isinstance(answer, Failure):
            return error(f'running "{member.name}" filter plugin', answer.status)
        result: FilterResult = answer
        return result


def _unusable(answer: Answer) -> Status | None:
    """Return a status of the answer that is no rejection, None if all are."""
    code = answer.result.code
    if isinstance(code, Code) and code.is_rejected:
        return None
    return next((group.status for group in answer.groups() if not group.status.is_rejected), None)


def _filter_code(result: FilterResult) -> Code:
    """Return the code that the metrics show for a whole call."""
    if np.count_nonzero(result.mask) == len(result.mask):
        return Code.SUCCESS
    return result.code if isinstance(result.code, Code) else Code.UNSCHEDULABLE


@dataclass(frozen=True, slots=True)
class PostFilterRunner:
    """Runs PostFilter of a profile."""

    calls: Calls
    members: Members

    def run(self, state: CycleState, pod: Pod, statuses: NodeStatuses) -> PostFilterResult:
        """Ask the plugins in order until one succeeds, fails, or says that nothing helps.

        Otherwise the reasons of all are joined, the first plugin is blamed, and the last nomination that says
        anything is kept.
        """
        if state.skip_all_post_filter:
            return PostFilterResult(status=Status.unschedulable("All PostFilter plugins are skipped"))
        nominated: str | None = None
        reasons: list[str] = []
        blamed = ""
        for member in self.members.at("postFilter", state):
            result = self._ask(member, state, pod, statuses)
            status = result.status
            if status.is_success:
                return PostFilterResult(result.nominated_node)
            if status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
                return result
            if not status.is_rejected:
                return PostFilterResult(status=error(f'running PostFilter plugin "{member.name}"', status))
            if result.nominated_node is not None:
                nominated = result.nominated_node
            reasons += status.reasons
            blamed = blamed or member.name
        return PostFilterResult(nominated, Status.unschedulable(*reasons).by(blamed))

    def _ask(self, member: Member, state: CycleState, pod: Pod, statuses: NodeStatuses) -> PostFilterResult:
        answer = self.calls.run(
            "PostFilter",
            member.name,
            lambda: _as_result(member.plugin.post_filter(state, pod, statuses)),
            lambda result: result.status.code,
        )
        if isinstance(answer, Failure):
            return PostFilterResult(status=answer.status)
        return PostFilterResult(answer.nominated_node, answer.status.by(member.name))


def _as_result(answer: Any) -> PostFilterResult:
    return answer if isinstance(answer, PostFilterResult) else PostFilterResult(status=as_status(answer))
