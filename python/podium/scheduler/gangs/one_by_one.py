"""A gang that Python plugins concern gets its places one member after the other: all of them, or none.

The core cannot ask those plugins. So each member goes through PreFilter … Reserve here, seeing those before
it in place, in the order in which they came. Where that fails, an arrangement is searched. Permit is asked
once all have places: where a plugin makes one member wait, all of them wait for it.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from podium.api.gangs import role_of
from podium.cluster.port import Action
from podium.framework.status import Code
from podium.scheduler.assumed import Assumed
from podium.scheduler.entry import Entry
from podium.scheduler.failures import Refusal
from podium.scheduler.gangs.arranging import Arranger
from podium.scheduler.gangs.group import Group
from podium.scheduler.gangs.permits import GANG
from podium.scheduler.gangs.seats import Mask, Outcome, Seats
from podium.scheduler.gangs.wording import together_in


@dataclass(frozen=True, slots=True)
class OneByOne:
    """Places gangs with the cycle of single pods."""

    seats: Seats
    arranger: Arranger

    def place(self, group: Group) -> tuple[Outcome, int]:
        """Return what became of a gang, and how many of its members fit at best.

        A gang with members on nodes keeps those that fit though others do not; of any other nothing is left
        on failure.
        """
        outcome, fitting = self._in_order(group, partial=False)
        if outcome.refused is None or outcome.refused[1].result == "error":
            return outcome, fitting
        arranged = self.arranger.arrange(group)
        if arranged is not None:
            return arranged, arranged.fitting
        return self._in_order(group, partial=True) if group.placed else (outcome, fitting)

    def _in_order(self, group: Group, *, partial: bool) -> tuple[Outcome, int]:
        """Try one domain after the other; ``partial``: a few members are better than none."""
        nearest: Outcome | None = None
        most = -1
        plugins = {GANG} if group.description.topology else set()
        for where, among in self._domains(group):
            outcome = self._fill(group, among)
            outcome.where = where
            fitting = outcome.fitting
            if outcome.refused is None or (partial and outcome.placed):
                return outcome, fitting
            plugins.update(outcome.refused[1].plugins)
            self.seats.undo(outcome.placed)
            outcome.placed.clear()
            if fitting > most:
                nearest, most = outcome, fitting
        if nearest is None:
            first = next(group.pending())
            text = f"no node has a value of {', '.join(group.description.topology)}"
            nearest = Outcome(group.need, refused=(first, Refusal("unschedulable", text)))
        if nearest.refused is not None:
            # What helps one domain helps the gang.
            entry, why = nearest.refused
            nearest.refused = entry, replace(why, plugins=tuple(sorted(plugins)))
        return nearest, max(most, 0)

    def _fill(self, group: Group, among: Mask | None) -> Outcome:
        """Place members of each role until its minimum is met, then any until the gang's is."""
        lacking = _lacking(group)
        outcome = Outcome(max(group.need, lacking.total()))
        pending = list(group.pending())
        for role, wanted in lacking.items():
            self._seat([entry for entry in pending if role_of(entry.pod) == role], wanted, among, outcome)
            if outcome.refused is not None:
                return outcome
        placed = {assumed.entry.handle for assumed in outcome.placed}
        others = [entry for entry in pending if entry.handle not in placed]
        self._seat(others, outcome.need - outcome.fitting, among, outcome)
        return outcome

    def _seat(self, entries: list[Entry], wanted: int, among: Mask | None, outcome: Outcome) -> None:
        """Place so many of these; ``outcome.refused`` tells whether there were too few that fit.

        One that is refused is tried again once others have been placed, which may attract it.
        """
        end = outcome.fitting + wanted
        while outcome.fitting < end:
            outcome.refused, before = None, outcome.fitting
            entries = [
                entry
                for entry in entries
                if outcome.fitting == end or not self.seats.take(entry, among, outcome)
            ]
            if outcome.fitting == before:
                return
        outcome.refused = None

    def permit(
        self, outcome: Outcome, assumed: Assumed, hold: Mapping[str, float], now: int, actions: list[Action]
    ) -> bool:
        """Ask Permit about a placed member, and let it wait for the others; returns False if it is refused.

        ``hold`` is the wait for the others: plugin -> seconds.
        """
        assert assumed.runner is not None, "members were placed with their plugins"
        answer = assumed.runner.permit(assumed.state, assumed.entry.pod, assumed.node)
        is_waiting = answer.status.code is Code.WAIT
        if not (is_waiting or answer.status.is_success):
            outcome.refused = (assumed.entry, Refusal.on_one_node(answer.status))
            return False
        outcome.waits |= is_waiting
        self.seats.cycle.binder.begin(assumed, now, actions, {**answer.waits, **hold})
        return True

    def _domains(self, group: Group) -> Iterator[tuple[str, Mask | None]]:
        """Yield the nodes to choose among, None for all: the domain first that members fill most."""
        domains, count = self.seats.engine.group_domains(group.handle)
        for name, rows in domains:
            yield together_in(name, count), self.seats.cycle.services.mask(rows)


def _lacking(group: Group) -> Counter[str]:
    """Return how many more members of each role must get nodes."""
    roles = Counter(group.description.roles or {})
    roles.subtract(role_of(group.members[uid].pod) for uid in group.placed)
    return +Counter({role: n for role, n in roles.items() if role in (group.description.roles or {})})
