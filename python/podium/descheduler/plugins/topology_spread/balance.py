"""How many pods, and which, have to leave their domains so that the skew is small enough."""

import math
from collections.abc import Callable, Mapping, Sequence

from podium.api import Pod


class Domain:
    """The pods in one value of the topology key; those that leave first are at the end."""

    def __init__(self, value: str, pods: Sequence[Pod]) -> None:
        self.value = value
        self.pods = sorted(pods, key=_staying)

    def __len__(self) -> int:
        return len(self.pods)


def is_balanced(filled: Mapping[str, Sequence[Pod]], max_skew: int, *, has_empty: bool) -> bool:
    """Tell whether no two domains differ by more than the skew: those that have pods, and an empty one."""
    sizes = list(map(len, filled.values()))
    return not sizes or max(sizes) - (0 if has_empty else min(sizes)) <= max_skew


def moves(domains: Sequence[Domain], average: float, max_skew: int, fits: Callable[[Pod], bool]) -> list[Pod]:
    """Take pods out of large domains, as if the scheduler would put them into small ones.

    Of a large domain those leave that fit somewhere, then the most important: upstream turned its order
    around in v0.33 and this is parity. A pod that fits nowhere is taken too where others do not suffice.

    Args:
        domains: smallest first; their lists are changed.
        average: pods per domain.
        max_skew: how much domains may differ.
        fits: whether a pod fits a node of a domain that is below the average.

    """
    leaving: list[Pod] = []
    low, high = 0, len(domains) - 1
    while low < high:
        if len(domains[high]) <= average:
            # Upstream goes on with the next smaller domain in this very round.
            high -= 1
        giver, taker = domains[high], domains[low]
        number = _number(len(giver), len(taker), average, max_skew)
        if number <= 0:
            low += 1
            continue
        giver.pods.sort(key=fits)
        taken = giver.pods[len(giver) - number :]
        leaving += taken
        taker.pods += taken
        del giver.pods[len(giver) - number :]
    return leaving


def _number(large: int, small: int, average: float, max_skew: int) -> int:
    """Return how many pods go from one domain to another.

    No more than half of what is above the skew, and neither domain crosses the average by more than one.
    """
    skew = large - small
    if skew <= max_skew:
        return 0
    return min(math.ceil(large - average), math.ceil(average - small), math.ceil((skew - max_skew) / 2))


def _staying(pod: Pod) -> tuple[bool, bool, int]:
    """Order pods: those with a node selector or node affinity first, then by rising priority."""
    spec = pod.spec
    bound = spec.node_selector is not None or (
        spec.affinity is not None and spec.affinity.node_affinity is not None
    )
    return not bound, spec.priority is not None, spec.priority or 0
