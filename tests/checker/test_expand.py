"""Pods of workloads, taken back from the names in an answer."""

from tests.checker import check
from tests.checker.builders import ZONE, answer, node, pod, spread_over
from tests.checker.expand import expand


def workload(kind: str, name: str, *, template: dict | None = None, **spec: object) -> dict:
    made = template or pod("x")
    inner = {"metadata": {"labels": made["metadata"]["labels"]}, "spec": made["spec"]}
    return {
        "kind": kind,
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"template": inner, **spec},
    }


def test_each_kind_is_recognised_by_its_names() -> None:
    objects = [
        workload("Deployment", "web", replicas=2),
        workload("Deployment", "web-api", replicas=1),
        workload(
            "StatefulSet", "db", replicas=1, volumeClaimTemplates=[{"metadata": {"name": "data"}, "spec": {}}]
        ),
        workload("Job", "load", parallelism=3, completions=2),
        workload("Job", "parts", completionMode="Indexed", parallelism=1, completions=4),
        workload("DaemonSet", "agent"),
        {**workload("CronJob", "tick"), "spec": {"jobTemplate": {"spec": workload("Job", "x")["spec"]}}},
    ]
    names = ["web-5f-a1", "web-5f-b2", "web-api-77-c3", "db-0", "load-x1", "load-x2", "parts-0-q", "agent-z9"]
    names.append("tick-29000001-k8")
    made, counts = expand(objects, [f"default/{n}" for n in names])
    pods = {o["metadata"]["name"]: o for o in made if o["kind"] == "Pod"}
    assert sorted(pods) == sorted(names)
    assert [o["metadata"]["name"] for o in made if o["kind"] == "PersistentVolumeClaim"] == ["data-db-0"]
    assert pods["db-0"]["spec"]["volumes"] == [
        {"name": "data", "persistentVolumeClaim": {"claimName": "data-db-0"}}
    ]
    assert pods["web-5f-a1"]["metadata"]["labels"]["pod-template-hash"] == "5f"
    assert pods["parts-0-q"]["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"] == "0"
    assert pods["tick-29000001-k8"]["metadata"]["labels"]["job-name"] == "tick-29000001"
    assert counts == {
        "Deployment default/web": (2, 2),
        "Deployment default/web-api": (1, 1),
        "StatefulSet default/db": (1, 1),
        "Job default/load": (2, 2),
        "Job default/parts": (1, 1),
        "DaemonSet default/agent": (None, 1),
        "CronJob default/tick": (None, 1),
    }


def test_a_workload_whose_pods_are_given_makes_none() -> None:
    owned = pod("web-1")
    owned["metadata"]["ownerReferences"] = [{"kind": "ReplicaSet", "name": "web", "controller": True}]
    made, counts = expand([workload("ReplicaSet", "web", replicas=5), owned], ["default/web-1"])
    assert made == [owned]
    assert counts == {}


def test_missing_pods_and_broken_constraints_of_a_deployment_are_reported() -> None:
    template = pod("x", topologySpreadConstraints=[spread_over(ZONE, app="x")])
    objects = [
        node("a", zone="a"),
        node("b", zone="b"),
        workload("Deployment", "web", template=template, replicas=2),
    ]
    assert check(objects, answer(("web-1-a", "a"), ("web-1-b", "b"))) == []
    assert [v.kind for v in check(objects, answer(("web-1-a", "a"), ("web-1-b", "a")))] == ["spread"]
    assert [v.kind for v in check(objects, answer(("web-1-a", "a")))] == ["workload"]


def test_two_daemons_of_a_set_on_one_node_are_reported() -> None:
    objects = [node("a"), node("b", unschedulable=True), workload("DaemonSet", "agent")]
    assert check(objects, answer(("agent-a", "a"), ("agent-b", "b"))) == []
    assert {v.kind for v in check(objects, answer(("agent-a", "a"), ("agent-b", "a")))} == {"daemon"}
