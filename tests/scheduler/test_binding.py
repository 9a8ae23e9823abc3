"""The binding cycle as a gang component uses it: hold, allow, reject, time out, hear of the end."""

import numpy as np
import pytest
from podium.api import Pod
from podium.cluster.port import Removed
from podium.cluster.simulated import SECOND, Latency, SimulatedCluster
from podium.framework.config import default_config
from podium.scheduler.assumed import Assumed
from podium.scheduler.loop import Scheduler
from podium.scheduler.observer import Observer
from podium.testing import make_node, make_pod


class Listener(Observer):
    def __init__(self):
        self.told = []

    def bound(self, entries):
        self.told += [("bound", entry.pod.metadata.name, entry.node) for entry in entries]

    def rolled_back(self, entry, node, why):
        self.told.append(("rolled back", entry.pod.metadata.name, why.message))


class World:
    def __init__(self, latency=None, bind_fails=None):
        self.cluster = SimulatedCluster(latency, bind_fails)
        self.scheduler = Scheduler(default_config())
        self.listener = Listener()
        self.scheduler.follow(self.listener)
        self.cluster.apply([make_node("n1").capacity(cpu="8", pods="10").build()])
        self.step(0)

    def step(self, limit=None):
        scheduler, cluster = self.scheduler, self.cluster
        actions = scheduler.step(cluster.events(), cluster.now(), limit)
        cluster.perform(actions)
        return actions

    def hold(self, name, seconds):
        """Do what a component does that places pods by itself."""
        pod = make_pod(name).build()
        self.cluster.apply([pod])
        self.step(0)
        engine, entry = self.scheduler.engine, self.scheduler.state.entry(pod.metadata.uid)
        assert engine.pop() == entry.handle
        assert engine.assume(entry.handle, engine.row("n1")) is None
        actions = []
        self.scheduler.binder.begin(Assumed(entry, "n1"), self.cluster.now(), actions, {"Gang": seconds})
        self.cluster.perform(actions)
        return entry

    def at(self, seconds):
        self.cluster.advance(round(seconds * SECOND))
        self.step()
        self.step(0)


def test_an_allowed_pod_is_bound():
    world = World()
    entry = world.hold("a", 60)
    assert world.scheduler.next_retry() == 60 * SECOND
    world.at(59)
    assert world.listener.told == []
    world.scheduler.binder.waiting.get(entry.pod.metadata.uid).allow("Gang")
    world.at(59)
    assert world.listener.told == [("bound", "a", "n1")]
    assert world.scheduler.next_retry() is None
    assert world.scheduler.engine.pool(entry.handle) is None


@pytest.mark.parametrize("seconds", [0, 1, 60, 3600])
def test_time_runs_out(seconds):
    world = World()
    entry = world.hold("a", seconds)
    assert world.scheduler.next_retry() == seconds * SECOND
    if seconds:
        world.at(seconds - 0.001)
        assert world.listener.told == []
    world.cluster.advance(seconds * SECOND)
    world.step(0)
    text = {0: "0s", 1: "1s", 60: "1m0s", 3600: "1h0m0s"}[seconds]
    reason = f"0/1 nodes are available: 1 rejected due to timeout after waiting {text} at plugin Gang."
    assert world.listener.told == [("rolled back", "a", reason)]
    assert entry.message == reason
    assert entry.node is None
    assert entry.epoch == 1
    assert world.scheduler.engine.rows_of(np.array([entry.handle], np.uint32))[0] == -1


def test_whoever_comes_first_decides():
    world = World()
    first, second = world.hold("a", 60), world.hold("b", 60)
    waiting = world.scheduler.binder.waiting
    held = [waiting.get(entry.pod.metadata.uid) for entry in (first, second)]
    held[0].allow("Gang")
    assert held[0].reject("Gang", "too late") is False
    assert held[1].reject("Gang", "no") is True
    held[1].allow("Gang")
    assert list(waiting) == []
    # Both were decided before their time was over, so time has no say.
    world.cluster.advance(60 * SECOND)
    world.step(0)
    world.step(0)
    assert world.listener.told == [
        ("rolled back", "b", "0/1 nodes are available: 1 no."),
        ("bound", "a", "n1"),
    ]


def test_a_pod_that_goes_leaves_nothing_behind():
    world = World()
    entry = world.hold("a", 60)
    held = world.scheduler.binder.waiting.get(entry.pod.metadata.uid)
    world.cluster.schedule(0, Removed(entry.pod))
    world.cluster.advance(0)
    world.step()
    assert world.listener.told == [("rolled back", "a", "the pod is gone")]
    assert held.reject("Gang", "no") is False
    assert world.scheduler.next_retry() is None
    assert world.scheduler.engine.totals()["cpu"][1] == 0


def test_a_refused_binding_is_rolled_back_and_tried_again():
    refusals = iter(["the node is gone", ""])
    world = World(bind_fails=lambda uid, node: next(refusals))
    pod = make_pod("a").build()
    world.cluster.apply([pod])
    world.step()
    world.at(0)
    assert world.listener.told == [("rolled back", "a", "the node is gone")]
    entry = world.scheduler.state.entry(pod.metadata.uid)
    assert (entry.node, entry.message) == (None, "the node is gone")
    world.at(3)
    assert world.listener.told[1:] == [("bound", "a", "n1")]


def test_waiting_pods_take_no_place_among_the_bindings():
    world = World(Latency(bind=SECOND))
    entry = world.hold("a", 60)
    binder = world.scheduler.binder
    assert binder.in_flight == 0
    binder.waiting.get(entry.pod.metadata.uid).allow("Gang")
    world.step()
    assert binder.in_flight == 1
    world.at(1)
    assert binder.in_flight == 0


def test_holding_counts_for_the_snapshot():
    world = World()
    world.hold("a", 60)
    assert isinstance(next(iter(world.scheduler.binder.waiting)).pod, Pod)
    assert world.scheduler.engine.queue_counts()["in_flight"] == 1
