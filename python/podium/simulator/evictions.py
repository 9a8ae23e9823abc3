"""The eviction subresource of an API server, and the disruption controller behind it, in memory.

Rules and texts are those of v1.37.2: ``pkg/registry/core/pod/storage/eviction.go`` and
``pkg/controller/disruption``.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from podium.api import Pod, PodDisruptionBudget
from podium.api.matching import selects
from podium.api.objects.base import IntOrString
from podium.api.objects.policy import PodDisruptionBudgetSpec
from podium.descheduler.ports import Eviction, EvictionRefusedError

_REFUSAL = "Cannot evict pod as it would violate the pod's disruption budget."
_SEVERAL = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."

_UNGUARDED = frozenset({"Succeeded", "Failed", "Pending"})
"""Phases in which a budget does not protect a pod."""


def is_healthy(pod: Pod) -> bool:
    """Tell whether a pod is ready.

    Where nothing says so, its containers decide, and a pod on a node without any status counts as running.
    """
    ready = next((item for item in pod.status.conditions if item.type == "Ready"), None)
    if ready is not None:
        return ready.status == "True"
    if pod.status.phase not in ("", "Running"):
        return False
    return bool(pod.spec.node_name) and all(item.ready for item in pod.status.container_statuses)


@dataclass(slots=True)
class _Budget:
    """The status of a PodDisruptionBudget as it changes."""

    budget: PodDisruptionBudget
    healthy: int
    desired: int
    allowed: int

    @property
    def is_stale(self) -> bool:
        """Whether the controller has not seen the budget's last change yet."""
        status = self.budget.status
        return status is not None and status.observed_generation < self.budget.metadata.generation

    def refuse(self) -> EvictionRefusedError:
        name = self.budget.metadata.name
        if self.is_stale:
            cause = f"The disruption budget {name} is still being processed by the server."
        else:
            needs = f"needs {self.desired} healthy pods and has {self.healthy} currently"
            cause = f"The disruption budget {name} {needs}"
        return EvictionRefusedError(f"{_REFUSAL} {cause}", why="pdb")


class SimulatedEvictions:
    """Accepts evictions while the budgets allow them; nothing else refuses one.

    ``begin`` starts a cycle: there a budget's status is that of the object, changed by what has come and gone
    since the first cycle. Where an object has no status, it is computed as the controller does.
    """

    def __init__(self, budgets: Iterable[PodDisruptionBudget]) -> None:
        self._objects = list(budgets)
        self._first: Mapping[int, _Budget] | None = None
        self._now: dict[str, list[_Budget]] = {}
        self._leaving: set[str] = set()

    def begin(self, pods: Iterable[Pod]) -> None:
        """Count anew, with the pods as they are now."""
        by_namespace: dict[str, list[Pod]] = {}
        for pod in pods:
            by_namespace.setdefault(pod.metadata.namespace, []).append(pod)
        found = {
            index: _observe(item, by_namespace.get(item.metadata.namespace, ()))
            for index, item in enumerate(self._objects)
        }
        self._first = self._first or found
        self._leaving.clear()
        self._now = {}
        for index, seen in found.items():
            state = _status(seen, self._first[index])
            self._now.setdefault(state.budget.metadata.namespace, []).append(state)

    def evict(self, eviction: Eviction) -> None:
        """Let a pod go; raises EvictionRefusedError if a budget forbids it."""
        pod = eviction.pod
        gone = bool(pod.metadata.deletion_timestamp) or pod.metadata.uid in self._leaving
        if not gone and pod.status.phase not in _UNGUARDED:
            self._ask(pod)
        self._leaving.add(pod.metadata.uid)

    def _ask(self, pod: Pod) -> None:
        found = [
            state
            for state in self._now.get(pod.metadata.namespace, ())
            if selects(state.budget.spec.selector, pod.metadata.labels)
        ]
        if len(found) > 1:
            raise EvictionRefusedError(_SEVERAL)
        for state in found:
            if not is_healthy(pod) and _may_go_unhealthy(state):
                return
            if state.is_stale or state.allowed <= 0:
                raise state.refuse()
            state.allowed -= 1
            state.healthy -= 1


def _may_go_unhealthy(state: _Budget) -> bool:
    if state.budget.spec.unhealthy_pod_eviction_policy == "AlwaysAllow":
        return True
    return state.healthy >= state.desired > 0


def _observe(budget: PodDisruptionBudget, pods: Iterable[Pod]) -> _Budget:
    """Return what the controller would write: healthy pods against wanted ones."""
    members = [pod for pod in pods if selects(budget.spec.selector, pod.metadata.labels)]
    healthy = sum(is_healthy(pod) and not pod.metadata.deletion_timestamp for pod in members)
    desired = _desired(budget.spec, members)
    return _Budget(budget, healthy, desired, max(healthy - desired, 0) if members else 0)


def _status(seen: _Budget, first: _Budget) -> _Budget:
    """Return the status of now: the object's own, plus what has changed since it was read."""
    given = seen.budget.status
    if given is None:
        return seen
    healthy = given.current_healthy + seen.healthy - first.healthy
    allowed = given.disruptions_allowed + seen.healthy - first.healthy
    return _Budget(seen.budget, healthy, given.desired_healthy, max(allowed, 0))


def _desired(spec: PodDisruptionBudgetSpec, members: Sequence[Pod]) -> int:
    """Return how many must be healthy; the scale of the owners is the number of the pods that are there."""
    if spec.max_unavailable is not None:
        return max(len(members) - _scaled(spec.max_unavailable, len(members)), 0)
    return _scaled(spec.min_available, len(members)) if spec.min_available is not None else 0


def _scaled(value: IntOrString, of: int) -> int:
    if isinstance(value, int):
        return value
    return math.ceil(int(value.removesuffix("%")) * of / 100)
