"""Gangs of which some members are on nodes: what is said of those that are not, and of those that went."""

import pytest
from podium.scheduler.explain import explain
from podium.scheduler.gangs.report import reports

from tests.scheduler.gangs.test_completing import running
from tests.scheduler.gangs.test_domains import QUIET
from tests.scheduler.gangs.world import World, gang, node


@pytest.mark.parametrize("plugins", [[], [QUIET]], ids=["native", "python"])
def test_those_that_have_nodes_are_told_from_those_that_fit(plugins):
    pods = gang("g", 5)
    world = World(node("n", gpu="4"), plugins=plugins).apply(*running(pods[:3]), *pods[3:]).settle()
    # The one that fits is kept.
    assert world.bound("g") == ["g-0", "g-1", "g-2", "g-3"]
    said = world.message("g-4")
    start = "gang default/g: 3 of 5 members have nodes, 1 of 2 missing ones fit, g-4 does not: "
    assert said.startswith(start)
    turn = explain(world.scheduler, "pod-default-g-4").gang
    assert (turn.min, turn.placeable, turn.missing) == (5, 4, 0)
    assert turn.message.startswith("gang default/g: 4 of 5 members have nodes, 0 of 1 missing ones fit, g-4")


def test_a_gang_that_runs_with_fewer_than_its_minimum_is_not_called_bound():
    pods = gang("g", 3)
    world = World(node("n", gpu="4")).apply(*pods).settle()
    world.remove(pods[0]).settle()
    (told,) = reports(world.scheduler.gangs)
    assert (told.state, told.bound, told.missing, told.message) == ("Gated", 2, 1, "2 of 3 members exist")
    world.apply(pods[0]).settle()
    (told,) = reports(world.scheduler.gangs)
    assert (told.state, told.bound, told.missing, told.message) == ("Bound", 3, 0, "")


def test_of_a_surplus_that_waits_the_minimum_is_placeable():
    world = World(node("n", gpu="2")).apply(*gang("g", 3, 2)).settle()
    turn = explain(world.scheduler, "pod-default-g-2").gang
    assert (turn.min, turn.placeable, turn.state) == (2, 2, "Bound")


@pytest.mark.parametrize(
    ("gpu", "there", "most"),
    [pytest.param("4", 2, 10, id="lacks members"), pytest.param("2", 3, 31, id="some do not fit")],
)
def test_a_partial_gang_rests_when_a_binding_fails(gpu, there, most):
    tries = []
    world = World(node("n", gpu=gpu), bind_fails=lambda uid, _: tries.append(uid) or "no luck")
    pods = gang("g", 3)
    world.apply(*running(pods[:1]), *pods[1:there])
    for _ in range(200):
        world.step()
        world.cluster.advance(world.cluster.now() + 1)
    assert len(tries) == 1, "it rests"
    world.until(30)
    assert 3 <= len(tries) <= most
