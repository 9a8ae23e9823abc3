"""What pods request, remembered by content, and what that leaves of a node."""

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from podium._core import Quantity
from podium.api import Node, Pod
from podium.api.quantities import ZERO, exact
from podium.api.requests import pod_requests

CPU: Final = "cpu"
MEMORY: Final = "memory"
PODS: Final = "pods"

Amounts = dict[str, Quantity]
"""Resource to quantity."""


class Requests:
    """Sums requests of pods; pods with equal containers are summed once.

    The sum is that of the scheduler (containers, init containers and sidecars, pod-level, overhead), from the
    specification alone: an in-place resize does not show.
    """

    def __init__(self) -> None:
        self._known: dict[bytes, Mapping[str, Quantity]] = {}
        self._encode = msgspec.json.Encoder().encode

    def of(self, pod: Pod) -> Mapping[str, Quantity]:
        """Return what a pod requests, by resource."""
        spec = pod.spec
        key = self._encode(
            (
                [container.resources for container in spec.containers],
                [(container.resources, container.restart_policy) for container in spec.init_containers],
                spec.resources,
                spec.overhead,
            )
        )
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = pod_requests(spec)
        return found

    def total(self, pods: Iterable[Pod], resources: Iterable[str]) -> Amounts:
        """Sum the requests of pods; ``pods`` counts them."""
        everybody = list(pods)
        sums = dict.fromkeys(resources, ZERO)
        for pod in everybody:
            for name, quantity in self.of(pod).items():
                if name in sums:
                    sums[name] = sums[name] + quantity
        if PODS in sums:
            sums[PODS] = exact(len(everybody))
        return sums


def number(resource: str, quantity: Quantity) -> int:
    """Return a quantity as it is counted: cpu in thousandths, the rest in units, rounded up."""
    return quantity.milli_value() if resource == CPU else quantity.value()


def capacity(node: Node) -> dict[str, Quantity]:
    """Return what pods may use of a node: allocatable, or the capacity where nothing is allocatable."""
    listed = node.status.allocatable or node.status.capacity
    return {name: exact(quantity) for name, quantity in listed.items()}
