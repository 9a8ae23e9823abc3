"""Checks of the scheduling cycle up to the choice of a node."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from podium.api import Pod
from podium.framework.runner import FilterOutcome, ScoreOutcome
from podium.framework.state import CycleState
from podium.framework.status import Code, Status
from podium.testing.nodes import ObjectNodes
from podium.testing.pod_builder import make_pod
from podium.testing.subject import Case, Subject

Answers = dict[str, Any]


def check_filters(subject: Subject) -> Iterator[str]:
    """Check pre_filter and filter."""
    if subject.has("preFilter", "filter"):
        for pod in subject.pods:
            yield from _check_pod(subject, pod, _filter, "filter")


def check_scores(subject: Subject) -> Iterator[str]:
    """Check pre_score, score and normalize_score."""
    if subject.has("preScore", "score"):
        for pod in subject.pods:
            yield from _check_pod(subject, pod, _score, "score")


def _check_pod(subject: Subject, pod: Pod, ask: Any, what: str) -> Iterator[str]:
    """Ask about one pod in every way that must not change the answer."""
    case = subject.fresh()
    given = msgspec.json.encode(pod)
    for view in subject.views(case):
        error, answers = ask(case, pod, view)
        if error:
            yield error
            return
        if ask(case, pod, view)[1] != answers:
            yield f"{what} gives another answer to the same question"
            return
        backwards = view.select(np.arange(len(view))[::-1])
        if ask(case, pod, backwards)[1] != answers:
            yield f"{what} depends on the order of the nodes"
        if case.plugin.depends_on.kind == "node" and not _is_local(ask, case, pod, view, answers):
            yield f"{what} of a node depends on other nodes, but depends_on is NODE"
    view = case.handle.snapshot()
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda _: ask(case, pod, view)[1], range(8)))
    if any(answers != together[0] for answers in together):
        yield f"{what} gives other answers when several threads ask"
    if msgspec.json.encode(pod) != given:
        yield f"{what} changed the pod"


def _is_local(ask: Any, case: Case, pod: Pod, view: ObjectNodes, answers: Answers) -> bool:
    rows = np.arange(len(view))[1::2]
    if not len(rows):
        return True
    alone: Answers = ask(case, pod, view.select(rows))[1]
    return all(answers.get(name) == answer for name, answer in alone.items())


def _filter(case: Case, pod: Pod, view: ObjectNodes) -> tuple[str, Answers]:
    """Return an error text, and the status of each candidate by name."""
    state = CycleState()
    before = case.runner.pre_filter(state, pod, view)
    if before.status.code is Code.ERROR:
        return before.status.message, {}
    if not before.status.is_success:
        return "", {"": before.status}
    return _statuses(case.runner.filter(state, pod, view), view)


def _statuses(outcome: FilterOutcome, view: ObjectNodes) -> tuple[str, Answers]:
    if outcome.status.code is Code.ERROR:
        return outcome.status.message, {}
    candidates = np.flatnonzero(view.candidates)
    statuses = {int(row): group.status for group in outcome.rejected for row in group.rows}
    return "", {str(view.names[row]): statuses.get(int(row), Status()) for row in candidates}


def _score(case: Case, pod: Pod, view: ObjectNodes) -> tuple[str, Answers]:
    """Return an error text, and the raw score of each candidate by name."""
    state = CycleState()
    # Score may need what pre_filter wrote.
    before = case.runner.pre_filter(state, pod, view)
    if before.status.code is Code.ERROR:
        return before.status.message, {}
    status = case.runner.pre_score(state, pod, view)
    if status.code is Code.ERROR:
        return status.message, {}
    outcome = case.runner.score(state, pod, view)
    if outcome.status.code is Code.ERROR:
        return outcome.status.message, {}
    return "", _raw_scores(outcome, view)


def _raw_scores(outcome: ScoreOutcome, view: ObjectNodes) -> Answers:
    candidates = np.flatnonzero(view.candidates)
    return {str(view.names[row]): [int(own.raw[row]) for own in outcome.plugins] for row in candidates}


def check_pre_filter_extensions(subject: Subject) -> Iterator[str]:
    """Check that add_pod and remove_pod undo each other, on a clone, without touching the original state."""
    plugin = subject.fresh().plugin
    if not hasattr(plugin, "add_pod"):
        return
    for pod in subject.pods:
        case = subject.fresh()
        view = case.handle.snapshot()
        state = CycleState()
        if not case.runner.pre_filter(state, pod, view).status.is_success:
            continue
        error, answers = _statuses(case.runner.filter(state, pod, view), view)
        added = (
            make_pod("added").labels(pod.metadata.labels).request(cpu="1").node(str(view.names[0])).build()
        )
        clone = state.clone()
        told: list[Status] = [case.runner.add_pod(clone, pod, added, view.row(0))]
        untouched = _statuses(case.runner.filter(state, pod, view), view)[1]
        told.append(case.runner.remove_pod(clone, pod, added, view.row(0)))
        undone = _statuses(case.runner.filter(clone, pod, view), view)[1]
        yield from (status.message for status in told if not status.is_success)
        if not error and untouched != answers:
            yield "add_pod on a cloned state changes the original: give the value a clone() method"
        if not error and undone != answers:
            yield "remove_pod does not undo add_pod"


@dataclass(frozen=True, slots=True)
class SampleStatuses:
    """Statuses for post_filter: half of the nodes could be helped."""

    names: tuple[str, ...]

    def get(self, node_name: str) -> Status:
        """Return the status of a node."""
        if node_name in self.names[::2]:
            return Status.unschedulable("Insufficient cpu").by("NodeResourcesFit")
        return Status.unresolvable("node(s) were unschedulable").by("NodeUnschedulable")

    def nodes_with(self, code: Code) -> list[str]:
        """Return the nodes with a code."""
        return [name for name in self.names if self.get(name).code is code]


def check_post_filter(subject: Subject) -> Iterator[str]:
    """Check that post_filter answers for every pod."""
    if not subject.has("postFilter"):
        return
    for pod in subject.pods:
        case = subject.fresh()
        view = case.handle.snapshot()
        state = CycleState()
        if case.runner.pre_filter(state, pod, view).status.code is Code.ERROR:
            continue
        statuses = SampleStatuses(tuple(str(name) for name in view.names))
        result = case.runner.post_filter(state, pod, statuses)
        if result.status.code is Code.ERROR:
            yield result.status.message
        elif result.nominated_node and result.nominated_node not in statuses.names:
            yield f'post_filter nominated "{result.nominated_node}", which is no node'
