"""Places for a gang that Python plugins concern, where its members found none one after the other.

The core searches, as it does for gangs that are a matter of its own. It is told which nodes the plugins leave
to each kind of member, and what it finds is gone through with the plugins, one member after the other. Where
one is refused nevertheless, because of those that are to be on the node by then, the core is told that too,
and searches again.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from podium._core import Engine, Said
from podium.framework.state import CycleState
from podium.scheduler.entry import Entry
from podium.scheduler.gangs.group import Group
from podium.scheduler.gangs.seats import Outcome, Seats
from podium.scheduler.nodes import mask_of

Mask = NDArray[np.bool_]

#: Members and the rows they are to go to, in this order.
Places = Sequence[tuple[int, int]]

#: Members and the nodes they were nominated to.
Nominations = list[tuple[int, str]]

#: Arrangements of the core that are gone through with the plugins before the gang is given up.
ROUNDS: Final = 64


@dataclass(slots=True)
class Hearing:
    """What plugins have said of the members of one gang so far.

    Attributes:
        kinds: handle -> kind; plugins cannot tell members of one kind apart.
        masks: by kind, the nodes that are left to it.
        refused: kind, row, and how many members of each kind were there.

    """

    kinds: dict[int, int] = field(default_factory=dict)
    masks: list[Mask] = field(default_factory=list)
    refused: list[tuple[int, int, list[int]]] = field(default_factory=list)

    def refuse(self, member: tuple[int, int], placed: Places) -> None:
        """Note that a member was refused on a row beside those that had been placed."""
        handle, row = member
        there = Counter(self.kinds[other] for other, at in placed if at == row)
        self.refused.append((self.kinds[handle], row, [there[kind] for kind in range(len(self.masks))]))


@dataclass(frozen=True, slots=True)
class Arranger:
    """Asks the core for arrangements, and the plugins about them."""

    seats: Seats

    def arrange(self, group: Group) -> Outcome | None:
        """Place what is missing from a gang's minimum, all of it; None if no way was found."""
        hearing = self.hear(group)
        if hearing is None:
            return None
        lifted = lift(self.seats.engine, group)
        outcome = self._search(group, hearing)
        placed = {assumed.entry.handle for assumed in outcome.placed} if outcome is not None else ()
        restore(self.seats.engine, [each for each in lifted if each[0] not in placed])
        return outcome

    def _search(self, group: Group, hearing: Hearing) -> Outcome | None:
        for _ in range(ROUNDS):
            places = self.seats.engine.arrange_group(group.handle, self.said(hearing))
            if places is None:
                return None
            outcome = self._take(places, hearing)
            if outcome is not None:
                return outcome
        return None

    def hear(self, group: Group) -> Hearing | None:
        """Ask the plugins about all nodes as they are, for each kind of member; None if one fails."""
        hearing = Hearing()
        numbers: dict[object, int] = {}
        for entry in group.pending():
            kind = numbers.setdefault(self.seats.kind(entry), len(numbers))
            if kind == len(hearing.masks):
                mask = self._mask(entry)
                if mask is None:
                    return None
                hearing.masks.append(mask)
            hearing.kinds[entry.handle] = kind
        return hearing

    def said(self, hearing: Hearing) -> Said:
        """Tell the core."""
        return self.seats.engine.said(list(hearing.kinds.items()), hearing.masks, hearing.refused)

    def _mask(self, entry: Entry) -> Mask | None:
        view = self.seats.cycle.services.view()
        if not entry.concerned:
            return np.ones(len(view), np.bool_)
        runner, state = self.seats.runner(entry), CycleState(concerned=entry.concerned)
        prepared = runner.pre_filter(state, entry.pod, view, {})
        if not prepared.status.is_success:
            return np.zeros(len(view), np.bool_) if prepared.status.is_rejected else None
        filtered = runner.filter(state, entry.pod, view, None)
        if not filtered.status.is_success:
            return None
        if prepared.node_names is None:
            return filtered.feasible
        return filtered.feasible & mask_of(prepared.node_names, self.seats.cycle.services.facts)

    def _take(self, places: Places, hearing: Hearing) -> Outcome | None:
        """Place the members as the core says; None, and nothing of it is left, if a plugin refuses one."""
        outcome = Outcome(len(places))
        placed: list[tuple[int, int]] = []
        for handle, row in places:
            entry = self.seats.entry(handle)
            if self.seats.take(entry, self.seats.only(row), outcome):
                placed.append((handle, row))
            else:
                hearing.refuse((handle, row), placed)
        if len(placed) == len(places):
            return outcome
        self.seats.undo(outcome.placed)
        return None


def lift(engine: Engine, group: Group) -> Nominations:
    """Take the nominations of a gang's members away, so that they may go elsewhere."""
    nodes = ((entry.handle, engine.nominated(entry.handle)) for entry in group.pending())
    lifted = [(handle, node) for handle, node in nodes if node is not None]
    for handle, _ in lifted:
        engine.nominate(handle, None)
    return lifted


def restore(engine: Engine, lifted: Nominations) -> None:
    """Give nominations back."""
    for handle, node in lifted:
        engine.nominate(handle, node)
