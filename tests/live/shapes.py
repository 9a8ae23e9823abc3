"""Twenty shapes of pods and a cluster for them: what the two schedulers are compared on."""

from __future__ import annotations

from typing import Any

from tests.live.objects import Body, node, pod

_ZONE, _HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"


def nodes(number: int) -> list[Body]:
    """Return nodes of three sizes in four zones; some are tainted, some have disks or GPUs."""
    made = []
    for i in range(number):
        resources = {"cpu": str((8, 16, 32)[i % 3]), "memory": f"{(16, 64, 48)[i % 3]}Gi"}
        spec: dict[str, Any] = {}
        if i % 7 == 3:
            spec["taints"] = [{"key": "dedicated", "value": "batch", "effect": "NoSchedule"}]
        if i % 5 == 1:
            spec["taints"] = [{"key": "slow", "value": "yes", "effect": "PreferNoSchedule"}]
        if i % 6 == 0:
            resources["example.com/gpu"] = "4"
        item = node(f"node-{i:04}", zone=f"z{i % 4}", resources=resources, **spec)
        item["metadata"]["labels"] |= {"disk": ("ssd", "hdd")[i % 2], "gen": str(i % 4)}
        made.append(item)
    return made


def _spread(key: str, when: str, skew: int, app: str) -> dict[str, Any]:
    return {
        "maxSkew": skew,
        "topologyKey": key,
        "whenUnsatisfiable": when,
        "labelSelector": {"matchLabels": {"app": app}},
    }


def _term(app: str, key: str) -> dict[str, Any]:
    return {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": key}


def _expression(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"key": key, "operator": operator, **({"values": list(values)} if values else {})}


def _preferred(*expressions: dict[str, Any], weight: int = 10) -> dict[str, Any]:
    terms = [{"weight": weight, "preference": {"matchExpressions": list(expressions)}}]
    return {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": terms}}


def _required(*expressions: dict[str, Any]) -> dict[str, Any]:
    terms = {"nodeSelectorTerms": [{"matchExpressions": list(expressions)}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}


_BATCH = [{"key": "dedicated", "operator": "Equal", "value": "batch", "effect": "NoSchedule"}]

#: What distinguishes the shapes: requests and parts of the spec.
SHAPES: tuple[tuple[dict[str, str], dict[str, Any]], ...] = (
    ({}, {}),
    ({"cpu": "250m", "memory": "1Gi"}, {}),
    ({"cpu": "1", "memory": "256Mi"}, {"nodeSelector": {"disk": "ssd"}}),
    ({"cpu": "500m"}, {"affinity": _required(_expression("gen", "In", "1", "2"))}),
    ({"cpu": "300m"}, {"affinity": _preferred(_expression("disk", "In", "hdd"))}),
    ({"memory": "2Gi"}, {"affinity": _preferred(_expression("gen", "Gt", "1"), weight=70)}),
    ({}, {"topologySpreadConstraints": [_spread(_ZONE, "DoNotSchedule", 1, "s6")]}),
    ({}, {"topologySpreadConstraints": [_spread(_HOST, "ScheduleAnyway", 1, "s7")]}),
    (
        {"cpu": "200m"},
        {
            "topologySpreadConstraints": [
                _spread(_ZONE, "ScheduleAnyway", 2, "s8"),
                _spread(_HOST, "DoNotSchedule", 2, "s8"),
            ]
        },
    ),
    (
        {},
        {
            "affinity": {
                "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [_term("s9", _HOST)]}
            }
        },
    ),
    (
        {},
        {
            "affinity": {
                "podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [_term("s2", _ZONE)]}
            }
        },
    ),
    (
        {"cpu": "150m"},
        {
            "affinity": {
                "podAffinity": {
                    "preferredDuringSchedulingIgnoredDuringExecution": [
                        {"weight": 50, "podAffinityTerm": _term("s3", _HOST)}
                    ]
                }
            }
        },
    ),
    (
        {"cpu": "150m"},
        {
            "affinity": {
                "podAntiAffinity": {
                    "preferredDuringSchedulingIgnoredDuringExecution": [
                        {"weight": 80, "podAffinityTerm": _term("s12", _ZONE)}
                    ]
                }
            }
        },
    ),
    ({"cpu": "400m"}, {"tolerations": _BATCH}),
    ({"cpu": "400m"}, {"tolerations": _BATCH, "affinity": _preferred(_expression("gen", "Exists"))}),
    ({"example.com/gpu": "1"}, {}),
    ({"cpu": "2", "memory": "8Gi"}, {}),
    ({"cpu": "99"}, {}),
    ({}, {"nodeSelector": {"disk": "tape"}}),
    ({"example.com/gpu": "5"}, {"tolerations": [{"operator": "Exists"}]}),
)


def pods(number: int) -> list[Body]:
    """Return pods of all shapes by turns; the label ``app`` is ``s`` and the number of the shape."""
    made = []
    for i in range(number):
        shape = i % len(SHAPES)
        requests, spec = SHAPES[shape]
        made.append(pod(f"p-{i:04}", requests=requests, labels={"app": f"s{shape}"}, **spec))
    return made
