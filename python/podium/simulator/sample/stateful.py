"""StatefulSets with claims of every class."""

import random

from podium.simulator.sample.applications import REQUIRED
from podium.simulator.sample.manifests import (
    HOST,
    ZONE,
    Manifest,
    container,
    service,
    spread,
    term,
    workload,
)
from podium.simulator.sample.storage import claim


def stateful(rng: random.Random) -> list[Manifest]:
    """Return databases on zonal disks, brokers on local disks, and scratch stores on node volumes."""
    found: list[Manifest] = []
    for index in range(6):
        name = f"database-{index}"
        spec: Manifest = {"containers": [container("data/database:8", "1", "4Gi")]}
        spec["topologySpreadConstraints"] = [spread(name, ZONE, hard=True)]
        spec["priorityClassName"] = "production"
        found += _set(name, spec, replicas=rng.randint(3, 9), template=claim("data", "", "disk", "100Gi"))
    brokers: Manifest = {"containers": [container("data/broker:3", "2", "8Gi")]}
    brokers["affinity"] = {"podAntiAffinity": {REQUIRED: [term("broker", HOST)]}}
    found += _set("broker", brokers, replicas=24, template=claim("log", "", "local", "80Gi"))
    scratch: Manifest = {"containers": [container("data/scratch:1", "500m", "1Gi")]}
    found += _set("scratch", scratch, replicas=16, template=claim("tmp", "", "lvm", "120Gi"))
    return found


def _set(name: str, spec: Manifest, *, replicas: int, template: Manifest) -> list[Manifest]:
    fields = {"replicas": replicas, "serviceName": name, "volumeClaimTemplates": [template]}
    fields["podManagementPolicy"] = "Parallel"
    return [workload("StatefulSet", name, "data", spec, **fields), service(name, "data")]
