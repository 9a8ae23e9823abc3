"""The closed loop: evicted pods come back, land, and the next cycle sees them."""

from collections import Counter
from unittest import mock

from podium.api.manifest import Options as Loading
from podium.api.manifest import load_objects
from podium.descheduler.table import IN_TREE
from podium.framework.config import default_config
from podium.simulator.rebalance import Options, rebalance
from podium.simulator.rebalance_answer import answer

from tests.descheduler.scene import NOW, load, policy

NODE = {"cpu": "10", "memory": "40Gi", "pods": "110"}


def node(name, **labels):
    meta = {"name": name, "labels": {"kubernetes.io/hostname": name, **labels}}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": meta,
        "status": {"allocatable": NODE, "capacity": NODE},
    }


def pod(name, on, owner="rs", cpu="500m", memory="2Gi", **spec):
    requests = {"cpu": cpu, "memory": memory}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "default",
            "labels": {"app": owner},
            "ownerReferences": [
                {
                    "apiVersion": "apps/v1",
                    "kind": "ReplicaSet",
                    "name": owner,
                    "uid": owner,
                    "controller": True,
                }
            ],
        },
        "spec": {
            "nodeName": on,
            "containers": [{"name": "c", "image": "i", "resources": {"requests": requests}}],
            **spec,
        },
        "status": {"phase": "Running"},
    }


def run(objects, body, cycles=1, **options):
    manifest = load_objects(objects, "test", Loading(validate="off"))
    assert not manifest.rejected
    return rebalance(
        manifest, load(body), IN_TREE, default_config(), Options(now=NOW, cycles=cycles, **options)
    )


def low(thresholds, targets, **more):
    return policy("LowNodeUtilization", {"thresholds": thresholds, "targetThresholds": targets}, **more)


def classic():
    """Nodes at 95 % and new ones at 5 %."""
    objects = [node(name) for name in ("hot-1", "hot-2", "new-1", "new-2")]
    for name in ("hot-1", "hot-2"):
        objects += [pod(f"{name}-{i}", name, owner=f"rs-{name}") for i in range(19)]
    for name in ("new-1", "new-2"):
        objects.append(pod(f"{name}-0", name, owner="other"))
    body = low(
        {"cpu": 20, "memory": 20, "pods": 20},
        {"cpu": 70, "memory": 70, "pods": 70},
        maxNoOfPodsToEvictPerNode=3,
    )
    return objects, body


def test_the_classic_scene():
    objects, body = classic()
    result = run(objects, body, cycles=10)
    found = answer(result.turns)
    pressure = [max(item["utilisation"]["cpu"] for item in cycle["nodes"]) for cycle in found["cycles"]]
    assert pressure == sorted(pressure, reverse=True), "pressure falls cycle by cycle"
    assert pressure[0] < 0.95
    assert pressure[-1] <= 0.70
    assert {item["class"] for item in found["nodes"]} <= {"within", "under"}
    evicted = Counter(item["pod"] for item in found["evictions"])
    assert max(evicted.values()) == 1
    assert not result.pending
    per_cycle = Counter(item["node"] for item in found["cycles"][0]["evictions"])
    assert per_cycle == {"hot-1": 3, "hot-2": 3}


def test_pods_come_back_with_their_owner_and_a_new_name():
    objects, body = classic()
    result = run(objects, body, cycles=2)
    gone = {item.pod.metadata.name for turn in result.turns for item in turn.cycle.evicted}
    assert len(gone) == 10
    assert all(name.startswith("hot-") for name in gone)


def test_a_cycle_that_evicts_nothing_changes_nothing():
    result = run([node("a"), node("b"), pod("p", "a")], low({"cpu": 1}, {"cpu": 99}), cycles=3)
    assert [len(turn.cycle.evicted) for turn in result.turns] == [0, 0, 0]
    assert {report.node: report.utilisation["cpu"] for report in result.turns[-1].nodes} == {
        "a": 0.05,
        "b": 0.0,
    }


def test_pods_without_an_owner_do_not_come_back():
    failed = pod("p", "a")
    failed["status"] = {"phase": "Failed"}
    del failed["metadata"]["ownerReferences"]
    body = policy(
        "RemoveFailedPods",
        {"minPodLifetimeSeconds": 0},
        evictor={"podProtections": {"defaultDisabled": ["FailedBarePods"]}},
    )
    result = run([node("a"), node("b"), failed], body, cycles=2)
    assert [len(turn.cycle.evicted) for turn in result.turns] == [1, 0]


def test_a_budget_at_its_minimum_blocks():
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "b", "namespace": "default"},
        "spec": {"minAvailable": 19, "selector": {"matchLabels": {"app": "rs-hot-1"}}},
        "status": {"disruptionsAllowed": 0, "currentHealthy": 19, "desiredHealthy": 19, "expectedPods": 19},
    }
    objects, body = classic()
    found = answer(run([*objects, budget], body).turns)
    assert {item["node"] for item in found["evictions"]} == {"hot-2"}
    assert {item["why"] for item in found["blocked"] if item["node"] == "hot-1"} == {"pdb"}


def test_a_plan_has_room_for_every_plugin():
    tainted = node("tainted")
    tainted["spec"] = {"taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}]}
    objects = [tainted, node("hot"), node("cold")]
    objects += [pod(f"t{i}", "tainted", owner=f"t{i}", cpu="100m") for i in range(8)]
    objects += [pod(f"h{i}", "hot", owner=f"h{i}") for i in range(16)]
    low = {"thresholds": {"cpu": 20}, "targetThresholds": {"cpu": 50}}
    body = policy("LowNodeUtilization", low)
    profile = body["profiles"][0]
    profile["pluginConfig"].append({"name": "RemovePodsViolatingNodeTaints"})
    profile["plugins"]["deschedule"] = {"enabled": ["RemovePodsViolatingNodeTaints"]}
    with mock.patch("podium.descheduler.guard.questions.MOST_MOVES", 4):
        turn = run(objects, body, mode="guarded").turns[0]
    counts = Counter(item.plugin for item in turn.cycle.evicted)
    assert counts == {"RemovePodsViolatingNodeTaints": 2, "LowNodeUtilization": 2}
    assert "limit" in {item.why for item in turn.cycle.blocked}
