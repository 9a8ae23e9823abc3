"""In what order pods go, and their class of service."""

from functools import lru_cache
from typing import Final

from podium._core import Quantity
from podium.api import Container, Pod
from podium.api.quantities import ZERO, exact
from podium.descheduler.annotations import PREFER_NO_EVICTION

_RANKS: Final = {"BestEffort": 0, "Burstable": 1, "Guaranteed": 2}
_COMPUTE: Final = ("cpu", "memory")


Importance = tuple[bool, int, int, bool]


def importance(pod: Pod) -> Importance:
    """Return what pods are sorted by that may go.

    No priority, then low priority, first; then BestEffort before Burstable before Guaranteed. Among equals
    those that ask not to be evicted go last, else the given order stays (upstream's is random).
    """
    priority = pod.spec.priority
    return (
        priority is not None,
        priority or 0,
        _RANKS.get(qos_class(pod), 3),
        PREFER_NO_EVICTION in pod.metadata.annotations,
    )


def qos_class(pod: Pod) -> str:
    """Return the status' class of service, else what the containers' requests and limits make it."""
    if pod.status.qos_class:
        return pod.status.qos_class
    spec = pod.spec
    return _computed(tuple(map(_resources, (*spec.containers, *spec.init_containers))))


_Amounts = tuple[tuple[str, str | float], ...]


def _resources(container: Container) -> tuple[_Amounts, _Amounts]:
    """Return requests and limits."""
    resources = container.resources
    return tuple(resources.requests.items()), tuple(resources.limits.items())


@lru_cache(maxsize=4096)
def _computed(containers: tuple[tuple[_Amounts, _Amounts], ...]) -> str:
    requests: dict[str, Quantity] = {}
    limits: dict[str, Quantity] = {}
    guaranteed = True
    for requested_here, limited_here in containers:
        asked, limited = dict(requested_here), dict(limited_here)
        for name in _COMPUTE:
            requested = exact(asked.get(name, "0"))
            if requested > ZERO:
                requests[name] = requests.get(name, ZERO) + requested
            limit = exact(limited.get(name, "0"))
            if limit > ZERO:
                limits[name] = limits.get(name, ZERO) + limit
            else:
                guaranteed = False
    if not requests and not limits:
        return "BestEffort"
    return "Guaranteed" if guaranteed and requests == limits else "Burstable"
