"""Random nodes and the objects around them."""

from typing import Any

from tests.descheduler.differential.chance import Dice

Manifest = dict[str, Any]

ZONES = ("a", "b", "c")
TAINTS = (
    {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"},
    {"key": "dedicated", "value": "spot", "effect": "PreferNoSchedule"},
    {"key": "old", "effect": "NoExecute"},
    {"key": "load", "value": "7", "effect": "NoSchedule"},
    {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"},
)
GPU = "example.com/gpu"
NAMESPACES = ("app", "batch", "kube-system")
CLASSES = {"low": 10, "high": 1000}


def meta(name: str, namespace: str | None = None, **more: Any) -> Manifest:
    where = {} if namespace is None else {"namespace": namespace}
    return {"name": name, **where, "uid": f"uid-{namespace or ''}-{name}", "resourceVersion": "1", **more}


def node(dice: Dice, name: str) -> Manifest:
    labels = {"kubernetes.io/hostname": name, "pool": dice.pick(("x", "y"))}
    if dice.percent(90):
        labels["zone"] = dice.pick(ZONES)
    if dice.percent(50):
        labels["disk"] = dice.pick(("ssd", "hdd"))
    allocatable = {
        "cpu": dice.pick(("2", "4", "3500m", "8")),
        "memory": dice.pick(("4Gi", "8Gi", "16Gi", "7900Mi")),
        "pods": str(dice.pick((5, 8, 12, 110))),
    }
    if dice.percent(30):
        allocatable[GPU] = str(dice.randint(1, 4))
    spec: Manifest = {}
    if dice.percent(25):
        spec["taints"] = dice.some(TAINTS[:4], 3, 1)
    if dice.percent(12):
        spec["unschedulable"] = True
        if dice.percent(60):
            spec.setdefault("taints", []).append(TAINTS[4])
    conditions = [] if dice.percent(5) else [{"type": "Ready", "status": "True"}]
    if dice.percent(5):
        conditions = [{"type": "Ready", "status": dice.pick(("False", "Unknown"))}]
    status = {"allocatable": allocatable, "capacity": {**allocatable, "cpu": "8"}, "conditions": conditions}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": meta(name, labels=labels),
        "spec": spec,
        "status": status,
    }


def surroundings(dice: Dice) -> list[Manifest]:
    """Namespaces, priority classes and claims."""
    spaces = [
        {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": meta(
                name, labels={"kubernetes.io/metadata.name": name, "team": dice.pick(("red", "blue"))}
            ),
        }
        for name in NAMESPACES
        if dice.percent(95)
    ]
    classes = [
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": meta(name),
            "value": value,
        }
        for name, value in CLASSES.items()
    ]
    claims = [
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": meta(f"data-{number}", space),
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1Gi"}},
                **({"storageClassName": dice.pick(("fast", "slow"))} if dice.percent(85) else {}),
            },
        }
        for space in NAMESPACES
        for number in range(2)
    ]
    return spaces + classes + claims
