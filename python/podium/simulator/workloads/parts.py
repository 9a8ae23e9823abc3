"""The nodes and pods of all scenarios: those of ``peers/cmd/inproc`` unless a scenario says more."""

from collections.abc import Mapping

import msgspec

from podium.api import (
    Container,
    LabelSelector,
    Node,
    NodeStatus,
    ObjectMeta,
    OwnerReference,
    Pod,
    PodSpec,
    ResourceRequirements,
)

HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
ZONES = 10
SCHEDULER = "default-scheduler"
AMOUNTS = {"cpu": "32", "memory": "256Gi", "pods": "110", "ephemeral-storage": "100Gi"}
LABELS = {"app": "a"}


def nodes(count: int) -> list[Node]:
    """Return ``count`` equal nodes in ten zones."""
    status = NodeStatus(capacity=AMOUNTS, allocatable=AMOUNTS)
    return [_node(f"node-{index:05d}", f"z{index % ZONES}", status) for index in range(count)]


def _node(name: str, zone: str, status: NodeStatus) -> Node:
    return Node(metadata=ObjectMeta(name=name, uid=name, labels={HOST: name, ZONE: zone}), status=status)


def spec(cpu_milli: int = 100, memory_mib: int = 500) -> PodSpec:
    """Return a spec of one container with these requests, in canonical notation."""
    requests = {"cpu": cpu(cpu_milli), "memory": memory(memory_mib)}
    container = Container(name="c", image="pause", resources=ResourceRequirements(requests=requests))
    return PodSpec(containers=(container,), scheduler_name=SCHEDULER)


def cpu(milli: int) -> str:
    """Return a canonical quantity of thousandths."""
    return f"{milli}m" if milli % 1000 else str(milli // 1000)


def memory(mebi: int) -> str:
    """Return a canonical quantity of mebibytes, below one tebibyte."""
    return f"{mebi}Mi" if mebi % 1024 or not mebi else f"{mebi // 1024}Gi"


def pod(index: int, template: PodSpec, labels: Mapping[str, str] = LABELS) -> Pod:
    """Return the pod of this number in namespace default; the template is shared."""
    return Pod(metadata=meta(f"p-{index:06d}", f"u-{index:06d}", labels), spec=template)


def meta(name: str, uid: str, labels: Mapping[str, str] = LABELS, namespace: str = "default") -> ObjectMeta:
    """Return the metadata of a pod."""
    return ObjectMeta(name=name, namespace=namespace, uid=uid, labels=labels)


def owned(item: Pod, kind: str, name: str) -> Pod:
    """Return a copy of a pod that a controller of apps/v1 made."""
    owner = OwnerReference(api_version="apps/v1", kind=kind, name=name, uid=f"{kind}-{name}", controller=True)
    return msgspec.structs.replace(
        item, metadata=msgspec.structs.replace(item.metadata, owner_references=(owner,))
    )


def app(name: str) -> LabelSelector:
    """Select pods by their label ``app``."""
    return LabelSelector(match_labels={"app": name})
