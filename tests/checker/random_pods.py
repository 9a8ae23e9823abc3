"""Random pods: a plain one, and each of the ingredients with a small chance of its own."""

import random
from collections.abc import Callable

from tests.checker import builders as b

APPS = ("api", "db", "web", "job")
ZONES = ("a", "b", "c")
TOLERATED = (("dedicated", "NoSchedule"), ("flaky", "PreferNoSchedule"), ("draining", "NoExecute"))
CHANCE = 0.12
Ingredient = Callable[[random.Random, dict], None]


def random_pod(rng: random.Random, name: str) -> dict:
    """A pod of namespace default that needs no other object but the priority and runtime classes."""
    requests = {"cpu": f"{rng.choice([100, 250, 500, 1000])}m", "memory": f"{rng.choice([64, 256, 1024])}Mi"}
    labels = {"app": rng.choice(APPS)}
    if rng.random() < 0.5:
        labels["tier"] = rng.choice(["one", "two"])
    pod = b.pod(name, requests if rng.random() < 0.9 else None, labels=labels)
    for ingredient in INGREDIENTS:
        if rng.random() < CHANCE:
            ingredient(rng, pod)
    return pod


def _selector(rng: random.Random, pod: dict) -> None:
    pod["spec"]["nodeSelector"] = {"disk": rng.choice(["ssd", "hdd"])}


def _node_affinity(rng: random.Random, pod: dict) -> None:
    wish = b.at_node(b.ZONE, *rng.sample(ZONES, 2))
    terms = wish["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    if rng.random() < 0.5:
        operator = rng.choice(["Exists", "DoesNotExist"])
        terms[0]["matchExpressions"].append({"key": "disk", "operator": operator})
    if rng.random() < 0.5:
        size = {"key": "size", "operator": rng.choice(["Gt", "Lt"]), "values": [str(rng.randint(1, 9))]}
        terms.append({"matchExpressions": [size]})
    pod["spec"].setdefault("affinity", {}).update(wish)


def _together(rng: random.Random, pod: dict) -> None:
    app = rng.choice([pod["metadata"]["labels"]["app"], rng.choice(APPS)])
    _wish(rng, pod, b.on_same(rng.choice([b.ZONE, b.HOST]), "podAffinity", app=app))


def _apart(rng: random.Random, pod: dict) -> None:
    key = rng.choice([b.ZONE, b.HOST, b.HOST])
    _wish(rng, pod, b.on_same(key, "podAntiAffinity", app=rng.choice(APPS)))


def _wish(rng: random.Random, pod: dict, wish: dict) -> None:
    """Sometimes the term is about other namespaces, or about pods of the same tier."""
    (rules,) = wish.values()
    (term,) = rules["requiredDuringSchedulingIgnoredDuringExecution"]
    if rng.random() < 0.3:
        absent = {"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]}
        term["namespaceSelector"] = rng.choice([{}, b.selector(team="shop"), absent])
    elif rng.random() < 0.2:
        term["namespaces"] = rng.choice([["shop"], ["default", "shop"]])
    if rng.random() < 0.2:
        term[rng.choice(["matchLabelKeys", "mismatchLabelKeys"])] = ["tier"]
    pod["spec"].setdefault("affinity", {}).update(wish)


def _spread(rng: random.Random, pod: dict) -> None:
    app = pod["metadata"]["labels"]["app"]
    constraint = b.spread_over(rng.choice([b.ZONE, b.HOST]), skew=rng.choice([1, 2]), app=app)
    constraint["whenUnsatisfiable"] = rng.choice(["DoNotSchedule", "DoNotSchedule", "ScheduleAnyway"])
    constraint["nodeTaintsPolicy"] = rng.choice(["Honor", "Ignore"])
    constraint["nodeAffinityPolicy"] = rng.choice(["Honor", "Ignore"])
    if rng.random() < 0.3:
        constraint["matchLabelKeys"] = ["tier"]
    if rng.random() < 0.3 and constraint["whenUnsatisfiable"] == "DoNotSchedule":
        constraint["minDomains"] = rng.choice([2, 3, 4])
    pod["spec"]["topologySpreadConstraints"] = [constraint]


def _tolerations(rng: random.Random, pod: dict) -> None:
    key, effect = rng.choice(TOLERATED)
    pod["spec"]["tolerations"] = [{"key": key, "operator": "Exists", "effect": effect}]


def _port(rng: random.Random, pod: dict) -> None:
    port = rng.choice([8080, 9090])
    wanted = {"containerPort": port, "hostPort": port, "protocol": rng.choice(["TCP", "UDP"])}
    if rng.random() < 0.5:
        wanted["hostIP"] = rng.choice(["10.0.0.1", "10.0.0.2"])
    pod["spec"]["containers"][0]["ports"] = [wanted]


def _gpu(rng: random.Random, pod: dict) -> None:
    resources = pod["spec"]["containers"][0].setdefault("resources", {})
    resources["limits"] = {"example.com/gpu": str(rng.choice([1, 2]))}


def _sidecar(rng: random.Random, pod: dict) -> None:
    sidecar = {"name": "side", "image": "registry.example/side:1", "restartPolicy": "Always"}
    sidecar["resources"] = {"requests": {"cpu": f"{rng.choice([50, 200])}m"}}
    starter = {"name": "start", "image": "registry.example/start:1", "resources": {"requests": {"cpu": "1"}}}
    pod["spec"]["initContainers"] = [sidecar, starter] if rng.random() < 0.5 else [starter, sidecar]


def _whole(rng: random.Random, pod: dict) -> None:
    """Requests of the pod as a whole; they may not be less than what its containers ask for."""
    pod["spec"]["resources"] = {"requests": {"cpu": str(rng.choice([3, 4])), "memory": "2Gi"}}


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
    _node_affinity,
    _together,
    _apart,
    _spread,
    _tolerations,
    _port,
    _gpu,
    _sidecar,
    _whole,
    _priority,
    _gate,
    _boxed,
    _disk,
)
