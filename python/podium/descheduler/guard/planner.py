"""The plan of a cycle: every candidate is judged before anything is done, then all of them together.

A candidate passes if its workload has not been moved lately, is in no gang, its budgets allow it, and the
scheduler, asked with the moves so far, puts its successor on another node that does not become hot and on
which it stands better (``objective``). At the end the scheduler is asked once more for all moves at once;
those that do no good then are dropped, until the rest holds. A plan is bounded: what does not fit into it has
its turn in the next cycle.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from podium.api import Node, Pod
from podium.api.gangs import gang_of
from podium.descheduler.budgets import Budgets
from podium.descheduler.evictor import Cuts, Evicted
from podium.descheduler.guard.ledger import Before, Ledger
from podium.descheduler.guard.levels import Meter
from podium.descheduler.guard.memory import Memory
from podium.descheduler.guard.objective import BETTER, EVENING, STILL_BETTER, Judges, Move
from podium.descheduler.guard.order import best_first
from podium.descheduler.guard.variants import improve
from podium.descheduler.guard.workload import likeness
from podium.descheduler.ports import EvictionRefusedError, Landing, WhatIf
from podium.descheduler.world import World

NO_DESTINATION = "no destination"
HOT = "destination hot"
NO_GAIN = "no improvement"
RECENT = "recently moved"
GANG = "gang"
UNKNOWN_LOAD = "no fresh metrics"

FULL = "limit"

#: Times that the whole plan is asked for again after moves were dropped; then it is halved.
_ROUNDS = 8

#: The most moves of one plan, and the most questions that are asked for it.
MOST_MOVES = 300
MOST_QUESTIONS = 600


Kind = tuple[str, str, bytes, tuple[float, ...]]
"""Plugin, node, what pods have in common that are alike, their load."""


class NotBetterError(EvictionRefusedError):
    """A candidate that does not pass; ``why`` is one of this module's reasons."""


class Planner:
    """Judges the candidates of one cycle."""

    def __init__(
        self,
        world: World,
        nodes: Sequence[Node],
        meter: Meter,
        whatif: WhatIf,
        memory: Memory,
        budgets: Budgets,
        plugin: Callable[[str, str], Any],
        turns: Sequence[tuple[str, str]] = (),
    ) -> None:
        """Start a plan.

        Args:
            world: the cluster.
            nodes: those of the policy.
            meter: how load is measured.
            whatif: the scheduler to ask.
            memory: earlier moves.
            budgets: counted down here.
            plugin: gives the plugin of a profile by name.
            turns: profiles and plugins in the order in which they will ask. Of n, the first k may fill k/n of
                the plan, so that nobody is left out because of those before.

        """
        self._world = world
        self._meter = meter
        self._whatif = whatif
        self._memory = memory
        self._budgets = budgets
        self._plugin = plugin
        self._planned: list[Evicted] = []
        self._before = Before(world, nodes)
        self._ledger = Ledger(self._before, meter)
        self._others: dict[str, dict[str, Evicted]] = defaultdict(dict)
        self._questions = 0
        self._refused: dict[Kind, tuple[str, str]] = {}
        self._gains: dict[Kind, float] = {}
        self._is_full = False
        self._parts = {turn: (at + 1) / len(turns) for at, turn in enumerate(turns)}

    def consider(self, wanted: Evicted) -> Evicted:
        """Plan a move; raises NotBetterError, or EvictionRefusedError where a budget forbids it."""
        pod = wanted.pod
        if pod.status.phase in ("Failed", "Succeeded"):
            # It runs nowhere: nothing can become worse, and nobody has to find a place.
            self._budgets.take(pod)
            self._planned.append(wanted)
            return wanted
        self._precheck(wanted)
        self._budgets.check(pod)
        destination = self._ask(wanted)
        self._budgets.take(pod)
        self._refused.clear()
        self._gains.clear()
        self._ledger.move(pod, destination)
        wanted = replace(wanted, destination=destination)
        self._planned.append(wanted)
        return wanted

    def _ask(self, wanted: Evicted) -> str:
        """Ask the scheduler; what it said of a pod's like on the same node holds until the next move."""
        kind = self._kind(wanted)
        known = self._refused.get(kind)
        if known is not None:
            raise NotBetterError(*known)
        part = self._part(wanted)
        if self._questions >= MOST_QUESTIONS * part or len(self._planned) >= MOST_MOVES * part:
            self._is_full = True
            raise NotBetterError("the plan of this cycle has no more room for this plugin", FULL)
        self._questions += 1
        try:
            return self._judge(wanted, self._whatif.move(wanted.pod), self._ledger)
        except NotBetterError as reason:
            self._whatif.undo()
            self._refused[kind] = (str(reason), reason.why)
            raise

    def gain(self, wanted: Evicted) -> float | None:
        """Ask what a move would gain now, and take it back; None if it does not pass.

        Half of the questions are kept for moves that are made: beyond that, the promise stands in.
        """
        pod = wanted.pod
        try:
            self._precheck(wanted)
            self._budgets.check(pod)
            self._note(wanted)
            kind = self._kind(wanted)
            if kind in self._refused:
                return None
            known = self._gains.get(kind)
            if known is not None:
                return known
            if self._questions >= MOST_QUESTIONS * self._part(wanted) / 2:
                return self.promise(pod)
            destination = self._ask(wanted)
        except EvictionRefusedError:
            return None
        self._whatif.undo()
        load = self._ledger.load
        gains = load.gains(pod, self._ledger.node(pod.spec.node_name), self._ledger.node(destination))
        found = self._gains[kind] = load.worth(gains or {})
        return found

    def _note(self, wanted: Evicted) -> None:
        """Note a pod that could have been taken, and on which no budget looks."""
        if not self._world.budgets(wanted.pod):
            self._others[wanted.pod.spec.node_name].setdefault(wanted.pod.metadata.uid, wanted)

    def _part(self, wanted: Evicted) -> float:
        return self._parts.get((wanted.profile, wanted.plugin), 1.0)

    def _kind(self, wanted: Evicted) -> Kind:
        """Return what is equal for pods of which the same may be said: alike, of one node, of one load."""
        pod = wanted.pod
        load = self._meter.of_pod(pod, self._ledger.node(pod.spec.node_name)) or {}
        return wanted.plugin, pod.spec.node_name, likeness(pod), tuple(load.values())

    def _precheck(self, wanted: Evicted) -> None:
        pod = wanted.pod
        if self._memory.forbids(pod, self._world.now):
            raise NotBetterError("the workload was moved lately and nothing has changed since", RECENT)
        gang = gang_of(pod, self._whatif.gang_label)
        if gang is not None:
            raise NotBetterError(f"member of gang {gang}, which moves as a whole or not at all", GANG)
        if wanted.plugin in BETTER and not self._ledger.load.is_known(pod.spec.node_name):
            raise NotBetterError(f"the load of node {pod.spec.node_name} is not known", UNKNOWN_LOAD)

    def _judge(self, wanted: Evicted, landing: Landing, ledger: Ledger, better: Judges = BETTER) -> str:
        """Return the destination if it is better."""
        pod, source = wanted.pod, wanted.pod.spec.node_name
        if not landing.successor:
            raise NotBetterError("nobody would make this pod anew", NO_DESTINATION)
        if landing.node is None:
            raise NotBetterError(f"it would stay pending: {landing.message}", NO_DESTINATION)
        if landing.node == source:
            raise NotBetterError("the scheduler would put it back on the same node", NO_DESTINATION)
        move = Move(pod, source, landing.node)
        judge = better.get(wanted.plugin)
        if judge is not None and not judge(self._plugin(wanted.profile, wanted.plugin), ledger, move):
            raise NotBetterError(f"moving to {landing.node} would gain nothing, or too little", NO_GAIN)
        there = ledger.node(landing.node)
        if ledger.load.is_hot_with(pod, there):
            raise NotBetterError(f"{landing.node} would be above its target", HOT)
        if wanted.plugin in EVENING:
            spoiled = ledger.load.spoils(ledger.load.gains(pod, ledger.node(source), there) or {})
            if spoiled is not None:
                raise NotBetterError(f"{spoiled} would be spread less evenly than it was", NO_GAIN)
        return landing.node

    def settle(self) -> tuple[list[Evicted], list[tuple[Evicted, NotBetterError]]]:
        """Return the moves that hold together, with destinations, and those that do not, with the reason."""
        dropped: list[tuple[Evicted, NotBetterError]] = []
        left = list(self._planned)
        while left:
            # Successors arrive in the order in which pods leave, and where they land depends on it: it is the
            # final order that is asked for.
            left = best_first(left, Ledger(self._before, self._meter))
            for _ in range(_ROUNDS):
                left, bad = self._together(left)
                dropped += bad
                if not bad:
                    others = {node: list(found.values()) for node, found in self._others.items()}
                    return improve(left, others, self._together, self._deviation), dropped
            text = "the moves do not hold together"
            half = len(left) // 2
            dropped += [(item, NotBetterError(text, FULL)) for item in left[half:]]
            left, self._is_full = left[:half], True
        return [], dropped

    def _deviation(self, plan: Sequence[Evicted]) -> float:
        ledger = Ledger(self._before, self._meter)
        for item in plan:
            if item.destination is not None:
                ledger.move(item.pod, item.destination)
        return ledger.load.deviation()

    def _together(
        self, planned: Sequence[Evicted]
    ) -> tuple[list[Evicted], list[tuple[Evicted, NotBetterError]]]:
        """Ask for all moves at once, and judge each landing on top of the ones before it."""
        moving = [item for item in planned if item.destination is not None]
        landings = iter(self._whatif.together([item.pod for item in moving]))
        ledger = Ledger(self._before, self._meter)
        good: list[Evicted] = []
        bad: list[tuple[Evicted, NotBetterError]] = []
        for item in planned:
            if item.destination is None:
                good.append(item)
                continue
            try:
                destination = self._judge(item, next(landings), ledger, STILL_BETTER)
            except NotBetterError as reason:
                bad.append((item, reason))
            else:
                ledger.move(item.pod, destination)
                good.append(replace(item, destination=destination))
        return good, bad

    def promise(self, pod: Pod) -> float:
        """Estimate what moving a pod would gain, after the moves so far."""
        return self._ledger.load.promise(pod)

    def bound(self, node: str) -> float:
        """Return what no promise of a pod of a node exceeds, after the moves so far."""
        return self._ledger.load.bound(node)

    def remember(self, done: Iterable[Evicted], cuts: Cuts) -> None:
        """Note what was really evicted, and where limits and budgets ended the work."""
        cuts.everywhere = cuts.everywhere or self._is_full
        moved = [(item.pod, item.destination) for item in done if item.destination is not None]
        self._memory.remember(moved, cuts, self._world.now)
