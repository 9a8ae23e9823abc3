"""The machines: seven pools in three zones, some tainted, cordoned or not ready."""

import random
from typing import NamedTuple

from podium.simulator.sample.manifests import HOST, POOL, REGION, REGISTRY, ZONE, ZONES, Manifest, manifest

GPU = "nvidia.com/gpu"
IMAGES = {  # name -> MiB; each node has a random half of them
    "store/web:3": 220,
    "store/cart:7": 340,
    "store/pay:2": 410,
    "search/index:9": 1250,
    "search/query:9": 830,
    "ml/train:4": 6200,
    "ml/serve:4": 3900,
    "data/queue:5": 560,
    "base/log-agent:1": 90,
}


class Pool(NamedTuple):
    """Nodes of one size; ``memory`` in GiB, ``volumes`` is how many CSI volumes a node takes."""

    name: str
    size: int
    cpu: int
    memory: int
    volumes: int
    taints: tuple[tuple[str, str, str], ...] = ()
    extra: tuple[tuple[str, str], ...] = ()


POOLS = (
    Pool("control", 3, 4, 16, 8, (("node-role.kubernetes.io/control-plane", "", "NoSchedule"),)),
    Pool("small", 110, 8, 32, 12),
    Pool("large", 90, 16, 64, 24, (), (("hugepages-2Mi", "1Gi"),)),
    Pool("batch", 48, 32, 128, 24, (("example.com/dedicated", "batch", "PreferNoSchedule"),)),
    Pool("spot", 30, 8, 32, 12, (("example.com/spot", "true", "NoSchedule"),)),
    Pool("gpu", 24, 32, 256, 24, ((GPU, "present", "NoSchedule"),), ((GPU, "4"),)),
    Pool("edge", 12, 4, 8, 4, (("example.com/edge", "true", "NoExecute"),)),
)


def nodes(rng: random.Random) -> list[Manifest]:
    """Return the Node objects, pool after pool."""
    return [_node(rng, pool, index) for pool in POOLS for index in range(pool.size)]


def _node(rng: random.Random, pool: Pool, index: int) -> Manifest:
    name = f"{pool.name}-{index:03d}"
    labels = {HOST: name, POOL: pool.name, "kubernetes.io/os": "linux"}
    if pool.name != "edge":  # the edge has no zones: pods that are spread over zones stay away
        labels |= {ZONE: ZONES[index % len(ZONES)], REGION: "region-1"}
    if pool.name == "large":
        labels["example.com/disk"] = "nvme" if index % 3 else "ssd"
        labels["example.com/generation"] = str(3 + index % 4)
    spec: Manifest = {"podCIDR": f"10.{index % 256}.0.0/24"}
    taints = [{"key": k, "value": v, "effect": e} for k, v, e in pool.taints] + _trouble(pool, index)
    if taints:
        spec["taints"] = taints
    if _cordoned(pool, index):
        spec["unschedulable"] = True
    capacity, allocatable = _amounts(pool)
    status: Manifest = {"capacity": capacity, "allocatable": allocatable, "images": _images(rng)}
    if pool.name == "batch":
        status["declaredFeatures"] = ["RestartAllContainersOnContainerExits"]
    return manifest("Node", name, labels=labels, spec=spec, status=status)


def _cordoned(pool: Pool, index: int) -> bool:
    return pool.name == "small" and index % 37 == 5


def _trouble(pool: Pool, index: int) -> list[Manifest]:
    """Return the taints that a node controller would have put there."""
    if _cordoned(pool, index):
        return [{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]
    if pool.name == "large" and index in (17, 55):
        key = "node.kubernetes.io/not-ready"
        return [{"key": key, "effect": "NoSchedule"}, {"key": key, "effect": "NoExecute"}]
    return []


def _amounts(pool: Pool) -> tuple[dict[str, str], dict[str, str]]:
    """Return capacity and allocatable: a part of cpu, memory and disk is the system's."""
    fixed = {"pods": "110", **dict(pool.extra)}
    memory = pool.memory * 2**20
    capacity = {"cpu": str(pool.cpu), "memory": f"{memory}Ki", "ephemeral-storage": "200Gi"}
    rest = {
        "cpu": f"{pool.cpu * 1000 - 180}m",
        "memory": f"{memory - 900 * 1024}Ki",
        "ephemeral-storage": "184Gi",
    }
    return {**capacity, **fixed}, {**rest, **fixed}


def _images(rng: random.Random) -> list[Manifest]:
    held = rng.sample(sorted(IMAGES), len(IMAGES) // 2)
    return [{"names": [f"{REGISTRY}/{name}"], "sizeBytes": IMAGES[name] * 2**20} for name in held]
