"""Bounded waits and reclaim: what fair shares do for pods that fit nowhere."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from podium.api import LabelSelector, ObjectMeta
from podium.api.objects.policy import (
    PodDisruptionBudget,
    PodDisruptionBudgetSpec,
    PodDisruptionBudgetStatus,
)
from podium.cluster.port import Applied, Evict, Preempt, Removed
from podium.cluster.simulated import SECOND
from podium.testing import make_pod

from tests.scheduler.test_tenants import World, node, pods


class Cluster(World):
    """A world in which evicted pods leave at once, and pods can be made to end."""

    def __init__(self, tenants=""):
        super().__init__(tenants)
        self.evicted = []

    def tell(self, *events, limit=None):
        actions = self.bind(self.scheduler.step(events, self.now, limit))
        while victims := [gone for action in actions if (gone := _leaves(action)) is not None]:
            self.evicted += [victim.metadata.name for victim in victims]
            self.now += SECOND
            actions = self.bind(self.scheduler.step(map(Removed, victims), self.now))
        return self

    def end(self, *names):
        entries = {entry.pod.metadata.name: entry for entry in self.scheduler.state.entries()}
        return self.tell(*(Removed(entries[name].pod) for name in names))


def _leaves(action):
    """Return who is to leave: a victim, or a member of a gang that is rolled back."""
    if isinstance(action, Preempt):
        return action.victim
    return action.pod if isinstance(action, Evict) else None


def test_everybody_waits_for_a_bounded_time():
    """A stream of small pods, one more whenever one ends, and a large one of another tenant."""
    world = Cluster()
    world.apply(node("4", name="n0"), node("4", name="n1"))
    stream = iter(pods("small", "s", 1000, cpu="1"))
    running = [next(stream) for _ in range(8)]
    world.apply(*running)
    world.apply(*pods("large", "l", 1, cpu="4"))
    started = None
    for turn in range(500):
        world.now += SECOND
        ended = running.pop(0)
        world.end(ended.metadata.name)
        fresh = next(stream)
        world.apply(fresh)
        running.append(fresh)
        if "l0" in world.bound:
            started = turn
            break
    assert started is not None, "the large pod starved"
    # After the time at which space is kept, no longer than the pods on that node run.
    assert 290 <= started <= 320


def test_without_patience_the_large_pod_would_starve(monkeypatch):
    monkeypatch.setattr("podium.scheduler.relief.PATIENCE", 10**18)
    with pytest.raises(AssertionError, match="starved"):
        test_everybody_waits_for_a_bounded_time()


def test_space_is_kept_from_higher_priorities_of_others_too_but_not_from_system_pods():
    world = Cluster()
    world.apply(node("4"))
    world.apply(*pods("a", "a", 4, priority=100, cpu="1"))
    world.apply(*pods("b", "b", 1, priority=0, cpu="4"))
    world.now = 301 * SECOND
    world.end("a0")
    assert world.scheduler.engine.nominated(entry(world, "b0").handle) == "n"
    world.apply(*pods("c", "c", 1, priority=100, cpu="1"))
    assert "c0" not in world.bound
    world.apply(*pods("d", "d", 1, priority=2_000_000_000, cpu="1"))
    assert "d0" in world.bound


def entry(world, name):
    return next(e for e in world.scheduler.state.entries() if e.pod.metadata.name == name)


RECLAIM = "reclaim: {enabled: true, minRunTime: 60s}"


def test_reclaim_is_off_by_default():
    world = Cluster()
    world.apply(node("4"))
    world.apply(*pods("a", "a", 4, cpu="1"))
    world.now = 100 * SECOND
    world.apply(*pods("b", "b", 1, cpu="1"))
    assert world.evicted == []


def test_a_tenant_over_its_share_gives_back_up_to_an_equal_part_and_no_further():
    world = Cluster(RECLAIM)
    world.apply(node("4"))
    world.apply(*pods("a", "a", 4, cpu="1"))
    world.now = 100 * SECOND
    world.apply(*pods("b", "b", 4, cpu="1"))
    for _ in range(20):
        world.now += 301 * SECOND
        world.tell()
    assert len(world.evicted) == 2
    assert world.used("a") == world.used("b") == {"cpu": "2"}


def test_pods_that_just_started_are_spared():
    world = Cluster(RECLAIM)
    world.apply(node("4"))
    world.apply(*pods("a", "a", 4, cpu="1"))
    world.now = 59 * SECOND
    world.apply(*pods("b", "b", 1, cpu="1"))
    assert world.evicted == []


@pytest.mark.parametrize(("size", "evicted"), [("2", 1), ("3", 0)])
def test_volcano_3729_no_eviction_that_only_turns_the_tables(size, evicted):
    """On 5 CPUs, a has two pods of 2: b may have 2 in place of one (0.4 each), not 3 (0.4 and 0.6)."""
    world = Cluster(RECLAIM)
    world.apply(node("5"))
    world.apply(*pods("a", "a", 2, cpu="2"))
    world.now = 100 * SECOND
    world.apply(*pods("b", "b", 1, cpu=size))
    for _ in range(5):
        world.now += 301 * SECOND
        world.tell()
    assert len(world.evicted) == evicted


def test_the_victim_comes_again_and_does_not_take_the_space():
    world = Cluster(RECLAIM)
    world.apply(node("4"))
    world.apply(*pods("a", "a", 4, cpu="1"))
    world.now = 100 * SECOND
    [late] = pods("b", "b", 1, cpu="1")
    actions = world.scheduler.step([Applied(late)], world.now)
    [eviction] = [action for action in actions if isinstance(action, Preempt)]
    again = pods("a", "again", 1, cpu="1")
    world.now += SECOND
    world.tell(Removed(eviction.victim), *(Applied(pod) for pod in again))
    assert "b0" in world.bound
    assert "again0" not in world.bound
    assert world.evicted == []


def over_share(*bound, tenants=RECLAIM, nodes=()):
    """A world in which pods of tenant ``a`` have run long enough."""
    world = Cluster(tenants)
    world.apply(*(nodes or [node("4")]))
    world.apply(*bound)
    assert len(world.bound) == len(bound)
    world.now = 100 * SECOND
    return world


def settle(world):
    for _ in range(5):
        world.now += 301 * SECOND
        world.tell()
    return world.evicted


def budget(allowed):
    selector = LabelSelector(match_labels={"app": "a"})
    return PodDisruptionBudget(
        metadata=ObjectMeta(name="keep", namespace="a", uid="keep"),
        spec=PodDisruptionBudgetSpec(selector=selector),
        status=PodDisruptionBudgetStatus(disruptions_allowed=allowed),
    )


@pytest.mark.parametrize(("allowed", "evicted"), [(0, 0), (1, 0), (2, 2)])
def test_no_budget_is_violated(allowed, evicted):
    """A pod of 2 CPUs needs two of the four pods of 1."""
    labelled = [make_pod(f"a{i}", "a").request(cpu="1").label("app", "a").build() for i in range(4)]
    world = over_share(*labelled)
    world.apply(budget(allowed))
    world.apply(*pods("b", "b", 1, cpu="2"))
    assert len(settle(world)) == evicted


def test_nothing_is_evicted_where_the_pod_would_not_fit_afterwards():
    """kueue#5243: by quota it fits, but on no one node."""
    small = [node("2", name=f"n{i}") for i in range(4)]
    world = over_share(*pods("a", "a", 8, cpu="1"), nodes=small)
    world.apply(*pods("b", "b", 1, cpu="3"))
    assert settle(world) == []


def gang(name, size, minimum, cpu="1", tenant="a"):
    members = (make_pod(f"{name}{i}", tenant).label("gang.example.com/name", name) for i in range(size))
    members = (member.annotation("gang.example.com/min-available", str(minimum)) for member in members)
    return [member.request(cpu=cpu).build() for member in members]


def test_a_gang_gives_its_surplus():
    world = over_share(*gang("g", 4, minimum=3))
    world.apply(*pods("b", "b", 1, cpu="1"))
    assert len(settle(world)) == 1


def test_a_gang_without_surplus_leaves_whole_wherever_its_members_are():
    """The members on the other node go too; what is fair is judged with all of them gone."""
    two = [node("4", name="n0"), node("4", name="n1")]
    world = over_share(*gang("g", 4, minimum=4, cpu="2"), nodes=two)
    world.apply(*pods("b", "b", 1, cpu="2"))
    assert settle(world) == []  # a would have nothing left, and less than b

    world = over_share(*gang("g", 2, minimum=2), *gang("h", 2, minimum=2))
    world.apply(*pods("b", "b", 1, cpu="2"))
    gone = settle(world)
    assert sorted(gone) in (["g0", "g1"], ["h0", "h1"])


def test_a_member_that_may_not_go_keeps_its_gang():
    """Half of the gang has just started, on a node of its own."""
    two = [node("2", name="n0"), node("2", name="n1")]
    first, late = gang("g", 2, minimum=1), gang("g", 4, minimum=4)[2:]
    world = over_share(*first, *pods("a", "x", 2, cpu="1"), nodes=two)
    world.end("x0", "x1")
    world.apply(*late)
    assert {"g2", "g3"} <= set(world.bound)
    world.apply(*pods("b", "b", 1, cpu="1"))
    assert world.evicted == []


def test_a_gang_gets_its_places_back_at_once():
    world = over_share(*pods("a", "a", 4, cpu="1"))
    world.apply(*gang("g", 2, minimum=2, tenant="b"))
    assert len(world.evicted) == 2
    assert {"g0", "g1"} <= set(world.bound)
    assert len(settle(world)) == 2
    assert world.used("a") == world.used("b") == {"cpu": "2"}


@pytest.mark.parametrize(("size", "allowed"), [(3, 4), (2, 1)])
def test_a_gang_gets_nothing_where_it_would_get_too_much_or_break_a_budget(size, allowed):
    """All of it or nothing: three of four CPUs are too much, and two pods are more than the budget has."""
    labelled = [make_pod(f"a{i}", "a").request(cpu="1").label("app", "a").build() for i in range(4)]
    world = over_share(*labelled)
    world.apply(budget(allowed))
    world.apply(*gang("g", size, minimum=size, tenant="b"))
    assert settle(world) == []


def test_a_gang_takes_no_more_from_each_tenant_than_that_owes():
    """Two pods of a, whose go first, would leave it with less than the gang's has: one of each it is."""
    world = over_share(
        *pods("a", "a", 3, cpu="1"),
        *pods("c", "c", 3, cpu="1", priority=5),
        nodes=[node("3", name="n0"), node("3", name="n1")],
    )
    world.apply(*gang("g", 2, minimum=2, tenant="b"))
    assert sorted(name[0] for name in settle(world)) == ["a", "c"]
    assert {"g0", "g1"} <= set(world.bound)


def test_gangs_that_must_leave_for_a_gang_leave_whole():
    world = over_share(*gang("g", 2, minimum=2), *gang("h", 3, minimum=2), nodes=[node("5")])
    world.apply(*gang("w", 2, minimum=2, tenant="b"))
    gone = sorted(settle(world))
    # One surplus member of h and all of g would be three: two are enough.
    assert gone == ["g0", "g1"]
    assert {"w0", "w1"} <= set(world.bound)


def test_the_space_of_a_gang_is_kept_until_it_is_bound():
    world = over_share(*pods("a", "a", 4, cpu="1"))
    members = gang("g", 2, minimum=2, tenant="b")
    actions = world.scheduler.step(map(Applied, members), world.now)
    victims = [action.victim for action in actions if isinstance(action, Preempt)]
    assert len(victims) == 2
    again = pods("a", "again", 2, cpu="1")
    # One of the victims is gone, and tries to take its place again while the other is on its way.
    world.now += SECOND
    world.tell(Removed(victims[0]), *(Applied(pod) for pod in again))
    assert not {"again0", "again1", "g0", "g1"} & set(world.bound)
    group = next(iter(world.scheduler.gangs))
    assert "reclaim: waiting for pods to leave." in group.message
    world.tell(Removed(victims[1]))
    assert {"g0", "g1"} <= set(world.bound)
    assert world.evicted == []


def test_a_gang_spares_pods_that_just_started():
    world = over_share(*pods("a", "a", 4, cpu="1"))
    world.now = 59 * SECOND
    world.apply(*gang("g", 2, minimum=2, tenant="b"))
    assert world.evicted == []


claims = st.lists(
    st.tuples(st.sampled_from(["a", "b", "c"]), st.integers(1, 4), st.integers(1, 4), st.integers(1, 3)),
    min_size=1,
    max_size=8,
)


@settings(max_examples=80, deadline=None)
@given(st.lists(st.integers(2, 6), min_size=1, max_size=3), claims)
def test_reclaim_for_gangs_comes_to_rest_and_breaks_none(sizes, made):
    """Whatever comes: nothing is evicted for ever, and no gang is left below its minimum."""
    world = Cluster(RECLAIM)
    world.apply(*(node(str(size), name=f"n{at}") for at, size in enumerate(sizes)))
    least = {}
    for at, (tenant, size, minimum, cpu) in enumerate(made):
        least[f"x{at}-"] = min(size, minimum)
        world.apply(*gang(f"x{at}-", size, least[f"x{at}-"], cpu=str(cpu), tenant=tenant))
        world.now += 100 * SECOND
    settle(world)
    evicted = len(settle(world))
    assert evicted == len(settle(world))
    on_nodes = [e.pod.metadata.name for e in world.scheduler.state.entries() if e.node is not None]
    for name, minimum in least.items():
        count = sum(pod.startswith(name) for pod in on_nodes)
        assert count == 0 or count >= minimum
