"""PodDisruptionBudgets as the eviction subresource reads them, and counts them down.

Rules and texts are those of v1.37.2: ``pkg/registry/core/pod/storage/eviction.go`` and
``pkg/controller/disruption``.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from podium.api import Pod, PodDisruptionBudget
from podium.api.matching import selects
from podium.api.objects.base import IntOrString
from podium.api.objects.policy import PodDisruptionBudgetSpec
from podium.descheduler.labels import Labelled
from podium.descheduler.ports import EvictionRefusedError

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
class BudgetState:
    """One budget with the numbers of its status."""

    budget: PodDisruptionBudget
    healthy: int
    desired: int
    allowed: int

    @property
    def is_stale(self) -> bool:
        """Whether the controller has not seen the budget's last change yet."""
        status = self.budget.status
        return status is not None and status.observed_generation < self.budget.metadata.generation

    def refusal(self) -> EvictionRefusedError:
        """Say why nothing may go."""
        name = self.budget.metadata.name
        if self.is_stale:
            cause = f"The disruption budget {name} is still being processed by the server."
        else:
            needs = f"needs {self.desired} healthy pods and has {self.healthy} currently"
            cause = f"The disruption budget {name} {needs}"
        return EvictionRefusedError(f"{_REFUSAL} {cause}", why="pdb")

    def frees(self, pod: Pod) -> bool:
        """Tell whether a pod that is not healthy may go without being counted."""
        if is_healthy(pod):
            return False
        if self.budget.spec.unhealthy_pod_eviction_policy == "AlwaysAllow":
            return True
        return self.healthy >= self.desired > 0


class Budgets:
    """All budgets; ``take`` lets a pod go as the API server would."""

    def __init__(self, states: Iterable[BudgetState]) -> None:
        self._states: dict[str, list[BudgetState]] = {}
        for state in states:
            self._states.setdefault(state.budget.metadata.namespace, []).append(state)
        self._leaving: set[str] = set()

    def copy(self) -> "Budgets":
        """Return budgets that count on their own."""
        other = Budgets(replace(state) for states in self._states.values() for state in states)
        other._leaving = set(self._leaving)
        return other

    def take(self, pod: Pod) -> None:
        """Count a pod out; raises EvictionRefusedError if a budget forbids it."""
        state = self._ask(pod)
        if state is not None:
            state.allowed -= 1
            state.healthy -= 1
        self._leaving.add(pod.metadata.uid)

    def take_all(self, pods: Sequence[Pod]) -> None:
        """Count pods out together; raises EvictionRefusedError, and counts none, if a budget forbids one."""
        self.check_all(pods)
        for pod in pods:
            self.take(pod)

    def check(self, pod: Pod) -> None:
        """Raise EvictionRefusedError if ``take`` would."""
        self._ask(pod)

    def check_all(self, pods: Sequence[Pod]) -> None:
        """Raise EvictionRefusedError if ``take_all`` would."""
        if len(pods) == 1:
            self.check(pods[0])
            return
        trial = self.copy()
        for pod in pods:
            trial.take(pod)

    def _ask(self, pod: Pod) -> BudgetState | None:
        """Return the budget that counts a pod, None if none does; raises EvictionRefusedError."""
        if pod.metadata.deletion_timestamp or pod.metadata.uid in self._leaving:
            return None
        if pod.status.phase in _UNGUARDED:
            return None
        found = [
            state
            for state in self._states.get(pod.metadata.namespace, ())
            if selects(state.budget.spec.selector, pod.metadata.labels)
        ]
        if len(found) > 1:
            raise EvictionRefusedError(_SEVERAL)
        for state in found:
            if state.frees(pod):
                return None
            if state.is_stale or state.allowed <= 0:
                raise state.refusal()
            return state
        return None


def observe(budget: PodDisruptionBudget, pods: Labelled) -> BudgetState:
    """Return what the controller would write: healthy pods against wanted ones."""
    members = pods.selected(budget.metadata.namespace, budget.spec.selector)
    healthy = sum(is_healthy(pod) and not pod.metadata.deletion_timestamp for pod in members)
    desired = _desired(budget.spec, members)
    return BudgetState(budget, healthy, desired, max(healthy - desired, 0) if members else 0)


def _desired(spec: PodDisruptionBudgetSpec, members: Sequence[Pod]) -> int:
    """Return how many must be healthy; the scale of the owners is the number of the pods that are there."""
    if spec.max_unavailable is not None:
        return max(len(members) - _scaled(spec.max_unavailable, len(members)), 0)
    return _scaled(spec.min_available, len(members)) if spec.min_available is not None else 0


def _scaled(value: IntOrString, of: int) -> int:
    if isinstance(value, int):
        return value
    return math.ceil(int(value.removesuffix("%")) * of / 100)
