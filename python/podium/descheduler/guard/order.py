"""The order in which a plan is carried out: whatever ends it early leaves what matters least."""

from collections.abc import Sequence
from typing import Final

from podium.descheduler.evictor import Evicted
from podium.descheduler.guard.ledger import Ledger
from podium.descheduler.plugins import node_utilization

#: Plugins whose moves may be made in any order; those of the others keep their places.
LOAD_PLUGINS: Final = frozenset({node_utilization.LOW.name})

#: The largest plan that is put into order: it costs the square of its size.
_MOST: Final = 100


def best_first(plan: Sequence[Evicted], ledger: Ledger) -> list[Evicted]:
    """Put moves that even load into the order in which each next one gains most.

    On each node lower priorities still go before higher ones. Gangs keep their places. ``ledger`` is one
    without moves.
    """
    result = list(plan)
    places = [
        at
        for at, item in enumerate(plan)
        if item.plugin in LOAD_PLUGINS and item.destination and not item.gang
    ]
    if len(places) > _MOST:
        return result
    left = [plan[at] for at in places]
    for at in places:
        best = max(_next(left), key=lambda item: _worth(item, ledger))
        left = [item for item in left if item is not best]
        ledger.move(best.pod, best.destination or "")
        result[at] = best
    return result


def _next(left: Sequence[Evicted]) -> list[Evicted]:
    """Return the moves of the lowest priority on each node."""
    least: dict[str, int] = {}
    for item in left:
        node = item.pod.spec.node_name
        least[node] = min(least.get(node, priority(item)), priority(item))
    return [item for item in left if priority(item) == least[item.pod.spec.node_name]]


def priority(item: Evicted) -> int:
    """Return a move's rank by priority; pods without one go first."""
    priority = item.pod.spec.priority
    return priority if priority is not None else -(2**31)


def _worth(item: Evicted, ledger: Ledger) -> float:
    source, there = ledger.node(item.pod.spec.node_name), ledger.node(item.destination or "")
    return ledger.load.worth(ledger.load.gains(item.pod, source, there) or {})
