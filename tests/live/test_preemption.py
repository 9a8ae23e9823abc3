"""Preemption on a real API server, with PodDisruptionBudgets and their controller."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.live.objects import Api, eventually, pod
from tests.live.process import podium_running
from tests.live.test_volumes import start_controller

_PODS = "/api/v1/namespaces/default/pods"
_BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"


@pytest.fixture
def controller(api: Api) -> Iterator[None]:
    start_controller(api)
    yield
    api.plane.kill("kube-controller-manager")


def _running(api: Api, name: str) -> None:
    """Say as a kubelet would that a pod runs: budgets count only healthy ones."""
    status = {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}
    api.request("PATCH", f"{_PODS}/{name}/status", status, "application/strategic-merge-patch+json")


@pytest.mark.usefixtures("controller")
def test_victims_are_those_whose_budget_allows_it(api: Api):
    api.nodes(2)
    for i, app in enumerate(("guarded", "free")):
        spec = {"nodeSelector": {"kubernetes.io/hostname": f"node-{i:04}"}}
        api.create(_PODS, pod(app, requests={"cpu": "6"}, labels={"app": app}, **spec))
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "guarded"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "guarded"}}},
    }
    api.create(_BUDGETS, budget)
    with podium_running(api) as running:
        eventually(lambda: len(api.placements()) == 2, 60, what=running.log[-2000:])
        for name in ("guarded", "free"):
            _running(api, name)
        status = lambda: api.request("GET", f"{_BUDGETS}/guarded")["status"]  # noqa: E731
        eventually(lambda: status().get("currentHealthy") == 1, 60)
        api.create(_PODS, pod("urgent", requests={"cpu": "5"}, priorityClassName="system-cluster-critical"))
        eventually(lambda: api.placements().get("urgent") == "node-0001", 60, what=running.log[-3000:])
        assert set(api.placements()) == {"guarded", "urgent"}
        event = eventually(lambda: api.events("Preempted"), 30)[0]
        urgent = api.pod("urgent")["metadata"]["uid"]
        assert event["note"] == f"Preempted by pod {urgent} on node node-0001"
        assert event["regarding"]["name"] == "free"
        assert event["related"]["name"] == "urgent"
        assert running.stop() == 0, running.log


def test_a_victim_that_takes_its_time_holds_the_nominated_node(api: Api):
    """The victim's finalizer stands for a kubelet that has not stopped it yet."""
    api.nodes(1)
    victim = pod("victim", requests={"cpu": "6"})
    victim["metadata"]["finalizers"] = ["example.com/held"]
    api.create(_PODS, victim)
    with podium_running(api) as running:
        eventually(lambda: len(api.placements()) == 1, 60)
        api.create(_PODS, pod("urgent", requests={"cpu": "5"}, priorityClassName="system-cluster-critical"))
        eventually(lambda: api.pod("urgent")["status"].get("nominatedNodeName") == "node-0000", 60)
        eventually(lambda: "deletionTimestamp" in api.pod("victim")["metadata"], 60)
        conditions = {c["type"]: c for c in api.pod("victim")["status"]["conditions"]}
        assert conditions["DisruptionTarget"]["reason"] == "PreemptionByScheduler"
        # Whoever is less important may not take the room meanwhile.
        api.create(_PODS, pod("sly", requests={"cpu": "3"}))
        eventually(lambda: any(e["regarding"]["name"] == "sly" for e in api.events("FailedScheduling")), 30)
        none = {"metadata": {"finalizers": None}}
        api.request("PATCH", f"{_PODS}/victim", none, "application/merge-patch+json")
        eventually(lambda: api.placements().get("urgent") == "node-0000", 60, what=running.log[-2000:])
        assert running.stop() == 0, running.log
