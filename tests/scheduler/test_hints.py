"""Queueing hints of Python plugins, pops from backoff when nothing else is there, and the 5-minute flush."""

import numpy as np
import pytest
from podium.framework import Action, ClusterEvent, EventRegistration, FilterResult, Hint, Resource
from podium.testing import make_node, make_pod

from tests.scheduler.world import World, plugin

NODE_ADDED = ClusterEvent(Resource.NODE, Action.ADD)


def keyed(asked, event=NODE_ADDED, hint=None):
    """Make a plugin that accepts nodes whose label ``key`` is the pod's; its hint looks at the new node."""

    def says(pod, old, new):
        asked.append((pod.metadata.name, old, new.metadata.name))
        return Hint.QUEUE if new.metadata.labels.get("key") == pod.metadata.labels["key"] else Hint.SKIP

    def filter_(self, state, pod, nodes):
        return FilterResult(nodes.labels("key") == pod.metadata.labels["key"], ("no key",))

    made = plugin("Keyed", None, points=("filter",), filter=filter_)
    made.events_to_register = lambda self: [EventRegistration(event, hint or says)]
    return made


def key(name, value):
    return make_pod(name).labels({"key": value}).build()


def node(name, value):
    return make_node(name).capacity(cpu="8", pods="99").labels({"key": value}).build()


def test_only_pods_that_a_hint_lets_through_come_back():
    asked = []
    world = World(keyed(asked))
    world.add(key("a1", "a"), key("a2", "a"), key("b1", "b"), key("c1", "c")).run()
    tries = world.scheduler.tries
    world.cluster.apply([node("n3", "a")])
    world.run(20)
    assert [end[1] for end in world.log.ends] == ["a1", "a2"]
    assert world.scheduler.tries == tries + 2
    assert world.pool_of(key("b1", "b")) == "unschedulable"


def test_a_hint_is_asked_once_for_pods_that_are_alike():
    asked = []
    world = World(keyed(asked))
    world.add(*[key(f"p{at}", "ab"[at % 2]) for at in range(200)]).run()
    world.cluster.apply([node("n3", "z")])
    world.step()
    assert [(old, new) for _, old, new in asked] == [(None, "n3")] * 2
    assert {name[-1] in "02468" for name, _, _ in asked} == {True, False}


def test_a_hint_that_raises_lets_the_pod_through():
    def boom(pod, old, new):
        raise KeyError("key")

    world = World(keyed([], hint=boom))
    world.add(key("a1", "a")).run()
    world.cluster.apply([node("n3", "a")])
    world.run(20)
    assert [end[1] for end in world.log.ends] == ["a1"]


def test_a_hint_hears_of_pods_that_leave():
    heard = []

    def hint(pod, old, new):
        heard.append((old.metadata.name, new))
        return Hint.SKIP

    made = keyed([], ClusterEvent(Resource.ASSIGNED_POD, Action.DELETE), hint)
    made.filter = lambda self, state, pod, nodes: np.full(len(nodes), "key" not in pod.metadata.labels)
    world = World(made)
    runs = make_pod("runs").build()
    world.add(runs, key("a1", "a")).run()
    world.remove(runs)
    world.run(60)
    assert heard == [("runs", None)]
    assert world.pool_of(key("a1", "a")) == "unschedulable"


def test_an_event_that_is_not_registered_changes_nothing():
    asked = []
    world = World(keyed(asked, ClusterEvent(Resource.NODE, Action.UPDATE_NODE_LABEL)))
    world.add(key("a1", "a")).run()
    world.cluster.apply([node("n3", "a")])
    world.run(60)
    assert not asked
    assert world.pool_of(key("a1", "a")) == "unschedulable"
    world.cluster.apply([node("n1", "a")])
    world.run(61)
    assert [end[1] for end in world.log.ends] == ["a1"]


@pytest.mark.parametrize(("until", "tries"), [(299, 1), (302, 2), (602, 3)])
def test_parked_pods_are_tried_again_after_five_minutes(until, tries):
    world = World(keyed([]))
    world.add(key("a1", "a")).run(until)
    assert world.scheduler.tries == tries


def test_pods_in_backoff_are_tried_when_nothing_else_is_there():
    world = World(keyed([]))
    world.add(key("a1", "a")).run()
    world.cluster.apply([node("n3", "a")])
    world.step()
    assert world.cluster.now() == 0
    assert world.node_of(key("a1", "a")) == "n3"
