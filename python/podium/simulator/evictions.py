"""The eviction subresource of an API server, and the disruption controller behind it, in memory."""

from collections.abc import Iterable, Mapping, Sequence

from podium.api import PodDisruptionBudget
from podium.descheduler.budgets import Budgets, BudgetState, observe
from podium.descheduler.ports import Eviction
from podium.descheduler.world import World


class SimulatedEvictions:
    """Accepts evictions while the budgets allow them; nothing else refuses one.

    ``begin`` starts a cycle: there a budget's status is that of the object, changed by what has come and gone
    since the first cycle. Where an object has no status, it is computed as the controller does.
    """

    def __init__(self, budgets: Iterable[PodDisruptionBudget]) -> None:
        self._objects = list(budgets)
        self._first: Mapping[int, BudgetState] | None = None
        self._now = Budgets(())

    def begin(self, world: World) -> None:
        """Count anew, with the pods as they are now."""
        found = {index: observe(item, world.everybody) for index, item in enumerate(self._objects)}
        self._first = first = self._first or found
        self._now = Budgets(_status(seen, first[index]) for index, seen in found.items())

    def budgets(self) -> Budgets:
        """Return the budgets of now, for planning."""
        return self._now.copy()

    def rehearse(self, evictions: Sequence[Eviction]) -> None:
        """Raise EvictionRefusedError if the budgets forbid one of these."""
        self._now.check_all([item.pod for item in evictions])

    def evict(self, eviction: Eviction) -> None:
        """Let a pod go; raises EvictionRefusedError if a budget forbids it."""
        self._now.take(eviction.pod)


def _status(seen: BudgetState, first: BudgetState) -> BudgetState:
    """Return the status of now: the object's own, plus what has changed since it was read."""
    given = seen.budget.status
    if given is None:
        return seen
    healthy = given.current_healthy + seen.healthy - first.healthy
    allowed = given.disruptions_allowed + seen.healthy - first.healthy
    return BudgetState(seen.budget, healthy, given.desired_healthy, max(allowed, 0))
