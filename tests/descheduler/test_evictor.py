from dataclasses import dataclass, field

import pytest
from podium.descheduler.evictor import Evicted, PodEvictor
from podium.descheduler.framework import Outcome
from podium.descheduler.limits import TEXTS, Limits
from podium.descheduler.ports import EvictionRefusedError
from podium.descheduler.world import World

from tests.descheduler.scene import NOW, Accepting, owned


@dataclass
class Refusing:
    names: set[str] = field(default_factory=set)

    def evict(self, eviction):
        if eviction.pod.metadata.name in self.names:
            raise EvictionRefusedError("no", why="pdb")


def pods(*places):
    return [owned(f"p{i}", on, namespace=namespace).build() for i, (on, namespace) in enumerate(places)]


def evict_all(api, limits, items):
    shared, world = PodEvictor(api, limits), World(items, NOW)
    return [shared.evict(world, Evicted(pod, "P", "p"), "") for pod in items], shared.log


@pytest.mark.parametrize(
    ("limits", "outcomes", "text"),
    [
        (Limits(node=1), [Outcome.EVICTED, Outcome.NODE_LIMIT, Outcome.EVICTED], TEXTS[Outcome.NODE_LIMIT]),
        (
            Limits(namespace=1),
            [Outcome.EVICTED, Outcome.EVICTED, Outcome.NAMESPACE_LIMIT],
            TEXTS[Outcome.NAMESPACE_LIMIT],
        ),
        (
            Limits(total=2),
            [Outcome.EVICTED, Outcome.EVICTED, Outcome.TOTAL_LIMIT],
            TEXTS[Outcome.TOTAL_LIMIT],
        ),
        (Limits(total=0), [Outcome.TOTAL_LIMIT] * 3, TEXTS[Outcome.TOTAL_LIMIT]),
    ],
)
def test_limits(limits, outcomes, text):
    found, log = evict_all(Accepting(), limits, pods(("n1", "a"), ("n1", "b"), ("n2", "a")))
    assert found == outcomes
    assert [(item.why, item.message) for item in log.blocked] == [("limit", text)] * len(log.blocked)
    assert len(log.blocked) == sum(outcome is not Outcome.EVICTED for outcome in outcomes)


def test_the_total_is_looked_at_before_the_node():
    found, _ = evict_all(Accepting(), Limits(node=1, total=1), pods(("n1", "a"), ("n1", "a")))
    assert found == [Outcome.EVICTED, Outcome.TOTAL_LIMIT]


def test_what_the_api_refuses_does_not_count():
    found, log = evict_all(Refusing({"p0"}), Limits(total=1), pods(("n1", "a"), ("n1", "a")))
    assert found == [Outcome.REFUSED, Outcome.EVICTED]
    assert [(item.why, item.message) for item in log.blocked] == [("pdb", "no")]


def test_a_pod_that_was_evicted_counts_again_and_is_listed_once():
    (pod,) = pods(("n1", "a"))
    api = Accepting()
    shared, world = PodEvictor(api, Limits(total=2)), World([pod], NOW)
    outcomes = [shared.evict(world, Evicted(pod, "P", "p"), "") for _ in range(3)]
    assert outcomes == [Outcome.EVICTED, Outcome.EVICTED, Outcome.TOTAL_LIMIT]
    assert len(shared.log.evicted) == 1
    assert world.is_terminating(pod)


def test_the_request_says_who_asks_and_how_long_it_may_take():
    (pod,) = pods(("n1", "a"))
    api = Accepting()
    PodEvictor(api, Limits(), grace_period_seconds=5).evict(World([pod], NOW), Evicted(pod, "P", "p"), "why")
    assert (api.asked[0].reason, api.asked[0].grace_period_seconds) == ("triggered by p/P: why", 5)


def test_a_cycle_starts_from_nothing():
    items = pods(("n1", "a"), ("n1", "a"))
    shared = PodEvictor(Accepting(), Limits(total=1))
    shared.evict(World(items, NOW), Evicted(items[0], "P", "p"), "")
    shared.start_cycle()
    assert shared.log.evicted == []
    assert shared.evict(World(items, NOW), Evicted(items[1], "P", "p"), "") is Outcome.EVICTED
