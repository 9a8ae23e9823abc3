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


class Together:
    """A guard of which everybody goes in one gang."""

    def __init__(self, company):
        self._company = company
        self.done = None

    def company(self, _):
        return self._company

    def consider(self, company):
        return company

    def settle(self):
        return self._company, ()

    def remember(self, done, _):
        self.done = done


class Rehearsing(Refusing):
    def __init__(self, names=(), rehearsed=()):
        super().__init__(set(names))
        self.rehearsed = set(rehearsed)
        self.sent = []

    def rehearse(self, evictions):
        for item in evictions:
            if item.pod.metadata.name in self.rehearsed:
                raise EvictionRefusedError("no", why="pdb")

    def evict(self, eviction):
        super().evict(eviction)
        self.sent.append(eviction.pod.metadata.name)


@pytest.mark.parametrize(
    ("api", "sent", "why"),
    [
        (Rehearsing(), ["p0", "p1", "p2"], set()),
        (Rehearsing(rehearsed=["p2"]), [], {"pdb"}),
        (Rehearsing(names=["p1"]), ["p0"], {"pdb"}),
    ],
)
def test_a_gang_is_sent_as_a_whole_or_not_at_all(api, sent, why):
    """Whoever is refused although nothing spoke against it keeps at least those that come after."""
    items = pods(("a", "x"), ("b", "x"), ("c", "x"))
    company = [Evicted(pod, "P", "p", "there", "x/g") for pod in items]
    shared, world, guard = PodEvictor(api, Limits()), World(items, NOW), Together(company)
    shared.start_cycle(guard)
    assert [shared.evict(world, Evicted(pod, "P", "p"), "") for pod in items] == [Outcome.EVICTED] * 3
    shared.finish()
    assert api.sent == sent
    assert [item.pod.metadata.name for item in guard.done] == sent
    assert {item.why for item in shared.log.blocked} == why
    assert len(shared.log.blocked) == len(items) - len(sent)
