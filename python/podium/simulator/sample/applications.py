"""Services and daemons: Deployments of every style, and what runs on each node."""

import random
from collections.abc import Callable

from podium.simulator.sample.manifests import (
    HOST,
    POOL,
    ZONE,
    Manifest,
    container,
    node_term,
    service,
    spread,
    term,
    toleration,
    workload,
)

REQUIRED, PREFERRED = (
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
)
APPS_PER_TEAM = 15
Style = Callable[[str, Manifest], None]


def applications(rng: random.Random) -> list[Manifest]:
    """Return the teams' Deployments with their Services, then the DaemonSets."""
    found: list[Manifest] = []
    for team, images in TEAM_IMAGES.items():
        for index in range(APPS_PER_TEAM):
            found += _application(rng, team, f"{team}-{index:02d}", images[index % len(images)])
    return found + _cache_and_cart() + _daemons()


def _application(rng: random.Random, team: str, name: str, image: str) -> list[Manifest]:
    cpu, memory = rng.choice([100, 200, 250, 500, 900]), rng.choice([128, 256, 512, 1024, 1800])
    spec: Manifest = {"containers": [container(image, f"{cpu}m", f"{memory}Mi")]}
    STYLES[int(name[-2:]) % len(STYLES)](name, spec)
    fields = {"replicas": rng.randint(8, 60)}
    return [workload("Deployment", name, team, spec, **fields), service(name, team)]


def _plain(_name: str, _spec: Manifest) -> None:
    """Leave it to the default spread constraints, which go by the Service."""


def _over_zones(name: str, spec: Manifest) -> None:
    spec["topologySpreadConstraints"] = [spread(name, ZONE, hard=True, matchLabelKeys=["pod-template-hash"])]


def _over_hosts(name: str, spec: Manifest) -> None:
    spec["topologySpreadConstraints"] = [
        spread(name, ZONE, skew=2, hard=True, minDomains=2),
        spread(name, HOST, skew=2, hard=False, nodeTaintsPolicy="Honor"),
    ]


def _one_per_host(name: str, spec: Manifest) -> None:
    spec["affinity"] = {"podAntiAffinity": {REQUIRED: [term(name, HOST)]}}


def _near_the_cache(name: str, spec: Manifest) -> None:
    near = {REQUIRED: [term("cache", ZONE, namespaceSelector={"matchLabels": {"team": "store"}})]}
    apart = {PREFERRED: [{"weight": 40, "podAffinityTerm": term(name, HOST)}]}
    spec["affinity"] = {"podAffinity": near, "podAntiAffinity": apart}


def _on_new_machines(_name: str, spec: Manifest) -> None:
    newer = node_term("example.com/generation", "4", operator="Gt")
    small = node_term(POOL, "small")
    liked = [
        {"weight": 70, "preference": node_term("example.com/disk", "nvme")},
        {"weight": 10, "preference": node_term(POOL, "small")},
    ]
    spec["affinity"] = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [newer, small]}, PREFERRED: liked}}


def _on_spot(_name: str, spec: Manifest) -> None:
    spec["tolerations"] = [toleration("example.com/spot")]
    spec["affinity"] = {
        "nodeAffinity": {PREFERRED: [{"weight": 50, "preference": node_term(POOL, "spot")}]},
    }


def _with_sidecar(_name: str, spec: Manifest) -> None:
    proxy = container("base/proxy:2", "100m", "64Mi", restartPolicy="Always")
    migrate = container("base/migrate:1", "700m", "256Mi")
    spec["initContainers"] = [proxy, migrate]


def _sandboxed(_name: str, spec: Manifest) -> None:
    spec["runtimeClassName"] = "sandboxed"
    spec["priorityClassName"] = "production"


STYLES: tuple[Style, ...] = (
    _plain,
    _over_zones,
    _over_hosts,
    _one_per_host,
    _near_the_cache,
    _on_new_machines,
    _on_spot,
    _with_sidecar,
    _sandboxed,
)
TEAM_IMAGES = {
    "store": ("store/web:3", "store/pay:2"),
    "search": ("search/query:9", "search/index:9"),
    "ml": ("ml/serve:4",),
    "data": ("data/queue:5", "data/queue"),
}


def _cache_and_cart() -> list[Manifest]:
    """Return the cache that others want to be near, and the cart that keeps others off its nodes."""
    cache: Manifest = {"containers": [container("store/cache:1", "500m", "2Gi")]}
    cache["topologySpreadConstraints"] = [spread("cache", ZONE, hard=True)]
    cart: Manifest = {
        "containers": [container("store/cart:7", "900m", "1Gi")],
        "priorityClassName": "production",
    }
    cart["affinity"] = {
        "podAntiAffinity": {REQUIRED: [term("cart", HOST), term("search-00", HOST, namespaces=["search"])]}
    }
    return [
        workload("Deployment", "cache", "store", cache, replicas=9),
        service("cache", "store"),
        workload("Deployment", "cart", "store", cart, replicas=24),
        service("cart", "store"),
    ]


def _daemons() -> list[Manifest]:
    """Return a log agent for every node, an exporter on a host port, and the driver of GPU nodes."""
    anywhere: Manifest = {"containers": [container("base/log-agent:1", "50m", "80Mi")]}
    anywhere["tolerations"] = [{"operator": "Exists"}]
    anywhere["priorityClassName"] = "system-node-critical"
    ports = [{"containerPort": 9100, "hostPort": 9100}]
    exporter: Manifest = {"containers": [container("base/exporter:1", "20m", "40Mi", ports=ports)]}
    exporter["tolerations"] = [toleration("example.com/spot"), toleration("nvidia.com/gpu")]
    driver: Manifest = {"containers": [container("ml/driver:1", "100m", "200Mi")]}
    driver["tolerations"] = [toleration("nvidia.com/gpu")]
    driver["nodeSelector"] = {POOL: "gpu"}
    return [
        workload("DaemonSet", "log-agent", "kube-system", anywhere),
        workload("DaemonSet", "exporter", "kube-system", exporter),
        workload("DaemonSet", "gpu-driver", "kube-system", driver),
    ]
