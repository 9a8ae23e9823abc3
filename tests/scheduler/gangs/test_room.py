"""Gangs that Python plugins concern get room by fair shares, and places are held for them, as for others."""

from msgspec.structs import replace

from tests.scheduler.gangs.test_arranging import LISTED, Most, only, places
from tests.scheduler.gangs.test_reported import _runs_for, bound_pod
from tests.scheduler.gangs.world import World, gang, node, plain
from tests.scheduler.world import config_of

DRF = "    queueSort: {enabled: [{name: DRF}], disabled: [{name: '*'}]}"
RECLAIM = "tenants: {by: namespace, reclaim: {enabled: true, minRunTime: 0s}}"


def of(namespace, pods):
    """The same pods of another tenant."""

    def moved(pod):
        uid = f"{namespace}-{pod.metadata.name}"
        return replace(pod, metadata=replace(pod.metadata, namespace=namespace, uid=uid))

    return [moved(pod) for pod in pods]


def alone(prefix, number, node_name):
    return [only(pod, node_name) for at in range(number) for pod in gang(f"{prefix}{at}x", 1)]


def shared(*plugins):
    given = config_of(*plugins, settings=RECLAIM, more=DRF)
    return World(node("a", gpu="2"), node("b", gpu="2"), given=given)


def test_tenants_above_their_share_give_back_where_plugins_let_the_gang_go():
    world = shared(LISTED).apply(*of("rich", [*alone("a", 2, "a"), *alone("b", 2, "b")])).until(5)
    assert len(places(world)) == 4
    world.apply(*of("poor", [only(pod, "b") for pod in gang("g", 2)])).until(60)
    assert {places(world).get(f"g-{at}") for at in range(2)} == {"b"}
    assert sorted(each.victim.metadata.name for each in world.cluster.evicted) == ["b0x-0", "b1x-0"]


def test_nobody_gives_back_what_the_plugins_of_a_gang_do_not_let_it_use():
    most = Most(2)
    world = shared(most.plugin).apply(*of("rich", gang("low", 4, 1))).until(5)
    assert len(places(world)) == 4
    most.on.update(others="a", more="a")
    world.apply(*of("poor", [only(pod, "a") for pod in gang("g", 2)])).until(60)
    assert (world.bound("g"), world.cluster.evicted) == ([], [])


def test_what_a_plugin_says_of_members_together_counts_for_reclaim():
    """By amounts both members fit on one node; the plugin wants them apart, so one pod leaves on each."""
    most = Most(1)
    world = shared(most.plugin)
    world.apply(*of("rich", [*alone("a", 1, "a"), *alone("b", 1, "b")])).until(5)
    assert len(places(world)) == 2
    most.on.clear()
    world.apply(*of("rich", [pod for at in range(2) for pod in gang(f"more{at}x", 1)])).until(10)
    most.on.clear()
    assert len(places(world)) == 4
    world.apply(*of("poor", gang("g", 2))).until(60)
    assert sorted(places(world)[f"g-{at}"] for at in range(2)) == ["a", "b"]
    assert len(world.cluster.evicted) == 2


def held(*plugins, backfill="runtime"):
    given = config_of(*plugins, settings=f"gangs: {{backfill: {backfill}}}")
    return World(node("a", gpu="4"), node("b", gpu="4"), given=given)


def timed(name, text, node_name):
    return only(plain(name, **{"podium.dev/run-time": text}), node_name)


def test_places_are_held_where_plugins_let_the_gang_go():
    """b is free sooner, but the gang may only go to a: there is no room for long pods there."""
    world = held(LISTED)
    world.apply(*(only(_runs_for(pod, "60s"), "a") for pod in gang("run", 2, 1))).settle()
    world.apply(*(only(pod, "a") for pod in gang("big", 4))).settle()
    assert world.scheduler.engine.nominated(world.group("big").members["pod-default-big-0"].handle) == "a"
    world.apply(only(plain("long-0"), "a"), only(plain("long-1"), "b"), timed("short-0", "30s", "a")).settle()
    assert places(world).get("long-1") == "b"
    assert (world.bound("long-0"), world.bound("short")) == ([], ["short-0"])
    world.until(31)
    world.remove(bound_pod(world, "short-0")).until(59)
    world.remove(*(bound_pod(world, f"run-{at}") for at in range(2))).until(75)
    assert len(world.bound("big")) == 4


def test_the_clock_of_a_run_time_starts_when_the_pod_is_bound():
    """At 40 s a pod of 60 s has 20 left, so one of 30 s would delay the gang."""
    world = held(LISTED)
    world.apply(*(only(_runs_for(pod, "60s"), "a") for pod in gang("run", 2, 1))).until(40)
    world.apply(*(only(pod, "a") for pod in gang("big", 4))).settle()
    world.apply(timed("short-0", "30s", "a"), timed("brief-0", "15s", "a")).settle()
    assert (world.bound("short"), world.bound("brief")) == ([], ["brief-0"])


def test_pods_that_a_gang_may_evict_run_in_the_gap():
    world = held(LISTED, backfill="preemptible")
    world.apply(*(only(pod, "a") for pod in gang("run", 2, 1, priority=200))).settle()
    world.apply(*(only(pod, "a") for pod in gang("big", 4, priority=100))).settle()
    small = [only(plain(f"small-{at}"), "a") for at in range(2)]
    world.apply(*small).settle()
    assert len(world.bound("small")) == 2
    world.remove(*(bound_pod(world, f"run-{at}") for at in range(2))).until(60)
    assert len(world.bound("big")) == 4


def test_nothing_is_held_for_a_gang_that_its_plugins_let_nowhere():
    most = Most(1)
    world = held(most.plugin).apply(*gang("big", 3)).settle()
    pending = world.group("big").members.values()
    assert [world.scheduler.engine.nominated(entry.handle) for entry in pending] == [None] * 3
