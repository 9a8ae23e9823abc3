"""Requests even, usage not: solved where the scheduler knows LoadAware, shown blocked where it does not."""

import pytest
import yaml

from tests.cli.manifests import node, write
from tests.cli.test_deschedule import NOW, owned, policy
from tests.command import ask, podium

METRICS = {"apiVersion": "metrics.k8s.io/v1beta1", "timestamp": NOW}

LOAD_AWARE = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [
        {
            "schedulerName": "default-scheduler",
            "plugins": {"multiPoint": {"enabled": [{"name": "LoadAware", "weight": 10}]}},
            "pluginConfig": [{"name": "LoadAware", "args": {"usageThresholds": {"cpu": 70}}}],
        }
    ],
}


def scene():
    """Every node has pods that request half of it; those of two use 90 %, those of two 15 %."""
    for name, used in (("hot-1", 900), ("hot-2", 900), ("cool-1", 150), ("cool-2", 150)):
        yield node(name, cpu="20")
        for i in range(10):
            pod = owned(f"{name}-{i}", name, owner=f"{name}-{i}")
            yield pod
            yield {
                **METRICS,
                "kind": "PodMetrics",
                "metadata": {"name": f"{name}-{i}", "namespace": "default"},
                "containers": [{"name": "c", "usage": {"cpu": f"{2 * used}m", "memory": "64Mi"}}],
            }
        usage = {"cpu": f"{20 * used}m", "memory": "640Mi"}
        yield {**METRICS, "kind": "NodeMetrics", "metadata": {"name": name}, "usage": usage}


@pytest.fixture
def arguments(tmp_path):
    rules = {
        "thresholds": {"cpu": 40},
        "targetThresholds": {"cpu": 70},
        "metricsUtilization": {"source": "KubernetesMetrics"},
    }
    providers = [{"source": "KubernetesMetrics"}]
    return (
        "-f", write(tmp_path / "cluster.yaml", *scene()), "--now", NOW, "--cycles", 8,
        "--policy",
        policy(tmp_path / "policy.yaml", rules, metricsProviders=providers, maxNoOfPodsToEvictPerNode=2),
    )  # fmt: skip


def levels(answer):
    return {item["node"]: item["utilisation"]["cpu"] for item in answer["nodes"]}


@pytest.mark.parametrize("mode", ["guarded", "compat"])
def test_with_load_aware_the_hot_nodes_cool_down(arguments, tmp_path, mode):
    config = write(tmp_path / "scheduler.yaml", LOAD_AWARE)
    answer = ask("deschedule", *arguments, "--mode", mode, "--config", config)
    assert max(levels(answer).values()) <= 0.705
    assert {item["node"] for item in answer["evictions"]} == {"hot-1", "hot-2"}
    assert len({item["pod"] for item in answer["evictions"]}) == len(answer["evictions"]) == 6
    if mode == "guarded":
        assert {item["destination"] for item in answer["evictions"]} == {"cool-1", "cool-2"}


def test_without_it_they_are_blocked(arguments):
    answer = ask("deschedule", *arguments, "--mode", "guarded")
    assert answer["evictions"] == []
    assert {item["why"] for item in answer["blocked"]} == {"no destination"}
    assert all("back on the same node" in item["message"] for item in answer["blocked"])
    assert any("LoadAware" in item["message"] for item in answer["warnings"])


def test_a_new_pod_avoids_hot_nodes_and_is_told_why(tmp_path):
    config = write(tmp_path / "scheduler.yaml", LOAD_AWARE)
    fresh, pinned = owned("fresh", "x"), owned("pinned", "x")
    for pod in (fresh, pinned):
        del pod["spec"]["nodeName"], pod["status"]
    pinned["spec"]["nodeSelector"] = {"kubernetes.io/hostname": "hot-1"}
    cluster = write(tmp_path / "cluster.yaml", *scene(), fresh, pinned)
    answer = ask("simulate", "-f", cluster, "--config", config)
    assert answer["placements"][0]["node"] in {"cool-1", "cool-2"}
    assert answer["attempts"][0]["feasible"] == ["cool-1", "cool-2"]
    assert answer["pending"][0]["pod"] == "default/pinned"
    assert "1 node(s) cpu usage exceed threshold" in answer["pending"][0]["message"]


def test_wrong_arguments_are_named(tmp_path):
    body = yaml.safe_load(yaml.safe_dump(LOAD_AWARE))
    body["profiles"][0]["pluginConfig"][0]["args"] = {"usageThresholds": {"cpu": 170}}
    config = write(tmp_path / "scheduler.yaml", body)
    done = podium("simulate", "-f", write(tmp_path / "cluster.yaml", *scene()), "--config", config)
    assert done.status == 2
    assert "usageThresholds" in done.err
