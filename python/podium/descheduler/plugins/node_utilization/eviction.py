"""Evicting from source nodes while the destinations have room, in sum, for what is evicted."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from podium.api import Node, Pod, Taint
from podium.api.quantities import ZERO, exact
from podium.descheduler.framework import Evictor, Outcome
from podium.descheduler.ordering import lowest_first
from podium.descheduler.plugins.node_utilization.usage import NoSampleError, Usage
from podium.descheduler.podfilter import Namespaces, PodFilter
from podium.descheduler.requests import PODS, Amounts
from podium.descheduler.tolerations import tolerates_all

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class NodeInfo:
    """A node of one class, what it uses now, what it may hold, and its pods when usage was read."""

    node: Node
    usage: Amounts
    available: Amounts
    pods: Sequence[Pod]


Budget = Amounts
"""What the destinations may still take."""

Continue = Callable[[NodeInfo, Budget], bool]


def has_room(budget: Budget) -> bool:
    """Tell whether something is left of every resource, also of those without a threshold."""
    return all(quantity > ZERO for quantity in budget.values())


@dataclass(slots=True)
class Sources:
    """One round over the source nodes.

    Attributes:
        destinations: where evicted pods are hoped to go; only their sums and taints are looked at.
        usage: what pods use.
        removable: which pods of a source may go at all.
        goes_on: whether to go on with a node.
        limit: the most evictions per node, None for any number.

    """

    plugin: str
    evictor: Evictor
    destinations: Sequence[NodeInfo]
    usage: Usage
    removable: PodFilter
    goes_on: Continue
    excluded: frozenset[str] = frozenset()
    limit: int | None = None
    _budget: Budget = field(default_factory=dict)
    _taints: Sequence[Sequence[Taint]] = ()

    def run(self, sources: Sequence[NodeInfo]) -> None:
        """Evict from the sources in order."""
        self._budget = self._room()
        distinct = {
            tuple((t.key, t.value, t.effect) for t in d.node.spec.taints): d for d in self.destinations
        }
        self._taints = [info.node.spec.taints for info in distinct.values()]
        for info in sources:
            removable = [pod for pod in info.pods if self.removable(pod)]
            if removable and not self._drain(info, lowest_first(removable)):
                return

    def _room(self) -> Budget:
        budget: Budget = {}
        for info in self.destinations:
            for name, quantity in info.available.items():
                budget[name] = budget.get(name, ZERO) + quantity - info.usage[name]
        return budget

    def _drain(self, info: NodeInfo, pods: Sequence[Pod]) -> bool:
        """Evict from one node; returns False if nothing more may be evicted at all."""
        if not self.goes_on(info, self._budget):
            return True
        evicted = 0
        for pod in pods:
            if self.limit is not None and evicted >= self.limit:
                return True
            if not self._may_land(pod) or pod.metadata.namespace in self.excluded:
                continue
            if not self.evictor.pre_eviction_filter(pod):
                continue
            try:
                used = self.usage.of_pod(pod)
            except NoSampleError as error:
                logger.warning("unable to get pod usage: %s", error)
                continue
            outcome = self.evictor.evict(pod, self.plugin)
            if outcome is Outcome.TOTAL_LIMIT:
                return False
            if outcome is Outcome.NODE_LIMIT:
                return True
            if outcome is not Outcome.EVICTED:
                continue
            evicted += 1
            if used is None:
                # Nobody knows how much has left, so one pod is enough unless a limit says otherwise.
                if self.limit is None:
                    return True
                continue
            self._subtract(info, used)
            if not self.goes_on(info, self._budget):
                return True
        return True

    def _subtract(self, info: NodeInfo, used: Amounts) -> None:
        amounts = {**used, PODS: exact(1)}
        for name in self._budget:
            info.usage[name] = info.usage[name] - amounts[name]
            self._budget[name] = self._budget[name] - amounts[name]

    def _may_land(self, pod: Pod) -> bool:
        """Tell whether a pod tolerates every taint of some destination, whatever the effect.

        It must also have at least as many tolerations as the node has taints: one toleration for all taints
        is not seen.
        """
        tolerations = pod.spec.tolerations
        return any(
            len(tolerations) >= len(taints) and tolerates_all(tolerations, taints) for taints in self._taints
        )


def excluded_namespaces(namespaces: Namespaces | None) -> frozenset[str]:
    """Return the namespaces whose pods count as load and are never evicted."""
    return frozenset(namespaces.exclude) if namespaces else frozenset()
