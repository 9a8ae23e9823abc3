"""Small manifests for tests of the checker."""

from typing import Any

ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"


def node(name: str, *, zone: str = "a", allocatable: dict | None = None, **spec: Any) -> dict:
    """``declaredFeatures`` goes to the status, everything else to the spec."""
    amounts = {"cpu": "4", "memory": "8Gi", "pods": "10", **(allocatable or {})}
    status: dict[str, Any] = {"allocatable": amounts, "capacity": amounts}
    if "declaredFeatures" in spec:
        status["declaredFeatures"] = spec.pop("declaredFeatures")
    labels = {HOST: name, ZONE: zone}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": spec,
        "status": status,
    }


def pod(name: str, requests: dict | None = None, **spec: Any) -> dict:
    """``labels`` goes to the metadata, ``ports`` to the container, everything else to the spec."""
    container: dict[str, Any] = {"name": "main", "image": "registry.example/app:1"}
    if requests:
        container["resources"] = {"requests": requests}
    if "ports" in spec:
        container["ports"] = spec.pop("ports")
    metadata = {"name": name, "namespace": "default", "labels": spec.pop("labels", {"app": "x"})}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": [container], **spec},
    }


def selector(**labels: str) -> dict:
    return {"matchLabels": labels}


def on_same(key: str, kind: str, **labels: str) -> dict:
    """Required podAffinity or podAntiAffinity with pods of these labels, per value of the key."""
    term = {"topologyKey": key, "labelSelector": selector(**labels)}
    return {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def at_node(key: str, *values: str) -> dict:
    """Required node affinity to these values of one label."""
    expressions = [{"key": key, "operator": "In", "values": list(values)}]
    required = {"nodeSelectorTerms": [{"matchExpressions": expressions}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


def spread_over(key: str, *, skew: int = 1, **labels: str) -> dict:
    return {
        "maxSkew": skew,
        "topologyKey": key,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": selector(**labels),
    }


def claim(
    name: str, *, class_name: str = "fast", volume: str | None = None, mode: str = "ReadWriteOnce"
) -> dict:
    """Bound where a volume is named."""
    spec = {
        "storageClassName": class_name,
        "accessModes": [mode],
        "resources": {"requests": {"storage": "1Gi"}},
    }
    metadata: dict[str, Any] = {"name": name, "namespace": "default"}
    if volume:
        spec["volumeName"] = volume
        metadata["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
    phase = "Bound" if volume else "Pending"
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": metadata,
        "spec": spec,
        "status": {"phase": phase},
    }


def volume(name: str, *, zone: str | None = None, labels: dict | None = None, **spec: Any) -> dict:
    """Reachable from one zone only, where one is named."""
    full = {
        "storageClassName": "fast",
        "accessModes": ["ReadWriteOnce", "ReadWriteOncePod"],
        "capacity": {"storage": "1Gi"},
        "csi": {"driver": "csi.example.com", "volumeHandle": name},
        **spec,
    }
    if zone:
        expressions = [{"key": ZONE, "operator": "In", "values": [zone]}]
        full["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": expressions}]}}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name, "labels": labels or {}},
        "spec": full,
        "status": {"phase": "Available"},
    }


def storage_class(name: str = "fast", *, provisioner: str = "kubernetes.io/no-provisioner") -> dict:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": provisioner,
        "volumeBindingMode": "WaitForFirstConsumer",
    }


def using(*claims: str) -> list[dict]:
    return [{"name": f"v{i}", "persistentVolumeClaim": {"claimName": name}} for i, name in enumerate(claims)]


def csi_node(name: str, **limits: int) -> dict:
    """Drivers (``_`` for ``.``) with the number of volumes that the node takes."""
    drivers = [
        {"name": d.replace("_", "."), "nodeID": name, "allocatable": {"count": n}} for d, n in limits.items()
    ]
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSINode",
        "metadata": {"name": name},
        "spec": {"drivers": drivers},
    }


def answer(*placements: tuple[str, str], pending: tuple[str, ...] = (), **parts: Any) -> dict:
    """Pods by bare name, in the order of their placement."""
    return {
        "placements": [{"pod": f"default/{p}", "node": n, "at": 0.0} for p, n in placements],
        "pending": [
            {"pod": f"default/{p}", "message": "", "nominated": None, "victims": []} for p in pending
        ],
        **parts,
    }
