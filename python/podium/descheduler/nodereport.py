"""How nodes stand: the class that the utilisation plugin of a policy gives them, and how full they are."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from podium.api import Node
from podium.descheduler.framework import Classifier, NodeClass, PluginFailedError
from podium.descheduler.profile import RunningProfile
from podium.descheduler.requests import CPU, MEMORY, PODS, capacity, number
from podium.descheduler.world import World

_BASIC: Final = (CPU, MEMORY, PODS)


class NodeReport(NamedTuple):
    """One node; ``utilisation`` is the part of what is allocatable, 1.0 for all of it."""

    node: str
    kind: NodeClass
    utilisation: Mapping[str, float]


def report(world: World, nodes: Sequence[Node], profiles: Iterable[RunningProfile]) -> list[NodeReport]:
    """Report nodes by the first plugin that classifies them, else by requests, as within."""
    for profile in profiles:
        for plugin in profile.plugins():
            if isinstance(plugin, Classifier):
                profile.handle.world = world
                try:
                    found = plugin.report(nodes)
                except PluginFailedError:
                    break
                return [
                    NodeReport(name, kind, {key: value / 100 for key, value in percent.items()})
                    for name, (kind, percent) in found.items()
                ]
    return [NodeReport(node.metadata.name, "within", _requested(world, node)) for node in nodes]


def _requested(world: World, node: Node) -> dict[str, float]:
    used = world.requested(node.metadata.name, _BASIC)
    sizes = {name: number(name, quantity) for name, quantity in capacity(node).items() if name in _BASIC}
    return {name: number(name, used[name]) / size for name, size in sizes.items() if size > 0}
