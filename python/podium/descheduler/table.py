"""The table of plugins: name to type. Out-of-tree ones come by entry point ``podium.descheduler.plugins``."""

from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Final

from podium.descheduler.framework import PluginType
from podium.descheduler.plugins import (
    default_evictor,
    duplicates,
    failed_pods,
    node_affinity,
    node_taints,
    node_utilization,
    pod_anti_affinity,
    pod_life_time,
    too_many_restarts,
    topology_spread,
)
from podium.errors import PluginError

ENTRY_POINTS: Final = "podium.descheduler.plugins"

IN_TREE: Final[Mapping[str, PluginType]] = {
    plugin.name: plugin
    for plugin in (
        default_evictor.PLUGIN,
        node_utilization.LOW,
        node_utilization.HIGH,
        pod_life_time.PLUGIN,
        duplicates.PLUGIN,
        failed_pods.PLUGIN,
        too_many_restarts.PLUGIN,
        pod_anti_affinity.PLUGIN,
        node_affinity.PLUGIN,
        node_taints.PLUGIN,
        topology_spread.PLUGIN,
    )
}


def installed() -> dict[str, PluginType]:
    """Return all plugins; an installed one may not take the name of another.

    Raises PluginError for an entry point that cannot be loaded or is no ``PluginType``.
    """
    table = dict(IN_TREE)
    for point in entry_points(group=ENTRY_POINTS):
        try:
            plugin = point.load()
        except Exception as error:
            raise PluginError(f"descheduler plugin {point.name} ({point.value}): {error}") from error
        if not isinstance(plugin, PluginType):
            raise PluginError(f"descheduler plugin {point.name} ({point.value}) is no PluginType")
        if plugin.name in table:
            raise PluginError(f"descheduler plugin {plugin.name} ({point.value}) is defined twice")
        table[plugin.name] = plugin
    return table
