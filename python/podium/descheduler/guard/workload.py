"""What a pod belongs to: the workload that is remembered."""

import hashlib
from typing import Final, NamedTuple

import msgspec

from podium.api import Pod

_HASH: Final = "pod-template-hash"


class Workload(NamedTuple):
    """The owner of a pod; a ReplicaSet of a Deployment counts as the Deployment, over its revisions."""

    namespace: str
    kind: str
    name: str
    ordinal: str = ""
    """The pod's own name where it has an identity, as in a StatefulSet."""


def workload_of(pod: Pod) -> Workload:
    """Return the workload of a pod; a pod without an owner is its own."""
    meta = pod.metadata
    owner = next(iter(meta.owner_references), None)
    if owner is None:
        return Workload(meta.namespace, "Pod", meta.name)
    suffix = f"-{meta.labels.get(_HASH, '')}"
    if owner.kind == "ReplicaSet" and len(suffix) > 1 and owner.name.endswith(suffix):
        return Workload(meta.namespace, "Deployment", owner.name.removesuffix(suffix))
    ordinal = meta.name if owner.kind == "StatefulSet" else ""
    return Workload(meta.namespace, owner.kind, owner.name, ordinal)


def is_shared(pod: Pod) -> bool:
    """Tell whether pods of one shape are of one workload: this one is not its own, and has no identity."""
    owners = pod.metadata.owner_references
    return bool(owners) and owners[0].kind != "StatefulSet"


def likeness(pod: Pod) -> bytes:
    """Return what is equal for pods that land on the same nodes; names of volumes differ from pod to pod."""
    spec, meta = pod.spec, pod.metadata
    containers = [(item.image, item.resources) for item in (*spec.containers, *spec.init_containers)]
    claims = [volume.persistent_volume_claim for volume in spec.volumes]
    placing = (spec.node_selector, spec.affinity, spec.tolerations, spec.topology_spread_constraints, claims)
    owners = [owner.uid for owner in meta.owner_references]
    text = msgspec.json.encode(
        (meta.namespace, owners, containers, placing, spec.priority, spec.scheduler_name)
    )
    return hashlib.blake2b(text, digest_size=16).digest()
