"""What each plugin is after: whether a landing place is better than the one a pod has now.

The table says for every in-tree plugin what better means; a plugin that is not in it only needs a landing
place that is another node.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from podium.api import NodeAffinity, Pod
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
    return gains is not None and is_noticeable(sum(gains.values()), 1, ledger.load.best)


def is_noticeable(gain: float, pods: int, best: float) -> bool:
    """Tell whether moves gain enough for so many pods, beside the best that one has gained so far."""
    return gain >= max(LEAST_GAIN, best * LEAST_PART * pods)


def keeps_load_even(_: Any, ledger: Ledger, move: Move) -> bool:
    """LowNodeUtilization, once all pods have left: the load gets more even, however little."""
    gains = ledger.load.gains(move.pod, ledger.node(move.source), ledger.node(move.destination))
    return gains is not None and is_something(sum(gains.values()), 1, 0.0)


def is_something(gain: float, _pods: int, _best: float) -> bool:
    """Tell whether moves gain anything."""
    return gain > 0


def leaves_idle_nodes(plugin: Any, ledger: Ledger, move: Move) -> bool:
    """HighNodeUtilization: not from one node that is to be emptied to another."""
    return not plugin.is_idle(ledger.node(move.destination))


def spreads_replicas(_: Any, ledger: Ledger, move: Move) -> bool:
    """RemoveDuplicates: fewer like it where it lands, itself included, than where it is."""
    there = ledger.replicas(move.pod, move.destination) + 1
    return there < ledger.replicas(move.pod, move.source)


def keeps_replicas_spread(_: Any, ledger: Ledger, move: Move) -> bool:
    """RemoveDuplicates, of who only goes along: no more like it where it lands than where it is."""
    there = ledger.replicas(move.pod, move.destination) + 1
    return there <= ledger.replicas(move.pod, move.source)


def lowers_skew(_: Any, ledger: Ledger, move: Move) -> bool:
    """RemovePodsViolatingTopologySpreadConstraint: no constraint gets worse, one gets better.

    A domain gets better by a pod less if it has at least two more than the one that takes it.
    """
    differences = _differences(ledger, move)
    return all(difference >= 1 for difference in differences) and any(item > 1 for item in differences)


def keeps_skew(_: Any, ledger: Ledger, move: Move) -> bool:
    """RemovePodsViolatingTopologySpreadConstraint, of who only goes along: no constraint gets worse."""
    return all(difference >= 1 for difference in _differences(ledger, move))


def _differences(ledger: Ledger, move: Move) -> list[int]:
    """Return for each constraint how many pods more the domain has that is left than the one landed in."""
    source, destination = (ledger.node(name).metadata.labels for name in (move.source, move.destination))
    found = []
    for key, counts in ledger.spreads(move.pod):
        here, there = source.get(key), destination.get(key)
        if here is not None and there is not None and here != there:
            found.append(counts[here] - counts[there])
    return found


def tolerates_taints(plugin: Any, ledger: Ledger, move: Move) -> bool:
    """RemovePodsViolatingNodeTaints: no taint there for which it would go again."""
    taints = plugin.taints(ledger.node(move.destination))
    return tolerates_all(move.pod.spec.tolerations, taints)


def meets_affinity(_: Any, ledger: Ledger, move: Move) -> bool:
    """RemovePodsViolatingNodeAffinity: preferences are met better; required ones the scheduler ensures."""
    if not fits_node(move.pod.spec, ledger.node(move.source)):
        return True
    here, there = _preferences(ledger, move)
    return there > here or _node_affinity(move.pod) is None


def keeps_affinity(_: Any, ledger: Ledger, move: Move) -> bool:
    """RemovePodsViolatingNodeAffinity, of who only goes along: preferences are met as well."""
    here, there = _preferences(ledger, move)
    return there >= here


def _preferences(ledger: Ledger, move: Move) -> tuple[int, int]:
    """Return the weights of the preferences that source and destination meet."""
    affinity = _node_affinity(move.pod)
    preferred = affinity.preferred if affinity is not None else ()
    here, there = (
        sum(item.weight for item in preferred if term_matches(item.preference, ledger.node(name)))
        for name in (move.source, move.destination)
    )
    return here, there


def _node_affinity(pod: Pod) -> NodeAffinity | None:
    return pod.spec.affinity.node_affinity if pod.spec.affinity else None


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

#: What members of a gang must do no worse that go along with one whose place a plugin wants to better. Their
#: load is judged together.
NOT_WORSE: Final[Judges] = {
    node_utilization.HIGH.name: leaves_idle_nodes,
    duplicates.NAME: keeps_replicas_spread,
    topology_spread.NAME: keeps_skew,
    node_taints.NAME: tolerates_taints,
    node_affinity.NAME: keeps_affinity,
}


class Rules(NamedTuple):
    """What moves must bring.

    Attributes:
        judges: by plugin, for one pod.
        enough: for a gang, of LowNodeUtilization: gain, members, the best that one move has gained.

    """

    judges: Judges
    enough: Callable[[float, int, float], bool]


#: For moves that are proposed.
PROPOSED: Final = Rules(BETTER, is_noticeable)

#: For those that passed and land elsewhere once all of them are made.
ALL_MADE: Final = Rules({**BETTER, node_utilization.LOW.name: keeps_load_even}, is_something)
