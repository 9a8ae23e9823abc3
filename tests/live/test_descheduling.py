"""``podium deschedule --kubeconfig`` on a real API server: evictions, budgets, dry run, events."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.live.objects import Api, Refused, eventually, pod
from tests.live.process import podium_running
from tests.live.test_volumes import start_controller

POLICY = """\
apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
gracePeriodSeconds: 0
maxNoOfPodsToEvictPerNode: 3
profiles:
- name: p
  pluginConfig:
  - name: LowNodeUtilization
    args: {thresholds: {cpu: 20}, targetThresholds: {cpu: 50}}
  plugins: {balance: {enabled: [LowNodeUtilization]}}
"""
OWNER = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "rs", "uid": "rs", "controller": True}
PODS = "/api/v1/namespaces/default/pods"


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    (tmp_path / "policy.yaml").write_text(POLICY)
    return tmp_path / "policy.yaml"


@pytest.fixture
def crowded(api: Api) -> Api:
    """One node at 90 %, one that is empty; all pods run and are ready."""
    api.nodes(2)
    for number in range(9):
        body = pod(f"p-{number}", requests={"cpu": "800m"}, nodeName="node-0000")
        body["metadata"]["ownerReferences"] = [OWNER]
        api.create(PODS, body)
        status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
        kind = "application/merge-patch+json"
        api.request("PATCH", f"{PODS}/p-{number}/status", {"status": status}, kind)
    return api


def budget(api: Api, allowed: int) -> None:
    """A budget with the status that the disruption controller would write."""
    body = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "b"},
        "spec": {"minAvailable": 9 - allowed, "selector": {"matchLabels": {"app": "a"}}},
    }
    path = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
    made = api.create(path, body)
    status = {
        "observedGeneration": made["metadata"]["generation"],
        "disruptionsAllowed": allowed,
        "currentHealthy": 9,
        "desiredHealthy": 9 - allowed,
        "expectedPods": 9,
    }
    api.request("PATCH", f"{path}/b/status", {"status": status}, "application/merge-patch+json")


def deschedule(api: Api, policy: Path, *flags: str) -> Any:
    command = [sys.executable, "-c", "from podium.cli import main; main()", "deschedule", "-o", "json"]
    command += ["--kubeconfig", str(api.plane.kubeconfig()), "--policy", str(policy), *flags]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def left(api: Api) -> int:
    return len(api.items(PODS))


def test_a_dry_run_sends_nothing(crowded: Api, policy: Path):
    answer = deschedule(crowded, policy, "--dry-run", "--mode", "guarded")
    assert [item["destination"] for item in answer["evictions"]] == ["node-0001"] * 3
    assert left(crowded) == 9


def test_it_evicts_through_the_api_and_says_so_in_events(crowded: Api, policy: Path):
    answer = deschedule(crowded, policy)
    assert Counter(item["node"] for item in answer["evictions"]) == {"node-0000": 3}
    assert left(crowded) == 6
    events = crowded.events("LowNodeUtilization")
    assert {event["action"] for event in events} == {"Descheduled"}
    assert sorted(event["regarding"]["name"] for event in events) == sorted(
        item["pod"].partition("/")[2] for item in answer["evictions"]
    )


def test_a_budget_at_its_minimum_blocks(crowded: Api, policy: Path):
    budget(crowded, 0)
    for mode in ("compat", "guarded"):
        answer = deschedule(crowded, policy, "--mode", mode)
        assert answer["evictions"] == []
        assert {item["why"] for item in answer["blocked"]} == {"pdb"}
        assert left(crowded) == 9


def test_a_budget_lets_as_many_go_as_it_allows(crowded: Api, policy: Path):
    budget(crowded, 1)
    answer = deschedule(crowded, policy)
    assert len(answer["evictions"]) == 1
    assert left(crowded) == 8


@pytest.fixture
def controller(api: Api) -> Iterator[None]:
    """The real disruption controller."""
    start_controller(api)
    yield
    api.plane.kill("kube-controller-manager")


@pytest.mark.usefixtures("controller")
@pytest.mark.parametrize("mode", ["compat", "guarded"])
def test_with_the_real_controller_and_others_who_evict_no_budget_is_broken(
    crowded: Api, policy: Path, mode: str
):
    spec = {"minAvailable": 6, "selector": {"matchLabels": {"app": "a"}}}
    path = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
    head = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b"}}
    crowded.create(path, {**head, "spec": spec})
    eventually(
        lambda: crowded.items(path)[0].get("status", {}).get("disruptionsAllowed") == 3,
        what="the controller's status",
    )
    stop = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        others = pool.submit(keep_evicting, crowded, stop)
        answer = deschedule(crowded, policy, "--mode", mode)
        stop.set()
        gone = others.result()
    ours = [item["pod"].partition("/")[2] for item in answer["evictions"]]
    assert gone
    assert not set(ours) & set(gone)
    assert len(ours) + len(gone) <= 3
    assert left(crowded) == 9 - len(ours) - len(gone)
    while left(crowded) > 6:
        answer = deschedule(crowded, policy, "--mode", mode)
        assert answer["evictions"]
    answer = deschedule(crowded, policy, "--mode", mode)
    assert answer["evictions"] == []
    assert {item["why"] for item in answer["blocked"]} == {"pdb"}
    assert left(crowded) == 6


def keep_evicting(api: Api, stop: threading.Event) -> list[str]:
    """Evict whatever the API lets go; returns the names."""
    gone = []
    while not stop.is_set():
        for item in api.items(PODS):
            name = item["metadata"]["name"]
            body = {
                "apiVersion": "policy/v1",
                "kind": "Eviction",
                "metadata": {"name": name},
                "deleteOptions": {"gracePeriodSeconds": 0},
            }
            with contextlib.suppress(Refused):
                api.request("POST", f"{PODS}/{name}/eviction", body)
                gone.append(name)
            if stop.wait(0.3):
                break
    return gone


def test_as_part_of_the_scheduler(crowded: Api, policy: Path):
    flags = (f"--descheduler-policy={policy}", "--descheduling-interval=1s")
    with podium_running(crowded, *flags) as running:
        eventually(lambda: left(crowded) <= 6, 60, what="evictions by the policy")
        crowded.create(PODS, pod("next", requests={"cpu": "100m"}))
        eventually(lambda: "next" in crowded.placements(), what="a placement beside them")
        assert running.stop() == 0
    assert crowded.events("LowNodeUtilization")


def _runs(api: Api, body: dict[str, Any]) -> None:
    api.create(PODS, body)
    status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    path = f"{PODS}/{body['metadata']['name']}/status"
    api.request("PATCH", path, {"status": status}, "application/merge-patch+json")


@pytest.mark.parametrize(("allowed", "moved"), [(3, 0), (4, 4)])
def test_a_gang_goes_as_a_whole_or_stays(api: Api, tmp_path: Path, allowed: int, moved: int):
    """Declared by a PodGroup of the API server's own; the budget lets all members go, or one too few."""
    api.nodes(3)
    spec = {"schedulingPolicy": {"gang": {"minCount": 4}}}
    group = {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "metadata": {"name": "g"}}
    api.create("/apis/scheduling.k8s.io/v1beta1/namespaces/default/podgroups", {**group, "spec": spec})
    _runs(api, pod("fixed", requests={"cpu": "2"}, labels={"app": "b"}, nodeName="node-0000"))
    for number in range(4):
        member = {"nodeName": "node-0000", "schedulingGroup": {"podGroupName": "g"}}
        body = pod(f"m-{number}", requests={"cpu": "1200m"}, **member)
        body["metadata"]["ownerReferences"] = [OWNER]
        _runs(api, body)
    budget(api, allowed)
    (tmp_path / "policy.yaml").write_text(POLICY.replace("maxNoOfPodsToEvictPerNode: 3\n", ""))
    answer = deschedule(api, tmp_path / "policy.yaml", "--mode", "guarded")
    assert len(answer["evictions"]) == moved
    assert {item["destination"] for item in answer["evictions"]} <= {"node-0001", "node-0002"}
    assert {item["why"] for item in answer["blocked"]} == (set() if moved else {"pdb"})
    assert left(api) == 5 - moved
