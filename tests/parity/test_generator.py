from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings

from tests.parity.coverage import Coverage, targets
from tests.parity.generator.scenarios import scenarios, seeded
from tests.parity.process import Oracle, Scenario

ROOT = Path(__file__).resolve().parents[2]

KINDS = {
    "nodes": ("v1", "Node"),
    "pods": ("v1", "Pod"),
    "pending": ("v1", "Pod"),
    "namespaces": ("v1", "Namespace"),
    "services": ("v1", "Service"),
    "replicationControllers": ("v1", "ReplicationController"),
    "replicaSets": ("apps/v1", "ReplicaSet"),
    "statefulSets": ("apps/v1", "StatefulSet"),
    "persistentVolumes": ("v1", "PersistentVolume"),
    "persistentVolumeClaims": ("v1", "PersistentVolumeClaim"),
    "storageClasses": ("storage.k8s.io/v1", "StorageClass"),
    "csiNodes": ("storage.k8s.io/v1", "CSINode"),
    "csiDrivers": ("storage.k8s.io/v1", "CSIDriver"),
    "csiStorageCapacities": ("storage.k8s.io/v1", "CSIStorageCapacity"),
    "volumeAttachments": ("storage.k8s.io/v1", "VolumeAttachment"),
    "podDisruptionBudgets": ("policy/v1", "PodDisruptionBudget"),
}

# What the API server adds to an object that scheduling does not read, by the last part of its path.
UNREAD = {
    "apiVersion",
    "kind",
    "generation",
    "status",  # of kinds whose status nobody reads
    "imagePullPolicy",
    "terminationMessagePath",
    "terminationMessagePolicy",
    "dnsPolicy",
    "enableServiceLinks",
    "restartPolicy",
    "securityContext",
    "terminationGracePeriodSeconds",
    "iscsiInterface",
    "keyring",
    "user",
    "type",
    "sessionAffinity",
    "internalTrafficPolicy",
    "podManagementPolicy",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "template",
    "serviceName",
    "daemonEndpoints",
    "nodeInfo",
    "attachRequired",
    "fsGroupPolicy",
    "podInfoOnMount",
    "requiresRepublish",
    "seLinuxMount",
    "volumeLifecycleModes",
    "currentHealthy",
    "desiredHealthy",
    "expectedPods",
    "name",  # of a container status, where none was given
    "loadBalancer",
    "claimRef",
}
EMPTY: tuple[Any, ...] = ({}, [], "", None, False, 0)


@pytest.mark.parametrize("tier", ["A", "B"])
def test_a_seed_is_a_scenario(tier: str) -> None:
    for number in range(1, 30):
        first, second = (msgspec.json.encode(seeded(tier, number)) for _ in range(2))
        assert first == second
    assert len({msgspec.json.encode(seeded(tier, number)) for number in range(1, 30)}) == 29


def test_a_seed_is_a_scenario_in_every_process() -> None:
    """Whatever order sets have there."""
    command = [sys.executable, "-m", "tests.parity.generator", "--count", "25", "--tier"]
    for tier in "AB":
        printed = {
            subprocess.check_output(
                [*command, tier], cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": hash_seed}
            )
            for hash_seed in ("1", "2")
        }
        assert len(printed) == 1


def test_coverage_targets_are_met(oracle: Oracle) -> None:
    coverage = Coverage()
    for answer in oracle.answers(seeded("A", number) for number in range(1, 901)):
        coverage.add(answer)
    for answer in oracle.answers(seeded("B", number) for number in range(1, 61)):
        coverage.add(answer)
    shares = coverage.shares()
    missed = {name: shares[name] for name, target in targets().items() if shares[name] < target}
    assert not missed


def test_answers_are_reproducible(oracle: Oracle) -> None:
    drawn = [seeded(tier, number) for tier in "AB" for number in range(1, 40)]
    first, second = ([_without_order(answer) for answer in oracle.answers(drawn)] for _ in range(2))
    assert first == second


def _without_order(value: Any) -> Any:
    """An answer in which the order of a status's reasons, which is random upstream, does not count."""
    if isinstance(value, dict):
        return {
            key: sorted(item) if key == "reasons" else _without_order(item) for key, item in value.items()
        }
    return [_without_order(item) for item in value] if isinstance(value, list) else value


def test_objects_are_defaulted_and_admitted(oracle: Oracle) -> None:
    added: set[str] = set()
    for number in range(1, 200):
        scenario = seeded("A", number)
        stored = oracle.answer({"id": scenario["id"], "manifests": _manifests(scenario)})["scenario"]
        for kind in KINDS:
            by_name = {_name(o): o for o in stored.get(kind, [])}
            for obj in scenario.get(kind, []):
                if _name(obj) in by_name:
                    _added(obj, by_name[_name(obj)], kind, added)
    assert {path for path in added if path.rpartition(".")[2] not in UNREAD} <= MERGED_AGAIN


# Admission fills in once more what the scenario carries already.
MERGED_AGAIN = {
    "pending.spec.topologySpreadConstraints[].labelSelector.matchExpressions",
    "pending.spec.resources.requests.cpu",  # of pods from before pod-level requests were filled in
    "pending.spec.resources.requests.memory",
    "pending.spec.resources.requests.hugepages-2Mi",
    "pending.spec.resources.requests.hugepages-1Gi",
    "pending.spec.resources.limits",
}


def _manifests(scenario: Scenario) -> dict[str, list[dict[str, Any]]]:
    cluster, pending = [], []
    for kind, (api_version, singular) in KINDS.items():
        for obj in scenario.get(kind, []):
            typed = {"apiVersion": api_version, "kind": singular, **obj}
            if kind == "pending":
                pending.append(typed | {"spec": {k: v for k, v in obj["spec"].items() if k != "nodeName"}})
            else:
                cluster.append(typed)
    return {"cluster": cluster, "pending": pending}


def _name(obj: dict[str, Any]) -> str:
    return f"{obj['metadata'].get('namespace', '')}/{obj['metadata']['name']}"


def _added(before: Any, after: Any, path: str, found: set[str]) -> None:
    if isinstance(before, dict) and isinstance(after, dict):
        for key, value in after.items():
            if key in before:
                _added(before[key], value, f"{path}.{key}", found)
            elif value not in EMPTY:
                found.add(f"{path}.{key}")
    elif isinstance(before, list) and isinstance(after, list):
        for one, other in zip(before, after, strict=False):
            _added(one, other, f"{path}[]", found)


@pytest.mark.parametrize("tier", ["A", "B"])
def test_what_hypothesis_draws_can_be_played(oracle: Oracle, tier: str) -> None:
    @settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(scenarios(tier))
    def play(scenario: Scenario) -> None:
        answer = oracle.answer(scenario)
        entries = answer["pods"] if tier == "A" else answer["steps"]
        assert len(entries) == len(scenario["pending" if tier == "A" else "steps"])

    play()
