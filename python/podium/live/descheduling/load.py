"""Load as the metrics API of a live cluster reports it."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from podium._core import Quantity
from podium.api import BY_NAME, NodeMetrics, PodMetrics
from podium.api.quantities import exact
from podium.cluster.kube.client import KubeClient
from podium.cluster.kube.listing import list_kind
from podium.descheduler.smoothing import POLL, is_fresh, smooth
from podium.descheduler.world import SECOND
from podium.errors import ClusterError

log = logging.getLogger("podium.descheduler")

_NODES: Final = BY_NAME["metrics.k8s.io/v1beta1", "NodeMetrics"]
_PODS: Final = BY_NAME["metrics.k8s.io/v1beta1", "PodMetrics"]

Usage = dict[str, Quantity]

#: Different samples of a node in a row that guarded mode wants to see before it acts on it.
HELD: Final = 3


class LiveLoad:
    """Reads ``NodeMetrics`` every five seconds; a source of load.

    Args:
        client: the cluster.
        clock: gives nanoseconds since 1970.
        guarded: leave out stale samples, and nodes of which few samples were seen.

    """

    def __init__(self, client: KubeClient, clock: Callable[[], int], *, guarded: bool) -> None:
        self._client = client
        self._clock = clock
        self._guarded = guarded
        self._smoothed: dict[str, tuple[int, int]] = {}
        self._samples: dict[str, list[str]] = {}
        self._pods: dict[tuple[str, str], PodMetrics] = {}

    def nodes(self) -> Mapping[str, Mapping[str, Quantity]]:
        """Return the smoothed usage of the nodes whose load is known."""
        return {
            name: {"cpu": exact(f"{cpu}m"), "memory": exact(memory)}
            for name, (cpu, memory) in self._smoothed.items()
            if not self._guarded or self._is_held(name)
        }

    def _is_held(self, node: str) -> bool:
        seen = self._samples.get(node, [])
        return len(seen) >= HELD and (not seen[-1] or is_fresh(seen[-1], self._clock()))

    def pod(self, namespace: str, name: str) -> Mapping[str, Mapping[str, Quantity]] | None:
        """Return the usage of a pod by container, None if there is no sample that counts."""
        found = self._pods.get((namespace, name))
        if found is None or (self._guarded and not is_fresh(found.timestamp, self._clock())):
            return None
        return {
            container.name: {key: exact(value) for key, value in container.usage.items()}
            for container in found.containers
        }

    async def poll(self) -> None:
        """Read the metrics of nodes until cancelled; a failure keeps what is known."""
        while True:
            await self.read_nodes()
            await asyncio.sleep(POLL / SECOND)

    async def read_nodes(self) -> None:
        """Read the metrics of all nodes once."""
        try:
            items = await list_kind(self._client, _NODES)
        except ClusterError as error:
            log.warning("unable to read node metrics: %s", error)
            return
        for item in items:
            if isinstance(item, NodeMetrics):
                self._note(item)

    async def read_pods(self) -> None:
        """Read the metrics of all pods once, before a cycle."""
        try:
            items: Sequence[object] = await list_kind(self._client, _PODS)
        except ClusterError as error:
            log.warning("unable to read pod metrics: %s", error)
            items = ()
        found = (item for item in items if isinstance(item, PodMetrics))
        self._pods = {(item.metadata.namespace, item.metadata.name): item for item in found}

    def _note(self, item: NodeMetrics) -> None:
        name, usage = item.metadata.name, item.usage
        sample = (exact(usage.get("cpu", "0")).milli_value(), exact(usage.get("memory", "0")).value())
        before = self._smoothed.get(name)
        self._smoothed[name] = (
            sample if before is None else (smooth(before[0], sample[0]), smooth(before[1], sample[1]))
        )
        stamp = str(item.timestamp or "")
        seen = self._samples.setdefault(name, [])
        if not stamp or stamp not in seen[-1:]:
            self._samples[name] = [*seen, stamp][-HELD:]
