"""RemovePodsViolatingNodeTaints: pods that do not tolerate a taint their node got after they had come."""

from collections.abc import Sequence
from typing import Final

from podium.api import LabelSelector, Node, Taint
from podium.descheduler.framework import Handle, PluginType, Point, evict_all
from podium.descheduler.podfilter import Namespaces, label_problems, namespace_problems, pod_filter
from podium.descheduler.policy.model import Wire
from podium.descheduler.tolerations import tolerates_all

NAME: Final = "RemovePodsViolatingNodeTaints"


class Args(Wire):
    """``excluded_taints`` and ``included_taints`` hold ``key`` or ``key=value``; ``[]`` includes none."""

    GO_NAME = "RemovePodsViolatingNodeTaintsArgs"
    api_version: str = ""
    kind: str = ""
    namespaces: Namespaces | None = None
    label_selector: LabelSelector | None = None
    include_prefer_no_schedule: bool = False
    excluded_taints: Sequence[str] = ()
    included_taints: Sequence[str] | None = None


class NodeTaints:
    """Looks at NoSchedule (and PreferNoSchedule where asked); NoExecute is the taint manager's."""

    def __init__(self, args: Args, handle: Handle) -> None:
        self._handle = handle
        self._pods = pod_filter(
            handle.evictor.filter,
            handle.evictor.pre_eviction_filter,
            namespaces=args.namespaces,
            labels=args.label_selector,
        )
        self._effects = {"NoSchedule"} | ({"PreferNoSchedule"} if args.include_prefer_no_schedule else set())
        self._excluded = frozenset(args.excluded_taints)
        self._included = None if args.included_taints is None else frozenset(args.included_taints)

    def deschedule(self, nodes: Sequence[Node]) -> None:
        """Evict node by node."""
        world = self._handle.world
        for node in nodes:
            taints = self.taints(node)
            if not taints:
                continue
            listed = world.active_on(node.metadata.name)
            strangers = [
                pod for pod in listed if not tolerates_all(pod.spec.tolerations, taints) and self._pods(pod)
            ]
            if not evict_all(self._handle.evictor, strangers, NAME):
                return

    def taints(self, node: Node) -> list[Taint]:
        """Return the taints of a node that must be tolerated."""
        return [taint for taint in node.spec.taints if self._counts(taint)]

    def _counts(self, taint: Taint) -> bool:
        if taint.effect not in self._effects or _named(taint, self._excluded):
            return False
        return self._included is None or _named(taint, self._included)


def _named(taint: Taint, names: frozenset[str]) -> bool:
    return taint.key in names or (taint.value != "" and f"{taint.key}={taint.value}" in names)


def validate(args: Args) -> list[str]:
    """Return what is wrong with the arguments."""
    problems = namespace_problems(args.namespaces) + label_problems(args.label_selector)
    if args.excluded_taints and args.included_taints:
        problems.append("either includedTaints or excludedTaints can be set, but not both")
    return problems


PLUGIN: Final = PluginType(NAME, frozenset({Point.DESCHEDULE}), Args, NodeTaints, validate)
