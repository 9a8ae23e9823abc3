"""Short forms for the manifests of the sample."""

from typing import Any

Manifest = dict[str, Any]

ZONES = ("zone-a", "zone-b", "zone-c")
ZONE, REGION, HOST = "topology.kubernetes.io/zone", "topology.kubernetes.io/region", "kubernetes.io/hostname"
POOL = "example.com/pool"
REGISTRY = "registry.example.com"


def manifest(kind: str, name: str, *, version: str = "v1", namespace: str = "", **fields: Any) -> Manifest:
    """Make an object; ``labels`` and ``annotations`` go to its metadata, the other fields stay on top."""
    metadata: Manifest = {"name": name}
    if namespace:
        metadata["namespace"] = namespace
    for part in ("labels", "annotations"):
        if part in fields:
            metadata[part] = fields.pop(part)
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **fields}


def container(image: str, cpu: str = "", memory: str = "", **fields: Any) -> Manifest:
    """Make a container named after its image; ``extra`` are extended resources, in requests and limits."""
    requests = {name: amount for name, amount in (("cpu", cpu), ("memory", memory)) if amount}
    extra = fields.pop("extra", {})
    resources: Manifest = {"requests": {**requests, **extra}}
    if extra:
        resources["limits"] = extra
    name = fields.pop("name", image.split("/")[-1].split(":")[0])
    return {"name": name, "image": f"{REGISTRY}/{image}", "resources": resources, **fields}


def workload(kind: str, name: str, namespace: str, spec: Manifest, **fields: Any) -> Manifest:
    """Make a Deployment, StatefulSet or DaemonSet whose pods are labelled ``app=name``."""
    labels = {"app": name, **fields.pop("labels", {})}
    body = {
        **fields,
        "selector": {"matchLabels": {"app": name}},
        "template": {"metadata": {"labels": labels}, "spec": spec},
    }
    return manifest(kind, name, version="apps/v1", namespace=namespace, labels={"app": name}, spec=body)


def job(name: str, namespace: str, spec: Manifest, **fields: Any) -> Manifest:
    """Make a Job whose pods are labelled ``app=name``."""
    template = {"metadata": {"labels": {"app": name}}, "spec": {**spec, "restartPolicy": "Never"}}
    return manifest(
        "Job", name, version="batch/v1", namespace=namespace, spec={**fields, "template": template}
    )


def service(name: str, namespace: str) -> Manifest:
    """Make a Service for ``app=name``: it is what the default spread constraints select by."""
    spec = {"selector": {"app": name}, "ports": [{"port": 80}]}
    return manifest("Service", name, namespace=namespace, spec=spec)


def budget(name: str, namespace: str, app: str, *, allowed: int) -> Manifest:
    """Make a PodDisruptionBudget as its controller leaves it, with the disruptions still allowed."""
    spec = {"maxUnavailable": allowed, "selector": {"matchLabels": {"app": app}}}
    status = {"disruptionsAllowed": allowed}
    fields = {"spec": spec, "status": status}
    return manifest("PodDisruptionBudget", name, version="policy/v1", namespace=namespace, **fields)


def toleration(key: str, effect: str = "NoSchedule") -> Manifest:
    """Tolerate a taint whatever its value."""
    return {"key": key, "operator": "Exists", "effect": effect}


def spread(app: str, key: str, *, skew: int = 1, hard: bool, **fields: Any) -> Manifest:
    """Make a topology spread constraint over the pods of an app."""
    return {
        "maxSkew": skew,
        "topologyKey": key,
        "whenUnsatisfiable": "DoNotSchedule" if hard else "ScheduleAnyway",
        "labelSelector": {"matchLabels": {"app": app}},
        **fields,
    }


def term(app: str, key: str, **fields: Any) -> Manifest:
    """Make a term of pod affinity or anti-affinity towards an app."""
    return {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}, **fields}


def node_term(key: str, *values: str, operator: str = "In") -> Manifest:
    """Make a node selector term of one requirement."""
    requirement: Manifest = {"key": key, "operator": operator}
    if values:
        requirement["values"] = list(values)
    return {"matchExpressions": [requirement]}
