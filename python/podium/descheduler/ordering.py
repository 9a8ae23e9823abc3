"""In what order pods go, and their class of service."""

from collections.abc import Iterable
from typing import Final

from podium._core import Quantity
from podium.api import Container, Pod
from podium.api.quantities import ZERO, exact

PREFER_NO_EVICTION: Final = "descheduler.alpha.kubernetes.io/prefer-no-eviction"

_RANKS: Final = {"BestEffort": 0, "Burstable": 1, "Guaranteed": 2}
_COMPUTE: Final = ("cpu", "memory")


def lowest_first(pods: Iterable[Pod]) -> list[Pod]:
    """Sort pods: no priority, then low priority, first; then BestEffort before Burstable before Guaranteed.

    Among equals those that ask not to be evicted go last, else the given order stays (upstream's is random).
    """
    return sorted(pods, key=_importance)


def _importance(pod: Pod) -> tuple[bool, int, int, bool]:
    priority = pod.spec.priority
    return (
        priority is not None,
        priority or 0,
        _RANKS.get(qos_class(pod), 3),
        PREFER_NO_EVICTION in pod.metadata.annotations,
    )


def qos_class(pod: Pod) -> str:
    """Return the status' class of service, else what the containers' requests and limits make it."""
    return pod.status.qos_class or _computed([*pod.spec.containers, *pod.spec.init_containers])


def _computed(containers: list[Container]) -> str:
    requests: dict[str, Quantity] = {}
    limits: dict[str, Quantity] = {}
    guaranteed = True
    for container in containers:
        for name in _COMPUTE:
            requested = exact(container.resources.requests.get(name, "0"))
            if requested > ZERO:
                requests[name] = requests.get(name, ZERO) + requested
            limit = exact(container.resources.limits.get(name, "0"))
            if limit > ZERO:
                limits[name] = limits.get(name, ZERO) + limit
            else:
                guaranteed = False
    if not requests and not limits:
        return "BestEffort"
    return "Guaranteed" if guaranteed and requests == limits else "Burstable"
