"""Filter and PostFilter.

Rules: ``RunFilterPlugins`` and ``RunPostFilterPlugins`` of
``k8s.io/kubernetes/pkg/scheduler/framework/runtime`` at v1.37.2.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from podium._core import refused
from podium.api import Pod
from podium.framework.nodes import NodesView
from podium.framework.results import FilterResult, NodeStatuses, PostFilterResult
from podium.framework.runner.arrays import RejectedNodes, check_filter, group_rejections
from podium.framework.runner.calls import Calls, Failure, as_status, error
from podium.framework.runner.members import Member, Members
from podium.framework.state import CycleState
from podium.framework.status import SUCCESS, Code, Status


@dataclass(slots=True, eq=False)
class NativeVerdicts:
    """What the native filters say of the nodes. Places are those in the profile's whole Filter list.

    Attributes:
        passed: bool, shape (nodes,): nodes that none of them rejects.
        last: the greatest place of one that is the first to reject some node, -1 if there is none.
        first: gives int16, shape (nodes,): the place of the first one that rejects the node, -1 where none
            does. Most pods never need it.
        count: how many nodes passed.

    """

    passed: NDArray[np.bool_]
    last: int
    first: Callable[[], NDArray[np.int16]]
    count: int

    @classmethod
    def of(cls, first: NDArray[np.int16]) -> Self:
        """Make them of the places alone."""
        passed = first < 0
        return cls(passed, int(first.max(initial=-1)), lambda: first, int(np.count_nonzero(passed)))


@dataclass(slots=True, eq=False)
class FilterOutcome:
    """What the filters came to.

    Attributes:
        status: success, or the error that ends the cycle (the rest is then incomplete).
        feasible: bool, shape (nodes,): nodes that passed every filter.
        count: how many those are.
        answers: the answers of Python plugins, each with the nodes that it rejected first.
        native: what the native filters had said; None: there are none.

    """

    status: Status
    feasible: NDArray[np.bool_]
    count: int
    answers: tuple["Answer", ...] = ()
    native: NativeVerdicts | None = None

    @property
    def rejected(self) -> tuple[RejectedNodes, ...]:
        """The nodes that Python plugins rejected, grouped by plugin, code and reasons."""
        return tuple(group for answer in self.answers for group in answer.groups())

    @property
    def first(self) -> NDArray[np.int16]:
        """The place of the first plugin of either kind that rejected each node, -1 where none did."""
        nodes = len(self.feasible)
        first = np.full(nodes, -1, np.int16) if self.native is None else self.native.first().copy()
        for answer in self.answers:
            # A native plugin further down the list had rejected some of them; the first one counts.
            np.copyto(first, answer.place, where=answer.out)
        return first


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """What one plugin answered, its place, and the nodes, shape (nodes,), whose first rejection it is."""

    plugin: str
    place: int
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
        self, state: CycleState, pod: Pod, nodes: NodesView, native: NativeVerdicts | None
    ) -> FilterOutcome:
        """Run each filter over the nodes that nothing before it in the profile rejected."""
        if native is None:
            passed, last, left = np.ones(len(nodes), np.bool_), -1, len(nodes)
        else:
            passed, last, left = native.passed, native.last, native.count
        skipped = state.skip_filter
        answers: list[Answer] = []
        for member in self.members.at("filter", state):
            if member.name in skipped:
                continue
            asked = passed
            if last > member.order:
                assert native is not None, "only native plugins have places further down"
                asked = _also_rejected_later(passed, native.first() > member.order, answers)
                if not asked.any():
                    continue
            elif not left:
                continue
            view = nodes if asked is nodes.candidates else nodes.with_candidates(asked)
            result = ask_filter(self.calls, member, state, pod, view)
            if isinstance(result, Status):
                return FilterOutcome(result, passed, left, tuple(answers), native)
            out = refused(asked, result.mask)
            if out is None:
                continue
            answer = Answer(member.name, member.order, result, out)
            bad = unusable(answer)
            if bad is not None:
                status = error(f'running "{member.name}" filter plugin', bad)
                return FilterOutcome(status, passed, left, tuple(answers), native)
            passed = passed > out
            left = int(np.count_nonzero(passed))
            answers.append(answer)
        return FilterOutcome(SUCCESS, passed, left, tuple(answers), native)


def ask_filter(
    calls: Calls, member: Member, state: CycleState, pod: Pod, nodes: NodesView
) -> FilterResult | Status:
    """Call one filter; returns the error that ends the cycle if it fails."""
    answer = calls.run("Filter", member.name, _filter, _filter_code, member, state, pod, nodes)
    if isinstance(answer, Failure):
        return error(f'running "{member.name}" filter plugin', answer.status)
    result: FilterResult = answer
    return result


def _also_rejected_later(
    passed: NDArray[np.bool_], later: NDArray[np.bool_], answers: list[Answer]
) -> NDArray[np.bool_]:
    """Add the nodes that a native plugin further down the list rejects, and nobody before it."""
    for answer in answers:
        later = later > answer.out
    return passed | later


def unusable(answer: Answer) -> Status | None:
    """Return a status of the answer that is no rejection, None if all are."""
    code = answer.result.code
    if isinstance(code, Code) and code.is_rejected:
        return None
    return next((group.status for group in answer.groups() if not group.status.is_rejected), None)


def _filter(member: Member, state: CycleState, pod: Pod, nodes: NodesView) -> FilterResult:
    return check_filter(member.name, member.call(state, pod, nodes), len(nodes))


def _filter_code(result: FilterResult) -> Code:
    """Return the code that the metrics show for a whole call."""
    if result.mask.all():
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
            lambda: _as_result(member.call(state, pod, statuses)),
            lambda result: result.status.code,
        )
        if isinstance(answer, Failure):
            return PostFilterResult(status=answer.status)
        return PostFilterResult(answer.nominated_node, answer.status.by(member.name))


def _as_result(answer: Any) -> PostFilterResult:
    return answer if isinstance(answer, PostFilterResult) else PostFilterResult(status=as_status(answer))
