"""Gang bugs that other schedulers have had, by the row of the log they were collected in."""

import itertools
import random
from collections import Counter

import pytest
from msgspec.structs import replace
from podium._core import Engine
from podium.api import VolcanoPodGroup
from podium.api.gangs import ROLE_ANNOTATION
from podium.cluster.simulated import Latency
from podium.scheduler import assembly

from tests.scheduler.gangs.world import World, declared, gang, member, node, plain, with_minimum


def no_partial_gang(world):
    for group in world.scheduler.gangs:
        assert len(group.bound) == 0 or len(group.bound) >= group.minimum, group.name


def ended(pod, phase="Succeeded"):
    return replace(pod, status=replace(pod.status, phase=phase))


def bound_pod(world, name):
    return next(pod for pod in world.cluster.pods() if pod.metadata.name == name)


def test_1_two_jobs_of_four_on_four_gpus_never_hold_two_each():
    first, second = gang("one", 4), gang("two", 4)
    mixed = [pod for pair in zip(first, second, strict=True) for pod in pair]
    world = World(node("a", gpu="2"), node("b", gpu="2")).apply(*mixed).settle()
    assert {len(world.bound("one")), len(world.bound("two"))} == {0, 4}
    assert world.now == 0
    waiting = "two" if world.bound("one") else "one"
    world.remove(*(bound_pod(world, name) for name in world.bound())).until(20)
    assert len(world.bound(waiting)) == 4


def test_1_sixty_jobs_make_progress_in_any_order():
    chance = random.Random(5)
    jobs = [gang(f"j{number:02d}x", chance.randint(1, 8)) for number in range(60)]
    pods = [pod for job in jobs for pod in job]
    chance.shuffle(pods)
    world = World(node("a", gpu="8"), node("b", gpu="8")).apply(*pods).settle()
    done = 0
    while done < 60:
        no_partial_gang(world)
        running = [group for group in world.scheduler.gangs if group.bound]
        assert running, "somebody always runs"
        done += len(running)
        world.remove(*(entry.pod for group in running for entry in group.members.values()))
        world.until(world.now + 11)


def test_2_all_interleavings_of_two_gangs_on_a_cluster_that_fits_one():
    pods = [*gang("a", 3), *gang("b", 3)]
    for order in set(itertools.permutations([0, 0, 0, 1, 1, 1])):
        queues = [iter(pods[:3]), iter(pods[3:])]
        world = World(node("n", gpu="3")).apply(*(next(queues[which]) for which in order)).settle()
        assert {len(world.bound("a")), len(world.bound("b"))} == {0, 3}


def test_2_surplus_comes_after_every_minimum():
    world = World(node("n", gpu="6")).apply(*gang("a", 10, 3), *gang("b", 3)).settle()
    assert (len(world.bound("a")), len(world.bound("b"))) == (3, 3)


def test_3_an_unfit_member_frees_what_nine_others_would_hold():
    nine = gang("g", 10)
    nine[9] = member("g", 9, 10, gpu="99")
    alone = gang("h", 1)
    world = World(node("n", gpu="10")).apply(*nine, *alone).settle()
    assert world.bound() == ["h-0"]
    assert world.now == 0


def test_4_one_free_node_is_not_enough_for_two():
    for seed in range(40):
        world = World(node("a", gpu="1"), node("b", gpu="1"))
        taken = replace(gang("x", 1)[0], spec=replace(gang("x", 1)[0].spec, node_name="a"))
        pods = gang("g", 2)
        random.Random(seed).shuffle(pods)
        world.apply(taken, *pods).settle()
        assert len(world.bound("g")) == 0


def test_6_counts_are_those_of_the_pods():
    world = World(node("n", gpu="4")).apply(*gang("g", 3)).settle()
    for number in range(5):
        world.remove(bound_pod(world, "g-0")).settle()
        world.apply(member("g", 0, 3, uid=f"again-{number}")).settle()
        assert len(world.group("g").bound) == 3
        assert world.group("g").live == 3


def test_7_a_name_that_comes_again_is_another_pod():
    first = [
        replace(pod, spec=replace(pod.spec, termination_grace_period_seconds=30)) for pod in gang("g", 2)
    ]
    world = World(node("n", gpu="2")).apply(*first).settle()
    assert len(world.bound("g")) == 2
    leaving = replace(bound_pod(world, "g-0").metadata, deletion_timestamp="2026-01-01T00:00:00Z")
    old = replace(bound_pod(world, "g-0"), metadata=leaving)
    world.apply(old, member("g", 0, 2, uid="new")).settle()
    group = world.group("g")
    # The old one holds its GPU still but counts for nothing, the new one has no place yet.
    assert (len(group.bound), "new" in group.bound) == (1, False)
    world.remove(old).until(20)
    assert "new" in world.group("g").bound


def test_7_finished_pods_do_not_make_a_quorum():
    pods = gang("g", 3)
    world = World(node("n", gpu="4")).apply(ended(pods[0]), *pods[1:]).settle()
    assert (world.bound("g"), world.state("g")) == ([], "Gated")


@pytest.mark.parametrize("failing", range(3))
def test_8_a_bind_that_always_fails_leaves_no_partial_gang(failing):
    def bind_fails(uid, _node):
        return "no" if uid.endswith(f"g-{failing}") else ""

    world = World(node("a", gpu="2"), node("b", gpu="2"), bind_fails=bind_fails)
    world.apply(*gang("g", 3)).until(50)
    assert world.group("g").phase.value != "Bound"
    world.until(200)
    assert world.bound("g") == []
    assert world.scheduler.gangs.counts["rolled_back"] >= 1
    assert len(world.cluster.withdrawn) == 2


def test_8_a_bind_that_fails_once_is_tried_again_in_place_then_elsewhere():
    tried = []

    def bind_fails(uid, place):
        if not uid.endswith("g-1"):
            return ""
        tried.append(place)
        return "busy" if len(tried) < 3 else ""

    world = World(node("a", gpu="4"), node("b", gpu="4"), bind_fails=bind_fails)
    world.apply(*gang("g", 3)).until(59)
    assert len(world.bound("g")) == 3
    assert tried[0] == tried[1] != tried[2]
    assert world.cluster.withdrawn == []


def test_8_a_member_goes_back_to_where_it_failed_if_no_other_node_takes_it():
    tried = []

    def bind_fails(_uid, place):
        tried.append(place)
        return "busy" if len(tried) < 4 else ""

    world = World(node("a", gpu="4"), node("b", gpu="0"), bind_fails=bind_fails)
    world.apply(*gang("g", 1)).until(100)
    assert (world.bound("g"), tried) == (["g-0"], ["a"] * 4)


def test_9_a_running_gang_gets_its_missing_member_before_others():
    world = World(node("a", gpu="2"), node("b", gpu="2")).apply(*gang("g", 4)).settle()
    fresh = [pod for number in range(3) for pod in gang(f"h{number}x", 1)]
    world.apply(*fresh).settle()
    assert world.bound("h") == []
    lost = bound_pod(world, "g-0")
    world.remove(lost).apply(member("g", 0, 4, uid="again")).until(10)
    assert len(world.bound("g")) == 4


def test_9_a_gang_that_cannot_be_healed_leaves_after_its_grace():
    world = World(node("a", gpu="2"), node("b", gpu="2")).apply(*gang("g", 4)).settle()
    on_b = [pod for pod in world.cluster.pods() if pod.spec.node_name == "b"]
    world.remove(node("b"), *on_b).until(59)
    assert len(world.bound("g")) == 2
    world.until(61)
    assert world.bound("g") == []


def test_10_failed_binds_bring_the_gang_back_within_one_cycle():
    once = {"pod-default-g-0", "pod-default-g-1"}

    def bind_fails(uid, _node):
        if uid in once:
            once.discard(uid)
            return "conflict"
        return ""

    world = World(node("a", gpu="4"), bind_fails=bind_fails, latency=Latency(bind=10_000_000))
    world.apply(*gang("g", 4)).until(5)
    assert len(world.bound("g")) == 4


def volcano(minimum, roles, pods):
    (group,), plain = declared("volcano", "g", len(pods), minimum)
    group = replace(group, spec=replace(group.spec, min_task_member=roles))
    members = []
    for pod, role in zip(plain, pods, strict=True):
        annotations = {**pod.metadata.annotations, ROLE_ANNOTATION: role}
        members.append(replace(pod, metadata=replace(pod.metadata, annotations=annotations)))
    return group, members


def test_11_roles_have_minimums_that_may_change():
    group, pods = volcano(2, {"ps": 1, "worker": 2}, ["worker", "worker", "worker", "ps"])
    world = World(node("n", gpu="3")).apply(group, *pods[:3]).settle()
    assert world.group("g").minimum == 3
    assert world.bound() == []
    world.apply(pods[3]).settle()
    assert world.bound() == ["g-0", "g-1", "g-3"]
    assert isinstance(world.group("g").object, VolcanoPodGroup)


def test_11_a_removed_role_is_forgotten():
    group, pods = volcano(2, {"ps": 1, "worker": 2}, ["worker", "worker"])
    world = World(node("n", gpu="3")).apply(group, *pods).settle()
    assert world.bound() == []
    world.apply(replace(group, spec=replace(group.spec, min_task_member={"worker": 2}))).settle()
    assert len(world.bound()) == 2


def test_12_a_lowered_minimum_frees_a_waiting_gang_at_once():
    pods = gang("g", 4)
    world = World(node("n", gpu="3")).apply(*pods).settle()
    assert world.bound() == []
    world.apply(*(with_minimum(pod, 3) for pod in pods)).settle()
    assert len(world.bound()) == 3
    assert world.now == 0


def test_12_a_raised_minimum_never_evicts():
    world = World(node("n", gpu="4")).apply(*gang("g", 3)).settle()
    running = [bound_pod(world, f"g-{number}") for number in range(3)]
    world.apply(*(with_minimum(pod, 5) for pod in running)).until(300)
    assert len(world.bound("g")) == 3
    assert world.cluster.withdrawn == []


def test_13_a_replacement_needs_no_quorum():
    world = World(node("n", gpu="6")).apply(*gang("g", 6)).settle()
    world.remove(bound_pod(world, "g-1"), bound_pod(world, "g-2"))
    world.apply(member("g", 1, 6, uid="again")).until(5)
    assert "g-1" in world.bound("g")
    assert len(world.bound("g")) == 5


def test_14_a_leaving_member_holds_its_place_but_counts_for_nothing():
    first = [
        replace(pod, spec=replace(pod.spec, termination_grace_period_seconds=30)) for pod in gang("g", 2)
    ]
    world = World(node("n", gpu="2")).apply(*first).settle()
    old = bound_pod(world, "g-1")
    leaving = replace(old, metadata=replace(old.metadata, deletion_timestamp="2026-01-01T00:00:00Z"))
    world.apply(leaving, *gang("h", 1)).settle()
    assert world.bound("h") == []
    assert len(world.group("g").bound) == 1


def test_15_a_thousand_discarded_simulations_leave_no_trace():
    world = World(*(node(f"n{number}", gpu="3") for number in range(4)))
    world.apply(*gang("run", 5), *gang("wide", 9), *gang("huge", 2, gpu="4")).settle()
    engine, groups = world.scheduler.engine, list(world.scheduler.gangs)
    waiting = [group for group in groups if not group.bound]
    assert len(waiting) == 2
    before = engine.fingerprint()
    for turn in range(1000):
        assert engine.try_group(waiting[turn % 2].handle) is not None
    assert engine.fingerprint() == before
    assert all(engine.remembers_truly(e.handle) for group in groups for e in group.members.values())


def test_16_real_pods_decide_not_the_declared_minimum_of_resources():
    objects, pods = declared("coscheduling", "g", 2, 2)
    generous = replace(objects[0], spec=replace(objects[0].spec, min_resources={"example.com/gpu": "100"}))
    world = World(node("n", gpu="2")).apply(generous, *pods).settle()
    assert len(world.bound()) == 2


def test_17_an_infeasible_head_holds_nobody_up():
    head = gang("head", 2, gpu="8")
    tail = [pod for number in range(4) for pod in gang(f"tail{number}x", 2)]
    world = World(node("a", gpu="4"), node("b", gpu="4")).apply(*head, *tail).settle()
    assert len(world.bound("tail")) == 8
    assert world.now == 0


def test_18_one_wave_of_victims_and_their_places_are_kept():
    low = [replace(p, spec=replace(p.spec, termination_grace_period_seconds=120)) for p in gang("low", 4)]
    world = World(node("a", gpu="2"), node("b", gpu="2")).apply(*low).settle()
    world.apply(*gang("high", 4, priority=100)).until(30)
    assert len(world.cluster.evicted) == 4
    world.apply(*gang("thief", 2, priority=50)).until(119)
    assert world.bound("thief") == []
    world.until(140)
    assert (len(world.bound("high")), world.bound("thief")) == (4, [])
    assert len(world.cluster.evicted) == 4


def test_19_a_thousand_members_cost_a_few_operations_each():
    calls = 0
    world = World(*(node(f"n{number}", gpu="8") for number in range(130)))
    scheduler = world.scheduler
    plain = scheduler.failures.requeue_at

    def counted(*args):
        nonlocal calls
        calls += 1
        plain(*args)

    scheduler.failures.requeue_at = counted
    world.apply(*gang("g", 1000)).settle()
    assert len(world.bound()) == 1000
    assert calls == 0
    assert scheduler.tries <= 1001


class Counting:
    """The core, and how many handles were passed to each operation of its queue."""

    QUEUE = (
        "enqueue",
        "enqueue_gangs",
        "dequeue_gangs",
        "enqueue_surplus",
        "dequeue",
        "activate",
        "put_back",
        "settle",
        "nominate",
    )

    def __init__(self, *args, **more):
        self._core = Engine(*args, **more)
        self.calls = Counter()

    def __getattr__(self, name):
        method = getattr(self._core, name)
        if name not in self.QUEUE:
            return method

        def counted(*args):
            self.calls[name] += len(args[0]) if isinstance(args[0], list) else 1
            return method(*args)

        return counted


def test_19_queue_operations_of_a_thousand_members_that_fail_twice(monkeypatch):
    monkeypatch.setattr(assembly, "Engine", Counting)
    world = World(node("small", gpu="8"))
    world.apply(*gang("g", 1000)).settle()
    world.apply(node("other", gpu="8")).until(20)
    world.apply(*(node(f"n{number}", gpu="8") for number in range(130))).until(60)
    assert len(world.bound()) == 1000
    calls = world.scheduler.engine.calls
    assert calls["put_back"] == 2
    # Each failure takes the members' nominations away; all else is done once for the gang.
    assert calls.total() <= 2 * 1000 + 10, calls


def test_19_the_last_member_starts_an_attempt_at_once():
    pods = gang("g", 5)
    world = World(node("n", gpu="5")).apply(*pods[:4]).until(100)
    world.apply(pods[4]).step()
    assert len(world.bound()) == 5
    assert world.now == 100


def test_21_a_gang_that_fits_no_node_holds_nothing_of_its_queue():
    for backfill in ("none", "runtime", "preemptible"):
        world = World(node("a", gpu="4"), node("b", gpu="4"), backfill=backfill)
        world.apply(*gang("large", 2, gpu="8", priority=100)).until(40)
        world.apply(*gang("small", 8)).settle()
        assert len(world.bound("small")) == 8, backfill
        assert all(world.scheduler.engine.nominated(e.handle) is None for e in world.group("large").pending())


def test_21_drivers_never_fill_the_cluster_without_their_executors():
    """A driver and two executors each, all drivers first: whoever runs, runs whole, until all have run."""
    jobs = []
    for number in range(6):
        (group,), pods = declared("volcano", f"job{number}x", 3, 3)
        roles = {"driver": 1, "executor": 2}
        members = [_with_role(pod, "driver" if at == 0 else "executor") for at, pod in enumerate(pods)]
        jobs.append((replace(group, spec=replace(group.spec, min_task_member=roles)), members))
    world = World(node("a", gpu="4"), node("b", gpu="2"))
    world.apply(*(group for group, _ in jobs))
    world.apply(*(members[0] for _, members in jobs)).settle()
    assert world.bound() == []
    world.apply(*(pod for _, members in jobs for pod in members[1:])).settle()
    done = 0
    while done < 6:
        running = [group for group in world.scheduler.gangs if group.bound]
        assert [len(group.bound) for group in running] == [3] * min(2, 6 - done)
        done += len(running)
        world.remove(*(bound_pod(world, e.pod.metadata.name) for g in running for e in g.members.values()))
        world.until(world.now + 11)


def _with_role(pod, role):
    annotations = {**pod.metadata.annotations, ROLE_ANNOTATION: role}
    return replace(pod, metadata=replace(pod.metadata, annotations=annotations))


def test_22_small_pods_take_nothing_that_is_held_for_a_large_gang():
    short = plain("short-0", **{"podium.dev/run-time": "30s"})
    running = [_runs_for(pod, "60s") for pod in gang("run", 2, 1)]
    world = World(node("n", gpu="4"), backfill="runtime").apply(*running).settle()
    assert len(world.bound("run")) == 2
    world.apply(*gang("big", 4)).settle()
    world.apply(plain("long-0"), short).settle()
    assert world.bound("long") == []
    assert world.bound("short") == ["short-0"]
    world.until(31)
    world.remove(bound_pod(world, "short-0")).until(60)
    world.remove(*(bound_pod(world, f"run-{n}") for n in range(2))).until(75)
    assert len(world.bound("big")) == 4


def _runs_for(pod, text):
    annotations = {**pod.metadata.annotations, "podium.dev/run-time": text}
    return replace(pod, metadata=replace(pod.metadata, annotations=annotations))


def test_22_with_preemptible_backfill_small_pods_run_in_the_gap():
    world = World(node("n", gpu="4"), backfill="preemptible")
    world.apply(*gang("run", 2, 1, priority=200)).settle()
    world.apply(*gang("big", 4, priority=100)).settle()
    world.apply(plain("small-0"), plain("small-1")).settle()
    assert len(world.bound("small")) == 2
    world.remove(*(bound_pod(world, f"run-{n}") for n in range(2))).until(60)
    assert len(world.bound("big")) == 4


def test_23_surplus_never_evicts():
    world = World(node("n", gpu="4")).apply(*gang("low", 2, 2)).settle()
    world.apply(*gang("high", 5, 2, priority=100)).until(30)
    assert len(world.bound("high")) == 2
    assert (len(world.bound("low")), world.cluster.evicted) == (2, [])


def test_31_the_priority_of_the_group_counts_and_not_its_members_own():
    (group,), pods = declared("scheduling.k8s.io", "low", 2, 2)
    guarded = replace(group, spec=replace(group.spec, priority=1000))
    world = World(node("a", gpu="2")).apply(guarded, *pods).settle()
    world.apply(*gang("high", 2, priority=100)).until(60)
    assert (len(world.bound("low")), world.cluster.evicted) == (2, [])
    world.apply(*gang("higher", 2, priority=2000)).until(120)
    assert (world.bound("low"), len(world.bound("higher"))) == ([], 2)


def test_31_after_preemption_the_topology_still_holds():
    zones = ["x", "x", "y", "y"]
    world = World(*(node(f"n{number}", gpu="2", zone=zone) for number, zone in enumerate(zones)))
    world.apply(*(pod for number in range(8) for pod in gang(f"low{number}x", 1))).settle()
    together = [_in_one(pod, "zone") for pod in gang("high", 4, priority=100)]
    world.apply(*together).until(60)
    nodes = {pod.spec.node_name for pod in world.cluster.pods() if pod.metadata.name.startswith("high")}
    assert nodes in ({"n0", "n1"}, {"n2", "n3"})
    assert len(world.cluster.evicted) == 4


def _in_one(pod, key):
    annotations = {**pod.metadata.annotations, "podium.dev/topology-required": key}
    return replace(pod, metadata=replace(pod.metadata, annotations=annotations))


def test_32_nobody_is_evicted_for_a_gang_that_does_not_fit_afterwards():
    world = World(node("a", gpu="2"), node("b", gpu="2")).apply(*gang("low", 2, 1, gpu="1")).settle()
    world.apply(*gang("high", 2, gpu="3", priority=100)).until(30)
    assert world.cluster.evicted == []
    assert len(world.bound("low")) == 2


def test_33_every_victim_makes_room_that_is_used():
    world = World(*(node(f"n{number}", gpu="2") for number in range(4)))
    world.apply(*(pod for number in range(8) for pod in gang(f"low{number}x", 1))).settle()
    world.apply(*gang("high", 3, priority=100)).until(60)
    assert len(world.bound("high")) == 3
    assert len(world.cluster.evicted) == 3
