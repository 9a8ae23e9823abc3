"""LowNodeUtilization: moves pods from nodes above their targets to nodes below their thresholds."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from podium.api import Node, Pod
from podium.descheduler.framework import Handle, NodeClass, PluginFailedError, PluginType, Point
from podium.descheduler.plugins.node_utilization.args import LowArgs, query_problem, validate_low
from podium.descheduler.plugins.node_utilization.eviction import (
    Budget,
    Sources,
    excluded_namespaces,
    has_room,
)
from podium.descheduler.plugins.node_utilization.percent import (
    Percentages,
    average,
    capped,
    is_above,
    is_below,
    load,
    percentages,
    shifted,
)
from podium.descheduler.plugins.node_utilization.source import NodeInfo
from podium.descheduler.plugins.node_utilization.usage import Measured, Queried, Requested, Usage
from podium.descheduler.policy.model import KUBERNETES_METRICS, PROMETHEUS
from podium.descheduler.requests import CPU, MEMORY, PODS, Amounts
from podium.errors import InputError

NAME: Final = "LowNodeUtilization"


class Gauge(NamedTuple):
    """Percent in use by node and resource, percent above which a node is hot, and what a pod uses.

    ``by_requests``: what it uses is what it requests.
    """

    percent: Mapping[str, Percentages]
    targets: Percentages
    of_pod: Callable[[Pod], Amounts | None]
    by_requests: bool


class LowNodeUtilization:
    """Classifies nodes as under, over or within, then evicts from the busiest first."""

    def __init__(self, args: LowArgs, handle: Handle) -> None:
        """Prepare; raises InputError for a query with other thresholds than ``MetricResource``."""
        self._args = args
        self._handle = handle
        metrics = args.metrics_utilization
        if metrics is not None and metrics.source == PROMETHEUS:
            problem = query_problem(args)
            if problem is not None:
                raise InputError(problem)
            self._resources = list(args.thresholds)
        else:
            self._resources = list(dict.fromkeys((*args.thresholds, CPU, MEMORY, PODS)))

    def balance(self, nodes: Sequence[Node]) -> None:
        """Evict; raises PluginFailedError if the load is not known."""
        usage = self._usage()
        used = usage.of_nodes(nodes)
        low, high = self._groups(nodes, used)
        if not low or len(low) <= self._args.number_of_nodes or len(low) == len(nodes) or not high:
            return
        limits = self._args.eviction_limits
        work = Sources(
            plugin=NAME,
            evictor=self._handle.evictor,
            destinations=low,
            usage=usage,
            removable=self._handle.evictor.filter,
            in_order=self._handle.world.lowest_first,
            goes_on=_goes_on,
            excluded=excluded_namespaces(self._args.evictable_namespaces),
            limit=limits.node if limits else None,
        )
        run = work.run_best_first if self._handle.evictor.plans else work.run
        run(sorted(high, key=lambda info: load(info.usage), reverse=True))

    def gauge(self, nodes: Sequence[Node]) -> Gauge:
        """Return how this plugin measures load; raises PluginFailedError if the load is not known."""
        source = self._usage()
        used = source.of_nodes(nodes)
        percent = {
            node.metadata.name: percentages(used[node.metadata.name], node)
            for node in nodes
            if node.metadata.name in used
        }
        _, above = self._thresholds(percent)
        return Gauge(percent, above, source.of_pod, isinstance(source, Requested))

    def report(self, nodes: Sequence[Node]) -> dict[str, tuple[NodeClass, dict[str, float]]]:
        """Return class and percent of every node; raises PluginFailedError if the load is not known."""
        used = self._usage().of_nodes(nodes)
        usages = {node.metadata.name: percentages(used[node.metadata.name], node) for node in nodes}
        below, above = self._thresholds(usages)
        pairs = [(node, usages[node.metadata.name]) for node in nodes]
        return {node.metadata.name: (_class(node, usage, below, above), usage) for node, usage in pairs}

    def _groups(
        self, nodes: Sequence[Node], used: dict[str, Amounts]
    ) -> tuple[list[NodeInfo], list[NodeInfo]]:
        """Return the nodes that are under, and those that are over."""
        usages = {node.metadata.name: percentages(used[node.metadata.name], node) for node in nodes}
        below, above = self._thresholds(usages)
        groups: dict[NodeClass, list[NodeInfo]] = {"under": [], "over": [], "within": []}
        for node in nodes:
            name = node.metadata.name
            pods = self._handle.world.active_on(name)
            info = NodeInfo(node, used[name], capped(node, above, self._resources), pods)
            groups[_class(node, usages[name], below, above)].append(info)
        return groups["under"], groups["over"]

    def _thresholds(self, usages: dict[str, dict[str, float]]) -> tuple[Percentages, Percentages]:
        args = self._args
        if not args.use_deviation_thresholds:
            return args.thresholds, args.target_thresholds
        wanted = (
            {name: value for name, value in usage.items() if name in args.thresholds}
            for usage in usages.values()
        )
        middle = average(wanted)
        return shifted(middle, args.thresholds, -1), shifted(middle, args.target_thresholds, 1)

    def _usage(self) -> Usage:
        metrics = self._args.metrics_utilization
        if metrics is None:
            return Requested(self._handle, self._resources)
        if metrics.metrics_server or metrics.source == KUBERNETES_METRICS:
            return Measured(self._handle, self._resources)
        if metrics.source == PROMETHEUS and metrics.prometheus is not None:
            return Queried(self._handle, metrics.prometheus.query)
        problem = "unrecognized metrics source" if metrics.source else "metrics source is empty"
        raise PluginFailedError(f"error initializing usage client: {problem}")


def _class(node: Node, usage: Percentages, below: Percentages, above: Percentages) -> NodeClass:
    """Under: not cordoned and no resource above its threshold; else over: some resource above its target."""
    if not node.spec.unschedulable and is_below(usage, below):
        return "under"
    return "over" if is_above(usage, above) else "within"


def _goes_on(info: NodeInfo, budget: Budget) -> bool:
    """Go on while the node is above its target in any resource and the destinations have room of all."""
    above = any(quantity > info.available[name] for name, quantity in info.usage.items())
    return above and has_room(budget)


PLUGIN: Final = PluginType(NAME, frozenset({Point.BALANCE}), LowArgs, LowNodeUtilization, validate_low)
