"""What each plugin is after: whether a landing place is better than the one a pod has now.

The table says for every in-tree plugin what better means; a plugin that is not in it only needs a landing
place that is another node.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from podium.api import Pod
from podium.api.matching import fits_node, term_matches
from podium.descheduler.guard.ledger import Ledger
from podium.descheduler.plugins import (
    duplicates,
    node_affinity,
    node_taints,
    node_utilization,
    topology_spread,
)
from podium.descheduler.tolerations import tolerates_all

#: The least by which a move must lower the sum of squared distances from the mean load, in parts of a node:
#: that of one node three percent off the mean.
LEAST_GAIN: Final = 0.03**2


#: The least part of the plan's best gain that a further move must bring.
LEAST_PART: Final = 0.1


class Move(NamedTuple):
    """A pod and two nodes."""

    pod: Pod
    source: str
    destination: str


Better = Callable[[Any, Ledger, Move], bool]
"""Plugin, ledger before the move, move → whether the pod stands better afterwards."""


def evens_load(_: Any, ledger: Ledger, move: Move) -> bool:
    """LowNodeUtilization: the load gets more even, noticeably."""
    gains = ledger.load.gains(move.pod, ledger.node(move.source), ledger.node(move.destination))
    return gains is not None and sum(gains.values()) >= max(LEAST_GAIN, ledger.load.best * LEAST_PART)


def keeps_load_even(_: Any, ledger: Ledger, move: Move) -> bool:
    """LowNodeUtilization, once all pods have left: the load gets more even, however little."""
    gains = ledger.load.gains(move.pod, ledger.node(move.source), ledger.node(move.destination))
    return gains is not None and sum(gains.values()) > 0


def leaves_idle_nodes(plugin: Any, ledger: Ledger, move: Move) -> bool:
    """HighNodeUtilization: not from one node that is to be emptied to another."""
    return not plugin.is_idle(ledger.node(move.destination))


def spreads_replicas(_: Any, ledger: Ledger, move: Move) -> bool:
    """RemoveDuplicates: fewer like it where it lands, itself included, than where it is."""
    there = ledger.replicas(move.pod, move.destination) + 1
    return there < ledger.replicas(move.pod, move.source)


def lowers_skew(_: Any, ledger: Ledger, move: Move) -> bool:
    """RemovePodsViolatingTopologySpreadConstraint: no constraint gets worse, one gets better.

    A domain gets better by a pod less if it has at least two more than the one that takes it.
    """
    better = False
    source, destination = (ledger.node(name).metadata.labels for name in (move.source, move.destination))
    for key, counts in ledger.spreads(move.pod):
        here, there = source.get(key), destination.get(key)
        if here is None or there is None or here == there:
            continue
        if counts[there] + 1 > counts[here]:
            return False
        better = better or counts[there] + 1 < counts[here]
    return better


def tolerates_taints(plugin: Any, ledger: Ledger, move: Move) -> bool:
    """RemovePodsViolatingNodeTaints: no taint there for which it would go again."""
    taints = plugin.taints(ledger.node(move.destination))
    return tolerates_all(move.pod.spec.tolerations, taints)


def meets_affinity(_: Any, ledger: Ledger, move: Move) -> bool:
    """RemovePodsViolatingNodeAffinity: preferences are met better; required ones the scheduler ensures."""
    spec, source, destination = move.pod.spec, ledger.node(move.source), ledger.node(move.destination)
    affinity = spec.affinity.node_affinity if spec.affinity else None
    if affinity is None or not fits_node(spec, source):
        return True
    here, there = (
        sum(item.weight for item in affinity.preferred if term_matches(item.preference, node))
        for node in (source, destination)
    )
    return there > here


Judges = Mapping[str, Better]

#: Plugins that may not leave load less even than it was; the others have something to mend.
EVENING: Final = frozenset({node_utilization.LOW.name, duplicates.NAME, topology_spread.NAME})

BETTER: Final[Judges] = {
    node_utilization.LOW.name: evens_load,
    node_utilization.HIGH.name: leaves_idle_nodes,
    duplicates.NAME: spreads_replicas,
    topology_spread.NAME: lowers_skew,
    node_taints.NAME: tolerates_taints,
    node_affinity.NAME: meets_affinity,
}

#: The same for moves that passed and land elsewhere once all of them are made.
STILL_BETTER: Final[Judges] = {**BETTER, node_utilization.LOW.name: keeps_load_even}
