"""Room for a gang that Python plugins concern, made by evicting pods of lower priority.

The core plans who leaves and where the members go, and simulates it with its own plugins; the plan stands if
the others accept every member too, on the nodes as they are without the victims. As for other gangs, victims
leave only if all that is missing from the minimum then has a place.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from podium._core import GangEviction
from podium.framework.runner import Runner
from podium.framework.state import CycleState
from podium.scheduler.entry import Entry
from podium.scheduler.gangs.arranging import Arranger, Hearing, lift, restore
from podium.scheduler.gangs.group import Group

#: Plans of the core that are gone through with the plugins before nobody is evicted.
ROUNDS: Final = 16


@dataclass(frozen=True, slots=True)
class RoomMaker:
    """Finds victims for gangs; ``keeps_budgets``: never against a disruption budget."""

    arranger: Arranger
    keeps_budgets: bool

    def plan(self, group: Group) -> GangEviction | None:
        """Return who leaves and where the members then go; None if nothing was found that helps."""
        engine = self.arranger.seats.engine
        pods, leaving = engine.below_group(group.handle, self.keeps_budgets)
        if not pods and not leaving:
            return engine.preempt_group(group.handle, self.keeps_budgets)
        with self._without([*pods, *leaving]):
            hearing = self.arranger.hear(group)
        if hearing is None:
            return None
        for _ in range(ROUNDS):
            said = self.arranger.said(hearing)
            found = engine.preempt_group(group.handle, self.keeps_budgets, said)
            if found.result != "nominate" or self._stands(group, found, leaving, hearing):
                return found
        return None

    @contextmanager
    def _without(self, pods: Iterable[int]) -> Iterator[None]:
        engine = self.arranger.seats.engine
        engine.begin_overlay()
        try:
            for pod in pods:
                engine.evict_in_overlay(pod)
            yield
        finally:
            engine.end_overlay()

    def _stands(self, group: Group, found: GangEviction, leaving: list[int], hearing: Hearing) -> bool:
        """Whether all plugins accept every member where the core wants it; notes those that do not."""
        seats = self.arranger.seats
        nominated = lift(seats.engine, group)
        reserved: list[tuple[Runner, CycleState, Entry, str]] = []
        placed: list[tuple[int, int]] = []
        with self._without([*found.victims, *leaving]):
            for handle, row in found.places:
                entry, node = seats.entry(handle), seats.engine.node_name(row)
                state = CycleState(concerned=entry.concerned)
                if not isinstance(seats.find(entry, seats.only(row), state), int):
                    hearing.refuse((handle, row), placed)
                    continue
                if seats.engine.place_in_overlay(handle, row) is not None:
                    hearing.refuse((handle, row), placed)
                    continue
                runner = seats.runner(entry)
                reserved.append((runner, state, entry, node))
                if runner.reserve(state, entry.pod, node).is_success:
                    placed.append((handle, row))
                else:
                    hearing.refuse((handle, row), placed)
            for runner, state, entry, node in reversed(reserved):
                runner.unreserve(state, entry.pod, node)
        restore(seats.engine, nominated)
        return len(placed) == len(found.places)
