"""However a gang is declared, it behaves the same; its status is in its own terms."""

import pytest
from msgspec.structs import replace
from podium.api.gangs import ROLE_ANNOTATION

from tests.scheduler.gangs.world import WAYS, World, declared, node


@pytest.mark.parametrize("way", WAYS)
def test_all_or_nothing(way):
    objects, pods = declared(way, "g", 4, 4)
    world = World(node("a", gpu="3")).apply(*objects, *pods).settle()
    assert world.bound() == []
    assert world.state("g") == "Queued"
    assert "Insufficient example.com/gpu" in world.message("g-0")
    assert "1 more example.com/gpu" in world.message("g-0")
    world.apply(node("b", gpu="1")).until(20)
    assert len(world.bound("g")) == 4
    assert world.state("g") == "Bound"


@pytest.mark.parametrize("way", WAYS)
def test_fewer_members_than_the_minimum_hold_nothing(way):
    objects, pods = declared(way, "g", 4, 4)
    world = World(node("a", gpu="8")).apply(*objects, *pods[:3]).settle()
    assert (world.bound(), world.state("g")) == ([], "Gated")
    assert "3 of 4 members exist" in world.message("g-0")
    world.apply(pods[3]).settle()
    assert len(world.bound("g")) == 4


@pytest.mark.parametrize("way", WAYS)
def test_surplus_members_take_what_is_left(way):
    objects, pods = declared(way, "g", 5, 3)
    others, rivals = declared(way, "h", 3, 3)
    world = World(node("a", gpu="7")).apply(*objects, *pods, *others, *rivals).settle()
    assert (len(world.bound("g")), len(world.bound("h"))) == (4, 3)


def status(world, name):
    return world.cluster.group_status[f"group-{name}"]


def test_status_of_a_pod_group():
    objects, pods = declared("scheduling.k8s.io", "g", 2, 2)
    world = World(node("a", gpu="1")).apply(*objects, *pods).settle()
    condition = status(world, "g")["conditions"][0]
    assert (condition["type"], condition["status"]) == ("PodGroupInitiallyScheduled", "False")
    assert condition["reason"] == "Unschedulable"
    assert "example.com/gpu" in condition["message"]
    world.apply(node("b", gpu="1")).until(20)
    assert status(world, "g")["conditions"][0]["status"] == "True"


def test_status_of_a_coscheduling_group():
    objects, pods = declared("coscheduling", "g", 2, 2)
    world = World(node("a", gpu="1")).apply(*objects, *pods).settle()
    assert status(world, "g")["phase"] == "Pending"
    world.apply(node("b", gpu="1")).until(20)
    assert status(world, "g") == {"phase": "Running", "running": 2, "succeeded": 0, "failed": 0}


def test_status_of_a_volcano_group():
    objects, pods = declared("volcano", "g", 2, 2)
    world = World(node("a", gpu="1")).apply(*objects, pods[0]).settle()
    assert status(world, "g")["phase"] == "Pending"
    assert status(world, "g")["conditions"][0]["reason"] == "NotEnoughTasks"
    world.apply(pods[1]).settle()
    assert status(world, "g")["phase"] == "Inqueue"
    assert status(world, "g")["conditions"][0]["reason"] == "NotEnoughResources"
    world.apply(node("b", gpu="1")).until(20)
    assert status(world, "g")["phase"] == "Running"
    assert status(world, "g")["conditions"][0]["type"] == "Scheduled"


def test_members_must_agree_on_their_priority():
    pods = declared("label", "g", 2, 2)[1]
    pods[1] = _with_priority(pods[1], 5)
    world = World(node("a")).apply(*pods).settle()
    assert world.bound() == []
    assert "different priorities: 0, 5" in world.message("g-0")
    assert any(event.reason == "GangRefused" for event in world.cluster.emitted)


def test_a_minimum_that_is_no_number_is_refused():
    pods = declared("label", "g", 2, 2)[1]
    pods = [_with_minimum(pod, "many") for pod in pods]
    world = World(node("a")).apply(*pods).settle()
    assert world.bound() == []
    assert "'many' is no number" in world.message("g-1")


def test_a_pod_group_that_does_not_exist_holds_its_members_back():
    objects, pods = declared("coscheduling", "g", 2, 2)
    world = World(node("a")).apply(*pods).settle()
    assert world.bound() == []
    assert "does not exist" in world.message("g-0")
    world.apply(*objects).settle()
    assert len(world.bound()) == 2


def _with_priority(pod, priority):
    from msgspec.structs import replace

    return replace(pod, spec=replace(pod.spec, priority=priority))


def _with_minimum(pod, text):
    from tests.scheduler.gangs.world import with_minimum

    return with_minimum(pod, text)


def test_a_role_without_members_holds_the_gang_back_by_name():
    objects, pods = declared("volcano", "g", 4, 2)
    spec = replace(objects[0].spec, min_task_member={"driver": 1, "ps": 1, "worker": 2})
    pods = [of_role(pod, "worker") for pod in pods]
    world = World(node("n", gpu="8")).apply(replace(objects[0], spec=spec), *pods).until(10)
    missing = "0 of 1 members of role driver exist, 0 of 1 members of role ps exist"
    assert (world.state("g"), world.group("g").message) == ("Gated", missing)
    assert world.message("g-0") == f"gang default/g: {missing}"
    more = declared("volcano", "g", 6, 2)[1][4:]
    world.apply(of_role(more[0], "driver"), of_role(more[1], "ps")).until(20)
    assert len(world.bound("g")) == 6


def of_role(pod, role):
    annotations = {**pod.metadata.annotations, ROLE_ANNOTATION: role}
    return replace(pod, metadata=replace(pod.metadata, annotations=annotations))
