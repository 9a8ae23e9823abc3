"""What pods request, remembered by content, and what that leaves of a node."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final

import msgspec

from podium._core import Quantity
from podium.api import Node, Pod, PodSpec
from podium.api.quantities import ZERO, exact
from podium.api.requests import pod_requests

CPU: Final = "cpu"
MEMORY: Final = "memory"
PODS: Final = "pods"

Amounts = dict[str, Quantity]
"""Resource to quantity."""

Listed = tuple[tuple[str, str | float], ...]
"""Resources with their amounts, as a node or a container lists them."""


class Requests:
    """Sums requests of pods; pods with equal containers are summed once.

    The sum is that of the scheduler (containers, init containers and sidecars, pod-level, overhead), from the
    specification alone: an in-place resize does not show.
    """

    def __init__(self) -> None:
        self._known: dict[Listed | bytes, Mapping[str, Quantity]] = {}
        self._encode = msgspec.json.Encoder().encode

    def of(self, pod: Pod) -> Mapping[str, Quantity]:
        """Return what a pod requests, by resource; the same object for pods with equal containers."""
        spec = pod.spec
        key = self._key(spec)
        found = self._known.get(key)
        if found is None:
            # The key of a spec whose one container says it all has the amounts.
            found = (
                pod_requests(spec) if isinstance(key, bytes) else {name: exact(text) for name, text in key}
            )
            self._known[key] = found
        return found

    def distinct(self) -> Iterable[Mapping[str, Quantity]]:
        """Return all answers of ``of`` so far, those of earlier cycles too."""
        return self._known.values()

    def _key(self, spec: PodSpec) -> Listed | bytes:
        """Return what is equal for equal sums; most pods have one container that says it all."""
        if (
            len(spec.containers) == 1
            and not spec.init_containers
            and not spec.overhead
            and not spec.resources
        ):
            return tuple(spec.containers[0].resources.requests.items())
        return self._encode(
            (
                [container.resources for container in spec.containers],
                [(container.resources, container.restart_policy) for container in spec.init_containers],
                spec.resources,
                spec.overhead,
            )
        )

    def sums(self, resource: str) -> Callable[[Sequence[Mapping[str, Quantity]]], Quantity]:
        """Return what sums a resource over answers of ``of``; numbers without fractions are added as such."""
        if resource == PODS:
            return lambda found: exact(len(found))
        unit = "m" if resource == CPU else ""
        numbers = {id(amounts): _whole(resource, amounts) for amounts in self._known.values()}

        def add(found: Sequence[Mapping[str, Quantity]]) -> Quantity:
            values = [numbers[id(amounts)] for amounts in found]
            if None not in values:
                return exact(f"{sum(filter(None, values))}{unit}")
            return sum((amounts.get(resource, ZERO) for amounts in found), ZERO)

        return add

    def total(self, pods: Iterable[Pod], resources: Iterable[str]) -> Amounts:
        """Sum the requests of pods; ``pods`` counts them."""
        everybody = list(pods)
        sums = dict.fromkeys(resources, ZERO)
        for amounts in map(self.of, everybody):
            for name in sums:
                quantity = amounts.get(name)
                if quantity is not None:
                    sums[name] = sums[name] + quantity
        if PODS in sums:
            sums[PODS] = exact(len(everybody))
        return sums


def _whole(resource: str, amounts: Mapping[str, Quantity]) -> int | None:
    """Return a quantity as it is counted, None if that would round it."""
    quantity = amounts.get(resource, ZERO)
    if resource != CPU:
        return quantity.value() if quantity.is_integer() and quantity.fits(0) else None
    return quantity.milli_value() if quantity.round_up(-3) == quantity and quantity.fits(-3) else None


def number(resource: str, quantity: Quantity) -> int:
    """Return a quantity as it is counted: cpu in thousandths, the rest in units, rounded up."""
    return quantity.milli_value() if resource == CPU else quantity.value()


def listed(node: Node) -> Listed:
    """Return what pods may use of a node: allocatable, or the capacity where nothing is allocatable."""
    return tuple((node.status.allocatable or node.status.capacity).items())


def capacity(node: Node) -> dict[str, Quantity]:
    """Return ``listed`` as quantities; a new dictionary."""
    return dict(exactly(listed(node)))


def sizes(node: Node) -> Mapping[str, int]:
    """Return ``listed`` as it is counted; nodes of one size share the answer."""
    return _counted(listed(node))


@lru_cache(maxsize=4096)
def exactly(found: Listed) -> Mapping[str, Quantity]:
    """Return amounts as quantities; equal lists share the answer."""
    return {name: exact(quantity) for name, quantity in found}


@lru_cache(maxsize=4096)
def _counted(found: Listed) -> Mapping[str, int]:
    return {name: number(name, quantity) for name, quantity in exactly(found).items()}
