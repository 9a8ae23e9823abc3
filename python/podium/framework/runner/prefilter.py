"""PreFilter, and its add_pod and remove_pod.

Rules: ``RunPreFilterPlugins`` and ``RunPreFilterExtension*`` of
``k8s.io/kubernetes/pkg/scheduler/framework/runtime`` at v1.37.2.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from podium.api import Pod
from podium.errors import PluginError
from podium.framework.nodes import NodeRow, NodesView
from podium.framework.results import PreFilterResult
from podium.framework.runner.calls import Calls, Failure, as_status, error
from podium.framework.runner.members import Member, Members
from podium.framework.state import CycleState
from podium.framework.status import SUCCESS, Code, Status


@dataclass(frozen=True, slots=True)
class PreFilterStep:
    """What one plugin answered: a status and, with success, the only nodes to judge (None: all)."""

    status: Status = SUCCESS
    node_names: frozenset[str] | None = None

    @property
    def code(self) -> Code:
        """The code of the status."""
        return self.status.code


_NOTHING_TO_SAY: Final = PreFilterStep()


@dataclass(frozen=True, slots=True)
class PreFilterOutcome:
    """What PreFilter as a whole came to.

    ``node_names`` are the nodes left to judge (None: all), ``narrowed_by`` the plugins that narrowed them,
    sorted.
    """

    status: Status = SUCCESS
    node_names: frozenset[str] | None = None
    narrowed_by: tuple[str, ...] = ()


_ALL_NODES: Final = PreFilterOutcome()
_NOBODY: Final[frozenset[str]] = frozenset()


@dataclass(slots=True)
class _Fold:
    node_names: frozenset[str] | None = None
    narrowed_by: set[str] = field(default_factory=set)
    skipped: set[str] = field(default_factory=set)
    rejection: Status = SUCCESS

    def outcome(self) -> PreFilterOutcome:
        """Return what all answers come to."""
        if self.rejection is SUCCESS and self.node_names is None:
            return _ALL_NODES
        return PreFilterOutcome(self.rejection, self.node_names, tuple(sorted(self.narrowed_by)))

    def take(self, name: str, step: PreFilterStep) -> PreFilterOutcome | None:
        """Add a plugin's answer; an outcome ends the round."""
        status = step.status.by(name)
        if status.code is Code.SKIP:
            self.skipped.add(name)
        elif status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
            return PreFilterOutcome(status)
        elif status.code is Code.UNSCHEDULABLE:
            # Preemption may follow, so the other plugins must prepare their state.
            self.rejection = status
        elif not status.is_success:
            return PreFilterOutcome(error(f'running PreFilter plugin "{name}"', status))
        elif step.node_names is not None:
            return self._narrow(name, step.node_names)
        return None

    def _narrow(self, name: str, names: frozenset[str]) -> PreFilterOutcome | None:
        self.narrowed_by.add(name)
        self.node_names = names if self.node_names is None else self.node_names & names
        if self.node_names:
            return None
        plugins = sorted(self.narrowed_by)
        text = f"node(s) didn't satisfy plugin(s) [{' '.join(plugins)}] simultaneously"
        if len(plugins) == 1:
            text = f"node(s) didn't satisfy plugin {plugins[0]}"
        return PreFilterOutcome(Status.unresolvable(text), self.node_names, tuple(plugins))


@dataclass(frozen=True, slots=True)
class PreFilterRunner:
    """Runs PreFilter of a profile; ``order`` is the profile's whole list of names."""

    calls: Calls
    members: Members
    order: Sequence[str]

    def run(
        self, state: CycleState, pod: Pod, nodes: NodesView, native: Mapping[str, PreFilterStep]
    ) -> PreFilterOutcome:
        """Fold the answers of all plugins in the profile's order; ``native`` has those of the core.

        A native plugin without an answer succeeded. Sets ``state.skip_filter``.
        """
        own = self.members.at("preFilter", state)
        if not native and len(own) == 1:
            # Most pods: one plugin, which has nothing to say.
            step = self._ask(own[0], state, pod, nodes)
            if step is _NOTHING_TO_SAY:
                state.skip_filter = _NOBODY
                return _ALL_NODES
            native, own = {own[0].name: step}, ()
        fold = _Fold()
        outcome = None
        for name, member in self._having_a_say(own, native):
            step = native[name] if member is None else self._ask(member, state, pod, nodes)
            if step is not _NOTHING_TO_SAY:
                outcome = fold.take(name, step)
                if outcome is not None:
                    break
        state.skip_filter = frozenset(fold.skipped)
        return outcome or fold.outcome()

    def _having_a_say(
        self, own: Sequence[Member], native: Mapping[str, PreFilterStep]
    ) -> Iterable[tuple[str, Member | None]]:
        """Walk over the plugins of both kinds in order, without native ones that simply succeeded."""
        if not native:
            return [(member.name, member) for member in own]
        by_name = {member.name: member for member in own}
        return [(name, by_name.get(name)) for name in self.order if name in by_name or name in native]

    def _ask(self, member: Member, state: CycleState, pod: Pod, nodes: NodesView) -> PreFilterStep:
        answer = self.calls.run("PreFilter", member.name, _step, _code_of_step, member, state, pod, nodes)
        return PreFilterStep(answer.status) if isinstance(answer, Failure) else answer

    def add_pod(self, state: CycleState, pod: Pod, added: Pod, node: NodeRow) -> Status:
        """Tell the plugins that ``added`` is on ``node`` now; ``state`` must be a clone."""
        return self._tell("add_pod", "AddPod", state, pod, added, node)

    def remove_pod(self, state: CycleState, pod: Pod, removed: Pod, node: NodeRow) -> Status:
        """Tell the plugins that ``removed`` has left ``node``; ``state`` must be a clone."""
        return self._tell("remove_pod", "RemovePod", state, pod, removed, node)

    def _tell(self, method: str, label: str, state: CycleState, *args: Any) -> Status:
        for member in self.members.at("preFilter", state):
            tell = getattr(member.plugin, method, None)
            if member.name in state.skip_filter or tell is None:
                continue
            status = self.calls.status(f"PreFilterExtension{label}", member.name, tell, state, *args)
            if not status.is_success:
                return error(f'running {label} on PreFilter plugin "{member.name}"', status)
        return SUCCESS


def _code_of_step(step: PreFilterStep) -> Code:
    return step.status.code


def _step(member: Member, state: CycleState, pod: Pod, nodes: NodesView) -> PreFilterStep:
    answer = member.call(state, pod, nodes)
    return _NOTHING_TO_SAY if answer is None else _as_step(answer)


def _as_step(answer: Any) -> PreFilterStep:
    if isinstance(answer, PreFilterResult):
        names = answer.node_names
        if names is not None and not isinstance(names, frozenset | set):
            raise PluginError(f"returned {type(names).__name__} as node_names, expected a frozenset of names")
        return PreFilterStep(SUCCESS, None if names is None else frozenset(names))
    return PreFilterStep(as_status(answer))
