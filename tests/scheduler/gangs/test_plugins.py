"""Members that Python plugins concern: filtered, held in Permit together, and back together."""

import collections
import random
import threading

import numpy as np
import pytest
from msgspec.structs import replace
from podium.api import ObjectMeta, StorageClass
from podium.api.gangs import GangKey, Way
from podium.cluster.port import Removed
from podium.cluster.simulated import SECOND
from podium.framework import Action, ClusterEvent, EventRegistration, Hint, Plugin, Resource, Status
from podium.scheduler.gangs.group import GROUP
from podium.testing import make_node, make_pod

from tests.scheduler.gangs.world import LABEL, MINIMUM
from tests.scheduler.world import World, plugin


def member(number, gang="g", minimum=3, **more):
    pod = make_pod(f"{gang}-{number}").request(cpu="1").label(LABEL, gang)
    return pod.annotation(MINIMUM, str(minimum)).annotation("size", more.get("size", "small")).build()


def gang(size=3, name="g", minimum=None):
    return [member(number, name, minimum or size) for number in range(size)]


def bound(world):
    return sorted(pod.metadata.name for pod in world.cluster.pods() if pod.spec.node_name)


def group_of(world, name="g"):
    return next(group for group in world.scheduler.gangs if group.key == GangKey(Way.LABEL, "default", name))


def held(world):
    return [pod.pod.metadata.name for pod in world.scheduler.binder.waiting]


def pool_of(world, name="g"):
    return world.scheduler.engine.pool(GROUP | group_of(world, name).handle)


def waits(seconds=30.0, only="g-1"):
    """Return Permit of a plugin that holds one member."""

    def permit(self, state, pod, node_name):
        return Status.wait(seconds, "hold on") if pod.metadata.name == only else None

    return permit


def test_filters_have_a_say_and_nothing_is_kept_of_a_gang_that_lacks_a_place():
    undone = []
    only_n1 = plugin(
        "OnlyN1",
        [],
        filter=lambda self, state, pod, nodes: np.array([name == "n1" for name in nodes.names]),
        unreserve=lambda self, state, pod, node_name: undone.append(pod.metadata.name),
    )
    world = World(only_n1, cpu="2")
    world.add(*gang()).run()
    assert bound(world) == []
    assert undone == ["g-1", "g-0"]
    assert "gang default/g: 2 of 3 members fit, g-2 does not: 0/2 nodes" in world.message_of(member(2))
    assert world.scheduler.engine.columns().pod_count().sum() == 0
    world.cluster.apply([make_node("n1").capacity(cpu="3", pods="99").build()])
    world.run(until=20)
    assert bound(world) == ["g-0", "g-1", "g-2"]
    assert all(pod.spec.node_name == "n1" for pod in world.cluster.pods())


def test_all_wait_for_a_member_that_a_plugin_holds():
    world = World(plugin("Holds", [], permit=waits()))
    world.add(*gang()).run()
    assert (bound(world), held(world)) == ([], ["g-0", "g-1", "g-2"])
    assert group_of(world).phase.value == "Placed"
    world.scheduler.binder.waiting.get("pod-default-g-1").allow("Holds")
    world.run()
    assert bound(world) == ["g-0", "g-1", "g-2"]
    assert group_of(world).phase.value == "Bound"


def test_a_member_that_is_refused_while_all_wait_takes_them_back_at_once():
    world = World(plugin("Holds", [], permit=waits()), cpu="2")
    world.add(*gang(4)).run()
    world.scheduler.binder.waiting.get("pod-default-g-1").reject("Holds", "never mind")
    world.add(make_pod("other").request(cpu="2").build()).step(0)
    assert world.scheduler.engine.columns().pod_count().sum() == 0
    assert held(world) == []
    assert pool_of(world) == "unschedulable"
    assert "member g-1 was turned away: 0/1 nodes are available: 1 never mind." in group_of(world).message


def test_a_member_that_permit_refuses_holds_nobody():
    said = {"g-2": Status.unschedulable("not today")}
    world = World(plugin("Refuses", [], permit=lambda self, state, pod, node: said.get(pod.metadata.name)))
    world.add(*gang()).run()
    assert (bound(world), held(world)) == ([], [])
    assert "not today" in world.message_of(member(2))
    assert world.scheduler.engine.columns().pod_count().sum() == 0


def test_deleting_a_member_sends_the_others_back():
    world = World(plugin("Holds", [], permit=waits()))
    pods = gang()
    world.add(*pods).run()
    world.remove(pods[2])
    world.run()
    assert (bound(world), held(world)) == ([], [])
    assert group_of(world).phase.value == "Gated"


@pytest.mark.parametrize("seconds", [0, 1, 60, 3600])
def test_20_time_is_over_when_it_was_said_to_be(seconds):
    world = World(plugin("Holds", [], permit=waits(10_000)), settings=f"gangs: {{permitTimeout: {seconds}s}}")
    world.add(*gang()).run()
    if seconds:
        world.cluster.advance(seconds * SECOND - SECOND // 2)
        world.step(0)
        assert len(held(world)) == 3
    world.cluster.advance(seconds * SECOND)
    world.step(0)
    assert (bound(world), held(world)) == ([], [])
    assert world.scheduler.engine.columns().pod_count().sum() == 0
    assert world.scheduler.gangs.counts["timed_out"] >= 1


def holding(events, seconds=30.0):
    """Return a plugin that holds each pod once, and waits for some events when its time is over."""
    seen = set()

    def permit(self, state, pod, node_name):
        first = pod.metadata.name not in seen
        seen.add(pod.metadata.name)
        return Status.wait(seconds, "hold on") if first else None

    made = plugin("Holds", [], points=("permit",), permit=permit)
    made.events_to_register = lambda self: events
    return made


def times_out(world, seconds=30):
    world.add(*gang()).run()
    assert len(held(world)) == 3
    world.run(until=seconds)
    return world


CLASS_ADDED = ClusterEvent(Resource.STORAGE_CLASS, Action.ADD)
SOME_CLASS = StorageClass(metadata=ObjectMeta(name="fast"), provisioner="example.com/disk")


def test_a_gang_whose_time_in_permit_is_over_waits_for_what_its_plugin_registered():
    world = times_out(World(holding([EventRegistration(CLASS_ADDED)])))
    assert (held(world), pool_of(world), group_of(world).phase.value) == ([], "unschedulable", "Queued")
    assert "rejected due to timeout after waiting 30s at plugin Holds" in group_of(world).message
    assert "rejected due to timeout" in world.message_of(member(0))
    world.cluster.apply([make_node("n3").capacity(cpu="8", pods="99").build()])
    world.run(until=100)
    assert (bound(world), pool_of(world)) == ([], "unschedulable")
    world.cluster.apply([SOME_CLASS])
    world.run(until=150)
    assert bound(world) == ["g-0", "g-1", "g-2"]


def test_its_hint_is_asked_before_it_comes_back():
    asked = []

    def hint(pod, old, new):
        asked.append((pod.metadata.name, new.metadata.name))
        return Hint.QUEUE if new.metadata.name == "fast" else Hint.SKIP

    world = times_out(World(holding([EventRegistration(CLASS_ADDED, hint)])))
    world.cluster.apply([replace(SOME_CLASS, metadata=ObjectMeta(name="slow"))])
    world.run(until=100)
    assert (bound(world), pool_of(world)) == ([], "unschedulable")
    world.cluster.apply([SOME_CLASS])
    world.run(until=150)
    assert bound(world) == ["g-0", "g-1", "g-2"]
    # Members that are alike are asked about once.
    assert asked == [("g-0", "slow"), ("g-0", "fast")]


def test_it_comes_back_by_itself_when_it_has_been_parked_for_five_minutes():
    world = times_out(World(holding([EventRegistration(CLASS_ADDED)])))
    world.run(until=320)
    assert bound(world) == []
    world.run(until=400)
    assert bound(world) == ["g-0", "g-1", "g-2"]


def test_what_happened_while_it_waited_counts():
    world = World(holding([EventRegistration(CLASS_ADDED)]))
    world.add(*gang()).run()
    world.cluster.apply([SOME_CLASS])
    world.run(until=35)
    assert bound(world) == ["g-0", "g-1", "g-2"]


def test_when_the_time_of_the_gang_itself_is_over_room_that_is_made_brings_it_back():
    world = World(holding([], seconds=10_000), settings="gangs: {permitTimeout: 60s}")
    times_out(world, 60)
    assert pool_of(world) == "unschedulable"
    assert "at plugin Gang" in group_of(world).message
    world.cluster.apply([make_node("n3").capacity(cpu="8", pods="99").build()])
    world.run(until=100)
    assert bound(world) == ["g-0", "g-1", "g-2"]


def test_a_gang_that_still_has_enough_members_when_one_is_deleted_is_tried_again():
    world = World(holding([EventRegistration(CLASS_ADDED)]))
    pods = gang(3, minimum=2)
    world.add(*pods).run()
    assert len(held(world)) == 3
    world.remove(pods[0])
    world.run(until=5)
    assert bound(world) == ["g-1", "g-2"]


@pytest.mark.parametrize("early", [-1, 0, 1])
def test_20_quorum_and_expiry_at_one_moment_have_one_winner(early):
    world = World(plugin("Holds", [], permit=waits(10_000)), settings="gangs: {permitTimeout: 60s}")
    world.add(*gang()).run()
    world.cluster.advance(60 * SECOND + early)
    if early > 0:
        world.step(0)
    waiting = world.scheduler.binder.waiting.get("pod-default-g-1")
    if waiting is not None:
        waiting.allow("Holds")
    world.step(0)
    world.run(until=60)
    in_time = early <= 0
    assert bound(world) == (["g-0", "g-1", "g-2"] if in_time else [])
    assert world.scheduler.gangs.counts["timed_out"] == 0 if in_time else held(world) == []


def test_5_threads_that_allow_and_reject_leave_a_whole_gang_or_none():
    """Permit is answered from several threads at once, while a member may be deleted."""
    for seed in range(30):
        chance = random.Random(seed)
        world = World(plugin("Holds", [], permit=lambda *_: Status.wait(50, "hold on")))
        pods = gang(6)
        world.add(*pods).run()
        start = threading.Barrier(3)

        def answer(share, seed=seed, world=world, start=start):
            own = random.Random(f"{seed} {share}")
            start.wait()
            for number in own.sample(range(6), 6):
                waiting = world.scheduler.binder.waiting.get(f"pod-default-g-{number}")
                if waiting is not None and own.random() < 0.1:
                    waiting.reject("Holds", "no")
                elif waiting is not None:
                    waiting.allow("Holds")

        threads = [threading.Thread(target=answer, args=(share,)) for share in range(2)]
        for thread in threads:
            thread.start()
        start.wait()
        if chance.random() < 0.3:
            world.cluster.schedule(0, Removed(pods[chance.randrange(6)]))
            world.cluster.advance(0)
        for thread in threads:
            thread.join()
        world.step(0)
        world.step(0)
        on_nodes = bound(world)
        assert len(on_nodes) in {0, 6}
        group = group_of(world)
        assert len(group.bound) == len(on_nodes)
        assert world.scheduler.engine.columns().pod_count().sum() == len(group.placed)


def test_topology_holds_for_members_that_plugins_concern():
    world = World(plugin("Quiet", []), nodes=())
    for number, zone in enumerate(["a", "b", "b", "c"]):
        world.add(make_node(f"n{number}").label("zone", zone).capacity(cpu="2", pods="99").build())
    pods = [make_pod(f"g-{number}").request(cpu="1").label(LABEL, "g") for number in range(3)]
    pods = [pod.annotation(MINIMUM, "3").annotation("podium.dev/topology-required", "zone") for pod in pods]
    world.add(*(pod.build() for pod in pods)).run()
    assert {pod.spec.node_name for pod in world.cluster.pods()} == {"n1", "n2"}


class Tutorial(Plugin):
    """The plugin of the tutorial: Permit waits, the last member allows all."""

    name = "Tutorial"

    def __init__(self, args, handle):
        super().__init__(args, handle)
        self.members = collections.defaultdict(set)

    def applies_to(self, pod):
        return LABEL in pod.metadata.labels

    def permit(self, state, pod, node_name):
        members = self.members[pod.metadata.labels[LABEL]]
        members.add(pod.metadata.uid)
        if len(members) < int(pod.metadata.annotations[MINIMUM]):
            return Status.wait(60, "waiting for the gang")
        for waiting in self.handle.iterate_over_waiting_pods():
            if waiting.pod.metadata.uid in members:
                waiting.allow(self.name)
        return None

    def unreserve(self, state, pod, node_name):
        members = self.members.pop(pod.metadata.labels.get(LABEL), set())
        for waiting in list(self.handle.iterate_over_waiting_pods()):
            if waiting.pod.metadata.uid in members - {pod.metadata.uid}:
                waiting.reject(self.name, f"gang member {pod.metadata.name} failed")


def two_jobs(world):
    pods = [pod for pair in zip(gang(4, "one"), gang(4, "two"), strict=True) for pod in pair]
    world.add(*pods).run()
    return world


def test_the_plugin_of_the_tutorial_deadlocks_alone_and_not_beside_the_built_in_one():
    world = two_jobs(World(Tutorial, cpu="2", without=("Gang",)))
    assert (bound(world), len(held(world))) == ([], 4)
    both = two_jobs(World(Tutorial, cpu="2"))
    assert len(bound(both)) == 4
    assert len({name[:3] for name in bound(both)}) == 1
