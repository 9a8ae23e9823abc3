"""How many pods may go in a cycle, and where that ended its work.

Counting is upstream's: only what the API accepts counts, checks go total, node, namespace, and the limits
hold over all profiles and plugins of a cycle.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from podium.api import Pod
from podium.descheduler.framework import Outcome

#: Texts of upstream's errors, which are also values of the label ``result`` of its metrics.
TEXTS: Final = {
    Outcome.TOTAL_LIMIT: "maximum number of evicted pods per a descheduling cycle reached",
    Outcome.NODE_LIMIT: "maximum number of evicted pods per node reached",
    Outcome.NAMESPACE_LIMIT: "maximum number of evicted pods per namespace reached",
}
PLUGIN_LIMIT: Final = f"{TEXTS[Outcome.NODE_LIMIT]} for this plugin"


@dataclass(frozen=True, slots=True)
class Limits:
    """How many pods may be evicted in a cycle; None: any number."""

    node: int | None = None
    namespace: int | None = None
    total: int | None = None


@dataclass(slots=True)
class Cuts:
    """Where a cycle ended before its work was done, so that the next one may go on.

    Attributes:
        nodes: from which no more pods could go.
        namespaces: from which no more pods could go.
        everywhere: whether the limit was on all pods.
        pods: single pods, which a budget kept.

    """

    nodes: set[str] = field(default_factory=set)
    namespaces: set[str] = field(default_factory=set)
    everywhere: bool = False
    pods: list[Pod] = field(default_factory=list)

    def note(self, pod: Pod, outcome: Outcome) -> None:
        """Note a limit that a pod ran into."""
        if outcome is Outcome.TOTAL_LIMIT:
            self.everywhere = True
        elif outcome is Outcome.NODE_LIMIT:
            self.nodes.add(pod.spec.node_name)
        elif outcome is Outcome.NAMESPACE_LIMIT:
            self.namespaces.add(pod.metadata.namespace)


class Counts:
    """What has gone in a cycle, against the limits."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._total = 0
        self._per_node: Counter[str] = Counter()
        self._per_namespace: Counter[str] = Counter()

    def add(self, pod: Pod) -> None:
        """Count a pod out."""
        self._total += 1
        self._per_namespace[pod.metadata.namespace] += 1
        if pod.spec.node_name:
            self._per_node[pod.spec.node_name] += 1

    def exceeded(self, pods: Iterable[Pod]) -> Outcome | None:
        """Return the limit that pods would exceed if they all went, None if there is none."""
        limits = self._limits
        total, nodes, namespaces = self._total, Counter[str](), Counter[str]()
        for pod in pods:
            node, namespace = pod.spec.node_name, pod.metadata.namespace
            total, nodes[node], namespaces[namespace] = total + 1, nodes[node] + 1, namespaces[namespace] + 1
            if limits.total is not None and total > limits.total:
                return Outcome.TOTAL_LIMIT
            if node and limits.node is not None and self._per_node[node] + nodes[node] > limits.node:
                return Outcome.NODE_LIMIT
            there = self._per_namespace[namespace] + namespaces[namespace]
            if limits.namespace is not None and there > limits.namespace:
                return Outcome.NAMESPACE_LIMIT
        return None
