"""RemovePodsViolatingNodeAffinity: pods whose node affinity other nodes meet, or meet better."""

from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from podium.api import LabelSelector, Node, NodeAffinity, Pod
from podium.api.matching import fits_node, term_matches
from podium.descheduler.framework import Handle, PluginType, Point, evict_all
from podium.descheduler.nodefit import Mask
from podium.descheduler.podfilter import Namespaces, label_problems, namespace_problems, pod_filter
from podium.descheduler.policy.model import Wire

NAME: Final = "RemovePodsViolatingNodeAffinity"

REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"


class Args(Wire):
    """``node_affinity_type`` has one or both of the long names; others are ignored."""

    GO_NAME = "RemovePodsViolatingNodeAffinityArgs"
    api_version: str = ""
    kind: str = ""
    namespaces: Namespaces | None = None
    label_selector: LabelSelector | None = None
    node_affinity_type: Sequence[str] = ()


class NodeAffinityViolations:
    """Evicts only pods that fit some node, as far as ``NodeFit`` looks; their own counts as one."""

    def __init__(self, args: Args, handle: Handle) -> None:
        self._handle = handle
        self._types = args.node_affinity_type
        self._weights: dict[bytes, int] = {}
        self._pods = pod_filter(
            handle.evictor.filter,
            handle.evictor.pre_eviction_filter,
            namespaces=args.namespaces,
            labels=args.label_selector,
        )

    def deschedule(self, nodes: Sequence[Node]) -> None:
        """Evict type by type, node by node."""
        self._weights.clear()
        checks = {REQUIRED: self._misplaced, PREFERRED: self._better_placed}
        for name in self._types:
            check = checks.get(name)
            if check is not None and not self._process(nodes, check):
                return

    def _process(
        self, nodes: Sequence[Node], check: Callable[[Pod, Node, Sequence[Node], Mask], bool]
    ) -> bool:
        """Evict what a check finds; returns False if nothing more may be evicted."""
        world = self._handle.world
        mask = world.fit.rows(nodes)
        having = {shape for shape in world.shapes(nodes) if _node_affinity(shape.example)}
        for node in nodes:
            candidates = world.active_of(node.metadata.name, having)
            found = [pod for pod in candidates if check(pod, node, nodes, mask) and self._pods(pod)]
            if not evict_all(self._handle.evictor, found, NAME):
                return False
        return True

    def _misplaced(self, pod: Pod, node: Node, _: Sequence[Node], mask: Mask) -> bool:
        affinity = _node_affinity(pod)
        if affinity is None or affinity.required is None or fits_node(pod.spec, node):
            return False
        return self._handle.world.fit.fits_any(pod, mask)

    def _better_placed(self, pod: Pod, node: Node, nodes: Sequence[Node], mask: Mask) -> bool:
        affinity = _node_affinity(pod)
        if affinity is None or not affinity.preferred:
            return False
        return self._best(affinity, nodes) > _weight(affinity, node) and self._handle.world.fit.fits_any(
            pod, mask
        )

    def _best(self, affinity: NodeAffinity, nodes: Sequence[Node]) -> int:
        """Return the most that a node weighs, at least 0; pods that prefer the same share it."""
        key = msgspec.json.encode(affinity.preferred)
        if key not in self._weights:
            self._weights[key] = max((_weight(affinity, other) for other in nodes), default=0)
        return max(self._weights[key], 0)


def _node_affinity(pod: Pod) -> NodeAffinity | None:
    return pod.spec.affinity.node_affinity if pod.spec.affinity else None


def _weight(affinity: NodeAffinity, node: Node) -> int:
    """Sum the weights of the preferred terms that a node meets."""
    return sum(item.weight for item in affinity.preferred if term_matches(item.preference, node))


def validate(args: Args) -> list[str]:
    """Return what is wrong with the arguments."""
    problems = [] if args.node_affinity_type else ["nodeAffinityType needs to be set"]
    return problems + namespace_problems(args.namespaces) + label_problems(args.label_selector)


PLUGIN: Final = PluginType(NAME, frozenset({Point.DESCHEDULE}), Args, NodeAffinityViolations, validate)
