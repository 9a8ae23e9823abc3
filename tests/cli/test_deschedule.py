"""``podium deschedule -f``: the classic scene, budgets, real load, stale metrics, plugins from elsewhere."""

from collections import Counter
from importlib.metadata import EntryPoint
from unittest import mock

import msgspec
import pytest
from podium.descheduler.framework import PluginType, Point
from podium.descheduler.policy.model import Wire

from tests.cli.manifests import node, pod, write
from tests.command import ask, podium

NOW = "2026-03-02T08:00:00Z"


def owned(name, on, owner="rs", cpu="1"):
    body = pod(name, cpu, nodeName=on)
    reference = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "name": owner,
        "uid": owner,
        "controller": True,
    }
    body["metadata"] |= {"labels": {"app": owner}, "ownerReferences": [reference]}
    body["spec"]["containers"][0]["resources"]["requests"]["memory"] = "64Mi"
    return body | {"status": {"phase": "Running"}}


def policy(path, args, **rest):
    profile = {
        "name": "p",
        "pluginConfig": [{"name": "LowNodeUtilization", "args": args}],
        "plugins": {"balance": {"enabled": ["LowNodeUtilization"]}},
    }
    head = {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy", "profiles": [profile]}
    return write(path, head | rest)


@pytest.fixture
def classic(tmp_path):
    """Two nodes at 95 %, two new ones at 5 %."""
    objects = [node(name, cpu="20") for name in ("hot-1", "hot-2", "new-1", "new-2")]
    for name in ("hot-1", "hot-2"):
        objects += [owned(f"{name}-{i}", name, owner=name) for i in range(19)]
    objects += [owned(f"{name}-0", name, owner="other") for name in ("new-1", "new-2")]
    rules = {"thresholds": {"cpu": 20}, "targetThresholds": {"cpu": 70}}
    return (
        "-f", write(tmp_path / "cluster.yaml", *objects),
        "--policy", policy(tmp_path / "policy.yaml", rules, maxNoOfPodsToEvictPerNode=3),
    )  # fmt: skip


@pytest.mark.parametrize("mode", ["compat", "guarded"])
def test_the_classic_scene(classic, mode):
    answer = ask("deschedule", *classic, "--mode", mode, "--cycles", 10)
    pressure = [max(item["utilisation"]["cpu"] for item in cycle["nodes"]) for cycle in answer["cycles"]]
    assert pressure == sorted(pressure, reverse=True)
    assert pressure[0] == pytest.approx(0.80)
    assert pressure[-1] <= 0.70
    assert max(Counter(item["pod"] for item in answer["evictions"]).values()) == 1
    assert max(Counter(item["node"] for item in answer["cycles"][0]["evictions"]).values()) == 3
    if mode == "guarded":
        assert {item["destination"] for item in answer["evictions"]} == {"new-1", "new-2"}


def measured(tmp_path, stamp):
    """Requests are even, usage is not: a node at 90 %, one at 10 %."""
    head = {"apiVersion": "metrics.k8s.io/v1beta1", "timestamp": stamp}
    objects = [node(name, cpu="10") for name in ("busy", "idle")]
    for name, used in (("busy", "1800m"), ("idle", "200m")):
        objects += [owned(f"{name}-{i}", name, owner=f"{name}-{i}") for i in range(5)]
        usage = {"cpu": used, "memory": "64Mi"}
        total = {"cpu": f"{5 * int(used[:-1])}m", "memory": "320Mi"}
        objects.append({**head, "kind": "NodeMetrics", "metadata": {"name": name}, "usage": total})
        for i in range(5):
            meta = {"name": f"{name}-{i}", "namespace": "default"}
            containers = [{"name": "c", "usage": usage}]
            objects.append({**head, "kind": "PodMetrics", "metadata": meta, "containers": containers})
    rules = {
        "thresholds": {"cpu": 30},
        "targetThresholds": {"cpu": 60},
        "metricsUtilization": {"source": "KubernetesMetrics"},
    }
    providers = [{"source": "KubernetesMetrics"}]
    return (
        "-f", write(tmp_path / "cluster.yaml", *objects), "--now", NOW, "--mode", "guarded",
        "--policy", policy(tmp_path / "policy.yaml", rules, metricsProviders=providers),
    )  # fmt: skip


def test_real_load_moves_pods_or_says_why_not(tmp_path):
    answer = ask("deschedule", *measured(tmp_path, "2026-03-02T07:59:40Z"), "--cycles", 4)
    moved = answer["evictions"]
    assert all((item["node"], item["destination"]) == ("busy", "idle") for item in moved)
    assert moved or {item["why"] for item in answer["blocked"]} == {"no destination"}


def test_stale_metrics_mean_no_action(tmp_path):
    answer = ask("deschedule", *measured(tmp_path, "2026-03-02T07:50:00Z"))
    assert answer["evictions"] == []
    assert "in the collected metrics" in answer["errors"][0]["message"]


def test_a_cluster_comes_from_one_place(classic):
    assert podium("deschedule", *classic[2:]).status == 2
    assert podium("deschedule", *classic, "--kubeconfig", "x").status == 2


class OldestArgs(Wire):
    GO_NAME = "OldestArgs"
    most: int = 1


class Oldest:
    """Evicts the first pods of every node."""

    def __init__(self, args, handle):
        self.most, self.handle = args.most, handle

    def deschedule(self, nodes):
        for item in nodes:
            for gone in self.handle.world.active_on(item.metadata.name)[: self.most]:
                self.handle.evictor.evict(gone, "Oldest")


OLDEST = PluginType("Oldest", frozenset({Point.DESCHEDULE}), OldestArgs, Oldest, lambda args: [])


def test_a_plugin_from_another_package(classic, tmp_path):
    profile = {
        "name": "p",
        "pluginConfig": [{"name": "Oldest", "args": {"most": 2}}],
        "plugins": {"deschedule": {"enabled": ["Oldest"]}},
    }
    head = {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy", "profiles": [profile]}
    point = EntryPoint("Oldest", f"{__name__}:OLDEST", "podium.descheduler.plugins")
    with (
        mock.patch("podium.descheduler.table.entry_points", return_value=[point]),
        mock.patch.object(EntryPoint, "load", return_value=OLDEST),
    ):
        answer = ask("deschedule", *classic[:2], "--policy", write(tmp_path / "own.yaml", head))
    assert {item["plugin"] for item in answer["evictions"]} == {"Oldest"}
    assert len(answer["evictions"]) == 6
    assert msgspec.json.encode(answer["errors"]) == b"[]"
