"""Gangs move as gangs or not at all; members beyond the minimum may go alone."""

from collections import Counter

import pytest
from podium.descheduler.loop import Turn

from tests.descheduler.scene import policy
from tests.simulator.test_rebalance import node, pod, run

MIN = "gang.example.com/min-available"
LOW = {"thresholds": {"cpu": 20}, "targetThresholds": {"cpu": 50}}


def member(name, on="hot", minimum=4, **rest):
    made = pod(name, on, owner="job", cpu="1500m", **rest)
    made["metadata"]["labels"]["gang.example.com/name"] = "g"
    made["metadata"]["annotations"] = {MIN: str(minimum)}
    return made


def bare(name, on, cpu):
    """A pod that nobody would make anew, so that it stays."""
    made = pod(name, on, cpu=cpu)
    del made["metadata"]["ownerReferences"]
    return made


def scene(members, *more, cold=2):
    """A node at 90 % with what cannot move and a gang, beside empty ones."""
    nodes = [node("hot"), *(node(f"cold-{at}") for at in range(cold))]
    return [*nodes, bare("fixed", "hot", "3"), *members, *more]


def turn(objects, **more) -> Turn:
    return run(objects, policy("LowNodeUtilization", LOW, **more), mode="guarded").turns[0]


def gone(turn) -> dict[str, str]:
    return {item.pod.metadata.name: item.destination for item in turn.cycle.evicted}


def whys(turn) -> set[str]:
    return {item.why for item in turn.cycle.blocked}


def budget(minimum):
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "b", "namespace": "default"},
        "spec": {"minAvailable": minimum, "selector": {"matchLabels": {"gang.example.com/name": "g"}}},
    }


def test_a_gang_moves_as_a_whole():
    done = turn(scene([member(f"m{at}") for at in range(4)]))
    assert gone(done).keys() == {"m0", "m1", "m2", "m3"}
    assert Counter(gone(done).values()) == {"cold-0": 2, "cold-1": 2}
    assert {item.gang for item in done.cycle.evicted} == {"default/g"}
    levels = {item.node: item.utilisation["cpu"] for item in done.nodes}
    assert levels == pytest.approx({"hot": 0.3, "cold-0": 0.3, "cold-1": 0.3})


def test_members_on_other_nodes_go_along():
    members = [*(member(f"m{at}", minimum=5) for at in range(4)), member("far", "cold-0", 5)]
    done = turn(scene(members, cold=4))
    found = gone(done)
    assert len(found) in (0, 5)
    assert all(found[name] != "hot" for name in found)
    assert found.get("far") != "cold-0"


@pytest.mark.parametrize("kind", ["scheduling.x-k8s.io/v1alpha1", "scheduling.volcano.sh/v1beta1"])
def test_groups_that_objects_declare_move_too(kind):
    members = [pod(f"m{at}", "hot", owner="job", cpu="1500m") for at in range(4)]
    for item in members:
        if "volcano" in kind:
            item["metadata"]["annotations"] = {"scheduling.k8s.io/group-name": "g"}
        else:
            item["metadata"]["labels"]["scheduling.x-k8s.io/pod-group"] = "g"
    group = {
        "apiVersion": kind,
        "kind": "PodGroup",
        "metadata": {"name": "g", "namespace": "default"},
        "spec": {"minMember": 4},
    }
    assert len(gone(turn(scene(members, group)))) == 4
    missing = turn(scene(members))
    assert not missing.cycle.evicted
    assert whys(missing) == {"gang"}


def test_surplus_members_go_alone_and_the_minimum_stays():
    members = [pod(f"m{at}", "hot", owner="job", cpu="1") for at in range(6)]
    for item in members:
        item["metadata"]["labels"]["gang.example.com/name"] = "g"
        item["metadata"]["annotations"] = {MIN: "4"}
    done = turn(scene(members))
    assert len(gone(done)) == 2
    assert {item.gang for item in done.cycle.evicted} == {""}
    assert "gang" in whys(done)


@pytest.mark.parametrize(("minimum", "number"), [(1, 0), (0, 4)])
def test_budgets_hold_for_all_members_together(minimum, number):
    done = turn(scene([member(f"m{at}") for at in range(4)], budget(minimum)))
    assert len(gone(done)) == number
    assert ("pdb" in whys(done)) == (number == 0)


@pytest.mark.parametrize(
    ("limit", "number"),
    [
        ({"maxNoOfPodsToEvictTotal": 3}, 0),
        ({"maxNoOfPodsToEvictPerNode": 3}, 0),
        ({"maxNoOfPodsToEvictPerNamespace": 3}, 0),
        ({"maxNoOfPodsToEvictTotal": 4}, 4),
        ({"maxNoOfPodsToEvictPerNode": 4}, 4),
    ],
)
def test_limits_have_room_for_all_or_none(limit, number):
    done = turn(scene([member(f"m{at}") for at in range(4)]), **limit)
    assert len(gone(done)) == number
    assert ("limit" in whys(done)) == (number == 0)


def test_one_protected_member_keeps_all():
    members = [member(f"m{at}") for at in range(3)]
    members.append(member("kept", volumes=[{"name": "scratch", "emptyDir": {}}]))
    done = turn(scene(members))
    assert not done.cycle.evicted
    assert whys(done) == {"gang"}
    assert "kept is kept" in done.cycle.blocked[0].message


def test_a_gang_stays_where_not_all_members_find_places():
    full = bare("full", "cold-1", "9")
    done = turn(scene([member(f"m{at}") for at in range(4)], full))
    assert not done.cycle.evicted
    assert whys(done) <= {"no destination", "destination hot", "no improvement"}


def test_a_gang_that_moved_rests():
    body = policy("LowNodeUtilization", LOW)
    turns = run(scene([member(f"m{at}") for at in range(4)]), body, cycles=6, mode="guarded").turns
    assert [len(item.cycle.evicted) for item in turns] == [4, 0, 0, 0, 0, 0]


def test_nothing_is_left_pending():
    body = policy("LowNodeUtilization", LOW)
    assert not run(scene([member(f"m{at}") for at in range(4)]), body, cycles=2, mode="guarded").pending
