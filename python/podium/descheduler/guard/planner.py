"""The plan of a cycle: every candidate is judged before anything is done, then all of them together.

A candidate passes if its workload has not been moved lately, its budgets allow it, and the scheduler, asked
with the moves so far, puts its successor on another node that does not become hot and on which it stands
better (``judging``). Members of a gang go as ``gangs`` says. At the end the scheduler is asked once more for
all moves at once; those that do no good then are dropped, until the rest holds. A plan is bounded: what does
not fit into it has its turn in the next cycle.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from podium.api import Node, Pod
from podium.descheduler.budgets import Budgets
from podium.descheduler.evictor import Evicted, companies
from podium.descheduler.guard.gangs import Gangs, MayGo
from podium.descheduler.guard.judging import Judge, Plugin
from podium.descheduler.guard.ledger import Before, Ledger
from podium.descheduler.guard.levels import Meter
from podium.descheduler.guard.memory import Memory
from podium.descheduler.guard.objective import ALL_MADE, BETTER
from podium.descheduler.guard.order import best_first
from podium.descheduler.guard.questions import Questions
from podium.descheduler.guard.reasons import FULL, RECENT, UNKNOWN_LOAD, NotBetterError
from podium.descheduler.guard.variants import improve
from podium.descheduler.limits import Cuts
from podium.descheduler.ports import EvictionRefusedError, WhatIf
from podium.descheduler.shapes import is_active
from podium.descheduler.world import World

#: Times that the whole plan is asked for again after moves were dropped; then it is halved.
_ROUNDS: Final = 8

Dropped = list[tuple[Evicted, NotBetterError]]


@dataclass(frozen=True, slots=True)
class Asked:
    """Whom a plan asks, beside the scheduler.

    Attributes:
        plugin: gives a profile's plugin.
        may_go: the evictors' word on members of gangs.
        turns: the plugins, with their profiles, in the order in which they run. Of n the first k may fill
            only k/n of the plan, so that nobody is left out because of those before.

    """

    plugin: Plugin
    may_go: MayGo
    turns: Sequence[tuple[str, str]] = ()


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
        asked: Asked,
    ) -> None:
        """Start a plan.

        Args:
            world: the cluster.
            nodes: those of the policy.
            meter: how load is measured.
            whatif: the scheduler to ask.
            memory: earlier moves.
            budgets: as they are now; the plan counts them down.
            asked: see there.

        """
        self._world = world
        self._meter = meter
        self._whatif = whatif
        self._memory = memory
        self._budgets = budgets
        self._judge = Judge(asked.plugin)
        self._gangs = Gangs(world, whatif, asked.may_go)
        self._planned: list[Evicted] = []
        self._before = Before(world, nodes)
        self._ledger = Ledger(self._before, meter)
        self._others: dict[str, dict[str, Evicted]] = defaultdict(dict)
        self._questions = Questions(world, meter, whatif, self._judge, asked.turns)
        self._does_not_hold = False

    def company(self, wanted: Evicted) -> Sequence[Evicted]:
        """Return who goes with a pod, itself first; raises NotBetterError if they cannot."""
        if not is_active(wanted.pod):
            return [wanted]
        if self._memory.forbids(wanted.pod, self._world.now):
            raise NotBetterError("the workload was moved lately and nothing has changed since", RECENT)
        return self._gangs.company(wanted)

    def consider(self, company: Sequence[Evicted]) -> Sequence[Evicted]:
        """Plan moves; raises NotBetterError, or EvictionRefusedError where a budget forbids one."""
        wanted, pods = company[0], [item.pod for item in company]
        if not is_active(wanted.pod):
            # It runs nowhere: nothing can become worse, and nobody has to find a place.
            self._budgets.take(wanted.pod)
            self._planned.append(wanted)
            return company
        self._precheck(company)
        self._budgets.check_all(pods)
        destinations = self._questions.ask(company, self._ledger, len(self._planned))
        self._budgets.take_all(pods)
        self._questions.moved()
        moves = [replace(item, destination=node) for item, node in zip(company, destinations, strict=True)]
        for item, node in zip(company, destinations, strict=True):
            self._ledger.move(item.pod, node)
        self._gangs.go(company)
        self._planned += moves
        return moves

    def gain(self, wanted: Evicted) -> float | None:
        """Ask what a move would gain now, and take it back; None if it does not pass."""
        try:
            company = self.company(wanted)
            self._precheck(company)
            self._budgets.check_all([item.pod for item in company])
            self._note(company)
            return self._questions.gain(company, self._ledger, len(self._planned))
        except EvictionRefusedError:
            return None

    def _note(self, company: Sequence[Evicted]) -> None:
        """Note a pod that could have been taken, in no gang, and on which no budget looks."""
        wanted = company[0]
        if self._gangs.key(wanted.pod) is None and not self._world.budgets(wanted.pod):
            self._others[wanted.pod.spec.node_name].setdefault(wanted.pod.metadata.uid, wanted)

    def _precheck(self, company: Sequence[Evicted]) -> None:
        for item in company:
            node = item.pod.spec.node_name
            if item.plugin in BETTER and not self._ledger.load.is_known(node):
                raise NotBetterError(f"the load of node {node} is not known", UNKNOWN_LOAD)
            if item is not company[0] and self._memory.forbids(item.pod, self._world.now):
                raise NotBetterError(f"{item.pod.metadata.name} of gang {item.gang} was moved lately", RECENT)

    def settle(self) -> tuple[list[Evicted], Dropped]:
        """Return the moves that hold together, with destinations, and those that do not, with the reason."""
        dropped: Dropped = []
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
            going = list(companies(left))
            left = [item for company in going[: len(going) // 2] for item in company]
            late = [item for company in going[len(going) // 2 :] for item in company]
            dropped += [(item, NotBetterError(text, FULL)) for item in late]
            self._does_not_hold = True
        return [], dropped

    def _deviation(self, plan: Sequence[Evicted]) -> float:
        ledger = Ledger(self._before, self._meter)
        for item in plan:
            if item.destination is not None:
                ledger.move(item.pod, item.destination)
        return ledger.load.deviation()

    def _together(self, planned: Sequence[Evicted]) -> tuple[list[Evicted], Dropped]:
        """Ask for all moves at once, and judge each landing on top of the ones before it."""
        landings = iter(self._whatif.together([item.pod for item in planned if item.destination]))
        ledger = Ledger(self._before, self._meter)
        good: list[Evicted] = []
        bad: Dropped = []
        for company in companies(planned):
            if company[0].destination is None:
                good += company
                continue
            landed = [next(landings) for _ in company]
            try:
                nodes = self._judge.destinations(company, landed, ledger, ALL_MADE)
            except NotBetterError as reason:
                bad += [(item, reason) for item in company]
                continue
            for item, node in zip(company, nodes, strict=True):
                ledger.move(item.pod, node)
                good.append(replace(item, destination=node))
        return good, bad

    def promise(self, pod: Pod) -> float:
        """Estimate what moving a pod would gain, after the moves so far."""
        return self._ledger.load.promise(pod)

    def bound(self, node: str) -> float:
        """Return what no promise of a pod of a node exceeds, after the moves so far."""
        return self._ledger.load.bound(node)

    def remember(self, done: Iterable[Evicted], cuts: Cuts) -> None:
        """Note what was really evicted, and where limits and budgets ended the work."""
        cuts.everywhere = cuts.everywhere or self._questions.is_full or self._does_not_hold
        moved = [(item.pod, item.destination) for item in done if item.destination is not None]
        self._memory.remember(moved, cuts, self._world)
