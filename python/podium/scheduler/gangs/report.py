"""How all gangs stand, as the answers of ``simulate`` and ``explain`` show it."""

from collections.abc import Sequence
from dataclasses import dataclass

from podium._core import Said
from podium.scheduler.gangs.arranging import Arranger
from podium.scheduler.gangs.gangs import Gangs
from podium.scheduler.gangs.group import GROUP, Group, Phase
from podium.scheduler.gangs.wording import shortage_text
from podium.scheduler.state import State

_WAITS = {Phase.QUEUED, Phase.BACKOFF}


@dataclass(frozen=True, slots=True)
class GangReport:
    """One gang.

    Attributes:
        name: ``ns/name``.
        min: the effective minimum of all members.
        bound: members on nodes.
        waiting: members held in Permit.
        missing: minimum less known members.
        state: a :class:`Phase` by name.
        position: its place among the gangs that wait, in queue order, from 1; None if it does not wait.
        message: why it is not bound.

    """

    name: str
    min: int
    bound: int
    waiting: int
    missing: int
    state: str
    position: int | None
    message: str


@dataclass(frozen=True, slots=True)
class GangTurn:
    """What ``explain`` says of a pending pod's gang. ``placeable``: members with nodes, and that fit."""

    name: str
    min: int
    placeable: int
    missing: int
    nearest: str
    position: int | None
    state: str
    message: str
    """Why it has no places; empty if it would get them."""


def reports(gangs: Gangs) -> Sequence[GangReport]:
    """Return all gangs, in order of appearance; last those of which all pods are held back."""
    ranks = positions(gangs)
    all_of = [
        GangReport(
            name=group.name,
            min=group.minimum,
            bound=len(group.bound),
            waiting=gangs.permits.number_of(group),
            missing=_missing(gangs, group),
            state=group.phase.value,
            position=ranks.get(group.handle),
            message=group.message,
        )
        for group in gangs
    ]
    for key, says, why in gangs.without_members():
        missing = max(0, says.minimum - len(gangs.book.held_back.of(key)))
        all_of.append(GangReport(str(key), says.minimum, 0, 0, missing, Phase.GATED.value, None, why))
    return all_of


def _missing(gangs: Gangs, group: Group) -> int:
    """Return how many members are not known, not even as held back."""
    held_back = len(gangs.book.held_back.of(group.key))
    return max(0, group.minimum - group.live - group.done - held_back)


def positions(gangs: Gangs) -> dict[int, int]:
    """Return the place of each gang that waits, by handle: greater priorities first, then the older."""
    waiting = [group for group in gangs if group.phase in _WAITS and group.queued]
    waiting.sort(key=lambda group: -group.description.priority_or_zero)
    return {group.handle: place for place, group in enumerate(waiting, 1)}


class GangJudge:
    """Judges gangs as they would be tried now, each once: nothing is placed, or may happen in between."""

    def __init__(self, state: State, gangs: Gangs, arranger: Arranger) -> None:
        self._state = state
        self._gangs = gangs
        self._arranger = arranger
        self._positions = positions(gangs)
        self._turns: dict[int, GangTurn] = {}

    def turn_of(self, group: Group) -> GangTurn:
        """Return what there is to say of a gang."""
        known = self._turns.get(group.handle)
        if known is None:
            known = self._turns[group.handle] = self._judge(group)
        return known

    def _judge(self, group: Group) -> GangTurn:
        state, nearest, message = self._state, "", group.message
        placeable = min(group.minimum, len(group.placed) + group.done)
        if group.queued and group.need:
            shortage = state.engine.try_group(group.handle, _said(self._arranger, group))
            placeable += group.need if shortage is None else shortage.placeable
            nearest = "" if shortage is None or not shortage.nearest else f"needs {shortage.nearest}"
            message = "" if shortage is None else shortage_text(state, self._gangs, group, shortage)
        position = self._positions.get(group.handle)
        if position is None and state.engine.pool(GROUP | group.handle) is not None:
            position = 1
        return GangTurn(
            name=group.name,
            min=group.minimum,
            placeable=placeable,
            missing=_missing(self._gangs, group),
            nearest=nearest,
            position=position,
            state=group.phase.value,
            message=message,
        )


def _said(arranger: Arranger, group: Group) -> Said | None:
    """Ask Python plugins which nodes they leave to members; None: they have no say, or one fails."""
    if not any(entry.concerned for entry in group.pending()):
        return None
    hearing = arranger.hear(group)
    return None if hearing is None else arranger.said(hearing)
