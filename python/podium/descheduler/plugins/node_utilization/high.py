"""HighNodeUtilization: empties nodes that are little used, so that their pods may be packed elsewhere."""

from collections.abc import Sequence
from typing import Final

from podium.api import Node, Pod
from podium.descheduler.framework import Handle, NodeClass, PluginType, Point
from podium.descheduler.plugins.node_utilization.args import ONLY_THRESHOLDING, HighArgs, validate_high
from podium.descheduler.plugins.node_utilization.eviction import Sources, excluded_namespaces, has_room
from podium.descheduler.plugins.node_utilization.percent import capped, is_below, load, percentages
from podium.descheduler.plugins.node_utilization.source import NodeInfo
from podium.descheduler.plugins.node_utilization.usage import Requested
from podium.descheduler.requests import CPU, MEMORY, PODS

NAME: Final = "HighNodeUtilization"


class HighNodeUtilization:
    """Reads requests alone. A node that lacks a resource with a threshold counts as unused, as upstream."""

    def __init__(self, args: HighArgs, handle: Handle) -> None:
        self._args = args
        self._handle = handle
        self._resources = list(dict.fromkeys((*args.thresholds, CPU, MEMORY, PODS)))
        self._only_thresholding = ONLY_THRESHOLDING in args.eviction_modes

    def balance(self, nodes: Sequence[Node]) -> None:
        """Evict from the emptiest node first."""
        usage = Requested(self._handle, self._resources)
        used = usage.of_nodes(nodes)
        full = dict.fromkeys(self._args.thresholds, 100.0)
        low: list[NodeInfo] = []
        open_: list[NodeInfo] = []
        for node in nodes:
            name = node.metadata.name
            info = NodeInfo(
                node, used[name], capped(node, full, self._resources), self._handle.world.active_on(name)
            )
            if is_below(percentages(used[name], node), self._args.thresholds):
                low.append(info)
            elif not node.spec.unschedulable:
                open_.append(info)
        if not low or len(low) <= self._args.number_of_nodes or len(low) == len(nodes) or not open_:
            return
        Sources(
            plugin=NAME,
            evictor=self._handle.evictor,
            destinations=open_,
            usage=usage,
            removable=self._is_removable,
            in_order=self._handle.world.lowest_first,
            goes_on=lambda _, budget: has_room(budget),
            excluded=excluded_namespaces(self._args.evictable_namespaces),
        ).run(sorted(low, key=lambda info: load(info.usage)))

    def is_idle(self, node: Node) -> bool:
        """Tell whether a node is one to be emptied."""
        used = Requested(self._handle, self._resources).of_nodes([node])[node.metadata.name]
        return is_below(percentages(used, node), self._args.thresholds)

    def report(self, nodes: Sequence[Node]) -> dict[str, tuple[NodeClass, dict[str, float]]]:
        """Return class and percent of every node: under is what is emptied."""
        used = Requested(self._handle, self._resources).of_nodes(nodes)
        usages = {node.metadata.name: percentages(used[node.metadata.name], node) for node in nodes}
        return {
            name: ("under" if is_below(usage, self._args.thresholds) else "within", usage)
            for name, usage in usages.items()
        }

    def _is_removable(self, pod: Pod) -> bool:
        if not self._handle.evictor.filter(pod):
            return False
        if not self._only_thresholding:
            return True
        containers = [*pod.spec.containers, *pod.spec.init_containers]
        return any(name in item.resources.requests for item in containers for name in self._args.thresholds)


PLUGIN: Final = PluginType(NAME, frozenset({Point.BALANCE}), HighArgs, HighNodeUtilization, validate_high)
