"""A gang that Python plugins concern gets its places one member after the other: all of them, or none.

The core cannot ask those plugins. So each member goes through PreFilter … Reserve here, seeing those before
it in place, in the order in which they came; no other arrangement is searched. Permit is asked once all have
places: where a plugin makes one member wait, all of them wait for it.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from podium._core import Engine
from podium.api.gangs import role_of
from podium.cluster.port import Action
from podium.framework.state import CycleState
from podium.framework.status import Code
from podium.scheduler.binding import Assumed
from podium.scheduler.cycle import Cycle, Unexpected
from podium.scheduler.failures import Refusal
from podium.scheduler.fit import Misfit
from podium.scheduler.gangs.group import Group
from podium.scheduler.profiles import Profiles
from podium.scheduler.state import Entry

Mask = NDArray[np.bool_]


@dataclass(slots=True)
class Outcome:
    """What became of a gang.

    Attributes:
        placed: members on their nodes' books, in order.
        waits: whether a Permit plugin holds one of them.
        need: how many members had to get places.
        refused: who got none, and why; None if all did.

    """

    need: int
    placed: list[Assumed] = field(default_factory=list)
    waits: bool = False
    refused: tuple[Entry, Refusal] | None = None
    feasible: dict[str, list[str]] = field(default_factory=dict)

    @property
    def fitting(self) -> int:
        """How many members found places."""
        return len(self.placed)


@dataclass(frozen=True, slots=True)
class OneByOne:
    """Places gangs with the cycle of single pods."""

    engine: Engine
    cycle: Cycle
    profiles: Profiles

    def place(self, group: Group) -> tuple[Outcome, int]:
        """Return what became of a gang, and how many of its members fit at best.

        A gang with members on nodes keeps those that fit though others do not; of any other nothing is left
        on failure.
        """
        nearest: Outcome | None = None
        most = -1
        for among in self._domains(group):
            outcome = self._fill(group, among)
            fitting = outcome.fitting
            if outcome.refused is None or (group.placed and outcome.placed):
                return outcome, fitting
            self.undo(outcome.placed)
            outcome.placed.clear()
            if fitting > most:
                nearest, most = outcome, fitting
        if nearest is None:
            first = next(group.pending())
            text = f"no node has a value of {', '.join(group.description.topology)}"
            nearest = Outcome(group.need, refused=(first, Refusal("unschedulable", text)))
        return nearest, max(most, 0)

    def undo(self, placed: list[Assumed]) -> None:
        """Take members off their nodes again, the last one first."""
        for assumed in reversed(placed):
            self._withdraw(assumed)

    def _withdraw(self, assumed: Assumed) -> None:
        assert assumed.runner is not None, "members were placed with their plugins"
        assumed.runner.unreserve(assumed.state, assumed.entry.pod, assumed.node)
        self.engine.forget(assumed.entry.handle)

    def _fill(self, group: Group, among: Mask | None) -> Outcome:
        """Place members of each role until its minimum is met, then any until the gang's is."""
        lacking = _lacking(group)
        outcome = Outcome(max(group.need, lacking.total()))
        later = []
        for entry in group.pending():
            role = role_of(entry.pod)
            if not lacking[role]:
                later.append(entry)
            elif self._try(entry, among, outcome):
                lacking[role] -= 1
        if lacking.total():
            return outcome
        for entry in later:
            if outcome.fitting >= outcome.need:
                break
            self._try(entry, among, outcome)
        if outcome.fitting >= outcome.need:
            outcome.refused = None
        return outcome

    def _try(self, entry: Entry, among: Mask | None, outcome: Outcome) -> bool:
        refusal = self._assume(entry, among, outcome)
        if refusal is not None and outcome.refused is None:
            outcome.refused = (entry, refusal)
        return refusal is None

    def _assume(self, entry: Entry, among: Mask | None, outcome: Outcome) -> Refusal | None:
        plugins = self.profiles.of(entry.pod)
        assert plugins is not None, "members of one gang have one profile"
        state = CycleState(concerned=entry.concerned)
        self.cycle.among = among
        found = self.cycle.find(entry, plugins.runner, state)
        self.cycle.among = None
        if self.cycle.feasible is not None:
            outcome.feasible[entry.pod.metadata.uid] = self.cycle.feasible
        if isinstance(found, Unexpected):
            return Refusal("error", found.message)
        if isinstance(found, Misfit):
            return Refusal("unschedulable", found.message, found.plugins)
        assumed = Assumed(entry, self.engine.node_name(found), plugins.runner, state)
        refusal = self.cycle.reserve(assumed, found)
        if refusal is not None:
            self._withdraw(assumed)
            return refusal
        outcome.placed.append(assumed)
        return None

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
        self.cycle.binder.begin(assumed, now, actions, {**answer.waits, **hold})
        return True

    def _domains(self, group: Group) -> Iterator[Mask | None]:
        """Yield the nodes to choose among: smaller domains first, or the one where members are already."""
        keys = group.description.topology
        if keys:
            yield from self._parts(group, keys)
        if not keys or group.description.preferred:
            yield None

    def _parts(self, group: Group, keys: tuple[str, ...]) -> list[Mask]:
        view = self.cycle.services.view()
        values = list(zip(*(view.labels(key).tolist() for key in keys), strict=True))
        sizes = Counter(value for value in values if None not in value)
        held = {group.members[uid].node for uid in group.placed}
        here = {values[view.index(node)] for node in held if node is not None}
        ordered = sorted(sizes, key=lambda value: (sizes[value], value))
        chosen = [value for value in ordered if not here or value in here]
        return [np.fromiter((v == value for v in values), np.bool_, len(values)) for value in chosen]


def _lacking(group: Group) -> Counter[str]:
    """Return how many more members of each role must get nodes."""
    roles = Counter(group.description.roles or {})
    roles.subtract(role_of(group.members[uid].pod) for uid in group.placed)
    return +Counter({role: n for role, n in roles.items() if role in (group.description.roles or {})})
