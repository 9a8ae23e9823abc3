"""Members that scheduling gates hold: their gang names them, and begins when they are let go."""

from msgspec.structs import replace
from podium.api.objects.pod import SchedulingGate
from podium.framework import Status
from podium.scheduler.explain import explain
from podium.scheduler.gangs.report import reports

from tests.scheduler.gangs.world import WAYS, World, declared, gang, node
from tests.scheduler.world import plugin


def gated(pod, *gates):
    held = [SchedulingGate(name=name) for name in gates]
    return replace(pod, spec=replace(pod.spec, scheduling_gates=held))


def told(world):
    return [(each.name, each.missing, each.state, each.message) for each in reports(world.scheduler.gangs)]


def test_a_member_with_a_gate_is_named_and_known():
    for way in WAYS:
        objects, pods = declared(way, "g", 4, 4)
        world = World(node("n", gpu="8")).apply(
            *objects, *pods[:2], gated(pods[2], "x.io/quota", "x.io/more")
        )
        world.settle()
        gates = "waiting for scheduling gates: [x.io/quota x.io/more]"
        why = f"2 of 4 members exist, beside 1 that is held: g-2 ({gates})"
        assert told(world) == [("default/g", 1, "Gated", why)]
        assert world.message("g-0") == f"gang default/g: {why}"
        turn = explain(world.scheduler, "pod-default-g-0").gang
        assert (turn.message, turn.missing) == (why, 1)
        world.apply(gated(pods[2], "x.io/more")).settle()
        assert world.message("g-0").endswith("g-2 (waiting for scheduling gates: [x.io/more])")
        world.apply(pods[2]).settle()
        assert world.message("g-0") == "gang default/g: 3 of 4 members exist"
        world.apply(pods[3]).settle()
        assert world.bound("g") == ["g-0", "g-1", "g-2", "g-3"]
        assert told(world) == [("default/g", 0, "Bound", "")]


def test_a_gang_of_which_all_are_held_is_reported():
    for way in WAYS:
        objects, pods = declared(way, "g", 3, 3)
        world = World(node("n", gpu="8")).apply(*objects, *(gated(pod, "x.io/q") for pod in pods)).settle()
        held = ", ".join(f"g-{number} (waiting for scheduling gates: [x.io/q])" for number in range(3))
        assert told(world) == [
            ("default/g", 0, "Gated", f"0 of 3 members exist, beside 3 that are held: {held}")
        ]
        world.apply(*pods).settle()
        assert told(world) == [("default/g", 0, "Bound", "")]


def test_one_that_goes_is_named_no_more():
    pods = gang("g", 2)
    held = gated(pods[1], "x.io/q")
    world = World(node("n")).apply(pods[0], held).settle()
    assert "g-1" in world.message("g-0")
    world.remove(held).settle()
    assert world.message("g-0") == "gang default/g: 1 of 2 members exist"
    assert not world.scheduler.gangs.book.held_back


def test_one_that_changes_its_gang_is_named_by_the_other():
    pods, others = gang("g", 2), gang("h", 2)
    held = gated(pods[1], "x.io/q")
    world = World(node("n")).apply(pods[0], others[0], held).settle()
    labels = replace(held.metadata, labels=others[0].metadata.labels)
    world.apply(replace(held, metadata=labels)).settle()
    assert world.message("g-0") == "gang default/g: 1 of 2 members exist"
    assert "beside 1 that is held: g-1" in world.message("h-0")


def test_one_that_a_plugin_holds_is_named_too():
    holds = plugin(
        "Holds",
        [],
        points=("pre_enqueue",),
        pre_enqueue=lambda _, pod: Status.unschedulable("no quota") if pod.metadata.name == "g-1" else None,
    )
    pods = gang("g", 2)
    world = World(node("n"), plugins=[holds]).apply(*pods).settle()
    assert (
        world.message("g-0") == "gang default/g: 1 of 2 members exist, beside 1 that is held: g-1 (no quota)"
    )


def test_one_beyond_the_minimum_is_tried_when_it_is_let_go():
    pods = gang("g", 3, 2)
    world = World(node("n", gpu="8")).apply(*pods[:2], gated(pods[2], "x.io/q")).settle()
    assert world.bound("g") == ["g-0", "g-1"]
    world.apply(pods[2]).settle()
    assert world.bound("g") == ["g-0", "g-1", "g-2"]
