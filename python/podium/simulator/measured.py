"""The metrics API of a cluster in memory: what nodes use follows the pods that move."""

from collections.abc import Iterable, Mapping

from podium._core import Quantity
from podium.api import NodeMetrics, Pod, PodMetrics
from podium.api.quantities import ZERO, exact
from podium.descheduler.smoothing import POLL, smooth
from podium.plugins.load_aware.sample import Sample

_READ = ("cpu", "memory")

Amounts = dict[str, Quantity]


class MeasuredLoad:
    """``NodeMetrics`` and ``PodMetrics`` as a source of load, smoothed per node as upstream does it.

    A pod that takes the place of an evicted one keeps its load. What a node uses beyond the pods that have
    metrics stays with it.
    """

    def __init__(self, nodes: Iterable[NodeMetrics], pods: Iterable[PodMetrics]) -> None:
        self._pods: dict[tuple[str, str], Mapping[str, Amounts]] = {
            (item.metadata.namespace, item.metadata.name): {
                container.name: {name: exact(value) for name, value in container.usage.items()}
                for container in item.containers
            }
            for item in pods
        }
        self._base = {
            item.metadata.name: {name: exact(item.usage.get(name, "0")) for name in _READ} for item in nodes
        }
        self._moved: dict[str, Amounts] = {name: dict.fromkeys(_READ, ZERO) for name in self._base}
        self._smoothed = {name: dict(usage) for name, usage in self._base.items()}

    def nodes(self) -> Mapping[str, Mapping[str, Quantity]]:
        """Return the smoothed usage of every node that has metrics."""
        return self._smoothed

    def pod(self, namespace: str, name: str) -> Mapping[str, Mapping[str, Quantity]] | None:
        """Return the usage of a pod by container."""
        return self._pods.get((namespace, name))

    def samples(self) -> dict[str, Sample]:
        """Return what LoadAware is to know: the usage of now."""
        return {
            name: Sample(
                {
                    "cpu": float((base["cpu"] + self._moved[name]["cpu"]).milli_value()),
                    "memory": float((base["memory"] + self._moved[name]["memory"]).value()),
                },
                is_steady=True,
            )
            for name, base in self._base.items()
        }

    def left(self, pod: Pod) -> None:
        """Take a pod's load off its node."""
        self._move(pod, -1)

    def came(self, pod: Pod, instead_of: Pod | None = None) -> None:
        """Put a pod's load on its node; one that replaces another has its load."""
        if instead_of is not None:
            found = self._pods.get((instead_of.metadata.namespace, instead_of.metadata.name))
            if found is not None:
                self._pods[pod.metadata.namespace, pod.metadata.name] = found
        self._move(pod, 1)

    def _move(self, pod: Pod, sign: int) -> None:
        moved = self._moved.get(pod.spec.node_name)
        containers = self._pods.get((pod.metadata.namespace, pod.metadata.name))
        if moved is None or containers is None:
            return
        for usage in containers.values():
            for name in _READ:
                amount = usage.get(name, ZERO)
                moved[name] = moved[name] + amount if sign > 0 else moved[name] - amount

    def pass_time(self, nanoseconds: int) -> None:
        """Let the descheduler read the metrics as often as it does in that time."""
        polls = nanoseconds // POLL
        for name, smoothed in self._smoothed.items():
            now = {resource: self._base[name][resource] + self._moved[name][resource] for resource in _READ}
            smoothed["cpu"] = exact(
                f"{_settle(smoothed['cpu'].milli_value(), now['cpu'].milli_value(), polls)}m"
            )
            smoothed["memory"] = exact(_settle(smoothed["memory"].value(), now["memory"].value(), polls))


def _settle(value: int, sample: int, polls: int) -> int:
    """Smooth ``polls`` times, rounded each time; stops early where rounding holds it."""
    for _ in range(polls):
        after = smooth(value, sample)
        if after == value:
            break
        value = after
    return value
