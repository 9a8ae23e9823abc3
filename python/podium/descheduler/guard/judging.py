"""Whether a landing is better than the place a pod has now; for a gang, whether all of them together are."""

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

from podium.descheduler.evictor import Evicted
from podium.descheduler.guard.ledger import Ledger
from podium.descheduler.guard.objective import EVENING, NOT_WORSE, Move, Rules
from podium.descheduler.guard.reasons import HOT, NO_DESTINATION, NO_GAIN, NotBetterError
from podium.descheduler.plugins import node_utilization
from podium.descheduler.ports import Landing

LOW = node_utilization.LOW.name

Plugin = Callable[[str, str], Any]
"""Gives a profile's plugin, by their names."""


class Judge:
    """Judges landings by what the plugin is after that asked for the eviction."""

    def __init__(self, plugin: Plugin) -> None:
        self._plugin = plugin

    def destinations(
        self, company: Sequence[Evicted], landings: Sequence[Landing], ledger: Ledger, rules: Rules
    ) -> list[str]:
        """Return where pods that go together land; raises NotBetterError if that is not better.

        Args:
            company: a pod, or a gang of which the first member is the one that was asked for.
            landings: theirs.
            ledger: the cluster before they go.
            rules: what their going must bring.

        """
        nodes = [_node(item, landing) for item, landing in zip(company, landings, strict=True)]
        if len(company) == 1:
            self._judge_one(company[0], nodes[0], ledger, rules)
        else:
            self._judge_gang(company, nodes, ledger, rules)
        return nodes

    def _judge_one(self, wanted: Evicted, node: str, ledger: Ledger, rules: Rules) -> None:
        pod, source = wanted.pod, wanted.pod.spec.node_name
        judge = rules.judges.get(wanted.plugin)
        if judge is not None and not judge(self._of(wanted), ledger, Move(pod, source, node)):
            raise NotBetterError(f"moving to {node} would gain nothing, or too little", NO_GAIN)
        there = ledger.node(node)
        if ledger.load.is_hot_with(pod, there):
            raise NotBetterError(f"{node} would be above its target", HOT)
        if wanted.plugin in EVENING:
            spoiled = ledger.load.spoils(ledger.load.gains(pod, ledger.node(source), there) or {})
            if spoiled is not None:
                raise NotBetterError(f"{spoiled} would be spread less evenly than it was", NO_GAIN)

    def _judge_gang(
        self, gang: Sequence[Evicted], nodes: Sequence[str], ledger: Ledger, rules: Rules
    ) -> None:
        """Let the members go one after the other: the first must stand better, the others no worse."""
        asker, after = gang[0], copy(ledger)
        for item, node in zip(gang, nodes, strict=True):
            move = Move(item.pod, item.pod.spec.node_name, node)
            judges = rules.judges if item is asker and item.plugin != LOW else NOT_WORSE
            judge = judges.get(item.plugin)
            if judge is not None and not judge(self._of(item), after, move):
                raise NotBetterError(f"moving {_name(item)} to {node} would gain nothing", NO_GAIN)
            after.move(item.pod, node)
        hot = next((node for node in nodes if after.load.is_hot(node)), None)
        if hot is not None:
            raise NotBetterError(f"{hot} would be above its target", HOT)
        gains = after.load.gained(ledger.load)
        if asker.plugin == LOW and not rules.enough(sum(gains.values()), len(gang), ledger.load.best):
            raise NotBetterError(f"moving all {len(gang)} would gain nothing, or too little", NO_GAIN)
        spoiled = ledger.load.spoils(gains) if asker.plugin in EVENING else None
        if spoiled is not None:
            raise NotBetterError(f"{spoiled} would be spread less evenly than it was", NO_GAIN)

    def _of(self, wanted: Evicted) -> Any:
        return self._plugin(wanted.profile, wanted.plugin)


def _node(wanted: Evicted, landing: Landing) -> str:
    """Return where a pod lands; raises NotBetterError if that is nowhere, or where it is."""
    who = f"{_name(wanted)} of gang {wanted.gang}: " if wanted.gang else ""
    if not landing.successor:
        raise NotBetterError(f"{who}nobody would make this pod anew", NO_DESTINATION)
    if landing.node is None:
        raise NotBetterError(f"{who}it would stay pending: {landing.message}", NO_DESTINATION)
    if landing.node == wanted.pod.spec.node_name:
        raise NotBetterError(f"{who}the scheduler would put it back on the same node", NO_DESTINATION)
    return landing.node


def _name(wanted: Evicted) -> str:
    return wanted.pod.metadata.name
