"""Members that end, gangs that come again under their name, minimums that change, and restarts in between."""

import pytest
from msgspec.structs import replace
from podium.api import ContainerStatus, OwnerReference, PodStatus
from podium.api.gangs import ROLE_ANNOTATION
from podium.api.objects.groups import GangPolicy, SchedulingPolicy
from podium.api.objects.pod import ContainerState, ContainerStateReason

from tests.scheduler.gangs.world import WAYS, World, declared, gang, member, node, with_minimum


def pod_of(world, name):
    return next(pod for pod in world.cluster.pods() if pod.metadata.name == name)


def ended(pod, phase="Succeeded"):
    return replace(pod, status=replace(pod.status, phase=phase))


def owned(pod, uid):
    owner = OwnerReference(api_version="batch/v1", kind="Job", name="job", uid=uid, controller=True)
    return replace(pod, metadata=replace(pod.metadata, owner_references=[owner]))


def leaving(pod):
    return replace(pod, metadata=replace(pod.metadata, deletion_timestamp="2026-01-01T00:00:00Z"))


def test_members_that_ended_well_are_not_missed_after_a_restart():
    world = World(node("n", gpu="4")).apply(*gang("g", 4)).settle()
    done = [ended(pod_of(world, f"g-{number}")) for number in range(2)]
    world.apply(*done).settle()
    assert (world.state("g"), len(world.group("g").bound)) == ("Bound", 2)
    # They are listed with the rest.
    world.restart(done)
    world.until(300)
    assert (world.state("g"), sorted(world.group("g").succeeded)) == (
        "Bound",
        ["pod-default-g-0", "pod-default-g-1"],
    )
    assert len(world.bound("g")) >= 2
    assert world.cluster.withdrawn == []


def test_a_member_that_is_lost_after_others_have_ended_is_replaced_after_a_restart_too():
    world = World(node("n", gpu="4")).apply(*gang("g", 4)).settle()
    done = ended(pod_of(world, "g-0"))
    world.apply(done).settle()
    world.remove(pod_of(world, "g-1"))
    world.restart([done])
    world.until(5)
    world.apply(member("g", 1, 4, uid="again")).until(300)
    assert len(world.group("g").bound) == 3
    assert (world.state("g"), world.cluster.withdrawn) == ("Bound", [])


def test_members_that_end_before_the_last_is_bound_count():
    world = World(node("n", gpu="4")).apply(*gang("g", 4)[:3])
    world.settle()
    assert world.state("g") == "Gated"
    world = World(node("n", gpu="4")).apply(*gang("g", 3)).settle()
    world.apply(ended(pod_of(world, "g-0"))).until(100)
    assert (world.state("g"), world.cluster.withdrawn) == ("Bound", [])


def test_a_pod_with_the_name_of_one_that_ended_does_its_work_again():
    world = World(node("n", gpu="2")).apply(*gang("g", 2)).settle()
    world.apply(ended(pod_of(world, "g-0"))).settle()
    assert list(world.group("g").succeeded) == ["pod-default-g-0"]
    again = member("g", 0, 2, uid="again")
    world.apply(again).settle()
    assert world.group("g").succeeded == {}
    assert world.group("g").bound == {"again", "pod-default-g-1"}


def test_roles_of_members_that_ended_are_not_missed():
    objects, pods = declared("volcano", "g", 4, 4)
    spec = replace(objects[0].spec, min_task_member={"driver": 1, "executor": 3})
    pods = [with_role(pod, "driver" if at == 0 else "executor") for at, pod in enumerate(pods)]
    world = World(node("n", gpu="4")).apply(replace(objects[0], spec=spec), *pods).settle()
    world.apply(ended(pod_of(world, "g-0")), ended(pod_of(world, "g-1"))).settle()
    world.remove(pod_of(world, "g-2")).settle()
    again = replace(pods[2], metadata=replace(pods[2].metadata, name="g-4", uid="again"))
    world.log.attempts.clear()
    world.apply(again).settle()
    assert (world.bound("g-4"), world.state("g")) == (["g-4"], "Bound")
    assert world.log.attempts == [], "nobody is said to be missing"


def with_role(pod, role):
    annotations = {**pod.metadata.annotations, ROLE_ANNOTATION: role}
    return replace(pod, metadata=replace(pod.metadata, annotations=annotations))


@pytest.mark.parametrize("owner", ["second", "first"])
def test_the_next_job_of_the_same_name_needs_its_whole_minimum(owner):
    first = [owned(pod, "first") for pod in gang("g", 4, grace=30)]
    world = World(node("n", gpu="4")).apply(*first).settle()
    world.apply(*(ended(pod_of(world, f"g-{number}")) for number in range(2))).settle()
    rest = [leaving(pod_of(world, f"g-{number}")) for number in (2, 3)]
    world.apply(*rest).settle()
    # Two more of the same job are what it lacks; two of another job are half a gang.
    two = [owned(member("g", number, 4, uid=f"new-{number}"), owner) for number in (5, 6)]
    world.apply(*two).settle()
    same = owner == "first"
    assert len(world.group("g").placed) == (2 if same else 0)
    assert world.state("g") == ("Bound" if same else "Gated")
    world.remove(*rest)
    world.apply(*(owned(member("g", number, 4, uid=f"new-{number}"), owner) for number in (7, 8))).until(20)
    assert len(world.group("g").bound) == 4


@pytest.mark.parametrize("way", WAYS[1:])
def test_a_group_that_is_made_again_begins_anew(way):
    objects, pods = declared(way, "g", 2, 2)
    world = World(node("n", gpu="2")).apply(*objects, *pods).settle()
    world.apply(*(ended(pod_of(world, f"g-{number}")) for number in range(2))).settle()
    world.remove(*objects)
    fresh = replace(objects[0], metadata=replace(objects[0].metadata, uid="second"))
    news = [replace(pod, metadata=replace(pod.metadata, uid=f"new-{pod.metadata.name}")) for pod in pods]
    world.apply(fresh, news[0]).settle()
    assert (world.state("g"), len(world.group("g").placed)) == ("Gated", 0)
    world.apply(news[1]).settle()
    assert world.group("g").bound == {"new-g-0", "new-g-1"}
    assert world.cluster.group_status["second"]


def made(pod, at, finished=None):
    """A pod that was created, and maybe ended, at a second."""
    pod = replace(pod, metadata=replace(pod.metadata, creation_timestamp=f"2026-01-01T00:00:{at:02}Z"))
    if finished is None:
        return pod
    state = ContainerState(terminated=ContainerStateReason(finished_at=f"2026-01-01T00:00:{finished:02}Z"))
    return replace(
        ended(pod), status=PodStatus("Succeeded", container_statuses=[ContainerStatus(state=state)])
    )


def left_over(way, number, phase="Succeeded"):
    """Pods of an earlier run that are on a node still, and what declares their gang."""
    objects, pods = declared(way, "g", number, 2)
    named = [
        replace(p, metadata=replace(p.metadata, name=f"old-{at}", uid=f"old-{at}"))
        for at, p in enumerate(pods)
    ]
    return objects, [ended(replace(p, spec=replace(p.spec, node_name="n")), phase) for p in named]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
@pytest.mark.parametrize("first", ["old", "new"])
def test_7_what_an_earlier_run_has_left_makes_no_quorum(way, phase, first):
    objects, old = left_over(way, 3, phase)
    pods = declared(way, "g", 2, 2)[1]
    news = [*old, pods[0]] if first == "old" else [pods[0], *old]
    fails = pods[1].metadata.uid
    world = World(node("n", gpu="4"), bind_fails=lambda uid, _: "no" if uid == fails else "")
    world.apply(*objects, *news).until(1)
    assert (world.bound("g"), world.state("g")) == ([], "Gated")
    said = str(world.cluster.group_status)
    assert not any(word in said for word in ("Running", "Finished", "Completed", "True, 'reason': 'Sched"))
    # One member is bound and the other never is: that is no gang, whatever has ended before.
    world.apply(pods[1]).until(200)
    assert (world.bound("g"), world.scheduler.gangs.counts["rolled_back"] > 0) == ([], True)


@pytest.mark.parametrize("way", WAYS)
def test_7_a_run_is_over_when_its_last_member_has_ended(way):
    objects, pods = declared(way, "g", 2, 2)
    world = World(node("n", gpu="4")).apply(*objects, *pods).settle()
    done = [ended(pod_of(world, f"g-{number}")) for number in range(2)]
    world.apply(*done).settle()
    again = [
        replace(p, metadata=replace(p.metadata, name=f"h-{at}", uid=f"h-{at}")) for at, p in enumerate(pods)
    ]
    world.apply(again[0]).settle()
    assert (world.bound("h"), world.state("g")) == ([], "Gated")
    # That an old pod changes once more is nothing to the new ones.
    labelled = replace(
        done[0], metadata=replace(done[0].metadata, labels={**(done[0].metadata.labels or {}), "x": "y"})
    )
    world.apply(labelled, again[1]).settle()
    assert (world.bound("h"), len(world.group("g").succeeded)) == (["h-0", "h-1"], 0)
    world.apply(
        replace(
            labelled,
            metadata=replace(
                labelled.metadata, annotations={**(labelled.metadata.annotations or {}), "z": ""}
            ),
        )
    )
    world.settle().remove(pod_of(world, "h-1")).until(200)
    assert [each.pod.metadata.name for each in world.cluster.withdrawn] == ["h-0"]


def test_7_after_a_restart_times_tell_whose_run_it_was():
    for finished, counts in ((30, True), (10, False)):
        old = [made(pod, 0, finished) for pod in left_over("label", 1)[1]]
        running = [replace(made(pod, 20), spec=replace(pod.spec, node_name="n")) for pod in gang("g", 2)[:1]]
        world = World(node("n", gpu="4")).apply(*running, *old).until(100)
        assert (len(world.bound("g")) == 1) is counts, "one of two is kept if the other has ended in its run"


def test_the_last_wave_of_a_job_needs_no_quorum():
    """Five completions, four at a time: the fifth comes when nobody else is left."""
    world = World(node("n", gpu="4")).apply(*(owned(pod, "job") for pod in gang("g", 4))).settle()
    done = [ended(pod_of(world, f"g-{number}")) for number in range(4)]
    world.apply(*done).settle()
    world.apply(owned(member("g", 4, 4), "job")).until(10)
    assert (world.bound("g-4"), world.state("g")) == (["g-4"], "Bound")
    # The same after a restart.
    world.restart(done)
    world.until(200)
    assert (world.bound("g-4"), world.cluster.withdrawn) == (["g-4"], [])


def with_group_minimum(group, minimum):
    spec = group.spec
    if hasattr(spec, "scheduling_policy"):
        policy = SchedulingPolicy(gang=GangPolicy(min_count=minimum))
        return replace(group, spec=replace(spec, scheduling_policy=policy))
    return replace(group, spec=replace(spec, min_member=minimum))


def change_minimum(world, objects, names, minimum):
    if objects:
        return world.apply(*(with_group_minimum(each, minimum) for each in objects))
    return world.apply(*(with_minimum(pod_of(world, name), minimum) for name in names))


@pytest.mark.parametrize("way", WAYS)
def test_12_the_minimum_changes_while_the_gang_waits(way):
    objects, pods = declared(way, "g", 4, 4)
    names = [pod.metadata.name for pod in pods]
    world = World(node("n", gpu="3")).apply(*objects, *pods).settle()
    assert world.bound() == []
    change_minimum(world, objects, names, 3).settle()
    assert (len(world.bound()), world.now) == (3, 0)
    objects, pods = declared(way, "g", 4, 3)
    world = World(node("n", gpu="2")).apply(*objects, *pods).settle()
    change_minimum(world, objects, names, 4).settle()
    world.apply(node("more", gpu="1")).until(20)
    assert (world.bound(), world.group("g").minimum) == ([], 4)
    world.apply(node("last", gpu="1")).until(40)
    assert len(world.bound()) == 4


@pytest.mark.parametrize("way", WAYS)
def test_12_the_minimum_of_a_running_gang_changes(way):
    objects, pods = declared(way, "g", 5, 3)
    world = World(node("n", gpu="3")).apply(*objects, *pods[:3]).settle()
    change_minimum(world, objects, ["g-0", "g-1", "g-2"], 5).until(300)
    assert (len(world.bound()), world.cluster.withdrawn) == (3, [])
    more = pods[3:] if objects else [with_minimum(pod, 5) for pod in pods[3:]]
    world.apply(*more, node("other", gpu="2")).until(320)
    assert (len(world.bound()), world.state("g")) == (5, "Bound")
    # Lowered again, it may lose two and is left alone.
    change_minimum(world, objects, [f"g-{number}" for number in range(5)], 3).settle()
    world.remove(pod_of(world, "g-0"), pod_of(world, "g-1")).until(500)
    assert (len(world.bound()), world.cluster.withdrawn) == (3, [])


def test_a_topology_key_that_no_node_has_is_named():
    pods = gang("g", 2)
    annotated = [
        replace(
            pod,
            metadata=replace(
                pod.metadata,
                annotations={**pod.metadata.annotations, "podium.dev/topology-required": "rack"},
            ),
        )
        for pod in pods
    ]
    world = World(node("n", gpu="4")).apply(*annotated).settle()
    assert world.message("g-0") == "gang default/g: 0 of 2 members fit: no node has a value of rack"
    tries = world.scheduler.tries
    world.until(100)
    assert world.scheduler.tries == tries, "nothing happened that could help"
    world.apply(node("n", gpu="4", rack="r1")).until(120)
    assert len(world.bound()) == 2
