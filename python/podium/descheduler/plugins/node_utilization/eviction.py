"""Evicting from source nodes while the destinations have room, in sum, for what is evicted."""

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from podium.api import Pod, Taint
from podium.api.quantities import ZERO, exact
from podium.descheduler.framework import Evictor, Outcome
from podium.descheduler.plugins.node_utilization.source import NodeInfo, Promises, Source
from podium.descheduler.plugins.node_utilization.usage import NoSampleError, Usage
from podium.descheduler.podfilter import Namespaces, PodFilter
from podium.descheduler.requests import PODS, Amounts
from podium.descheduler.tolerations import tolerates_all

logger = logging.getLogger(__name__)


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
        in_order: puts them into the order in which they go.
        goes_on: whether to go on with a node.
        limit: the most evictions per node, None for any number.

    """

    plugin: str
    evictor: Evictor
    destinations: Sequence[NodeInfo]
    usage: Usage
    removable: PodFilter
    in_order: Callable[[Iterable[Pod]], list[Pod]]
    goes_on: Continue
    excluded: frozenset[str] = frozenset()
    limit: int | None = None
    _budget: Budget = field(default_factory=dict)
    _taints: Sequence[Sequence[Taint]] = ()
    _is_over: bool = False

    def run(self, sources: Sequence[NodeInfo]) -> None:
        """Evict from the sources in order, from each what matters least first."""
        self._prepare()
        for info in sources:
            at = self._begin(info)
            while at.is_open and at.pods:
                self._attempt(at, at.pods.pop(0))
            if self._is_over:
                return

    def run_best_first(self, sources: Sequence[NodeInfo]) -> None:
        """Evict what promises most, over all sources; on each node lower priorities still go first."""
        self._prepare()
        queue = Promises(self.evictor, self._gain, self._begin)
        for order, info in enumerate(sources):
            queue.add(order, info)
        while not self._is_over and (best := queue.pop()) is not None:
            order, at, pod = best
            at.pods.remove(pod)
            if self._attempt(at, pod):
                queue.moved()
            queue.push(order, at)

    def _gain(self, pod: Pod) -> float | None:
        return self.evictor.gain(pod, self.plugin) if self._may_go(pod) else None

    def _prepare(self) -> None:
        self._budget = self._room()
        distinct = {
            tuple((t.key, t.value, t.effect) for t in d.node.spec.taints): d for d in self.destinations
        }
        self._taints = [info.node.spec.taints for info in distinct.values()]

    def _begin(self, info: NodeInfo) -> Source:
        removable = self.in_order([pod for pod in info.pods if self.removable(pod)])
        return Source(info, removable, is_open=bool(removable) and self.goes_on(info, self._budget))

    def _room(self) -> Budget:
        budget: Budget = {}
        for info in self.destinations:
            for name, quantity in info.available.items():
                budget[name] = budget.get(name, ZERO) + quantity - info.usage[name]
        return budget

    def _attempt(self, at: Source, pod: Pod) -> bool:
        """Evict one pod of a source if it may go; returns whether it went."""
        if not self._may_land(pod) or pod.metadata.namespace in self.excluded:
            return False
        if not self.goes_on(at.info, self._budget):
            at.is_open = False
            return False
        if not self.evictor.pre_eviction_filter(pod):
            return False
        if self.limit is not None and at.evicted >= self.limit:
            self.evictor.limit(pod, self.plugin)
            at.is_open = False
            return False
        try:
            used = self.usage.of_pod(pod)
        except NoSampleError as error:
            logger.warning("unable to get pod usage: %s", error)
            return False
        outcome = self.evictor.evict(pod, self.plugin)
        self._is_over = outcome is Outcome.TOTAL_LIMIT
        if outcome in (Outcome.TOTAL_LIMIT, Outcome.NODE_LIMIT):
            at.is_open = False
        if outcome is Outcome.EVICTED:
            self._count(at, used)
        return outcome is Outcome.EVICTED

    def _count(self, at: Source, used: Amounts | None) -> None:
        """Note an eviction, and whether the node goes on."""
        at.evicted += 1
        if used is not None:
            self._subtract(at.info, used)
            at.is_open = self.goes_on(at.info, self._budget)
        elif self.limit is None:
            # Nobody knows how much has left, so one pod is enough unless a limit says otherwise.
            at.is_open = False

    def _subtract(self, info: NodeInfo, used: Amounts) -> None:
        amounts = {**used, PODS: exact(1)}
        for name in self._budget:
            info.usage[name] = info.usage[name] - amounts[name]
            self._budget[name] = self._budget[name] - amounts[name]

    def _may_go(self, pod: Pod) -> bool:
        if not self._may_land(pod) or pod.metadata.namespace in self.excluded:
            return False
        return self.evictor.pre_eviction_filter(pod)

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
