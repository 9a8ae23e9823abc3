"""What the scheduler is asked about a plan in the making, and what it said already.

Answers hold until something moves: for pods that are alike, on one node and of one load, and for a gang.
"""

from collections.abc import Sequence
from copy import copy
from typing import Final

from podium.descheduler.evictor import Evicted
from podium.descheduler.guard.judging import Judge
from podium.descheduler.guard.ledger import Ledger
from podium.descheduler.guard.levels import Meter
from podium.descheduler.guard.objective import PROPOSED
from podium.descheduler.guard.reasons import NotBetterError, PlanFullError
from podium.descheduler.guard.workload import likeness
from podium.descheduler.ports import WhatIf
from podium.descheduler.shapes import Shape
from podium.descheduler.world import World

#: The most moves of one plan, and the most pods that the scheduler is asked about for it.
MOST_MOVES: Final = 300
MOST_QUESTIONS: Final = 600

Kind = tuple[str, str, bytes, tuple[float, ...]]
"""Plugin, node, what pods have in common that are alike, their load; or plugin and gang."""


class Questions:
    """The questions of one plan, of which there are so many."""

    def __init__(
        self, world: World, meter: Meter, whatif: WhatIf, judge: Judge, turns: Sequence[tuple[str, str]]
    ) -> None:
        self._world = world
        self._meter = meter
        self._whatif = whatif
        self._judge = judge
        self._parts = {turn: (at + 1) / len(turns) for at, turn in enumerate(turns)}
        self._asked = 0
        self._refused: dict[Kind, tuple[str, str]] = {}
        self._gains: dict[Kind, float] = {}
        self._alike: dict[Shape, bytes] = {}
        self.is_full = False
        """Whether somebody found no more room."""

    def moved(self) -> None:
        """Let what was said be old."""
        self._refused.clear()
        self._gains.clear()

    def ask(self, company: Sequence[Evicted], ledger: Ledger, planned: int) -> list[str]:
        """Let pods go together; returns where they land, or raises NotBetterError and takes it back.

        Args:
            company: who goes.
            ledger: the cluster before that.
            planned: moves so far.

        """
        kind = self._kind(company[0], ledger)
        known = self._refused.get(kind)
        if known is not None:
            raise NotBetterError(*known)
        part, more = self._part(company[0]), len(company) - 1
        if self._asked + more >= MOST_QUESTIONS * part or planned + more >= MOST_MOVES * part:
            self.is_full = True
            raise PlanFullError("the plan of this cycle has no more room for this plugin")
        self._asked += len(company)
        try:
            landings = self._whatif.move([item.pod for item in company])
            return self._judge.destinations(company, landings, ledger, PROPOSED)
        except NotBetterError as reason:
            self._whatif.undo()
            self._refused[kind] = (str(reason), reason.why)
            raise

    def gain(self, company: Sequence[Evicted], ledger: Ledger, planned: int) -> float:
        """Ask what a move would gain now, and take it back; raises NotBetterError if it does not pass.

        Half of the questions are kept for moves that are made: beyond that, the promise stands in.
        """
        kind = self._kind(company[0], ledger)
        known = self._gains.get(kind)
        if known is not None:
            return known
        if kind not in self._refused and self._asked >= MOST_QUESTIONS * self._part(company[0]) / 2:
            return ledger.load.promise(company[0].pod)
        destinations = self.ask(company, ledger, planned)
        self._whatif.undo()
        found = self._gains[kind] = _worth(company, destinations, ledger)
        return found

    def _part(self, wanted: Evicted) -> float:
        return self._parts.get((wanted.profile, wanted.plugin), 1.0)

    def _kind(self, wanted: Evicted, ledger: Ledger) -> Kind:
        """Return what is equal for pods of which the same may be said: alike, of one node, of one load."""
        if wanted.gang:
            return wanted.plugin, wanted.gang, b"", ()
        pod = wanted.pod
        load = self._meter.of_pod(pod, ledger.node(pod.spec.node_name)) or {}
        shape = self._world.shape(pod)
        alike = self._alike.get(shape)
        if alike is None:
            alike = self._alike[shape] = likeness(pod)
        return wanted.plugin, pod.spec.node_name, alike, tuple(load.values())


def _worth(company: Sequence[Evicted], destinations: Sequence[str], ledger: Ledger) -> float:
    """Return what moves are worth, for each pod that goes."""
    load, pod = ledger.load, company[0].pod
    if len(company) == 1:
        there = ledger.node(destinations[0])
        return load.worth(load.gains(pod, ledger.node(pod.spec.node_name), there) or {})
    after = copy(ledger)
    for item, node in zip(company, destinations, strict=True):
        after.move(item.pod, node)
    return load.worth(after.load.gained(load)) / len(company)
