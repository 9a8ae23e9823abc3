"""The bundled sample: deterministic, self-consistent, and with something to decide for every plugin."""

import json
from collections import Counter
from pathlib import Path

import pytest
import yaml
from podium.simulator.sample import sample, write_sample

MANIFESTS = sample()
TEXT = json.dumps(MANIFESTS)


def named(kind: str) -> dict[str, dict]:
    return {m["metadata"]["name"]: m for m in MANIFESTS if m["kind"] == kind}


def specs() -> list[dict]:
    """The pod specs of bare pods and of templates."""
    pods = [m["spec"] for m in MANIFESTS if m["kind"] == "Pod"]
    templates = [m["spec"]["template"]["spec"] for m in MANIFESTS if "template" in m.get("spec", {})]
    return pods + templates


def test_a_seed_names_one_sample() -> None:
    assert sample(0) == MANIFESTS
    assert sample(1) != MANIFESTS


def test_it_is_a_few_hundred_nodes_and_some_thousand_pods() -> None:
    kinds = Counter(m["kind"] for m in MANIFESTS)
    assert kinds["Node"] == 317
    replicas = sum(m["spec"].get("replicas", 0) for m in MANIFESTS if "spec" in m)
    parallel = sum(m["spec"]["parallelism"] for m in MANIFESTS if m["kind"] == "Job")
    assert 2_000 < replicas + parallel + kinds["Pod"] < 4_000


def test_names_are_unique() -> None:
    names = Counter((m["kind"], m["metadata"].get("namespace"), m["metadata"]["name"]) for m in MANIFESTS)
    assert max(names.values()) == 1


@pytest.mark.parametrize(
    "feature",
    [
        "nodeSelector",
        "nodeAffinity",
        "podAffinity",
        "podAntiAffinity",
        "namespaceSelector",
        "tolerations",
        "topologySpreadConstraints",
        "minDomains",
        "matchLabelKeys",
        "matchFields",
        "initContainers",
        "hostPort",
        "gcePersistentDisk",
        "persistentVolumeClaim",
        "volumeClaimTemplates",
        "ReadWriteOncePod",
        "schedulingGates",
        "schedulerName",
        "restartPolicyRules",
        "declaredFeatures",
        "runtimeClassName",
        "priorityClassName",
        "preemptionPolicy",
        "unschedulable",
        "hugepages-2Mi",
        "nvidia.com/gpu",
        "storageCapacity",
        "allowedTopologies",
        "disruptionsAllowed",
        "sizeBytes",
    ],
)
def test_every_plugin_has_something_to_read(feature: str) -> None:
    assert f'"{feature}"' in TEXT


def test_what_is_referred_to_exists() -> None:
    classes = {*named("PriorityClass"), "system-node-critical"}
    assert {s["priorityClassName"] for s in specs() if "priorityClassName" in s} <= classes
    assert {s["runtimeClassName"] for s in specs() if "runtimeClassName" in s} <= set(named("RuntimeClass"))
    claims = {
        v["persistentVolumeClaim"]["claimName"]
        for s in specs()
        for v in s.get("volumes", [])
        if len(v) > 1 and "persistentVolumeClaim" in v
    }
    assert claims <= set(named("PersistentVolumeClaim"))
    used = {c["spec"]["storageClassName"] for c in named("PersistentVolumeClaim").values()}
    templates = [t for m in named("StatefulSet").values() for t in m["spec"]["volumeClaimTemplates"]]
    assert used | {t["spec"]["storageClassName"] for t in templates} == set(named("StorageClass"))
    namespaces = {m["metadata"]["namespace"] for m in MANIFESTS if "namespace" in m["metadata"]}
    assert namespaces == set(named("Namespace"))
    assert {s["nodeName"] for s in specs() if "nodeName" in s} <= set(named("Node"))


def test_the_file_holds_the_same_documents(tmp_path: Path) -> None:
    write_sample(tmp_path / "sample.yaml")
    text = (tmp_path / "sample.yaml").read_text()
    assert "&id" not in text
    assert list(yaml.load_all(text, yaml.CSafeLoader)) == MANIFESTS
