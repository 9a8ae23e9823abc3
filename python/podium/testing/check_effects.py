"""Checks of Reserve, Permit and the binding cycle."""

import asyncio
from collections.abc import Iterator

from podium.api import Pod
from podium.framework.points import BINDING_POINTS
from podium.framework.runner import Runner
from podium.framework.state import CycleState
from podium.framework.status import Code, Status
from podium.testing.subject import Case, Subject


def check_reserve(subject: Subject) -> Iterator[str]:
    """Check that unreserve undoes reserve, is idempotent, and needs no reserve before it."""
    if not subject.has("reserve"):
        return
    for pod in subject.pods:
        case, state = _prepared(subject, pod)
        node = subject.nodes[0].metadata.name
        told = list(case.runner.unreserve(state, pod, node))
        first = case.runner.reserve(state, pod, node)
        told += [*case.runner.unreserve(state, pod, node), *case.runner.unreserve(state, pod, node)]
        second = case.runner.reserve(state, pod, node)
        told += [*case.runner.unreserve(state, pod, node), first, second]
        errors = [status.message for status in told if status.code is Code.ERROR]
        yield from errors
        if not errors and first.code is not second.code:
            yield f"unreserve does not undo reserve: it gave {first}, and the next time {second}"


def check_permit(subject: Subject) -> Iterator[str]:
    """Check that permit approves, rejects or waits."""
    if not subject.has("permit"):
        return
    for pod in subject.pods:
        case, state = _prepared(subject, pod)
        outcome = case.runner.permit(state, pod, subject.nodes[0].metadata.name)
        if outcome.status.code is Code.ERROR:
            yield outcome.status.message


def check_binding(subject: Subject) -> Iterator[str]:
    """Check the pre-flight, and the binding points in either form."""
    if not subject.has(*BINDING_POINTS):
        return
    for pod in subject.pods:
        case, state = _prepared(subject, pod)
        node = subject.nodes[0].metadata.name
        flight = case.runner.pre_flight(state, pod, node)
        if flight.code is Code.ERROR:
            yield flight.message
            continue
        for point in BINDING_POINTS:
            for name in case.runner.names(point):
                if point == "preBind" and name in state.skip_pre_bind:
                    continue
                status = _finish(case.runner, (point, name), state, pod, node)
                if status.code is Code.ERROR:
                    yield status.message


def _prepared(subject: Subject, pod: Pod) -> tuple[Case, CycleState]:
    """Return an instance and a state that has been through PreFilter, as before Reserve."""
    case = subject.fresh()
    state = CycleState()
    case.runner.pre_filter(state, pod, case.handle.snapshot())
    return case, state


def _finish(runner: Runner, call: tuple[str, str], state: CycleState, pod: Pod, node: str) -> Status:
    started = runner.start(*call, state, pod, node)
    return started if isinstance(started, Status) else asyncio.run(started)
