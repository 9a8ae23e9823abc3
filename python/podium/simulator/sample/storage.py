"""Classes, drivers, volumes and claims of every binding mode."""

import random
from typing import Any

from podium.simulator.sample.manifests import HOST, POOL, ZONE, ZONES, Manifest, manifest, node_term
from podium.simulator.sample.nodes import POOLS

DISK, LVM = "disk.csi.example.com", "lvm.csi.example.com"
ARCHIVES, LOCAL_VOLUMES = 30, 45
STORAGE = "storage.k8s.io/v1"


def storage(rng: random.Random, machines: list[Manifest]) -> list[Manifest]:
    """Return the storage objects of the cluster, apart from claims that StatefulSets make."""
    return [
        manifest("CSIDriver", DISK, version=STORAGE, spec={"attachRequired": True}),
        manifest("CSIDriver", LVM, version=STORAGE, spec={"attachRequired": False, "storageCapacity": True}),
        _storage_class("disk", DISK, "WaitForFirstConsumer", allowedTopologies=[_zones()]),
        _storage_class("archive", DISK, "Immediate"),
        _storage_class("local", "kubernetes.io/no-provisioner", "WaitForFirstConsumer"),
        _storage_class("lvm", LVM, "WaitForFirstConsumer"),
        *map(_csi_node, machines),
        *map(_capacity, ZONES),
        *_archives(rng),
        *_local_volumes(rng, machines),
    ]


def claim(name: str, namespace: str, class_name: str, size: str, **spec: Any) -> Manifest:
    """Make an unbound claim for one node at a time, unless ``accessModes`` says otherwise."""
    body = {
        "storageClassName": class_name,
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": size}},
        **spec,
    }
    return manifest("PersistentVolumeClaim", name, namespace=namespace, spec=body)


def _storage_class(name: str, provisioner: str, mode: str, **fields: Any) -> Manifest:
    binding = {"provisioner": provisioner, "volumeBindingMode": mode}
    return manifest("StorageClass", name, version=STORAGE, **binding, **fields)


def _zones() -> Manifest:
    return {"matchLabelExpressions": [{"key": ZONE, "values": list(ZONES)}]}


def _csi_node(machine: Manifest) -> Manifest:
    name, pool = machine["metadata"]["name"], machine["metadata"]["labels"][POOL]
    count = next(p.volumes for p in POOLS if p.name == pool)
    drivers = [{"name": DISK, "nodeID": name, "topologyKeys": [ZONE], "allocatable": {"count": count}}]
    if pool == "large":
        drivers.append({"name": LVM, "nodeID": name, "topologyKeys": [HOST], "allocatable": {"count": 6}})
    return manifest("CSINode", name, version=STORAGE, spec={"drivers": drivers})


def _capacity(zone: str) -> Manifest:
    fields = {
        "storageClassName": "lvm",
        "nodeTopology": {"matchLabels": {ZONE: zone, POOL: "large"}},
        "capacity": f"{100 + 60 * ZONES.index(zone)}Gi",
    }
    return manifest("CSIStorageCapacity", f"lvm-{zone}", version=STORAGE, namespace="kube-system", **fields)


def _volume(name: str, class_name: str, size: str, source: Manifest, **fields: Any) -> Manifest:
    spec = {
        "storageClassName": class_name,
        "accessModes": ["ReadWriteOnce", "ReadOnlyMany"],
        "capacity": {"storage": size},
        "persistentVolumeReclaimPolicy": "Retain",
        **source,
        **fields,
    }
    return manifest("PersistentVolume", name, spec=spec, status={"phase": "Available"})


def _archives(rng: random.Random) -> list[Manifest]:
    """Return claims that were bound long ago to disks of one zone, every third of them for one pod only."""
    found = []
    for index in range(ARCHIVES):
        name, zone = f"archive-{index:02d}", rng.choice(ZONES)
        modes = ["ReadWriteOncePod"] if index % 3 == 0 else ["ReadWriteOnce"]
        bound = claim(name, "data", "archive", "50Gi", volumeName=name, accessModes=modes)
        bound["metadata"]["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
        bound["status"] = {"phase": "Bound"}
        owner = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": "data", "name": name}
        source = {"csi": {"driver": DISK, "volumeHandle": f"vol-{index:04d}"}}
        disk = _volume(name, "archive", "50Gi", source, claimRef=owner, accessModes=modes)
        disk["metadata"]["labels"] = {ZONE: zone}
        disk["spec"]["nodeAffinity"] = {"required": {"nodeSelectorTerms": [node_term(ZONE, zone)]}}
        disk["status"]["phase"] = "Bound"
        found += [disk, bound]
    return found


def _local_volumes(rng: random.Random, machines: list[Manifest]) -> list[Manifest]:
    """Return free disks inside large nodes, each usable on its own node only."""
    large = [m["metadata"]["name"] for m in machines if m["metadata"]["labels"][POOL] == "large"]
    found = []
    for index, host in enumerate(sorted(rng.sample(large, LOCAL_VOLUMES))):
        size = f"{rng.choice([100, 200, 400])}Gi"
        affinity = {"required": {"nodeSelectorTerms": [node_term(HOST, host)]}}
        source = {"local": {"path": f"/disks/{index}"}}
        found.append(_volume(f"local-{index:02d}", "local", size, source, nodeAffinity=affinity))
    return found
