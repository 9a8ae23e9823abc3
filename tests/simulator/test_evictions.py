"""Budgets: what the eviction subresource allows, counts down, and refuses."""

from contextlib import suppress

import pytest
from msgspec.structs import replace
from podium.api import LabelSelector, ObjectMeta, PodDisruptionBudget
from podium.api.objects.policy import PodDisruptionBudgetSpec, PodDisruptionBudgetStatus
from podium.descheduler.ports import Eviction, EvictionRefusedError
from podium.descheduler.world import World
from podium.simulator.evictions import SimulatedEvictions

from tests.descheduler.scene import owned, ready, running


def budget(*, allowed=None, healthy=0, desired=0, name="b", **spec):
    status = None
    if allowed is not None:
        status = PodDisruptionBudgetStatus(
            disruptions_allowed=allowed, current_healthy=healthy, desired_healthy=desired
        )
    return PodDisruptionBudget(
        metadata=ObjectMeta(name=name, namespace="default"),
        spec=PodDisruptionBudgetSpec(selector=LabelSelector(match_labels={"app": "a"}), **spec),
        status=status,
    )


def pods(number, state="True"):
    return [ready(running(owned(f"p{i}", "n").label("app", "a")), state) for i in range(number)]


def evict(items, *budgets, among=None):
    """Names of the pods that may go, one after the other."""
    api = SimulatedEvictions(budgets)
    api.begin(World(among or items, 0))
    return _evict(api, items)


def _evict(api, items):
    gone = []
    for pod in items:
        with suppress(EvictionRefusedError):
            api.evict(Eviction(pod, ""))
            gone.append(pod.metadata.name)
    return gone


def test_the_status_is_honoured_and_counted_down():
    assert evict(pods(3), budget(allowed=1, healthy=3, desired=2)) == ["p0"]
    assert evict(pods(3), budget(allowed=0, healthy=2, desired=2)) == []


def test_the_refusal_says_what_the_budget_needs():
    api = SimulatedEvictions([budget(allowed=0, healthy=2, desired=2)])
    api.begin(World(pods(2), 0))
    with pytest.raises(EvictionRefusedError, match="needs 2 healthy pods and has 2 currently") as error:
        api.evict(Eviction(pods(1)[0], ""))
    assert error.value.why == "pdb"


@pytest.mark.parametrize(
    ("spec", "number"),
    [
        ({"min_available": 2}, 1),
        ({"max_unavailable": 2}, 2),
        ({"min_available": "50%"}, 1),
        ({"max_unavailable": "50%"}, 2),
        ({"max_unavailable": 0}, 0),
    ],
)
def test_without_a_status_it_is_computed(spec, number):
    assert len(evict(pods(3), budget(**spec))) == number


def test_unhealthy_pods():
    sick = pods(1, "False")
    assert evict(sick, budget(allowed=0, healthy=2, desired=2)) == ["p0"], "the others are healthy enough"
    assert evict(sick, budget(allowed=0, healthy=1, desired=2)) == []
    always = budget(allowed=0, healthy=1, desired=2, unhealthy_pod_eviction_policy="AlwaysAllow")
    assert evict(sick, always) == ["p0"]


def test_pods_that_a_budget_does_not_guard():
    failed = [replace(pod, status=replace(pod.status, phase="Failed")) for pod in pods(1)]
    assert evict(failed, budget(allowed=0)) == ["p0"]
    assert evict([running(owned("q", "n"))], budget(allowed=0)) == ["q"]
    (pod,) = pods(1)
    assert evict([pod, pod], budget(allowed=1, healthy=2, desired=1)) == ["p0", "p0"], "it leaves already"


def test_two_budgets_are_an_error():
    api = SimulatedEvictions([budget(allowed=1), budget(allowed=1, name="c")])
    api.begin(World(pods(1), 0))
    with pytest.raises(EvictionRefusedError, match="more than one PodDisruptionBudget") as error:
        api.evict(Eviction(pods(1)[0], ""))
    assert error.value.why == "error"


def test_a_budget_that_the_controller_has_not_seen():
    stale = budget(allowed=1, healthy=2, desired=1)
    stale = replace(stale, metadata=replace(stale.metadata, generation=2))
    api = SimulatedEvictions([stale])
    api.begin(World(pods(2), 0))
    with pytest.raises(EvictionRefusedError, match="still being processed"):
        api.evict(Eviction(pods(1)[0], ""))


def test_the_next_cycle_counts_what_has_come_back():
    everybody = pods(3)
    api = SimulatedEvictions([budget(allowed=1, healthy=3, desired=2)])
    api.begin(World(everybody, 0))
    assert _evict(api, everybody) == ["p0"]
    api.begin(World(everybody[1:], 0))
    assert _evict(api, everybody[1:]) == []
    api.begin(World(everybody, 0))
    assert _evict(api, everybody) == ["p0"]
