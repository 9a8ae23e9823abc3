"""Runs the Python plugins of one profile, with kube-scheduler's order, codes and messages.

A ``Runner`` owns no policy: it calls plugins, checks what they return, and reports what it came to. Native
plugins run in the core; at points where both take part their answers are handed in and folded in the
profile's order. An object with the same methods may stand for a native plugin at a point that runs in
sequence (Reserve, Permit, PreBind, Bind …).
"""

from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from podium.api import Pod
from podium.framework.config.model import Profile
from podium.framework.nodes import NodeRow, NodesView
from podium.framework.plugin import QueuedPod
from podium.framework.results import NodeStatuses, PostFilterResult
from podium.framework.runner.arrays import RejectedNodes
from podium.framework.runner.binding import BindingRunner, Caller, PermitOutcome
from podium.framework.runner.calls import Calls, Observer
from podium.framework.runner.enqueue import concerned_plugins, less_function, run_pre_enqueue
from podium.framework.runner.filtering import (
    Answer,
    FilterOutcome,
    FilterRunner,
    NativeVerdicts,
    PostFilterRunner,
)
from podium.framework.runner.members import Members
from podium.framework.runner.prefilter import PreFilterOutcome, PreFilterRunner, PreFilterStep
from podium.framework.runner.remembering import Answers, Judges, judges_of
from podium.framework.runner.scoring import PluginScores, ScoreOutcome, ScoreRunner
from podium.framework.state import CycleState
from podium.framework.status import Status

__all__ = [
    "Answer",
    "Answers",
    "FilterOutcome",
    "Judges",
    "NativeVerdicts",
    "Observer",
    "PermitOutcome",
    "PluginScores",
    "PreFilterOutcome",
    "PreFilterStep",
    "RejectedNodes",
    "Runner",
    "ScoreOutcome",
]


class Runner:
    """The Python plugins of a profile, by extension point."""

    def __init__(
        self,
        profile: Profile,
        plugins: Mapping[str, Any],
        *,
        observer: Observer | None = None,
        timer: Callable[[], float] | None = None,
        max_permit_wait: float | None = None,
    ) -> None:
        """Prepare a profile.

        Args:
            profile: what runs where.
            plugins: name -> instance; plugins of the profile that are not here run in the core.
            observer: told about every call, from whatever thread makes it; needs ``timer``.
            timer: a monotonic clock in seconds.
            max_permit_wait: the longest a Permit plugin may wait, in seconds; None: as long as it says.

        """
        calls = Calls.of(observer, timer)
        self._profile = profile
        self._plugins = plugins
        self._members = Members.of(profile.points, plugins)
        self._calls = calls
        self._judges: dict[frozenset[str], Judges | None] = {}
        self._pre_filter = PreFilterRunner(calls, self._members, profile.names("preFilter"))
        self._filter = FilterRunner(calls, self._members)
        self._post_filter = PostFilterRunner(calls, self._members)
        self._score = ScoreRunner(calls, self._members)
        self._binding = BindingRunner(calls, self._members, max_permit_wait)
        self._binders = profile.names("bind")
        self._asked_to_bind: dict[frozenset[str] | None, list[str]] = {}

    def judges(self, concerned: frozenset[str]) -> Judges | None:
        """Return who judges pods that these plugins concern; None if what they say cannot be remembered."""
        if concerned not in self._judges:
            self._judges[concerned] = judges_of(self._members, concerned)
        return self._judges[concerned]

    def ask(self, judges: Judges, state: CycleState, pod: Pod, nodes: NodesView) -> Answers | None:
        """Ask about the nodes of a view; see ``Judges.ask``."""
        return judges.ask(self._calls, state, pod, nodes)

    def place(self, point: str, name: str) -> int:
        """Return a plugin's place in the profile's list of a point."""
        return next(member.order for member in self._members.by_point[point] if member.name == name)

    def has(self, point: str, name: str) -> bool:
        """Whether the profile has a plugin, native or not, at a point."""
        return name in self._profile.names(point)

    def order(self, point: str) -> list[str]:
        """Return all plugins of the profile at a point, native ones included, in order."""
        return self._profile.names(point)

    def names(self, point: str) -> list[str]:
        """Return the plugins that this runner calls at a point, in order."""
        return [member.name for member in self._members.by_point[point]]

    def concerned(self, pod: Pod) -> frozenset[str]:
        """Ask every plugin whether a pod's class concerns it; for ``state.concerned``, kept per class."""
        return concerned_plugins(self._plugins, pod)

    def less(self) -> Callable[[QueuedPod, QueuedPod], bool] | None:
        """Return the queue's order, None if it is native; the function raises ``PluginError`` for junk."""
        return less_function(self._members)

    def pre_enqueue(self, pod: Pod, concerned: frozenset[str] | None = None, gated_by: str = "") -> Status:
        """Ask whether a pod may enter the queue, the plugin that gated it last first; the first no counts."""
        return run_pre_enqueue(self._calls, self._members, pod, concerned, gated_by)

    def pre_filter(
        self,
        state: CycleState,
        pod: Pod,
        nodes: NodesView,
        native: Mapping[str, PreFilterStep] | None = None,
    ) -> PreFilterOutcome:
        """Run PreFilter; see ``PreFilterRunner.run``."""
        return self._pre_filter.run(state, pod, nodes, native or {})

    def add_pod(self, state: CycleState, pod: Pod, added: Pod, node: NodeRow) -> Status:
        """Update a cloned state for a pod that is hypothetically there."""
        return self._pre_filter.add_pod(state, pod, added, node)

    def remove_pod(self, state: CycleState, pod: Pod, removed: Pod, node: NodeRow) -> Status:
        """Update a cloned state for a pod that is hypothetically gone."""
        return self._pre_filter.remove_pod(state, pod, removed, node)

    def filter(
        self, state: CycleState, pod: Pod, nodes: NodesView, native: NativeVerdicts | None = None
    ) -> FilterOutcome:
        """Run the filters; see ``FilterRunner.run``."""
        return self._filter.run(state, pod, nodes, native)

    def post_filter(self, state: CycleState, pod: Pod, statuses: NodeStatuses) -> PostFilterResult:
        """Run PostFilter; see ``PostFilterRunner.run``."""
        return self._post_filter.run(state, pod, statuses)

    def pre_score(
        self, state: CycleState, pod: Pod, nodes: NodesView, native_skips: frozenset[str] = frozenset()
    ) -> Status:
        """Run PreScore; see ``ScoreRunner.pre_score``."""
        return self._score.pre_score(state, pod, nodes, native_skips)

    def score(self, state: CycleState, pod: Pod, nodes: NodesView) -> ScoreOutcome:
        """Run Score and NormalizeScore; see ``ScoreRunner.score``."""
        return self._score.score(state, pod, nodes)

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status:
        """Run Reserve in order; on anything but success call ``unreserve``."""
        return self._binding.reserve(state, pod, node_name)

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> tuple[Status, ...]:
        """Run Unreserve of every plugin in reverse order; return the errors."""
        return self._binding.unreserve(state, pod, node_name)

    def permit(self, state: CycleState, pod: Pod, node_name: str) -> PermitOutcome:
        """Run Permit."""
        return self._binding.permit(state, pod, node_name)

    def pre_flight(self, state: CycleState, pod: Pod, node_name: str) -> Status:
        """Ask which PreBind plugins have work: success, SKIP or an error."""
        return self._binding.pre_flight(state, pod, node_name)

    def pre_bind_groups(self, state: CycleState) -> list[list[str]]:
        """Return what ``pre_flight`` left to do, in groups that run one after the other."""
        return self._binding.pre_bind_groups(state)

    def binders(self, state: CycleState) -> list[str]:
        """Return the Bind plugins to ask, in order, native ones included."""
        asked = self._asked_to_bind.get(state.concerned)
        if asked is None:
            own = {member.name for member in self._members.at("bind", state)}
            asked = [name for name in self._binders if name in own or name not in self._plugins]
            self._asked_to_bind[state.concerned] = asked
        return list(asked)

    def concerned_at(self, point: str, state: CycleState) -> list[str]:
        """Return the plugins of a point that concern the pod of this attempt, in order."""
        return [member.name for member in self._members.at(point, state)]

    def caller(self, point: str, name: str) -> Caller:
        """Return a function that is ``start`` for one plugin, and whether its method is ``async def``."""
        return self._binding.caller(point, name)

    def is_async(self, point: str, name: str) -> bool:
        """Whether a plugin's method at preBind, bind or postBind is ``async def``."""
        return self._binding.is_async(point, name)

    def start(
        self, point: str, name: str, state: CycleState, pod: Pod, node_name: str
    ) -> Status | Coroutine[Any, Any, Status]:
        """Call one plugin at preBind, bind or postBind; see ``BindingRunner.start``."""
        return self._binding.start(point, name, state, pod, node_name)
