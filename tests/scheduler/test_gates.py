"""PreEnqueue: pods that may not enter the queue are in its gated pool until something may help them."""

import pytest
from podium.cluster.port import Applied
from podium.framework import ClusterEvent, EventRegistration, Plugin, Resource, Status
from podium.framework.events import Action, Hint
from podium.testing import make_node, make_pod

from tests.scheduler.world import World


class Gate(Plugin):
    """Holds pods whose label ``wait`` names it, until it is opened; keeps whom it was asked about."""

    name = "Gate"
    event = ClusterEvent(Resource.NODE, Action.ADD)
    hint = None

    def __init__(self, args, handle):
        super().__init__(args, handle)
        self.shut = True
        self.asked = []

    def applies_to(self, pod):
        return pod.metadata.labels.get("wait") == self.name

    def pre_enqueue(self, pod):
        self.asked.append(pod.metadata.name)
        return Status.unresolvable(f"{self.name} is shut") if self.shut else None

    def events_to_register(self):
        return [EventRegistration(self.event, self.hint)]


class Other(Gate):
    name = "Other"
    event = ClusterEvent(Resource.PERSISTENT_VOLUME, Action.ADD)


def waiting(name, gate="Gate", **more):
    pod = make_pod(name).request(cpu="1").labels({"wait": gate})
    return pod.build()


def gate_of(world, name="Gate"):
    return next(iter(world.scheduler.profiles)).plugins[name]


def counts(world):
    return world.scheduler.engine.queue_counts()


def test_held_pods_are_in_the_gated_pool_and_nowhere_else():
    world = World(Gate)
    held, free = waiting("held"), make_pod("free").request(cpu="1").build()
    native = make_pod("native").request(cpu="1").gate("example.com/a").build()
    world.add(held, native, free).run()
    assert [world.pool_of(pod) for pod in (held, native, free)] == ["gated", "gated", None]
    assert counts(world) == {"active": 0, "backoff": 0, "unschedulable": 0, "gated": 2, "in_flight": 0}
    reasons = {uid: (each.by, each.why) for uid, each in world.scheduler.state.gates.held.items()}
    assert reasons == {
        held.metadata.uid: ("Gate", "Gate is shut"),
        native.metadata.uid: ("", "waiting for scheduling gates: [example.com/a]"),
    }


def test_an_event_asks_about_the_pods_of_the_plugin_that_waits_for_it_alone():
    world = World(Gate, Other)
    world.add(waiting("a"), waiting("b", "Other"), waiting("c")).run()
    gate, other = gate_of(world), gate_of(world, "Other")
    gate.asked.clear(), other.asked.clear()
    world.cluster.apply([make_node("n3").capacity(cpu="8", pods="99").build()])
    world.run()
    assert (gate.asked, other.asked) == (["a", "c"], [])
    gate.shut = False
    world.cluster.apply([make_node("n4").capacity(cpu="8", pods="99").build()])
    world.run()
    assert counts(world)["gated"] == 1
    assert {end[1] for end in world.log.ends} == {"a", "c"}


def test_a_plugin_that_registers_nothing_is_asked_after_every_event():
    class Eager(Gate):
        name = "Gate"

        def events_to_register(self):
            return None

    world = World(Eager)
    world.add(waiting("a")).run()
    gate = gate_of(world)
    gate.shut = False
    world.add(make_pod("b").request(cpu="1").node("n1").build()).run()
    assert {end[1] for end in world.log.ends} == {"a"}


def test_a_hint_may_say_that_an_event_is_nothing_to_a_held_pod():
    class Hinted(Gate):
        name = "Gate"

        @staticmethod
        def hint(pod, old, new):
            return Hint.QUEUE if new.metadata.name == "good" else Hint.SKIP

    world = World(Hinted)
    world.add(waiting("a")).run()
    gate = gate_of(world)
    gate.shut, gate.asked = False, []
    world.cluster.apply([make_node("bad").capacity(cpu="8", pods="99").build()])
    world.run()
    assert gate.asked == []
    world.cluster.apply([make_node("good").capacity(cpu="8", pods="99").build()])
    world.run()
    assert gate.asked == ["a"]
    assert counts(world)["gated"] == 0


def test_a_change_of_the_pod_asks_again_and_may_take_it_out_of_the_plugins_hands():
    world = World(Gate)
    pod = waiting("a")
    world.add(pod).run()
    free = make_pod("a").request(cpu="1").labels({"wait": "nobody"}).build()
    world.add(free).run()
    assert world.node_of(pod) is not None
    assert counts(world)["gated"] == 0


def test_activating_a_held_pod_asks_and_never_passes_over_the_plugin():
    world = World(Gate)
    pod = waiting("a")
    world.add(pod).run()
    gate = gate_of(world)
    gate.handle.activate([pod])
    world.run()
    assert (gate.asked, world.pool_of(pod)) == (["a", "a"], "gated")
    gate.shut = False
    gate.handle.activate([pod])
    world.run()
    assert world.node_of(pod) is not None


def test_what_nothing_happens_to_is_asked_about_every_five_minutes():
    world = World(Gate)
    pod = waiting("a")
    world.add(pod).run(until=299)
    gate = gate_of(world)
    assert gate.asked == ["a"]
    world.run(until=302)
    assert gate.asked == ["a", "a"]
    gate.shut = False
    world.run(until=604)
    assert world.node_of(pod) is not None


def test_a_pod_that_is_held_when_it_comes_back_has_not_been_tried():
    world = World(Gate, cpu="500m")
    gate = gate_of(world)
    gate.shut = False
    pod = waiting("a")
    world.add(pod).run()
    handle = world.scheduler.state.entry(pod.metadata.uid).handle
    assert (world.pool_of(pod), world.scheduler.engine.attempts(handle)) == ("unschedulable", 1)
    gate.shut = True
    world.run(until=310)
    assert (world.pool_of(pod), world.scheduler.engine.attempts(handle)) == ("gated", 1)
    gate.shut = False
    world.cluster.apply([make_node("n9").capacity(cpu="8", pods="99").build()])
    world.run(until=320)
    assert world.node_of(pod) == "n9"


def test_released_pods_keep_their_place_in_line():
    world = World(nodes=())
    first = make_pod("first").request(cpu="8").gate("g").build()
    second = make_pod("second").request(cpu="8").build()
    world.add(first).run(until=5)
    world.add(second)
    open_first = make_pod("first").request(cpu="8").build()
    world.add(open_first)
    world.cluster.apply([make_node("n1").capacity(cpu="8", pods="99").build()])
    world.run(until=6)
    assert (world.node_of(first), world.node_of(second)) == ("n1", None)


@pytest.mark.parametrize("how", ["bound", "deleted"])
def test_a_held_pod_that_somebody_else_binds_or_that_goes_is_held_no_longer(how):
    world = World(Gate)
    pod = waiting("a")
    world.add(pod).run()
    if how == "bound":
        bound = make_pod("a").request(cpu="1").labels({"wait": "Gate"}).node("n1").build()
        world.scheduler.step([Applied(bound)], world.cluster.now())
        assert world.node_of(pod) == "n1"
        assert world.scheduler.engine.totals()["cpu"][1] == 1000
    else:
        world.remove(pod)
        world.run()
        assert world.scheduler.state.entry(pod.metadata.uid) is None
    assert counts(world)["gated"] == 0
    assert not world.scheduler.state.gates.held
    assert world.scheduler.next_due() is None


def test_a_gated_member_joins_its_gang_when_it_is_free():
    world = World()
    gang = {"gang.example.com/name": "g"}

    def member(name):
        return make_pod(name).request(cpu="1").labels(gang).annotation("gang.example.com/min-available", "2")

    held, free = member("held").gate("example.com/later").build(), member("free").build()
    world.add(held, free).run()
    assert (world.pool_of(held), world.node_of(free)) == ("gated", None)
    world.add(member("held").build()).run()
    assert world.node_of(held) is not None
    assert world.node_of(free) is not None
    assert counts(world)["gated"] == 0
