"""The turns of single pods: with Python plugins, or where the core has found no node."""

from collections.abc import Sequence
from dataclasses import dataclass

from podium._core import Decision, Engine
from podium.cluster.port import Action
from podium.framework.runner import Runner
from podium.framework.state import CycleState
from podium.scheduler.assumed import Assumed
from podium.scheduler.cycle import Cycle, Unexpected
from podium.scheduler.entry import Concern, Entry
from podium.scheduler.failures import Failures, Refusal
from podium.scheduler.fit import Misfit
from podium.scheduler.gangs.arranging import lift, restore
from podium.scheduler.gangs.group import Group
from podium.scheduler.gangs.reserve import Reservation
from podium.scheduler.observer import Attempt
from podium.scheduler.placements import Placements
from podium.scheduler.post_filter import PostFilter
from podium.scheduler.profiles import Profiles
from podium.scheduler.relief import Relief


@dataclass(frozen=True, slots=True)
class SingleTurns:
    """Ends the cycles that the core leaves to Python."""

    engine: Engine
    profiles: Profiles
    cycle: Cycle
    post_filter: PostFilter
    failures: Failures
    placements: Placements
    reservation: Reservation
    relief: Relief | None
    """What fair shares do for pods without a node; None: tenants do not take turns."""

    def go_on(self, entry: Entry, row: int, now: int, actions: list[Action]) -> None:
        """Take a pod from the node that the core has found for it to the binding cycle."""
        plugins = self.profiles.of(entry.pod)
        assert plugins is not None, "only profiles with Python plugins go on"
        state = CycleState(concerned=entry.concerned)
        assumed = Assumed(entry, self.engine.node_name(row), plugins.runner, state)
        self.cycle.go_on(assumed, now, actions)

    def run(self, entry: Entry, now: int, actions: list[Action]) -> None:
        """Run the cycle of a popped pod that Python plugins concern."""
        plugins = self.profiles.of(entry.pod)
        assert plugins is not None, "only profiles with Python plugins need the caller"
        if plugins.gates and self.engine.attempts(entry.handle) > 1:
            gate = plugins.runner.pre_enqueue(entry.pod, entry.concerned)
            if not gate.is_success:
                gates = self.cycle.services.state.gates
                gates.hold(entry, Concern(held=gate.message, by=gate.plugin), now)
                return
        for rows in self._domains(entry):
            self.cycle.among = self.cycle.services.mask(rows)
            failed = self.cycle.run(entry, plugins.runner, now, actions)
            self.cycle.among = None
            if failed is None:
                return
        assert failed is not None, "there is a domain at least"
        state, why = failed
        if isinstance(why, Misfit) and self._fills_a_gap_with_plugins(entry, plugins.runner, now, actions):
            return
        if isinstance(why, Unexpected):
            self.failures.put_back(entry, Refusal("error", why.message), now, actions)
            return
        attempt = self.post_filter.with_plugins(entry, plugins.runner, state, why, actions)
        self.failures.record(attempt, actions)
        self.failures.requeue(entry, Refusal("unschedulable", attempt.message, why.plugins), now)

    def _domains(self, entry: Entry) -> Sequence[Sequence[int] | None]:
        """Return rows to choose among, in turn, None for all: members go where others of their gang are."""
        gang = entry.gang
        if not isinstance(gang, Group) or not gang.description.topology or not gang.placed:
            return (None,)
        domains, _ = self.engine.group_domains(gang.handle)
        return [rows for _, rows in domains] or ((),)

    def failed(
        self,
        entry: Entry,
        decision: Decision,
        now: int,
        actions: list[Action],
        feasible: Sequence[str] | None = None,
    ) -> None:
        """End the cycle of a pod for which the core has found no node."""
        if self._fills_a_gap(entry, now, actions):
            return
        if decision.result == "failed":
            attempt = Attempt(entry, "error", message=decision.message, feasible=feasible)
            refusal = Refusal("error", decision.message)
            self.engine.nominate(entry.handle, None)
        else:
            attempt = self._unschedulable(entry, decision, feasible, now, actions)
            refusal = Refusal("unschedulable", attempt.message, tuple(decision.plugins))
        self.failures.record(attempt, actions)
        self.failures.requeue(entry, refusal, now)

    def _unschedulable(
        self,
        entry: Entry,
        decision: Decision,
        feasible: Sequence[str] | None,
        now: int,
        actions: list[Action],
    ) -> Attempt:
        """Make room by priority, else as fair shares do."""
        relief = self.relief
        if relief is not None and relief.awaits(entry):
            nominated = self.engine.nominated(entry.handle)
            message = f"{decision.message} reclaim: waiting for pods to leave {nominated}."
            return Attempt(entry, "unschedulable", message=message, nominated=nominated, feasible=feasible)
        attempt = self.post_filter.native(entry, decision, feasible, actions)
        if relief is None or attempt.nominated is not None or "DRF" in decision.plugins:
            return attempt
        if entry.gang is not None:
            # Beyond its gang's minimum it takes what is left.
            return attempt
        attempt = relief.give(attempt, now, actions)
        self.post_filter.evicted |= bool(attempt.victims)
        return attempt

    def _fills_a_gap_with_plugins(
        self, entry: Entry, runner: Runner, now: int, actions: list[Action]
    ) -> bool:
        """Run the cycle once more as if nothing were held for the gang that room is held for."""
        group = self.reservation.gap_for(entry, now)
        if group is None:
            return False
        lifted = lift(self.engine, group)
        failed = self.cycle.run(entry, runner, now, actions)
        restore(self.engine, lifted)
        return failed is None

    def _fills_a_gap(self, entry: Entry, now: int, actions: list[Action]) -> bool:
        """Place a pod where room is held for a gang that will not need it before the pod ends."""
        group = self.reservation.gap_for(entry, now)
        row = None if group is None else self.engine.fill_gap(entry.handle, group.handle)
        if row is None:
            return False
        self.engine.settle(entry.handle)
        self.placements.begin([entry.handle], [row], now, actions)
        return True
