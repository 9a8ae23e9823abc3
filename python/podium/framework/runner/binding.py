"""Reserve, Permit, and the binding cycle.

Rules: ``RunReservePlugins*``, ``RunPermitPlugins``, ``RunPreBindPreFlights``, ``getPreBindPluginGroups``,
``RunBindPlugins`` of ``k8s.io/kubernetes/pkg/scheduler/framework/runtime`` at v1.37.2. One difference is on
purpose: a Permit plugin may wait as long as it says, unless a limit is given (there: 15 minutes).
"""

import inspect
import math
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from podium.api import Pod
from podium.errors import PluginError
from podium.framework.points import label
from podium.framework.results import PreFlight
from podium.framework.runner.calls import Calls, Failure, as_status, error
from podium.framework.runner.members import Member, Members, nothing
from podium.framework.state import CycleState
from podium.framework.status import SUCCESS, Code, Status

_WAITING: Final = "one or more plugins asked to wait and no plugin rejected pod"


@dataclass(frozen=True, slots=True)
class PermitOutcome:
    """What Permit came to: success, a rejection, an error, or WAIT with the seconds each plugin waits."""

    status: Status = SUCCESS
    waits: Mapping[str, float] = field(default_factory=dict)


#: Calls a plugin with (state, pod, node name); and whether that gives a coroutine.
Caller = tuple[Callable[..., Status | Coroutine[Any, Any, Status]], bool]

_PERMITTED: Final = PermitOutcome()
_NOBODY: Final[frozenset[str]] = frozenset()
_ALL_SKIP: Final = Status.skip()


@dataclass(frozen=True, slots=True)
class BindingRunner:
    """Runs the points from Reserve to PostBind of a profile."""

    calls: Calls
    members: Members
    max_permit_wait: float | None = None
    callers: dict[tuple[str, str], Caller] = field(default_factory=dict)
    """By point and plugin."""

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status:
        """Reserve in order; on anything but success the caller must call ``unreserve``."""
        for member in self.members.at("reserve", state):
            if member.call is nothing:
                continue
            status = self.calls.status("Reserve", member.name, member.call, state, pod, node_name)
            if status is not SUCCESS and not status.is_success:
                return _judged(f'running Reserve plugin "{member.name}"', status)
        return SUCCESS

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> tuple[Status, ...]:
        """Unreserve in reverse, every plugin whatever happens; return the errors of those that raised."""
        failures = []
        for member in reversed(self.members.at("reserve", state)):
            if member.also is None:
                continue
            status = self.calls.status("Unreserve", member.name, member.also, state, pod, node_name)
            if not status.is_success:
                failures.append(error(f'running Unreserve plugin "{member.name}"', status))
        return tuple(failures)

    def permit(self, state: CycleState, pod: Pod, node_name: str) -> PermitOutcome:
        """Ask every plugin until one rejects; wait if any asked for it."""
        waits: dict[str, float] = {}
        last = SUCCESS
        for member in self.members.at("permit", state):
            status = self.calls.status("Permit", member.name, _permit, member, state, pod, node_name)
            if status is SUCCESS:
                continue
            if status.code is Code.WAIT:
                limit = math.inf if self.max_permit_wait is None else self.max_permit_wait
                waits[member.name] = min(status.timeout or 0.0, limit)
                last = status
            elif not status.is_success:
                return PermitOutcome(_judged(f'running Permit plugin "{member.name}"', status))
        if not waits:
            return _PERMITTED
        return PermitOutcome(Status(Code.WAIT, (*last.reasons, _WAITING), last.plugin), waits)

    def pre_flight(self, state: CycleState, pod: Pod, node_name: str) -> Status:
        """Ask which PreBind plugins have work: success if any, SKIP if none; sets ``state.skip_pre_bind``."""
        members = self.members.at("preBind", state)
        for member in members:
            if member.also is not None:
                break
        else:
            state.skip_pre_bind = state.parallel_pre_bind = _NOBODY
            return SUCCESS if members else _ALL_SKIP
        skipped, parallel = set(), set()
        result = _ALL_SKIP
        for member in members:
            answer = self._pre_flight(member, state, pod, node_name)
            if answer.allow_parallel:
                parallel.add(member.name)
            if answer.status.code is Code.SKIP:
                skipped.add(member.name)
            elif answer.status.is_success:
                result = SUCCESS
            else:
                return _unsupported(member.name, answer.status)
        state.skip_pre_bind, state.parallel_pre_bind = frozenset(skipped), frozenset(parallel)
        return result

    def pre_bind_groups(self, state: CycleState) -> list[list[str]]:
        """Return the PreBind plugins that have work: groups run one after the other, each side by side."""
        members = self.members.at("preBind", state)
        if not (state.skip_pre_bind or state.parallel_pre_bind):
            return [[member.name] for member in members]
        groups: list[list[str]] = []
        open_group: list[str] = []
        for member in members:
            works = member.name not in state.skip_pre_bind
            if member.name in state.parallel_pre_bind:
                open_group += [member.name] if works else []
                continue
            groups += [open_group] if open_group else []
            open_group = []
            groups += [[member.name]] if works else []
        return groups + ([open_group] if open_group else [])

    def is_async(self, point: str, name: str) -> bool:
        """Whether a plugin's method of a binding point is ``async def``: for a loop, not a thread."""
        return self.caller(point, name)[1]

    def start(self, point: str, name: str, *args: Any) -> Status | Coroutine[Any, Any, Status]:
        """Call a plugin at preBind, bind or postBind with (state, pod, node name).

        A sync method runs here and now; an ``async def`` gives a coroutine. Either way the status is final:
        rejections keep their code, SKIP is allowed at bind only, all else is an error. Thread-safe.
        """
        return self.caller(point, name)[0](*args)

    def caller(self, point: str, name: str) -> Caller:
        """Return ``start`` for one plugin, and whether its method is ``async def``."""
        known = self.callers.get((point, name))
        if known is None:
            member = next(member for member in self.members.by_point[point] if member.name == name)
            start = partial(self._start, (point, name, label(point)), member.call)
            known = self.callers[point, name] = (start, inspect.iscoroutinefunction(member.call))
        return known

    def _start(
        self, where: tuple[str, str, str], method: Callable[..., Any], *args: Any
    ) -> Status | Coroutine[Any, Any, Status]:
        point, name, at = where
        started = self.calls.start(at, name, method, *args)
        if started is SUCCESS:
            return SUCCESS
        if isinstance(started, Status):
            return _binding_status(point, name, started)
        return _later(point, name, started)

    def _pre_flight(self, member: Member, state: CycleState, pod: Pod, node_name: str) -> PreFlight:
        ask = member.also
        if ask is None:
            return PreFlight()
        answer = self.calls.run(
            "PreBindPreFlight",
            member.name,
            lambda: _as_pre_flight(ask(state, pod, node_name)),
            lambda flight: flight.status.code,
        )
        if isinstance(answer, Failure):
            return PreFlight(error(f'running PreBindPreFlight "{member.name}"', answer.status))
        flight: PreFlight = answer
        return flight


async def _later(point: str, name: str, started: Coroutine[Any, Any, Status]) -> Status:
    return _binding_status(point, name, await started)


def _binding_status(point: str, name: str, status: Status) -> Status:
    if status.is_success or (point == "bind" and status.code is Code.SKIP):
        return status
    return _judged(f'running {label(point)} plugin "{name}"', status)


def _judged(text: str, status: Status) -> Status:
    """Keep success and rejections, turn everything else into an error."""
    return status if status.is_success or status.is_rejected else error(text, status)


def _unsupported(name: str, status: Status) -> Status:
    if status.code is Code.ERROR:
        return status
    supported = "which is unsupported. It is supposed to return Success, Skip, or Error status"
    return Status.error(PluginError(f'PreBindPreFlight {name} returned "{status.code}", {supported}')).by(
        name
    )


def _permit(member: Member, state: CycleState, pod: Pod, node_name: str) -> Status | None:
    answer = member.call(state, pod, node_name)
    return None if answer is None else _checked_wait(answer)


def _as_pre_flight(answer: Any) -> PreFlight:
    return answer if isinstance(answer, PreFlight) else PreFlight(as_status(answer))


def _checked_wait(answer: Any) -> Status:
    status = as_status(answer)
    if status.code is Code.WAIT and not (isinstance(status.timeout, int | float) and status.timeout >= 0):
        raise PluginError(f"returned Wait with timeout {status.timeout}, use Status.wait(seconds)")
    return status
