"""The Python plugins of ``podium bench --plugins``: what a plugin costs at the least."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from podium.api import Pod
from podium.framework import (
    NODE,
    ClusterEvent,
    CycleState,
    EventRegistration,
    NodesView,
    Plugin,
    Resource,
    Status,
)
from podium.framework.config import SchedulerConfig, default_config, parse_config
from podium.framework.events import Action
from podium.framework.registry import Registry

_ZONE: Final = "topology.kubernetes.io/zone"
_NODES_COME: Final = (EventRegistration(ClusterEvent(Resource.NODE, Action.ADD)),)


class LeaveSomeRoom(Plugin):
    """One filter: a node keeps one pod's place free, and a zone may be closed."""

    name = "LeaveSomeRoom"
    depends_on = NODE

    def filter(self, state: CycleState, pod: Pod, nodes: NodesView) -> NDArray[np.bool_]:  # noqa: ARG002
        """Accept nodes that have two places and are not in the zone ``closed``."""
        room = nodes.pod_count() + 2 <= nodes.allocatable("pods")
        zone = nodes.label(_ZONE)
        if "closed" in zone.values:
            room &= zone.codes != zone.values.index("closed")
        return room

    def events_to_register(self) -> Sequence[EventRegistration]:
        """Wait for new nodes."""
        return _NODES_COME


class PreferEmptyNodes(Plugin):
    """One score: the fewer pods, the better."""

    name = "PreferEmptyNodes"
    depends_on = NODE

    def score(self, state: CycleState, pod: Pod, nodes: NodesView) -> NDArray[np.int64]:  # noqa: ARG002
        """Return 100 less the number of pods, at least 0."""
        return np.maximum(100 - nodes.pod_count(), 0)


class AllPoints(Plugin):
    """Takes part everywhere and wants nothing."""

    name = "AllPoints"

    def pre_enqueue(self, pod: Pod) -> None:
        """Let it in."""

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodesView) -> None:
        """Have nothing to prepare."""

    def filter(self, state: CycleState, pod: Pod, nodes: NodesView) -> NDArray[np.bool_]:  # noqa: ARG002
        """Accept every node."""
        return np.ones(len(nodes), np.bool_)

    def post_filter(self, state: CycleState, pod: Pod, statuses: object) -> Status:  # noqa: ARG002
        """Do nothing about it."""
        return Status.unschedulable()

    def pre_score(self, state: CycleState, pod: Pod, nodes: NodesView) -> None:
        """Have nothing to prepare."""

    def score(self, state: CycleState, pod: Pod, nodes: NodesView) -> NDArray[np.int64]:  # noqa: ARG002
        """Find all nodes alike."""
        return np.zeros(len(nodes), np.int64)

    def normalize_score(
        self,
        state: CycleState,  # noqa: ARG002
        pod: Pod,  # noqa: ARG002
        nodes: NodesView,  # noqa: ARG002
        scores: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Leave scores as they are."""
        return scores

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        """Take nothing."""

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        """Give nothing back."""

    def permit(self, state: CycleState, pod: Pod, node_name: str) -> None:
        """Approve."""

    def pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> None:
        """Have nothing to do."""

    def bind(self, state: CycleState, pod: Pod, node_name: str) -> Status:  # noqa: ARG002
        """Leave it to the next binder."""
        return Status.skip()

    def post_bind(self, state: CycleState, pod: Pod, node_name: str) -> None:
        """Have nothing to do."""

    def events_to_register(self) -> Sequence[EventRegistration]:
        """Wait for new nodes."""
        return _NODES_COME


#: ``--plugins`` -> the plugins that are enabled besides the default ones.
SETS: Final[dict[str, tuple[type[Plugin], ...]]] = {
    "native": (),
    "python": (LeaveSomeRoom, PreferEmptyNodes),
    "all-points": (AllPoints,),
}


def bench_config(plugins: str) -> SchedulerConfig:
    """Return the default profile with a set of Python plugins."""
    chosen = SETS[plugins]
    if not chosen:
        return default_config()
    registry = Registry.build(installed=())
    for plugin in chosen:
        registry.register(plugin)
    enabled = "".join(f"\n      - {{name: {plugin.name}}}" for plugin in chosen)
    # The default binder is asked last: a binder that skips must be asked before it.
    first = "{name: AllPoints}, " if AllPoints in chosen else ""
    text = f"""\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    multiPoint:
      enabled:{enabled}
    bind:
      enabled: [{first}{{name: DefaultBinder}}]
      disabled: [{{name: "*"}}]
"""
    return parse_config(text.encode(), "bench", registry)
