"""Usage in percent, thresholds, and what a node may hold below one; 64-bit floats in upstream's order."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from podium._core import Quantity
from podium.api import Node
from podium.api.quantities import ZERO, exact
from podium.descheduler.plugins.node_utilization.args import METRIC
from podium.descheduler.requests import CPU, Amounts, Listed, capacity, exactly, listed, number, sizes

Percentages = Mapping[str, float]


def capacities(node: Node) -> dict[str, Quantity]:
    """Return a node's capacity by resource; a query's result is of 100."""
    return {**capacity(node), METRIC: exact(100)}


def percentages(used: Amounts, node: Node) -> dict[str, float]:
    """Return usage in percent; resources that the node lacks are left out, an empty one counts as unused."""
    total = sizes(node)
    result = {}
    for name, quantity in used.items():
        size = 100 if name == METRIC else total.get(name)
        if size is not None:
            result[name] = float(number(name, quantity)) / float(size) * 100 if size > 0 else 0.0
    return result


def average(usages: Iterable[Percentages]) -> dict[str, float]:
    """Return the mean of each resource over the nodes that have it."""
    sums: dict[str, float] = {}
    counts: dict[str, int] = {}
    for usage in usages:
        for name, value in usage.items():
            sums[name] = sums.get(name, 0.0) + value
            counts[name] = counts.get(name, 0) + 1
    return {name: value / counts[name] for name, value in sums.items()}


def shifted(values: Percentages, by: Percentages, sign: int) -> dict[str, float]:
    """Return ``values`` plus or minus ``by``, kept within 0 and 100."""
    return {name: min(max(value + sign * by.get(name, 0.0), 0.0), 100.0) for name, value in values.items()}


def is_below(usage: Percentages, thresholds: Percentages) -> bool:
    """Tell whether no resource is above its threshold; what a node lacks counts as unused."""
    return not is_above(usage, thresholds)


def is_above(usage: Percentages, thresholds: Percentages) -> bool:
    """Tell whether some resource is above its threshold."""
    return any(usage.get(name, 0.0) > threshold for name, threshold in thresholds.items())


def capped(node: Node, thresholds: Percentages, resources: Sequence[str]) -> Amounts:
    """Return how much of each resource a node holds up to the thresholds.

    All of it where there is no threshold, nothing where the node lacks the resource. Not to be changed: nodes
    of one size share the answer.
    """
    return _capped(listed(node), tuple(thresholds.items()), tuple(resources))


@lru_cache(maxsize=4096)
def _capped(found: Listed, thresholds: tuple[tuple[str, float], ...], resources: tuple[str, ...]) -> Amounts:
    total, most = {**exactly(found), METRIC: exact(100)}, dict(thresholds)
    return {name: _cap(name, total.get(name), most.get(name)) for name in resources}


def _cap(name: str, total: Quantity | None, threshold: float | None) -> Quantity:
    if total is None:
        return ZERO
    if threshold is None:
        return total
    amount = int(threshold * 0.01 * float(number(name, total)))
    return exact(f"{amount}m") if name == CPU else exact(amount)


def load(used: Mapping[str, Quantity]) -> int:
    """Return the plain sum by which nodes are ordered: memory in bytes outweighs everything."""
    return sum(number(name, quantity) for name, quantity in used.items())
