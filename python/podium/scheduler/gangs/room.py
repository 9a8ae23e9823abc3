"""Room for a gang that Python plugins concern, by priority, by fair shares, or when others have ended.

The core plans who leaves and where the members go, and simulates it with its own plugins; the plan stands if
the others accept every member too, on the nodes as they are without those that leave. As for other gangs,
victims leave only if all that is missing from the minimum then has a place.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from podium._core import GangEviction, Said
from podium.framework.runner import Runner
from podium.framework.state import CycleState
from podium.scheduler.entry import Entry
from podium.scheduler.gangs.arranging import Arranger, Hearing, lift, restore
from podium.scheduler.gangs.group import Group

#: Plans of the core that are gone through with the plugins before nobody is evicted.
ROUNDS: Final = 16

T = TypeVar("T")

#: Handles of pods or of tenants.
Handles = NDArray[np.uint32]

#: When a gang fits, and where each member goes then.
Foreseen = tuple[int, list[tuple[int, int]]]


@dataclass(frozen=True, slots=True)
class Plan:
    """Where members go once others have left."""

    places: Sequence[tuple[int, int]]
    gone: Sequence[int]


@dataclass(frozen=True, slots=True)
class RoomMaker:
    """Finds out who leaves for gangs; ``keeps_budgets``: never against a disruption budget."""

    arranger: Arranger
    keeps_budgets: bool

    def plan(self, group: Group) -> GangEviction | None:
        """Return which pods of lower priority leave; None if nothing was found that helps."""
        engine = self.arranger.seats.engine
        pods, leaving = engine.below_group(group.handle, self.keeps_budgets)
        if not pods and not leaving:
            return engine.preempt_group(group.handle, self.keeps_budgets)

        def ask(said: Said) -> GangEviction:
            return engine.preempt_group(group.handle, self.keeps_budgets, said)

        def plan_of(found: GangEviction) -> Plan | None:
            if found.result != "nominate":
                return None
            return Plan(found.places, [*found.victims, *leaving])

        return self._agree(group, [*pods, *leaving], ask, plan_of)

    def reclaim(self, group: Group, pods: Handles, tenants: Handles) -> GangEviction | None:
        """Return which pods of tenants above their share leave; ``pods`` and ``tenants`` give nothing."""
        engine = self.arranger.seats.engine
        may_go = engine.claimed_by_group(group.handle, pods, tenants)
        if not may_go:
            return None

        def ask(said: Said) -> GangEviction | None:
            return engine.reclaim_group(group.handle, pods, tenants, said)

        return self._agree(group, may_go, ask, lambda found: Plan(found.places, found.victims))

    def foresee(self, group: Group, pods: Handles, ends: NDArray[np.int64]) -> Foreseen | None:
        """Return when the gang fits if pods leave at these times, and where; None if it never does."""
        engine = self.arranger.seats.engine

        def ask(said: Said) -> Foreseen | None:
            return engine.foresee_group(group.handle, pods, ends, said)

        def plan_of(found: Foreseen) -> Plan:
            at, places = found
            return Plan(places, pods[ends <= at].tolist())

        return self._agree(group, pods.tolist(), ask, plan_of)

    def _agree(
        self,
        group: Group,
        may_go: Sequence[int],
        ask: Callable[[Said], T | None],
        plan_of: Callable[[T], Plan | None],
    ) -> T | None:
        """Go through plans of the core with the plugins until one stands; None if none does.

        Args:
            group: the gang.
            may_go: the pods without which the plugins are asked first.
            ask: has the core make a plan by what was said; None: there is none.
            plan_of: what the plugins have to agree to; None: nothing.

        """
        with self._without(may_go):
            hearing = self.arranger.hear(group)
        if hearing is None:
            return None
        for _ in range(ROUNDS):
            found = ask(self.arranger.said(hearing))
            plan = None if found is None else plan_of(found)
            if plan is None or self._stands(group, plan, hearing):
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

    def _stands(self, group: Group, plan: Plan, hearing: Hearing) -> bool:
        """Whether all plugins accept every member where the core wants it; notes those that do not."""
        seats = self.arranger.seats
        nominated = lift(seats.engine, group)
        reserved: list[tuple[Runner, CycleState, Entry, str]] = []
        placed: list[tuple[int, int]] = []
        with self._without(plan.gone):
            for handle, row in plan.places:
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
        return len(placed) == len(plan.places)
