"""What kube-scheduler v1.37.2 does against its documentation, said where it would happen.

Podium does the same and warns; with ``strict: true`` it does what is documented.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache

from podium._core import Quantity as Exact
from podium.api.objects.base import LabelSelector, Object, Quantity
from podium.api.objects.node import Node
from podium.api.objects.pod import Pod, PodSpec
from podium.api.quantities import MILLI, exact
from podium.api.requests import pod_requests

_LARGE = Exact(2**50)
"""Below this no sum over one pod can overflow, in whole numbers or thousandths."""

_WHOLE = 0
_EMPTY = LabelSelector()


def _unit(resource: str) -> int:
    return MILLI if resource == "cpu" else _WHOLE


def _counted(resource: str, number: Exact) -> int:
    return number.milli_value() if resource == "cpu" else number.value()


@lru_cache(maxsize=65536)
def _is_large(text: Quantity) -> bool:
    return exact(text) > _LARGE


def _large(values: Mapping[str, Quantity]) -> bool:
    return any(_is_large(value) for value in values.values())


def of(item: Object) -> Iterator[str]:
    """Yield the warnings about one defaulted object."""
    if isinstance(item, Pod):
        yield from _requests(item.spec)
        yield from _spread(item.spec)
    elif isinstance(item, Node):
        yield from _allocatable(item.status.allocatable or {})


def _requests(spec: PodSpec) -> Iterator[str]:
    containers = (*spec.containers, *spec.init_containers)
    whole = spec.resources.requests if spec.resources else {}
    if not any(_large(container.resources.requests) for container in containers) and not _large(whole):
        return
    for resource, total in sorted(pod_requests(spec).items()):
        if not total.fits(_unit(resource)):
            counted = max(0, _counted(resource, total))
            unit = "m" if resource == "cpu" else ""
            yield (
                f"spec: {resource} requests of {total} overflow 64 bits; kube-scheduler v1.37.2 counts "
                f"{counted}{unit}, and so does Podium unless strict is set"
            )


def _allocatable(values: Mapping[str, Quantity]) -> Iterator[str]:
    for resource, value in values.items():
        if _is_large(value) and not exact(value).fits(_unit(resource)):
            counted = _counted(resource, exact(value))
            yield (
                f"status.allocatable[{resource}]: {value} overflows 64 bits; kube-scheduler v1.37.2 counts "
                f"{counted}, and so does Podium unless strict is set"
            )


def _spread(spec: PodSpec) -> Iterator[str]:
    for index, constraint in enumerate(spec.topology_spread_constraints):
        if constraint.label_selector == _EMPTY:
            yield (
                f"spec.topologySpreadConstraints[{index}].labelSelector: an empty selector selects every "
                "pod, but kube-scheduler v1.37.2 counts none for it, and so does Podium unless strict is set"
            )
