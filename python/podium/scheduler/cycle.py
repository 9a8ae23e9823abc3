"""The scheduling cycle of a pod that Python plugins concern.

    PreFilter → Filter → (PostFilter, if no node is left) → PreScore → Score → the best → assumed
    → Reserve → Permit → the binding cycle

The core answers for the native plugins with one array per step; each Python plugin is called once per point.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from podium._core import Engine, Opened
from podium.cluster.port import Action
from podium.errors import CoreError
from podium.framework.results import FilterResult
from podium.framework.runner import Answer, FilterOutcome, NativeVerdicts, PreFilterStep, Runner
from podium.framework.state import CycleState
from podium.framework.status import SUCCESS, Code, Status
from podium.scheduler.assumed import Assumed
from podium.scheduler.binding import Binder
from podium.scheduler.entry import Entry
from podium.scheduler.failures import Refusal
from podium.scheduler.fit import Misfit, no_fit, no_fit_as_such
from podium.scheduler.handle import Services
from podium.scheduler.nodes import SnapshotNodes, frozen, mask_of
from podium.scheduler.observer import Attempt, Observer
from podium.scheduler.preemption import judge_one


@dataclass(frozen=True, slots=True)
class Unexpected:
    """The cycle ended with an error: no plugin is to blame."""

    message: str


@dataclass(slots=True, eq=False)
class Left:
    """The nodes that passed every filter, at least one.

    Attributes:
        feasible: bool, shape (nodes,): which they are.
        count: how many.
        filtered: what the filters said of all nodes.
        narrowed: which nodes PreFilter left out, None if none, and by whom.

    """

    view: SnapshotNodes
    feasible: NDArray[np.bool_]
    count: int
    filtered: FilterOutcome
    narrowed: tuple[NDArray[np.bool_] | None, tuple[str, ...]]


@dataclass(slots=True)
class Cycle:
    """Runs cycles with the plugins of one profile."""

    engine: Engine
    services: Services
    binder: Binder
    observer: Observer
    sampling: bool
    feasible: list[str] | None = None
    """The nodes that passed every filter in the last cycle, where the observer wants them."""
    placed: Callable[[Sequence[Entry]], None] | None = None
    """Hears of each pod that has passed Permit, or is held there, before its binding cycle begins."""
    among: NDArray[np.bool_] | None = None
    """The nodes that may be chosen, shape (nodes,); None: all. Members of a gang may have to be together."""

    def run(
        self, entry: Entry, runner: Runner, now: int, actions: list[Action]
    ) -> tuple[CycleState, Misfit | Unexpected] | None:
        """Run the cycle of a popped pod; returns why no node was found, None if the pod is on its way."""
        state = CycleState(concerned=entry.concerned)
        found = self.find(entry, runner, state)
        if not isinstance(found, int):
            return state, found
        assumed = Assumed(entry, self.engine.node_name(found), runner, state)
        refused = self.engine.assume(entry.handle, found)
        if refused is not None:
            self.binder.roll_back(assumed, refused_by_native(refused), now, actions)
            return None
        self.go_on(assumed, now, actions)
        return None

    def find(self, entry: Entry, runner: Runner, state: CycleState) -> int | Misfit | Unexpected:
        """Return the row of the best node. No view outlives this call, or assuming would copy columns."""
        self.feasible = [] if self.observer.detailed else None
        left = self.left(entry, runner, state, sampling=self.sampling)
        if not isinstance(left, Left):
            return left
        feasible = left.feasible
        if self.feasible is not None:
            self.feasible = self._names(left.view, feasible)
        if left.count == 1:
            return self.services.facts.row(int(feasible.argmax()))
        view = left.view
        if feasible is not view.candidates:
            view = view.with_candidates(frozen(feasible))
        return self._best(entry, runner, state, view)

    def left(
        self, entry: Entry, runner: Runner, state: CycleState, *, sampling: bool
    ) -> Left | Misfit | Unexpected:
        """Run PreFilter and Filter; return the nodes that are left.

        With ``sampling`` only those that kube-scheduler would have found, and where it looks next moves on.
        """
        engine, pod = self.engine, entry.pod
        view = self.services.view()
        if not len(view):
            return self._no_nodes()
        opened = engine.open(entry.handle)
        if opened.failed is not None:
            return Unexpected(opened.failed)
        steps = _steps(opened)
        for name, step in steps.items():
            if not runner.has("preFilter", name):
                return no_fit_as_such(len(view), step.status.by(name), ())
        outcome = runner.pre_filter(state, pod, view, steps)
        if not (outcome.status is SUCCESS or outcome.status.is_success):
            if not outcome.status.is_rejected:
                return Unexpected(outcome.status.message)
            return no_fit_as_such(len(view), outcome.status, outcome.narrowed_by)
        passed, last, count, left_out = view.candidates, -1, opened.count, None
        if count < len(view):
            passed, last = opened.passed, opened.last
        if outcome.node_names is not None:
            left_out = ~mask_of(outcome.node_names, self.services.facts)
            passed = frozen(passed > left_out)
            count = int(np.count_nonzero(passed))
        native = NativeVerdicts(passed, last, partial(_first, opened, left_out), count)
        filtered = runner.filter(state, pod, view, native)
        if not (filtered.status is SUCCESS or filtered.status.is_success):
            return Unexpected(filtered.status.message)
        if opened.contested:
            filtered = self._contest(entry, runner, state, opened, filtered)
        feasible, count = filtered.feasible, filtered.count
        if self.among is not None or sampling:
            feasible = feasible if self.among is None else feasible & self.among
            feasible = engine.sampled(entry.handle, feasible) if sampling else feasible
            count = int(np.count_nonzero(feasible))
        if count == 0:
            narrowed = (left_out, outcome.narrowed_by)
            return no_fit(engine, entry.handle, passed, filtered.rejected, narrowed, self.among)
        return Left(view, feasible, count, filtered, (left_out, outcome.narrowed_by))

    def _no_nodes(self) -> Misfit:
        nowhere = self.engine.no_nodes()
        assert nowhere is not None, "a view shows all nodes"
        return Misfit(nowhere.message, (), np.empty(0, np.uint8))

    def _best(self, entry: Entry, runner: Runner, state: CycleState, view: SnapshotNodes) -> int | Unexpected:
        engine, facts, feasible = self.engine, self.services.facts, view.candidates
        nominated = engine.nominated(entry.handle)
        if nominated is not None and nominated in facts.positions and feasible[facts.index(nominated)]:
            return facts.row(facts.index(nominated))
        status = runner.pre_score(state, entry.pod, view)
        if not (status is SUCCESS or status.is_success):
            return Unexpected(status.message)
        scores = runner.score(state, entry.pod, view)
        if not (scores.status is SUCCESS or scores.status.is_success):
            return Unexpected(scores.status.message)
        own = [(plugin.normalized, plugin.weight) for plugin in scores.plugins]
        try:
            row = engine.best(entry.handle, feasible, own)
        except CoreError as error:
            return Unexpected(str(error))
        return Unexpected("no node won") if row is None else row

    def _names(self, view: SnapshotNodes, feasible: NDArray[np.bool_]) -> list[str]:
        passed = set(view.names[feasible])
        return [name for name in self.engine.node_order() if name in passed]

    def _contest(
        self, entry: Entry, runner: Runner, state: CycleState, opened: Opened, filtered: FilterOutcome
    ) -> FilterOutcome:
        """Let the Python filters see contested nodes with the pods that are nominated there."""
        feasible, answers = filtered.feasible.copy(), list(filtered.answers)
        for at in opened.contested:
            if not feasible[at]:
                continue
            refused = self._with_nominated(entry, runner, state, self.services.facts.row(at))
            if refused is None:
                continue
            if not refused.is_rejected:
                return FilterOutcome(refused, feasible, filtered.count)
            feasible[at] = False
            out = np.zeros(len(feasible), np.bool_)
            out[at] = True
            result = FilterResult(~out, refused.reasons, code=refused.code)
            place = runner.place("filter", refused.plugin)
            answers.append(Answer(refused.plugin, place, result, out))
        count = int(np.count_nonzero(feasible))
        return FilterOutcome(filtered.status, feasible, count, tuple(answers), filtered.native)

    def _with_nominated(self, entry: Entry, runner: Runner, state: CycleState, row: int) -> Status | None:
        engine, known = self.engine, self.services.state
        engine.begin_overlay()
        try:
            clone = state.clone()
            for handle in engine.nominated_above(entry.handle, row):
                engine.place_in_overlay(handle, row)
                view = self.services.view()
                node = view.row(view.index(engine.node_name(row)))
                runner.add_pod(clone, entry.pod, known.by_handle(handle).pod, node)
            return judge_one(self.services, runner, clone, (entry.pod, row))
        finally:
            engine.end_overlay()

    def go_on(self, assumed: Assumed, now: int, actions: list[Action]) -> None:
        """Reserve and Permit of an assumed pod; whoever refuses sends it back the one way there is."""
        entry, node, state = assumed.entry, assumed.node, assumed.state
        runner, binder = assumed.runner, self.binder
        assert runner is not None, "this cycle is for pods with Python plugins"
        status = runner.reserve(state, entry.pod, node)
        if not (status is SUCCESS or status.is_success):
            binder.roll_back(assumed, Refusal.on_one_node(status), now, actions)
            return
        outcome = runner.permit(state, entry.pod, node)
        waits = outcome.waits if outcome.status.code is Code.WAIT else None
        if waits is None and not outcome.status.is_success:
            binder.roll_back(assumed, Refusal.on_one_node(outcome.status), now, actions)
            return
        self.observer.placed([entry], [node])
        if self.placed is not None:
            self.placed([entry])
        if self.observer.detailed:
            result = "waiting" if waits else "scheduled"
            self.observer.attempted(Attempt(entry, result, node=node, feasible=self.feasible))
        binder.begin(assumed, now, actions, waits)

    def reserve(self, assumed: Assumed, row: int) -> Refusal | None:
        """Put a pod on its node's books and run Reserve; returns a refusal; nothing is undone then."""
        runner = assumed.runner
        assert runner is not None, "this cycle is for pods with Python plugins"
        refused = self.engine.assume(assumed.entry.handle, row)
        if refused is not None:
            return refused_by_native(refused)
        status = runner.reserve(assumed.state, assumed.entry.pod, assumed.node)
        return None if status.is_success else Refusal.on_one_node(status)


def refused_by_native(refused: tuple[str, int, list[str]]) -> Refusal:
    """Say that a native plugin refused at Reserve: a rejection counts as one, all else is an error."""
    plugin, code, reasons = refused
    status = Status(Code(code), tuple(reasons), plugin)
    if status.is_rejected:
        return Refusal.on_one_node(status)
    return Refusal("error", f'running Reserve plugin "{plugin}": {status.message}')


def _first(opened: Opened, left_out: NDArray[np.bool_] | None) -> NDArray[np.int16]:
    first = opened.first
    if left_out is not None:
        first[left_out] = 0
    return first


def _steps(opened: Opened) -> dict[str, PreFilterStep]:
    steps = opened.steps
    if not steps:
        return {}
    return {
        plugin: PreFilterStep(Status(Code(code), tuple(reasons)), None if names is None else frozenset(names))
        for plugin, code, reasons, names in steps
    }
