"""Real load from the metrics API of a real API server: LowNodeUtilization, and LoadAware in both commands."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from tests.live.metrics_api import Metrics, registered, serving
from tests.live.objects import Api, eventually, pod
from tests.live.process import podium_running
from tests.live.test_descheduling import OWNER, PODS, deschedule, left

POLICY = """\
apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
gracePeriodSeconds: 0
maxNoOfPodsToEvictPerNode: 3
metricsProviders: [{source: KubernetesMetrics}]
profiles:
- name: p
  pluginConfig:
  - name: LowNodeUtilization
    args:
      thresholds: {cpu: 20}
      targetThresholds: {cpu: 50}
      metricsUtilization: {source: KubernetesMetrics}
  plugins: {balance: {enabled: [LowNodeUtilization]}}
"""
CONFIG = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {multiPoint: {enabled: [{name: LoadAware, weight: 10}]}}
"""
HOT, COLD = "node-0000", "node-0001"
NAMES = [f"p-{number}" for number in range(9)]


@pytest.fixture
def metrics(api: Api) -> Iterator[Metrics]:
    """One node that uses nine tenths of its cpu, one that uses nothing; requests say nothing of it."""
    found = Metrics()
    found.nodes = {HOT: ("7200m", "1Gi"), COLD: ("100m", "1Gi")}
    found.pods = dict.fromkeys(NAMES, ("700m", "64Mi"))
    with serving(found, api.plane.folder) as port, registered(api, port):
        yield found


@pytest.fixture
def busy(api: Api) -> Api:
    api.nodes(2)
    for name in NAMES:
        body = pod(name, requests={"cpu": "100m"}, nodeName=HOT)
        body["metadata"]["ownerReferences"] = [OWNER]
        api.create(PODS, body)
        status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
        api.request("PATCH", f"{PODS}/{name}/status", {"status": status}, "application/merge-patch+json")
    return api


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "policy.yaml").write_text(POLICY)
    (tmp_path / "config.yaml").write_text(CONFIG)
    return tmp_path


@pytest.mark.usefixtures("metrics")
@pytest.mark.parametrize("mode", ["compat", "guarded"])
def test_who_uses_much_is_relieved(busy: Api, files: Path, mode: str):
    answer = deschedule(busy, files / "policy.yaml", "--mode", mode, "--config", str(files / "config.yaml"))
    assert not answer["errors"]
    assert Counter(item["node"] for item in answer["evictions"]) == {HOT: 3}
    if mode == "guarded":
        assert {item["destination"] for item in answer["evictions"]} == {COLD}
    assert left(busy) == 6
    found = {item["node"]: item for item in answer["nodes"]}
    assert found[HOT]["class"] == "over"
    assert found[HOT]["utilisation"]["cpu"] == pytest.approx(0.9, abs=0.01)


@pytest.mark.parametrize("mode", ["compat", "guarded"])
def test_a_node_without_a_sample_evicts_nothing(busy: Api, files: Path, metrics: Metrics, mode: str):
    metrics.nodes = {HOT: ("7200m", "1Gi")}
    flags = ("--interval", "1s", "--cycles", "2")
    answer = deschedule(busy, files / "policy.yaml", "--mode", mode, *flags)
    assert not answer["evictions"]
    assert {item["plugin"] for item in answer["errors"]} == {"LowNodeUtilization"}
    assert left(busy) == 9


def test_stale_samples_evict_nothing_in_guarded_mode(busy: Api, files: Path, metrics: Metrics):
    metrics.age = timedelta(minutes=10)
    # Long enough for three samples, which would be enough if they were fresh.
    flags = ("--interval", "6s", "--cycles", "4")
    answer = deschedule(busy, files / "policy.yaml", "--mode", "guarded", *flags)
    assert not answer["evictions"]
    assert len(answer["cycles"]) == 4
    assert metrics.asked >= 3 * len(metrics.nodes)
    assert left(busy) == 9


def test_one_sample_is_not_held(busy: Api, files: Path, metrics: Metrics):
    answer = deschedule(
        busy, files / "policy.yaml", "--mode", "guarded", "--interval", "100ms", "--cycles", "2"
    )
    assert not answer["evictions"]
    assert metrics.asked
    assert left(busy) == 9


def test_the_scheduler_goes_by_the_same_load(api: Api, files: Path, metrics: Metrics):
    api.nodes(2)
    # By requests alone everything would go to the busy node.
    api.create(PODS, pod("large", requests={"cpu": "4"}, nodeName=COLD))
    metrics.asked = 0
    with podium_running(api, f"--config={files / 'config.yaml'}") as running:
        eventually(lambda: metrics.asked, 60, what="a first read of the metrics")
        names = (f"probe-{number}" for number in itertools.count())

        def is_learned() -> bool:
            name = next(names)
            api.create(PODS, pod(name, requests={"cpu": "10m"}))
            eventually(lambda: name in api.placements(), 60, what="a placement")
            return api.placements()[name] == COLD

        eventually(is_learned, 60, what="a pod on the node that uses little")
        wanted = [f"n-{number}" for number in range(6)]
        api.create_all(PODS, [pod(name, requests={"cpu": "100m"}) for name in wanted])
        eventually(lambda: api.placements().keys() >= set(wanted), 60, what="six placements")
        assert {api.placements()[name] for name in wanted} == {COLD}
        assert running.stop() == 0
