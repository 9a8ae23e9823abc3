"""Gangs of different members that Python plugins concern: an arrangement is found where there is one."""

import random

import numpy as np
import pytest
from msgspec.structs import replace
from podium.framework import Status
from podium.scheduler.explain import explain

from tests.scheduler.gangs.world import GPU, World, gang, member, node
from tests.scheduler.world import plugin

#: Annotation with the nodes that a member may go to.
NODES = "nodes"


def only(pod, *nodes):
    annotations = {**pod.metadata.annotations, NODES: " ".join(nodes)}
    return replace(pod, metadata=replace(pod.metadata, annotations=annotations))


def allowed(pod, names):
    listed = pod.metadata.annotations.get(NODES)
    return np.array([listed is None or name in listed.split() for name in names], np.bool_)


def _by_annotation(self, state, pod, nodes):
    return allowed(pod, nodes.names)


#: Lets members go where their annotation says.
LISTED = plugin("Listed", None, points=("filter",), filter=_by_annotation)


class Most:
    """Remembers in Reserve who is where; a node takes so many members of gangs at most."""

    def __init__(self, most=1):
        self.on = {}
        self.plugin = plugin(
            "Most",
            None,
            points=("filter", "reserve", "unreserve"),
            filter=lambda _, state, pod, nodes: (
                np.array([self.count(name) < most for name in nodes.names], np.bool_)
                & allowed(pod, nodes.names)
            ),
            reserve=lambda _, state, pod, name: self.on.update({pod.metadata.uid: name}),
            unreserve=lambda _, state, pod, name: self.on.pop(pod.metadata.uid, None),
        )

    def count(self, name):
        return sum(at == name for at in self.on.values())


def places(world):
    return {pod.metadata.name: pod.spec.node_name for pod in world.cluster.pods() if pod.spec.node_name}


def test_a_mixed_gang_is_found_where_its_order_fails():
    # g-0 goes anywhere and prefers the emptier node, which is the only one for g-1.
    pods = [member("g", 0, 2, gpu="1"), only(member("g", 1, 2, gpu="3"), "b")]
    world = World(node("a", gpu="1", cpu="2"), node("b", gpu="3"), plugins=[LISTED])
    world.apply(*pods).settle()
    assert places(world) == {"g-0": "a", "g-1": "b"}


def test_what_a_plugin_remembers_of_members_placed_before_is_asked_again():
    most = Most(1)
    # By amounts all fit on one node.
    pods = [only(member("g", at, 3), *nodes) for at, nodes in enumerate(["abc", "ab", "a"])]
    world = World(node("a"), node("b"), node("c"), plugins=[most.plugin]).apply(*pods).settle()
    assert places(world) == {"g-0": "c", "g-1": "b", "g-2": "a"}
    assert sorted(most.on.values()) == ["a", "b", "c"]


def test_nothing_is_kept_where_no_arrangement_stands():
    most = Most(1)
    pods = [only(member("g", at, 3), "a", "b") for at in range(3)]
    world = World(node("a"), node("b"), node("c"), plugins=[most.plugin]).apply(*pods).settle()
    assert (places(world), most.on) == ({}, {})
    assert "2 of 3 members fit, g-2 does not" in world.message("g-0")
    assert world.scheduler.engine.columns().pod_count().sum() == 0


def test_a_member_that_comes_too_early_is_tried_again():
    """The plugin lets others go only where the first member is, which comes last."""
    on = {}
    follows = plugin(
        "Follows",
        None,
        points=("filter", "reserve", "unreserve"),
        filter=lambda _, state, pod, nodes: np.array(
            [pod.metadata.name == "g-2" or name in on.values() for name in nodes.names], np.bool_
        ),
        reserve=lambda _, state, pod, name: on.update({pod.metadata.uid: name}),
        unreserve=lambda _, state, pod, name: on.pop(pod.metadata.uid, None),
    )
    pods = [member("g", at, 3, cpu=cpu) for at, cpu in enumerate("112")]
    world = World(node("a"), node("b"), plugins=[follows]).apply(*pods).settle()
    assert len(set(places(world).values())) == 1
    assert len(places(world)) == 3


def test_a_plugin_that_fails_ends_the_attempt_as_an_error():
    def boom(_, state, pod, nodes):
        raise RuntimeError("no answer")

    broken = plugin("Broken", None, points=("filter",), filter=boom)
    world = World(node("a"), plugins=[broken]).apply(*gang("g", 2)).settle()
    assert (places(world), world.state("g")) == ({}, "Backoff")
    assert "no answer" in world.message("g-0")


def exists(pods, free, most, on=()):
    """Whether all pods find nodes, by trying everything."""
    if not pods:
        return True
    first, rest = pods[0], pods[1:]
    asks = {key: int(amount) for key, amount in first.spec.containers[0].resources.requests.items()}
    for name, amounts in free.items():
        if not allowed(first, [name])[0] or on.count(name) >= most:
            continue
        if any(amounts[key] < ask for key, ask in asks.items()):
            continue
        for key, ask in asks.items():
            amounts[key] -= ask
        found = exists(rest, free, most, (*on, name))
        for key, ask in asks.items():
            amounts[key] += ask
        if found:
            return True
    return False


@pytest.mark.parametrize("seed", range(60))
def test_found_exactly_where_there_is_one(seed):
    chance = random.Random(seed)
    names = "abcd"[: chance.randint(2, 4)]
    free = {name: {GPU: chance.randint(1, 4), "cpu": chance.randint(1, 6)} for name in names}
    machines = [node(name, gpu=str(of[GPU]), cpu=str(of["cpu"])) for name, of in free.items()]
    most = chance.choice([1, 2, 9])
    size = chance.randint(2, 5)
    pods = []
    for number in range(size):
        gpu, cpu = str(chance.randint(0, 2)), str(chance.randint(1, 3))
        listed = chance.sample(names, chance.randint(1, len(names)))
        pods.append(only(member("g", number, size, gpu=gpu, cpu=cpu), *listed))
    rule = Most(most)
    world = World(*machines, plugins=[rule.plugin]).apply(*pods).settle()
    expected = exists(pods, free, most)
    assert len(places(world)) == (size if expected else 0)
    assert len(rule.on) == len(places(world))


def test_victims_leave_for_it_and_only_where_its_plugins_let_it_go():
    lone = [only(pod, "a") for number in range(2) for pod in gang(f"lone{number}x", 1, priority=-1)]
    world = World(node("a", gpu="2"), node("b", gpu="2"), plugins=[LISTED])
    others = [only(pod, "b") for number in range(2) for pod in gang(f"other{number}x", 1, priority=-2)]
    world.apply(*lone, *others).settle()
    assert len(places(world)) == 4
    # By priority those on b would go first, but the gang may not go there.
    world.apply(*(only(pod, "a") for pod in gang("high", 2, priority=100))).until(30)
    assert {places(world)[f"high-{at}"] for at in range(2)} == {"a"}
    assert sorted(each.victim.metadata.name for each in world.cluster.evicted) == ["lone0x-0", "lone1x-0"]


def test_whole_gangs_leave_or_their_surplus():
    world = World(node("a", gpu="4"), plugins=[LISTED]).apply(*gang("low", 4, 2)).until(5)
    assert len(places(world)) == 4
    world.apply(*gang("high", 2, priority=100)).until(30)
    assert (len(world.bound("high")), len(world.bound("low"))) == (2, 2)
    world.apply(*gang("urgent", 1, priority=200)).until(60)
    assert len(world.bound("urgent")) == 1
    assert len(world.bound("low")) + len(world.bound("high")) == 2


def test_nobody_leaves_for_a_gang_that_its_plugins_let_nowhere():
    most = Most(1)
    world = World(node("a", gpu="2"), node("b", gpu="2"), plugins=[most.plugin])
    world.apply(*gang("low", 2, 1)).until(5)
    assert len(places(world)) == 2
    # On the emptied nodes three of them fit by amounts, but the plugin takes one on each.
    world.apply(*gang("high", 3, priority=100)).until(30)
    assert (world.cluster.evicted, len(world.bound("low"))) == ([], 2)


def test_victims_that_wait_in_permit_lose_their_places_and_are_not_deleted():
    waits = plugin(
        "Waits",
        None,
        points=("permit",),
        permit=lambda _, state, pod, name: Status.wait(500) if pod.metadata.name.startswith("low") else None,
    )
    world = World(node("a", gpu="2"), plugins=[waits]).apply(*gang("low", 2)).settle()
    assert len(world.scheduler.binder.waiting) == 2
    world.apply(*gang("high", 2, priority=100)).until(30)
    assert len(world.bound("high")) == 2
    assert world.cluster.evicted == []
    assert world.message("low-0")


def test_explain_counts_what_plugins_leave_to_members():
    world = World(node("a"), node("b", gpu="1"), plugins=[LISTED])
    world.apply(*(only(pod, "b") for pod in gang("g", 3)), *(only(pod, "none") for pod in gang("h", 2))).step(
        0
    )
    found = explain(world.scheduler, "pod-default-g-0").gang
    assert (found.placeable, found.nearest, found.position) == (1, "needs 2 more example.com/gpu", 1)
    found = explain(world.scheduler, "pod-default-h-0").gang
    assert (found.placeable, found.nearest, found.position) == (0, "", 2)
    assert found.message.endswith(
        "h-0 does not: 0/2 nodes are available: 2 node(s) were refused by other plugins."
    )
