"""Pods that name a gang, but a schedulerName whose pods do not go with it: the gang says who they are."""

from msgspec.structs import replace
from podium.scheduler.explain import explain, gang_judge
from podium.scheduler.gangs import report

from tests.scheduler.gangs.world import WAYS, World, declared, gang, node


def of(pod, scheduler):
    return replace(pod, spec=replace(pod.spec, scheduler_name=scheduler))


def refusals(world):
    return [each.note for each in world.cluster.emitted if each.reason == "GangRefused"]


def test_members_of_another_scheduler_are_named():
    for way in WAYS:
        objects, pods = declared(way, "g", 4, 4)
        world = World(node("n", gpu="8")).apply(
            *objects, *pods[:2], of(pods[2], "other"), of(pods[3], "third")
        )
        world.until(10)
        missing = "2 of 4 members exist, beside 2 that name another scheduler: g-2 (other), g-3 (third)"
        assert world.message("g-0") == f"gang default/g: {missing}"
        assert (world.group("g").message, world.bound()) == (missing, [])
        assert explain(world.scheduler, "pod-default-g-0").gang.message == missing
        assert refusals(world)[-1] == f"gang default/g: {missing}"


def test_they_may_come_first_and_go():
    pods = gang("g", 2)
    stray = of(replace(pods[1], metadata=replace(pods[1].metadata, uid="stray")), "other")
    world = World(node("n", gpu="8")).apply(stray, pods[0]).settle()
    assert "g-1 (other)" in world.message("g-0")
    assert len(refusals(world)) == 1
    world.remove(stray).settle()
    assert world.message("g-0") == "gang default/g: 1 of 2 members exist"
    world.apply(pods[1]).settle()
    assert world.bound("g") == ["g-0", "g-1"]


def test_one_that_runs_is_named_until_it_ends():
    pods = gang("g", 2)
    stray = of(pods[1], "other")
    running = replace(stray, spec=replace(stray.spec, node_name="n"))
    world = World(node("n", gpu="8")).apply(running, pods[0]).settle()
    assert "1 that names another scheduler: g-1 (other)" in world.message("g-0")
    world.apply(replace(running, status=replace(running.status, phase="Succeeded"))).settle()
    assert world.message("g-0") == "gang default/g: 1 of 2 members exist"


def test_many_are_counted():
    pods = gang("g", 9)
    world = World(node("n", gpu="8")).apply(pods[0], *(of(pod, "other") for pod in pods[1:])).settle()
    assert world.message("g-0").endswith(
        "8 that name another scheduler: g-1 (other), g-2 (other), g-3 (other) and 5 more"
    )


def test_a_gang_that_has_enough_without_them_runs():
    pods = gang("g", 3, 2)
    world = World(node("n", gpu="8")).apply(of(pods[2], "other"), *pods[:2]).settle()
    assert (world.bound("g"), refusals(world)) == (["g-0", "g-1"], [])


def test_a_gang_is_judged_once_for_all_its_members(monkeypatch):
    judged, text = [], report.shortage_text
    monkeypatch.setattr(report, "shortage_text", lambda *args: judged.append(args[2].name) or text(*args))
    world = World(node("n", gpu="2")).apply(*gang("g", 3), *gang("h", 4))
    world.step(0)
    judge = gang_judge(world.scheduler)
    names = [f"g-{at}" for at in range(3)] + [f"h-{at}" for at in range(4)]
    found = [explain(world.scheduler, f"pod-default-{name}", gangs=judge).gang for name in names]
    assert judged == ["default/g", "default/h"]
    assert [(each.name, each.placeable, each.position) for each in found] == (
        [("default/g", 2, 1)] * 3 + [("default/h", 2, 2)] * 4
    )
