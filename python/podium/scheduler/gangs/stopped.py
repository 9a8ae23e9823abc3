"""The turns of gangs: what was kept of one is bound, and one that Python plugins concern is placed here."""

from collections.abc import Callable
from dataclasses import dataclass

from podium._core import Batch
from podium.cluster.port import Action
from podium.scheduler.binding import Binder
from podium.scheduler.gangs.attempts import Ended
from podium.scheduler.gangs.cycle import NOBODY, Feasible, GangCycle
from podium.scheduler.gangs.gangs import Gangs
from podium.scheduler.gangs.group import Group
from podium.scheduler.gangs.one_by_one import OneByOne
from podium.scheduler.gangs.seats import Outcome, Seats
from podium.scheduler.observer import Attempt, Observer
from podium.scheduler.placements import Placements
from podium.scheduler.post_filter import PostFilter


def no_time() -> float:
    """Stand for a clock where nobody wants to know."""
    return 0.0


@dataclass(frozen=True, slots=True)
class StoppedGangs:
    """Ends the cycles of gangs that the core leaves to Python."""

    gangs: Gangs
    cycle: GangCycle
    one_by_one: OneByOne
    seats: Seats
    binder: Binder
    placements: Placements
    post_filter: PostFilter
    observer: Observer
    timer: Callable[[], float] = no_time
    """A monotonic clock in seconds, for metrics."""

    def stopped(self, batch: Batch, now: int, actions: list[Action], feasible: Feasible = NOBODY) -> None:
        """Bind the members that were kept, and say why the others have no places."""
        group = self.gangs.by_handle(batch.stopped or 0)
        if batch.decision is None and batch.shortage is None:
            self._run(group, now, actions)
            return
        began = self.timer()
        if batch.kept:
            pods, rows = zip(*batch.kept, strict=True)
            self.placements.begin(pods, rows, now, actions)
        ended = self.cycle.failed(batch, now, actions, feasible)
        self.post_filter.evicted |= ended.victims > 0
        if self.observer.timing:
            algorithm = batch.stopped_nanos * 1e-9
            self.observer.gang_attempted(ended.attempt(group, algorithm, algorithm + self.timer() - began))

    def _run(self, group: Group, now: int, actions: list[Action]) -> None:
        """Run the cycle of a popped gang with a member that Python plugins concern."""
        began = self.timer()
        outcome, fitting = self.one_by_one.place(group)
        placed = self.timer()
        if outcome.placed:
            self._permit_together(group, outcome, now, actions)
        ended = Ended("scheduled")
        if outcome.refused is not None:
            ended = self.cycle.refused(group, outcome, fitting, now, actions)
            self.post_filter.evicted |= ended.victims > 0
        if self.observer.timing:
            self.observer.gang_attempted(ended.attempt(group, placed - began, self.timer() - began))

    def _permit_together(self, group: Group, outcome: Outcome, now: int, actions: list[Action]) -> None:
        """Hold placed members in Permit until nothing else holds one; a refusal takes all of them back."""
        hold, placed = self.gangs.permits.wait_of(group), outcome.placed
        self.gangs.given_nodes([each.entry for each in placed], held=True)
        for at, assumed in enumerate(placed):
            if not self.one_by_one.permit(outcome, assumed, hold, now, actions):
                self.seats.undo(placed[at:])
                for earlier in reversed(placed[:at]):
                    if self.binder.of(earlier.entry.pod.metadata.uid) is earlier:
                        self.binder.take_back(earlier)
                self.gangs.permits.turned_away(group, [each.entry for each in placed])
                return
        self.observer.placed([each.entry for each in placed], [each.node for each in placed])
        if self.observer.detailed:
            self._show(outcome)

    def _show(self, outcome: Outcome) -> None:
        result = "waiting" if outcome.waits else "scheduled"
        for at, assumed in enumerate(outcome.placed):
            entry = assumed.entry
            feasible = outcome.feasible.get(entry.pod.metadata.uid)
            attempt = Attempt(entry, result, node=assumed.node, feasible=feasible, together=at > 0)
            self.observer.attempted(attempt)
