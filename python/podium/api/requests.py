"""What a pod asks for in all: the sums of its containers, as component-helpers' resource package adds them.

Used where the API server itself needs the sum (pod-level defaults, LimitRange, warnings). Scheduling has
its own, in the core.
"""

from collections.abc import Callable, Iterable

from podium._core import Quantity as Exact
from podium.api.objects.base import ResourceList
from podium.api.objects.pod import Container, PodSpec
from podium.api.quantities import exact

Totals = dict[str, Exact]
"""Resource name to sum."""

HUGEPAGES = "hugepages-"


def requests_of(container: Container) -> ResourceList:
    """Return a container's requests."""
    return container.resources.requests


def limits_of(container: Container) -> ResourceList:
    """Return a container's limits."""
    return container.resources.limits


def is_sidecar(container: Container) -> bool:
    """Tell whether an init container keeps running beside the containers."""
    return container.restart_policy == "Always"


def is_pod_level(resource: str) -> bool:
    """Tell whether a resource may be given for the pod as a whole."""
    return resource in ("cpu", "memory") or resource.startswith(HUGEPAGES)


def _add(totals: Totals, items: Iterable[tuple[str, Exact]]) -> None:
    for name, value in items:
        totals[name] = totals[name] + value if name in totals else value


def _raise_to(totals: Totals, items: Iterable[tuple[str, Exact]]) -> None:
    for name, value in items:
        if name not in totals or value > totals[name]:
            totals[name] = value


def _numbers(values: ResourceList) -> list[tuple[str, Exact]]:
    return [(name, exact(value)) for name, value in values.items()]


def aggregate(spec: PodSpec, read: Callable[[Container], ResourceList]) -> Totals:
    """Sum what ``read`` gives over the containers, at least what the start of the pod needs.

    An init container needs its own and what the sidecars before it keep; sidecars also stay in the sum.
    """
    totals: Totals = {}
    for container in spec.containers:
        _add(totals, _numbers(read(container)))
    sidecars: Totals = {}
    start: Totals = {}
    for container in spec.init_containers:
        own = _numbers(read(container))
        if is_sidecar(container):
            _add(totals, own)
            _add(sidecars, own)
            _raise_to(start, sidecars.items())
        else:
            stage = dict(own)
            _add(stage, sidecars.items())
            _raise_to(start, stage.items())
    _raise_to(totals, start.items())
    return totals


def pod_requests(spec: PodSpec) -> Totals:
    """Return what scheduling counts: containers, replaced by pod-level requests, plus overhead."""
    totals = aggregate(spec, requests_of)
    if spec.resources is not None:
        totals.update(
            (name, value) for name, value in _numbers(spec.resources.requests) if is_pod_level(name)
        )
    _add(totals, _numbers(spec.overhead or {}))
    return totals
