"""Gangs that must be together: which domain came nearest, and what it lacks."""

import pytest
from msgspec.structs import replace
from podium.api import Taint
from podium.scheduler.explain import explain

from tests.scheduler.gangs.test_arranging import LISTED, only
from tests.scheduler.gangs.world import World, gang, member, node
from tests.scheduler.world import plugin

QUIET = plugin("Quiet", None, points=("filter",))


def together(pods, key="rack", how="required"):
    def annotated(pod):
        annotations = {**pod.metadata.annotations, f"podium.dev/topology-{how}": key}
        return replace(pod, metadata=replace(pod.metadata, annotations=annotations))

    return [annotated(pod) for pod in pods]


#: Two free GPUs in r1 and three in r2, where one node is one short; elsewhere is more than enough.
RACKS = [
    node("a0", gpu="1", rack="r1"),
    node("a1", gpu="1", rack="r1"),
    node("b0", gpu="2", rack="r2"),
    node("b1", gpu="1", rack="r2"),
    node("c0", gpu="1", rack="r3"),
    node("z", gpu="64"),
]

LACKS = (
    "gang default/g: 3 of 4 members fit together in rack=r2, the best of 3 domains, g-3 does not: "
    "0/2 nodes are available: 2 Insufficient example.com/gpu."
)


def test_the_domain_that_came_nearest_speaks():
    world = World(*RACKS).apply(*together(gang("g", 4))).settle()
    assert world.message("g-3") == f"{LACKS} It needs 1 more example.com/gpu."
    assert world.group("g").message == world.message("g-0")
    found = explain(world.scheduler, "pod-default-g-0").gang
    assert (found.message, found.placeable) == (world.message("g-0"), 3)
    assert found.nearest == "needs 1 more example.com/gpu"
    events = [each.note for each in world.cluster.emitted if each.reason == "FailedScheduling"]
    assert events[0] == world.message("g-0")


def test_the_domain_is_named_for_members_that_plugins_concern():
    world = World(*RACKS, plugins=[QUIET]).apply(*together(gang("g", 4))).settle()
    assert world.message("g-3") == LACKS


def test_most_members_count_and_not_most_amounts():
    """Four GPUs in pieces hold no member of two, where two in one place hold one."""
    pieces = [node(f"p{at}", gpu="1", rack="pieces") for at in range(4)]
    world = World(*pieces, node("w", gpu="3", rack="whole"))
    world.apply(*together(gang("g", 2, gpu="2"))).settle()
    assert "1 of 2 members fit together in rack=whole, the best of 2 domains" in world.message("g-0")
    assert "0/1 nodes are available: 1 Insufficient" in world.message("g-0")
    assert "It needs 1 more example.com/gpu" in world.message("g-0")


def test_nodes_that_plugins_refuse_are_counted_where_the_members_would_be():
    world = World(node("a", rack="r1"), node("b", rack="r1"), node("c"), plugins=[LISTED])
    world.apply(*together([only(pod, "a", "c") for pod in gang("g", 6)])).step(0)
    found = explain(world.scheduler, "pod-default-g-0").gang
    assert found.message.endswith(
        "4 of 6 members fit together in rack=r1, g-4 does not: 0/2 nodes are available: "
        "1 Insufficient example.com/gpu, 1 node(s) were refused by other plugins. "
        "It needs 2 more example.com/gpu."
    )


def test_a_preferred_domain_is_not_named_where_the_members_may_be_anywhere():
    world = World(*RACKS[:5]).apply(*together(gang("g", 9), how="preferred")).settle()
    assert world.message("g-0").startswith("gang default/g: 6 of 9 members fit, g-6 does not: 0/5 nodes")


@pytest.mark.parametrize("plugins", [[], [QUIET]], ids=["native", "python"])
def test_what_helps_another_domain_brings_the_gang_back(plugins):
    """r1 lacks GPUs and is nearest; r2 is tainted: without the taint it has room."""
    tainted = [_tainted(node(f"b{at}", gpu="2", rack="r2")) for at in range(2)]
    world = World(node("a", gpu="3", rack="r1"), *tainted, plugins=plugins)
    world.apply(*together(gang("g", 4))).until(20)
    assert "together in rack=r1" in world.message("g-0")
    world.apply(node("b0", gpu="2", rack="r2"), node("b1", gpu="2", rack="r2")).until(40)
    assert len(world.bound("g")) == 4


def _tainted(item):
    return replace(item, spec=replace(item.spec, taints=[Taint(key="key", effect="NoSchedule")]))


@pytest.mark.parametrize("plugins", [[], [QUIET]], ids=["native", "python"])
def test_the_domain_that_members_fill_most_is_taken(plugins):
    """Three small nodes have more room together than one that the gang fills."""
    wide = [node(f"w{at}", gpu="3", rack="wide") for at in range(3)]
    tight = [node(f"t{at}", gpu="1", rack="tight") for at in range(4)]
    world = World(*tight, *wide, plugins=plugins).apply(*together(gang("g", 4))).settle()
    on = {pod.spec.node_name[0] for pod in world.cluster.pods()}
    assert on == {"t"}


def test_members_of_several_shapes_are_told_of_the_domain_too():
    pods = [member("g", 0, 2, gpu="1"), member("g", 1, 2, gpu="4")]
    world = World(node("a", gpu="3", rack="r1"), node("b", gpu="2", rack="r2"))
    world.apply(*together(pods)).settle()
    assert "1 of 2 members fit together in rack=r1, the best of 2 domains, g-1" in world.message("g-0")


def racks_of(world):
    return {
        world.nodes[p.spec.node_name].metadata.labels["rack"]
        for p in world.cluster.pods()
        if p.spec.node_name
    }


@pytest.mark.parametrize("plugins", [[], [QUIET]], ids=["native", "python"])
def test_members_beyond_the_minimum_go_where_the_others_are(plugins):
    racks = [node("a", gpu="2", rack="r1"), node("b", gpu="3", rack="r2"), node("c", gpu="3", rack="r3")]
    world = World(*racks, plugins=plugins).apply(*together(gang("g", 4, 2))).settle()
    assert (racks_of(world), len(world.bound("g"))) == ({"r1"}, 2)
    assert "outside of rack=r1, where the gang is" in world.message("g-3") or plugins
    assert not world.cluster.evicted
    # What is free there is for them, at once.
    world.apply(node("a2", gpu="1", rack="r1")).until(30)
    assert (racks_of(world), len(world.bound("g"))) == ({"r1"}, 3)


@pytest.mark.parametrize("plugins", [[], [QUIET]], ids=["native", "python"])
def test_members_beyond_the_minimum_would_rather_be_where_the_others_are(plugins):
    racks = [node("a", gpu="3", rack="r1"), node("b", gpu="9", rack="r2")]
    world = World(*racks, plugins=plugins).apply(*together(gang("g", 3, 2), how="preferred")).settle()
    assert racks_of(world) == {"r1"}
    world = World(*racks, plugins=plugins).apply(*together(gang("g", 4, 2), how="preferred")).settle()
    assert (racks_of(world), len(world.bound("g"))) == ({"r1", "r2"}, 4)
