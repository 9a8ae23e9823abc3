"""How load is measured in a plan: as the policy's LowNodeUtilization does, else by requests."""

from collections.abc import Iterable, Sequence
from typing import Final

from podium.api import Node, Pod
from podium.api.quantities import exact
from podium.descheduler.framework import PluginFailedError
from podium.descheduler.guard.ledger import Meter, Share
from podium.descheduler.plugins.node_utilization.low import LowNodeUtilization
from podium.descheduler.plugins.node_utilization.percent import capacities
from podium.descheduler.plugins.node_utilization.usage import NoSampleError
from podium.descheduler.profile import RunningProfile
from podium.descheduler.requests import CPU, MEMORY, PODS, Amounts, number
from podium.descheduler.world import World

_DEFAULT: Final = (CPU, MEMORY)


def meter(world: World, nodes: Sequence[Node], profiles: Iterable[RunningProfile]) -> Meter:
    """Return the meter of a cycle."""
    plugins = (plugin for profile in profiles for plugin in profile.plugins())
    low = next((plugin for plugin in plugins if isinstance(plugin, LowNodeUtilization)), None)
    if low is not None:
        try:
            return _by_plugin(low, nodes)
        except PluginFailedError:
            # The plugin will fail too, and evict nothing; the others go by requests.
            pass
    return _by_requests(world, nodes)


def _by_plugin(low: LowNodeUtilization, nodes: Sequence[Node]) -> Meter:
    gauge = low.gauge(nodes)
    names = tuple(gauge.targets)
    known = {node.metadata.name: node for node in nodes}
    levels = {
        name: {resource: percent / 100 for resource, percent in usage.items() if resource in names}
        for name, usage in gauge.percent.items()
        if name in known
    }

    def of_pod(pod: Pod, node: Node) -> Share | None:
        try:
            used = gauge.of_pod(pod)
        except NoSampleError:
            return None
        return None if used is None else _parts({**used, PODS: exact(1)}, node, names)

    return Meter(levels, of_pod, {name: percent / 100 for name, percent in gauge.targets.items()})


def _by_requests(world: World, nodes: Sequence[Node]) -> Meter:
    used = {
        node.metadata.name: world.requests.total(world.active_on(node.metadata.name), _DEFAULT)
        for node in nodes
    }
    levels = {node.metadata.name: _parts(used[node.metadata.name], node, _DEFAULT) for node in nodes}
    return Meter(levels, lambda pod, node: _parts(dict(world.requests.of(pod)), node, _DEFAULT), {})


def _parts(used: Amounts, node: Node, resources: Iterable[str]) -> dict[str, float]:
    total = capacities(node)
    parts = {}
    for name in resources:
        size = number(name, total[name]) if name in total else 0
        if size > 0:
            parts[name] = number(name, used[name]) / size if name in used else 0.0
    return parts
