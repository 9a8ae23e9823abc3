"""Members of a gang that Python plugins concern, each on the node its cycle finds: PreFilter … Reserve."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from podium._core import Engine
from podium.framework.runner import Runner
from podium.framework.state import CycleState
from podium.scheduler.assumed import Assumed
from podium.scheduler.cycle import Cycle, Unexpected
from podium.scheduler.entry import Entry
from podium.scheduler.failures import Refusal
from podium.scheduler.fit import Misfit
from podium.scheduler.profiles import Profiles

Mask = NDArray[np.bool_]


@dataclass(slots=True)
class Outcome:
    """What became of a gang.

    Attributes:
        need: how many members had to get places.
        placed: members on their nodes' books, in order.
        waits: whether a Permit plugin holds one of them.
        refused: who got none, and why; None if all did.
        lacks_room: whether that is because no node was left, so that others who leave could help.
        where: in which domain they were to be together, in words; empty: anywhere.

    """

    need: int
    placed: list[Assumed] = field(default_factory=list)
    waits: bool = False
    refused: tuple[Entry, Refusal] | None = None
    lacks_room: bool = False
    where: str = ""
    feasible: dict[str, list[str]] = field(default_factory=dict)

    @property
    def fitting(self) -> int:
        """How many members found places."""
        return len(self.placed)


@dataclass(frozen=True, slots=True)
class Seats:
    """Puts members on nodes and takes them off again."""

    engine: Engine
    cycle: Cycle
    profiles: Profiles

    def runner(self, entry: Entry) -> Runner:
        """Return the plugins of a member's profile."""
        plugins = self.profiles.of(entry.pod)
        assert plugins is not None, "members of one gang have one profile"
        return plugins.runner

    def kind(self, entry: Entry) -> int:
        """Return a number that members have in common whom the plugins cannot tell apart."""
        plugins = self.profiles.of(entry.pod)
        assert plugins is not None, "members of one gang have one profile"
        return plugins.class_of(entry.pod, self.cycle.services.state.encoded(entry.pod.spec)).kind

    def entry(self, handle: int) -> Entry:
        """Return the member behind a handle of the core."""
        return self.cycle.services.state.by_handle(handle)

    def only(self, row: int) -> Mask:
        """Return the mask of one node, given as a row of the core."""
        facts = self.cycle.services.facts
        mask = np.zeros(len(facts.names), np.bool_)
        mask[facts.index(self.engine.node_name(row))] = True
        return mask

    def find(self, entry: Entry, among: Mask | None, state: CycleState) -> int | Misfit | Unexpected:
        """Return the row of a member's best node of ``among``; None: of all."""
        self.cycle.among = among
        found = self.cycle.find(entry, self.runner(entry), state)
        self.cycle.among = None
        return found

    def take(self, entry: Entry, among: Mask | None, outcome: Outcome) -> bool:
        """Put a member on its best node of ``among``; returns False, and notes why, if it has none."""
        refusal = self._take(entry, among, outcome)
        if refusal is not None and outcome.refused is None:
            outcome.refused = (entry, refusal)
        return refusal is None

    def _take(self, entry: Entry, among: Mask | None, outcome: Outcome) -> Refusal | None:
        state = CycleState(concerned=entry.concerned)
        found = self.find(entry, among, state)
        if self.cycle.feasible is not None:
            outcome.feasible[entry.pod.metadata.uid] = self.cycle.feasible
        if isinstance(found, Unexpected):
            return Refusal("error", found.message)
        if isinstance(found, Misfit):
            outcome.lacks_room = True
            return Refusal("unschedulable", found.message, found.plugins)
        assumed = Assumed(entry, self.engine.node_name(found), self.runner(entry), state)
        refusal = self.cycle.reserve(assumed, found)
        if refusal is not None:
            self._leave(assumed)
            return refusal
        outcome.placed.append(assumed)
        return None

    def undo(self, placed: list[Assumed]) -> None:
        """Take members off their nodes again, the last one first."""
        for assumed in reversed(placed):
            self._leave(assumed)

    def _leave(self, assumed: Assumed) -> None:
        assert assumed.runner is not None, "members were placed with their plugins"
        assumed.runner.unreserve(assumed.state, assumed.entry.pod, assumed.node)
        self.engine.forget(assumed.entry.handle)
