"""Claims, volumes and classes, and what each says about a node."""

from typing import Any

from tests.checker.quantity import LARGEST, parse
from tests.checker.selectors import any_node_term, matches
from tests.checker.world import Node, World

BOUND = "pv.kubernetes.io/bind-completed"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
NO_PROVISIONER = ("", "kubernetes.io/no-provisioner")
ZONE_KEYS = {
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region": "topology.kubernetes.io/region",
}
Claim = tuple[str, str]


class Storage:
    """The storage objects of a world, indexed once."""

    def __init__(self, by_kind: dict[str, list[dict]]) -> None:
        def named(kind: str) -> dict[str, dict]:
            return {o["metadata"]["name"]: o for o in by_kind.get(kind, [])}

        self.claims: dict[Claim, dict] = {
            (o["metadata"].get("namespace") or "default", o["metadata"]["name"]): o
            for o in by_kind.get("PersistentVolumeClaim", [])
        }
        self.volumes = named("PersistentVolume")
        self.classes = named("StorageClass")
        self.csi_nodes = named("CSINode")
        self.csi_drivers = named("CSIDriver")
        self.capacities = by_kind.get("CSIStorageCapacity", [])
        self.attachments = by_kind.get("VolumeAttachment", [])
        self.options: dict[tuple, set[str] | None] = {}  # (claim, nodes) -> volumes; see claims.assignable

    @classmethod
    def of(cls, world: World) -> "Storage":
        if world.storage is None:
            world.storage = cls(world.by_kind)
        return world.storage

    def volume_of(self, claim: dict) -> str | None:
        """The volume a claim names, fully bound or not."""
        return claim["spec"].get("volumeName") or None

    def class_of(self, claim: dict) -> dict | None:
        return self.classes.get(class_name(claim))

    def waits(self, claim: dict) -> bool:
        """Whether the claim is bound only when a pod that uses it is placed."""
        storage_class = self.class_of(claim)
        delayed = (
            storage_class is not None and storage_class.get("volumeBindingMode") == "WaitForFirstConsumer"
        )
        return delayed and self.volume_of(claim) is None

    def fits(self, volume: dict, claim: dict, node: Node | None) -> bool:
        """Whether an unbound claim could get this volume (on the node, where one is given)."""
        spec, wanted = volume["spec"], claim["spec"]
        if volume["metadata"].get("deletionTimestamp") or not _same_shape(spec, wanted):
            return False
        if node is not None and not reachable(volume, node):
            return False
        if spec.get("claimRef"):
            return is_for(volume, claim)
        available = (volume.get("status") or {}).get("phase", "Available") in ("Available", "")
        selector = wanted.get("selector")
        chosen = selector is None or matches(selector, volume["metadata"].get("labels") or {})
        modes = set(wanted.get("accessModes") or []) <= set(spec.get("accessModes") or [])
        return available and chosen and modes and class_name(volume) == class_name(claim)

    def provisions(self, claim: dict, node: Node) -> bool:
        """Whether the claim's class would make a volume that the node can use."""
        storage_class = self.class_of(claim)
        if storage_class is None or (storage_class.get("provisioner") or "") in NO_PROVISIONER:
            return False
        topologies = storage_class.get("allowedTopologies") or []
        if topologies and not any(_topology_admits(term, node) for term in topologies):
            return False
        driver = self.csi_drivers.get(storage_class["provisioner"])
        size = ((claim["spec"].get("resources") or {}).get("requests") or {}).get("storage")
        if driver is None or not driver["spec"].get("storageCapacity") or size is None:
            return True
        return any(_capacity_admits(c, storage_class, parse(str(size)), node) for c in self.capacities)


def class_name(manifest: dict) -> str:
    annotation = (manifest["metadata"].get("annotations") or {}).get(
        "volume.beta.kubernetes.io/storage-class"
    )
    return annotation or manifest["spec"].get("storageClassName") or ""


def fully_bound(claim: dict) -> bool:
    return bool(claim["spec"].get("volumeName")) and BOUND in (claim["metadata"].get("annotations") or {})


def is_for(volume: dict, claim: dict) -> bool:
    """A volume reserved for a claim by name, and by uid where it has one."""
    reference, meta = volume["spec"].get("claimRef") or {}, claim["metadata"]
    same = (reference.get("namespace") or "default", reference.get("name")) == (
        meta.get("namespace") or "default",
        meta["name"],
    )
    return same and (not reference.get("uid") or not meta.get("uid") or reference["uid"] == meta["uid"])


def reachable(volume: dict, node: Node) -> bool:
    """The volume's own node affinity."""
    required = (volume["spec"].get("nodeAffinity") or {}).get("required")
    return any_node_term(required, node.labels, node.name)


def zone_mismatch(volume: dict, node: Node) -> str | None:
    """A zone or region label of the volume that the node contradicts; nodes without any such label pass."""
    if not ZONE_KEYS.keys() & node.labels.keys():
        return None
    for key, general in ZONE_KEYS.items():
        wanted = (volume["metadata"].get("labels") or {}).get(key)
        if wanted is not None and node.labels.get(key, node.labels.get(general)) not in wanted.split("__"):
            return f"volume {volume['metadata']['name']} is in {key}={wanted}"
    return None


def _same_shape(spec: dict, wanted: dict) -> bool:
    size = parse(str(((wanted.get("resources") or {}).get("requests") or {}).get("storage", 0)))
    large_enough = parse(str((spec.get("capacity") or {}).get("storage", 0))) >= size
    modes = (spec.get("volumeMode") or "Filesystem") == (wanted.get("volumeMode") or "Filesystem")
    attributes = (spec.get("volumeAttributesClassName") or "") == (
        wanted.get("volumeAttributesClassName") or ""
    )
    return large_enough and modes and attributes


def _topology_admits(term: dict, node: Node) -> bool:
    expressions = term.get("matchLabelExpressions") or []
    return bool(expressions) and all(node.labels.get(e["key"]) in e["values"] for e in expressions)


def _capacity_admits(capacity: dict, storage_class: dict, size: Any, node: Node) -> bool:
    limit = capacity.get("maximumVolumeSize", capacity.get("capacity"))
    return (
        capacity.get("storageClassName") == storage_class["metadata"]["name"]
        and limit is not None
        and min(parse(str(limit)), LARGEST) >= size
        and matches(capacity.get("nodeTopology"), node.labels)
    )
