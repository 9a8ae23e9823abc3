"""How load is measured in a plan: as the policy's LowNodeUtilization does, else by requests."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from podium._core import Quantity
from podium.api import Node, Pod
from podium.api.quantities import exact
from podium.descheduler.framework import PluginFailedError
from podium.descheduler.guard.levels import Meter, Share
from podium.descheduler.plugins.node_utilization.args import METRIC
from podium.descheduler.plugins.node_utilization.low import LowNodeUtilization
from podium.descheduler.plugins.node_utilization.percent import capacities
from podium.descheduler.plugins.node_utilization.usage import NoSampleError
from podium.descheduler.profile import RunningProfile
from podium.descheduler.requests import CPU, MEMORY, PODS, Amounts, number
from podium.descheduler.world import World

_DEFAULT: Final = (CPU, MEMORY)

_ONE: Final = exact(1)

#: What a pod counts for that requests no cpu, in thousandths, where a node's load is divided among its pods.
_NO_REQUEST: Final = 100


def meter(world: World, nodes: Sequence[Node], profiles: Iterable[RunningProfile]) -> Meter:
    """Return the meter of a cycle."""
    plugins = (plugin for profile in profiles for plugin in profile.plugins())
    low = next((plugin for plugin in plugins if isinstance(plugin, LowNodeUtilization)), None)
    if low is not None:
        try:
            return _by_plugin(low, world, nodes)
        except PluginFailedError:
            # The plugin will fail too, and evict nothing; the others go by requests.
            pass
    return _by_requests(world, nodes)


def _by_plugin(low: LowNodeUtilization, world: World, nodes: Sequence[Node]) -> Meter:
    gauge = low.gauge(nodes)
    names = tuple(gauge.targets)
    known = {node.metadata.name for node in nodes}
    levels = {
        name: {resource: percent / 100 for resource, percent in usage.items() if resource in names}
        for name, usage in gauge.percent.items()
        if name in known
    }
    hot = {name: percent / 100 for name, percent in gauge.targets.items()}
    if METRIC in names:
        return Meter(levels, _divided(world, levels), hot, frozenset(names))
    parts = _Parts(gauge.of_pod, names)
    largest = _largest(world, parts) if gauge.by_requests else None
    return Meter(levels, parts, hot, frozenset(names), largest)


def _by_requests(world: World, nodes: Sequence[Node]) -> Meter:
    of_pod = _Parts(lambda pod: world.shape(pod).requests, _DEFAULT)
    levels = {}
    for node in nodes:
        used = world.requested(node.metadata.name, _DEFAULT)
        levels[node.metadata.name] = of_pod.of_node(used, node)
    return Meter(levels, of_pod, {})


def _largest(world: World, parts: "_Parts") -> Callable[[Node], Share]:
    """Return what no pod of the cluster exceeds on a node."""
    most: Amounts = {PODS: _ONE}
    for amounts in world.requests.distinct():
        for name, quantity in amounts.items():
            if name not in most or most[name] < quantity:
                most[name] = quantity
    return lambda node: parts.of_node(most, node)


Used = Mapping[str, Quantity]
"""Resource to what is used of it."""

_Amounts = tuple[tuple[str, int], ...]
"""Resources and how much of them."""


class _Parts:
    """Amounts of pods as parts of nodes; what a pod uses and what a node offers is read once."""

    def __init__(
        self, used: Callable[[Pod], Mapping[str, Quantity] | None], resources: Sequence[str]
    ) -> None:
        self._used = used
        self._resources = resources
        self._pods: dict[str, _Amounts | None] = {}
        self._alike: dict[_Amounts, _Amounts] = {}
        self._nodes: dict[str, dict[str, int]] = {}
        self._sized: dict[tuple[tuple[str, int], ...], dict[str, int]] = {}
        self._shares: dict[tuple[int, int], Share] = {}
        self._asked: dict[tuple[str, str], Share] = {}
        self._read: dict[int, tuple[Used, _Amounts]] = {}

    def __call__(self, pod: Pod, node: Node) -> Share | None:
        at = (pod.metadata.uid, node.metadata.name)
        share = self._asked.get(at)
        if share is None:
            share = self._share(pod, node)
            if share is not None:
                self._asked[at] = share
        return share

    def _share(self, pod: Pod, node: Node) -> Share | None:
        uid = pod.metadata.uid
        if uid not in self._pods:
            found = self._amounts(pod)
            # Equal amounts, and equal sizes below, are one object each, so that their ids tell them apart.
            self._pods[uid] = self._alike.setdefault(found, found) if found is not None else None
        amounts = self._pods[uid]
        if amounts is None:
            return None
        sizes = self._sizes(node)
        key = (id(amounts), id(sizes))
        share = self._shares.get(key)
        if share is None:
            used = dict(amounts)
            share = self._shares[key] = {name: used.get(name, 0) / size for name, size in sizes.items()}
        return share

    def of_node(self, used: Amounts, node: Node) -> dict[str, float]:
        """Return what a node uses as parts of it."""
        sizes = self._sizes(node).items()
        return {name: number(name, used[name]) / size if name in used else 0.0 for name, size in sizes}

    def _amounts(self, pod: Pod) -> "_Amounts | None":
        try:
            used = self._used(pod)
        except NoSampleError:
            return None
        if used is None:
            return None
        # What was read is kept so that its id cannot be reused.
        known = self._read.get(id(used))
        if known is None:
            amounts = tuple((name, number(name, item)) for name, item in {**used, PODS: _ONE}.items())
            known = self._read[id(used)] = (used, amounts)
        return known[1]

    def _sizes(self, node: Node) -> dict[str, int]:
        found = self._nodes.get(node.metadata.name)
        if found is None:
            total = capacities(node)
            sizes = {name: number(name, total[name]) for name in self._resources if name in total}
            found = {name: size for name, size in sizes.items() if size > 0}
            found = self._nodes[node.metadata.name] = self._sized.setdefault(tuple(found.items()), found)
        return found


def _divided(world: World, levels: Mapping[str, Mapping[str, float]]) -> Callable[[Pod, Node], Share | None]:
    """Return shares for a query, which says nothing of pods: by their part in the node's cpu requests.

    A pod brings to another node what it took from its own, in proportion to their sizes.
    """
    totals: dict[str, int] = {}
    shares: dict[tuple[str, str], Share] = {}

    def request(pod: Pod) -> int:
        requested = world.shape(pod).requests.get(CPU)
        return max(number(CPU, requested), _NO_REQUEST) if requested is not None else _NO_REQUEST

    def of_pod(pod: Pod, node: Node) -> Share | None:
        at = (pod.metadata.uid, node.metadata.name)
        if at not in shares:
            found = share(pod, node)
            if found is None:
                return None
            shares[at] = found
        return shares[at]

    def share(pod: Pod, node: Node) -> Share | None:
        home = pod.spec.node_name
        level = levels.get(home, {}).get(METRIC)
        if level is None:
            return None
        if home not in totals:
            totals[home] = sum(request(item) for item in world.active_on(home))
        here, there = (capacities(world.node[name]).get(CPU) for name in (home, node.metadata.name))
        scale = number(CPU, here) / number(CPU, there) if here and there and number(CPU, there) else 1.0
        return {METRIC: level * request(pod) / totals[home] * scale}

    return of_pod
