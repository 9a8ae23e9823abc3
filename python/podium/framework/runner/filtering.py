"""Filter and PostFilter.

Rules: ``RunFilterPlugins`` and ``RunPostFilterPlugins`` of
``k8s.io/kubernetes/pkg/scheduler/framework/runtime`` at v1.37.2.
"""

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
        rejected: the nodes that Python plugins rejected, grouped by plugin, code and reasons.

    """

    status: Status
    first: NDArray[np.int16]
    rejected: tuple[RejectedNodes, ...] = ()

    @property
    def feasible(self) -> NDArray[np.bool_]:
        """Which nodes passed every filter, shape (nodes,)."""
        return self.first < 0


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
        first = np.full(len(nodes), -1, np.int16) if native_first is None else native_first.astype(np.int16)
        last = -1 if native_first is None else int(first.max(initial=-1))
        rejected: list[RejectedNodes] = []
        for member in self.members.at("filter", state):
            candidates = first < 0 if last <= member.order else (first < 0) | (first > member.order)
            if member.name in state.skip_filter or not np.count_nonzero(candidates):
                continue
            result = self._ask(member, state, pod, nodes.with_candidates(candidates))
            if isinstance(result, Status):
                return FilterOutcome(result, first, tuple(rejected))
            out = candidates > result.mask
            if not np.count_nonzero(out):
                continue
            groups = list(group_rejections(member.name, result, out))
            unusable = [group.status for group in groups if not group.status.is_rejected]
            if unusable:
                status = error(f'running "{member.name}" filter plugin', unusable[0])
                return FilterOutcome(status, first, tuple(rejected))
            # A native plugin further down the list had rejected some of them; the first one counts.
            first[out] = member.order
            rejected += groups
        return FilterOutcome(SUCCESS, first, tuple(rejected))

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
