"""What a pod requests, summed as kube-scheduler sums it, so that tests need no engine.

Formula (``PodRequests`` of ``k8s.io/component-helpers``): the containers and the sidecars together, or the
largest stage of starting up if that is more; pod-level requests replace their resources; overhead is added.
Sums are exact and rounded up once.
"""

from collections.abc import Callable, Iterable

from podium._core import Quantity
from podium.api import Container, Pod, ResourceList

_Amounts = dict[str, Quantity]
_NONZERO = {"cpu": Quantity("100m"), "memory": Quantity("200Mi")}


def pod_requests(pod: Pod) -> dict[str, int]:
    """Return resource -> amount: millicores for cpu, base units for the rest."""
    total = _containers(pod, lambda container: _amounts(container.resources.requests))
    if pod.spec.resources is not None:
        total |= _amounts(pod.spec.resources.requests)
    return _rounded(_sum([total, _amounts(pod.spec.overhead or {})]))


def nonzero_requests(pod: Pod) -> dict[str, int]:
    """Return the same with 100m cpu and 200Mi memory for each container that names none."""
    total = _containers(pod, lambda container: _NONZERO | _amounts(container.resources.requests))
    if pod.spec.resources is not None:
        total |= _amounts(pod.spec.resources.requests)
    return _rounded(_sum([total, _amounts(pod.spec.overhead or {})]))


def _containers(pod: Pod, requests: Callable[[Container], _Amounts]) -> _Amounts:
    running = _sum(requests(container) for container in pod.spec.containers)
    sidecars: _Amounts = {}
    stages: list[_Amounts] = []
    for container in pod.spec.init_containers:
        if container.restart_policy == "Always":
            running = _sum([running, requests(container)])
            sidecars = _sum([sidecars, requests(container)])
            stages.append(sidecars)
        else:
            stages.append(_sum([sidecars, requests(container)]))
    for stage in stages:
        running = {
            name: max(running.get(name, Quantity(0)), stage.get(name, Quantity(0)))
            for name in running | stage
        }
    return running


def _amounts(resources: ResourceList) -> _Amounts:
    return {name: Quantity(value) for name, value in resources.items()}


def _sum(parts: Iterable[_Amounts]) -> _Amounts:
    total: _Amounts = {}
    for part in parts:
        for name, amount in part.items():
            total[name] = total[name] + amount if name in total else amount
    return total


def _rounded(amounts: _Amounts) -> dict[str, int]:
    return {
        name: amount.milli_value() if name == "cpu" else amount.value() for name, amount in amounts.items()
    }
