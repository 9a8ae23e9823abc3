"""A cluster for the descheduler: workloads of fifty pods, uneven nodes, a reason for every plugin."""

import itertools
import random
from typing import Any

Manifest = dict[str, Any]

_CREATED = "2026-03-02T07:00:00Z"
_CPU = (100, 250, 500, 1000, 2000)

#: Every balance and deschedule plugin, with arguments under which it has work.
PLUGINS: tuple[tuple[str, str, Manifest], ...] = (
    ("RemovePodsViolatingNodeTaints", "deschedule", {}),
    (
        "RemovePodsViolatingNodeAffinity",
        "deschedule",
        {
            "nodeAffinityType": [
                "requiredDuringSchedulingIgnoredDuringExecution",
                "preferredDuringSchedulingIgnoredDuringExecution",
            ]
        },
    ),
    ("RemovePodsViolatingInterPodAntiAffinity", "deschedule", {}),
    (
        "RemovePodsHavingTooManyRestarts",
        "deschedule",
        {"podRestartThreshold": 100, "includingInitContainers": True},
    ),
    ("PodLifeTime", "deschedule", {"maxPodLifeTimeSeconds": 864_000}),
    ("RemoveFailedPods", "deschedule", {}),
    (
        "LowNodeUtilization",
        "balance",
        {
            "thresholds": {"cpu": 20, "memory": 20, "pods": 20},
            "targetThresholds": {"cpu": 50, "memory": 50, "pods": 50},
        },
    ),
    ("RemoveDuplicates", "balance", {}),
    (
        "RemovePodsViolatingTopologySpreadConstraint",
        "balance",
        {"constraints": ["DoNotSchedule", "ScheduleAnyway"]},
    ),
    ("HighNodeUtilization", "balance", {"thresholds": {"cpu": 3}}),
)


def policy() -> Manifest:
    """Return a policy of all plugins, with nodeFit."""
    config = [{"name": name, "args": args} for name, _, args in PLUGINS]
    enabled = {
        point: {"enabled": [name for name, at, _ in PLUGINS if at == point]}
        for point in ("deschedule", "balance")
    }
    profile = {
        "name": "all",
        "pluginConfig": [*config, {"name": "DefaultEvictor", "args": {"nodeFit": True}}],
        "plugins": enabled,
    }
    return {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy", "profiles": [profile]}


def cluster(nodes: int, pods: int) -> list[Manifest]:
    """Return nodes and bound pods; equal sizes give equal clusters."""
    dice = random.Random(1)
    weights = [3.0 if at % 5 == 0 else (0.05 if at % 5 == 1 else 1.0) for at in range(nodes)]
    sums = list(itertools.accumulate(weights))
    room = [32_000] * nodes
    result = [_node(at) for at in range(nodes)]
    workloads = max(pods // 50, 1)
    for number in range(pods):
        workload = dice.randrange(workloads)
        cpu = _CPU[workload % 5]
        at = dice.choices(range(nodes), cum_weights=sums)[0]
        if room[at] < cpu:
            at = dice.randrange(nodes)
        room[at] -= cpu
        result.append(_pod(number, workload, at))
    return result


def _node(at: int) -> Manifest:
    size = {"cpu": "32", "memory": "256Gi", "pods": "110"}
    taint = {"key": "dedicated", "value": "x", "effect": "NoSchedule"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": f"n{at}",
            "labels": {"kubernetes.io/hostname": f"n{at}", "topology.kubernetes.io/zone": f"z{at % 10}"},
        },
        "spec": {"taints": [taint]} if at % 100 == 7 else {},
        "status": {
            "allocatable": size,
            "capacity": size,
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def _pod(number: int, workload: int, at: int) -> Manifest:
    cpu = _CPU[workload % 5]
    requests = {"cpu": f"{cpu}m", "memory": f"{4 * cpu}Mi"}
    owner = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "name": f"w{workload}",
        "uid": f"w{workload}",
        "controller": True,
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"p{number}",
            "uid": f"p{number}",
            "namespace": f"ns{workload % 20}",
            "creationTimestamp": _CREATED,
            "labels": {"app": f"a{workload}"},
            "ownerReferences": [owner],
        },
        "spec": {
            "nodeName": f"n{at}",
            "priority": 0,
            "containers": [{"name": "c", "image": f"i{workload}", "resources": {"requests": requests}}],
            **_wishes(workload),
        },
        "status": {
            "phase": "Running",
            "startTime": _CREATED,
            "conditions": [{"type": "Ready", "status": "True"}],
            "containerStatuses": [
                {"name": "c", "image": "i", "imageID": "", "ready": True, "restartCount": 0}
            ],
        },
    }


def _wishes(workload: int) -> Manifest:
    """Return constraints of one workload in twenty, affinities of two in fifty."""
    selector = {"matchLabels": {"app": f"a{workload}"}}
    if workload % 20 == 0:
        constraint = {
            "maxSkew": 1,
            "topologyKey": "topology.kubernetes.io/zone",
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": selector,
        }
        return {"topologySpreadConstraints": [constraint]}
    if workload % 50 == 1:
        term = {"labelSelector": selector, "topologyKey": "kubernetes.io/hostname"}
        return {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}
    if workload % 50 == 2:
        term = {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["z1"]}
        preferred = [{"weight": 1, "preference": {"matchExpressions": [term]}}]
        return {"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}}
    return {}
