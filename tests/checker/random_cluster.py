"""Small random clusters, one per seed, with every kind of constraint somewhere among them."""

import random
from collections.abc import Callable

from tests.checker import builders as b

APPS = ("api", "db", "web", "job")
ZONES = ("a", "b", "c")
TAINTS = (
    {"key": "dedicated", "value": "batch", "effect": "NoSchedule"},
    {"key": "flaky", "effect": "PreferNoSchedule"},
    {"key": "draining", "effect": "NoExecute"},
)
Ingredient = Callable[[random.Random, dict], None]


def random_cluster(seed: int) -> list[dict]:
    """Manifests of 3 to 12 nodes, 10 to 60 pods (some bound) and the objects that they refer to.

    They pass API validation; nothing in them is defaulted. The same seed gives the same cluster.
    """
    rng = random.Random(seed)
    nodes = [_node(rng, f"n{i}") for i in range(rng.randint(3, 12))]
    objects = [*_classes(), *nodes]
    for i in range(rng.randint(10, 60)):
        objects += _pod_with_objects(rng, f"p{i}", nodes)
    rng.shuffle(objects)
    return objects


def _classes() -> list[dict]:
    def named(kind: str, version: str, name: str, **fields: object) -> dict:
        return {"apiVersion": version, "kind": kind, "metadata": {"name": name}, **fields}

    return [
        named("PriorityClass", "scheduling.k8s.io/v1", "high", value=1000),
        named("PriorityClass", "scheduling.k8s.io/v1", "polite", value=500, preemptionPolicy="Never"),
        named(
            "RuntimeClass", "node.k8s.io/v1", "boxed", handler="boxed", overhead={"podFixed": {"cpu": "150m"}}
        ),
        named("Namespace", "v1", "default"),
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
    return node


def _pod_with_objects(rng: random.Random, name: str, nodes: list[dict]) -> list[dict]:
    requests = {"cpu": f"{rng.choice([100, 250, 500, 1000])}m", "memory": f"{rng.choice([64, 256, 1024])}Mi"}
    pod = b.pod(name, requests if rng.random() < 0.9 else None, labels={"app": rng.choice(APPS)})
    for ingredient in INGREDIENTS:
        if rng.random() < 0.12:
            ingredient(rng, pod)
    if rng.random() < 0.15:  # bound by somebody else, with no regard for any constraint but existence
        pod["spec"]["nodeName"] = rng.choice(nodes)["metadata"]["name"]
        pod["status"] = {"phase": "Running", "startTime": "2026-01-01T00:00:00Z"}
        pod["spec"].pop("schedulingGates", None)
        return [pod]
    return [pod, *(_volume(rng, pod) if rng.random() < 0.15 else [])]


def _volume(rng: random.Random, pod: dict) -> list[dict]:
    name = f"c-{pod['metadata']['name']}"
    pod["spec"].setdefault("volumes", []).extend(b.using(name))
    if rng.random() < 0.5:
        return [
            b.claim(name, class_name=rng.choice(["fast", "made"])),
            b.volume(f"{name}-pv", zone=rng.choice(ZONES)),
        ]
    bound = b.volume(f"{name}-pv", zone=rng.choice([None, *ZONES]), labels={b.ZONE: rng.choice(ZONES)})
    bound["spec"]["claimRef"] = {"kind": "PersistentVolumeClaim", "namespace": "default", "name": name}
    bound["status"]["phase"] = "Bound"
    return [b.claim(name, volume=f"{name}-pv"), bound]


def _selector(rng: random.Random, pod: dict) -> None:
    pod["spec"]["nodeSelector"] = {"disk": rng.choice(["ssd", "hdd"])}


def _affinity(rng: random.Random, pod: dict) -> None:
    pod["spec"].setdefault("affinity", {}).update(b.at_node(b.ZONE, *rng.sample(ZONES, 2)))


def _together(rng: random.Random, pod: dict) -> None:
    app = rng.choice([pod["metadata"]["labels"]["app"], rng.choice(APPS)])
    pod["spec"].setdefault("affinity", {}).update(
        b.on_same(rng.choice([b.ZONE, b.HOST]), "podAffinity", app=app)
    )


def _apart(rng: random.Random, pod: dict) -> None:
    key, app = rng.choice([b.ZONE, b.HOST, b.HOST]), rng.choice(APPS)
    pod["spec"].setdefault("affinity", {}).update(b.on_same(key, "podAntiAffinity", app=app))


def _spread(rng: random.Random, pod: dict) -> None:
    constraint = b.spread_over(
        rng.choice([b.ZONE, b.HOST]), skew=rng.choice([1, 2]), app=pod["metadata"]["labels"]["app"]
    )
    constraint["whenUnsatisfiable"] = rng.choice(["DoNotSchedule", "DoNotSchedule", "ScheduleAnyway"])
    constraint["nodeTaintsPolicy"] = rng.choice(["Honor", "Ignore"])
    pod["spec"]["topologySpreadConstraints"] = [constraint]


def _tolerations(rng: random.Random, pod: dict) -> None:
    taint = rng.choice(TAINTS)
    pod["spec"]["tolerations"] = [{"key": taint["key"], "operator": "Exists", "effect": taint["effect"]}]


def _port(rng: random.Random, pod: dict) -> None:
    port = rng.choice([8080, 9090])
    pod["spec"]["containers"][0]["ports"] = [{"containerPort": port, "hostPort": port}]


def _gpu(rng: random.Random, pod: dict) -> None:
    resources = pod["spec"]["containers"][0].setdefault("resources", {})
    resources["limits"] = {"example.com/gpu": str(rng.choice([1, 2]))}


def _sidecar(rng: random.Random, pod: dict) -> None:
    sidecar = {"name": "side", "image": "registry.example/side:1", "restartPolicy": "Always"}
    sidecar["resources"] = {"requests": {"cpu": f"{rng.choice([50, 200])}m"}}
    starter = {"name": "start", "image": "registry.example/start:1", "resources": {"requests": {"cpu": "1"}}}
    pod["spec"]["initContainers"] = [sidecar, starter] if rng.random() < 0.5 else [starter, sidecar]


def _priority(rng: random.Random, pod: dict) -> None:
    pod["spec"]["priorityClassName"] = rng.choice(["high", "polite"])


def _gate(_rng: random.Random, pod: dict) -> None:
    pod["spec"]["schedulingGates"] = [{"name": "example.com/wait"}]


def _boxed(_rng: random.Random, pod: dict) -> None:
    pod["spec"]["runtimeClassName"] = "boxed"


def _disk(rng: random.Random, pod: dict) -> None:
    disk = {"pdName": rng.choice(["disk-1", "disk-2"]), "readOnly": rng.random() < 0.5}
    pod["spec"].setdefault("volumes", []).append({"name": "disk", "gcePersistentDisk": disk})


INGREDIENTS: tuple[Ingredient, ...] = (
    _selector,
    _affinity,
    _together,
    _apart,
    _spread,
    _tolerations,
    _port,
    _gpu,
    _sidecar,
    _priority,
    _gate,
    _boxed,
    _disk,
)
