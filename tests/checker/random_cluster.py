"""Small random clusters, one per seed, with every kind of constraint somewhere among them."""

import random
from typing import Any

from tests.checker import builders as b
from tests.checker.random_pods import random_pod

ZONES = ("a", "b", "c")
TAINTS = (
    {"key": "dedicated", "value": "batch", "effect": "NoSchedule"},
    {"key": "flaky", "effect": "PreferNoSchedule"},
    {"key": "draining", "effect": "NoExecute"},
)


def random_cluster(seed: int) -> list[dict]:
    """Manifests of 3 to 12 nodes, 10 to 60 pods (some bound) and the objects that they refer to.

    They pass API validation; nothing in them is defaulted. The same seed gives the same cluster.
    """
    rng = random.Random(seed)
    nodes = [_node(rng, f"n{i}") for i in range(rng.randint(3, 12))]
    objects = [*_classes(), *nodes, *_csi_nodes(rng, nodes)]
    for i in range(rng.randint(10, 60)):
        objects += _pod_with_objects(rng, f"p{i}", nodes)
    objects += _shared_claims(rng, [o for o in objects if o["kind"] == "Pod"])
    rng.shuffle(objects)
    return objects


def _classes() -> list[dict]:
    def named(kind: str, version: str, name: str, **fields: Any) -> dict:
        return {"apiVersion": version, "kind": kind, "metadata": {"name": name}, **fields}

    shop = named("Namespace", "v1", "shop")
    shop["metadata"]["labels"] = {"team": "shop"}
    return [
        named("PriorityClass", "scheduling.k8s.io/v1", "high", value=1000),
        named("PriorityClass", "scheduling.k8s.io/v1", "polite", value=500, preemptionPolicy="Never"),
        named(
            "RuntimeClass", "node.k8s.io/v1", "boxed", handler="boxed", overhead={"podFixed": {"cpu": "150m"}}
        ),
        named("Namespace", "v1", "default"),
        shop,
        b.storage_class("fast"),
        b.storage_class("made", provisioner="csi.example.com"),
    ]


def _node(rng: random.Random, name: str) -> dict:
    amounts = {"cpu": str(rng.choice([2, 4, 8])), "memory": f"{rng.choice([4, 8, 16])}Gi"}
    amounts["pods"] = str(rng.choice([4, 8, 110]))
    if rng.random() < 0.3:
        amounts["example.com/gpu"] = str(rng.choice([1, 2, 4]))
    node = b.node(name, zone=rng.choice(ZONES), allocatable=amounts)
    if rng.random() < 0.3:
        node["spec"]["taints"] = [rng.choice(TAINTS)]
    if rng.random() < 0.1:
        node["spec"]["unschedulable"] = True
    if rng.random() < 0.4:
        node["metadata"]["labels"]["disk"] = rng.choice(["ssd", "hdd"])
    if rng.random() < 0.6:
        node["metadata"]["labels"]["size"] = rng.choice(["2", "5", "08", "large"])
    if rng.random() < 0.1:
        del node["metadata"]["labels"][b.ZONE]
    return node


def _csi_nodes(rng: random.Random, nodes: list[dict]) -> list[dict]:
    names = [n["metadata"]["name"] for n in nodes]
    return [b.csi_node(name, csi_example_com=rng.choice([1, 2, 8])) for name in names if rng.random() < 0.7]


def _pod_with_objects(rng: random.Random, name: str, nodes: list[dict]) -> list[dict]:
    pod = random_pod(rng, name)
    if rng.random() < 0.15:  # bound by somebody else, with no regard for any constraint but existence
        pod["spec"]["nodeName"] = rng.choice(nodes)["metadata"]["name"]
        pod["status"] = {"phase": "Running", "startTime": "2026-01-01T00:00:00Z"}
        return [_settled(pod)]
    if rng.random() < 0.15:
        pod["metadata"]["namespace"] = "shop"
        return [pod]
    return [pod, *(_volume(rng, pod) if rng.random() < 0.15 else [])]


def _settled(pod: dict) -> dict:
    """The pod without what only admission and the queue would read: it was admitted long ago."""
    spec = pod["spec"]
    for asked in ("schedulingGates", "runtimeClassName"):
        spec.pop(asked, None)
    rules = [r for side, r in spec.get("affinity", {}).items() if side != "nodeAffinity"]
    for term in [t for r in rules for t in r["requiredDuringSchedulingIgnoredDuringExecution"]]:
        term.pop("matchLabelKeys", None)
        term.pop("mismatchLabelKeys", None)
    return pod


def _volume(rng: random.Random, pod: dict) -> list[dict]:
    """A claim of the pod's own: bound, or to be bound where the pod goes."""
    name = f"c-{pod['metadata']['name']}"
    pod["spec"].setdefault("volumes", []).append(_mounted(name))
    if rng.random() < 0.5:
        return _bound(name, "ReadWriteOnce", zone=rng.choice([None, *ZONES]))
    waiting = b.claim(name, class_name=rng.choice(["fast", "made"]))
    return [waiting, b.volume(f"{name}-pv", zone=rng.choice(ZONES))]


def _shared_claims(rng: random.Random, pods: list[dict]) -> list[dict]:
    """Two bound claims that several pods use, one of them for a single pod at a time."""
    made = []
    for mode in ("ReadWriteOnce", "ReadWriteOncePod"):
        name = f"shared-{mode.lower()}"
        for pod in pods:
            if pod["metadata"]["namespace"] == "default" and rng.random() < 0.05:
                pod["spec"].setdefault("volumes", []).append(_mounted(name))
        made += _bound(name, mode, zone=rng.choice([None, *ZONES]))
    return made


def _mounted(claim: str) -> dict:
    return {"name": claim, "persistentVolumeClaim": {"claimName": claim}}


def _bound(name: str, mode: str, *, zone: str | None) -> list[dict]:
    volume = b.volume(f"{name}-pv", zone=zone, labels={b.ZONE: zone or "a__b__c"})
    volume["spec"]["claimRef"] = {"kind": "PersistentVolumeClaim", "namespace": "default", "name": name}
    volume["status"]["phase"] = "Bound"
    return [b.claim(name, volume=f"{name}-pv", mode=mode), volume]
