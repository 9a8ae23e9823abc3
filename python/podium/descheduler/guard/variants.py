"""Other plans than the one that was found step by step: other orders, and other pods of the same nodes.

Where successors land depends on the order in which they arrive, and the pods that gain most one by one are
not those that gain most together. Few large pods leave few good plans, so for small ones others are tried.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from podium.descheduler.evictor import Evicted
from podium.descheduler.guard.order import LOAD_PLUGINS, priority

#: The largest plan of which others are tried.
MOST: Final = 24

#: How many moves the others may have in all.
WORK: Final = 1500

#: By how much the sum of standard deviations must fall for another plan to be taken.
NOTICEABLE: Final = 1e-4

Together = Callable[[Sequence[Evicted]], tuple[list[Evicted], Sequence[object]]]
"""Asks for a plan as a whole: moves with their destinations, and what does not hold."""


def improve(
    plan: list[Evicted],
    others: Mapping[str, Sequence[Evicted]],
    together: Together,
    deviation: Callable[[Sequence[Evicted]], float],
) -> list[Evicted]:
    """Try plans that differ in a step, and go on from each that holds and leaves the load more even.

    Args:
        plan: the plan, which holds.
        others: by node, further pods that may leave it.
        together: asks for a plan.
        deviation: says how uneven it leaves the load.

    """
    level, work = deviation(plan), 0
    while True:
        for other in variants(plan, others):
            work += len(other)
            if work > WORK:
                return plan
            good, bad = together(other)
            if not bad and deviation(good) < level - NOTICEABLE:
                plan, level = good, deviation(good)
                break
        else:
            return plan


def variants(plan: Sequence[Evicted], others: Mapping[str, Sequence[Evicted]]) -> Iterator[list[Evicted]]:
    """Return plans that differ from one in a single step.

    Args:
        plan: the plan.
        others: by node, further pods that may leave it.

    """
    if len(plan) > MOST or any(item.plugin not in LOAD_PLUGINS or item.gang for item in plan):
        return
    planned = {item.pod.metadata.uid for item in plan}
    for at, item in enumerate(plan):
        for other in others.get(item.pod.spec.node_name, ()):
            if other.pod.metadata.uid not in planned and _alike(item, other):
                yield [*plan[:at], replace(other, destination=item.destination), *plan[at + 1 :]]
    for first in range(len(plan)):
        for second in range(first + 1, len(plan)):
            swapped = list(plan)
            swapped[first], swapped[second] = swapped[second], swapped[first]
            if _keeps_priorities(swapped):
                yield swapped


def _alike(one: Evicted, other: Evicted) -> bool:
    """Tell whether limits and priorities see no difference."""
    same = one.pod.metadata.namespace == other.pod.metadata.namespace and one.profile == other.profile
    return same and priority(one) == priority(other)


def _keeps_priorities(plan: Sequence[Evicted]) -> bool:
    """Tell whether on each node lower priorities go first."""
    last: dict[str, int] = {}
    for item in plan:
        node = item.pod.spec.node_name
        if priority(item) < last.get(node, priority(item)):
            return False
        last[node] = priority(item)
    return True
