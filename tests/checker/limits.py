"""NodeVolumeLimits: how many volumes of a CSI driver a node may have attached."""

from collections import Counter

from tests.checker.storage import NO_PROVISIONER, Storage
from tests.checker.world import Node, Pod, World

MIGRATED = {  # in-tree source -> its CSI driver and the field that identifies the disk
    "awsElasticBlockStore": ("ebs.csi.aws.com", "volumeID"),
    "gcePersistentDisk": ("pd.csi.storage.gke.io", "pdName"),
    "azureDisk": ("disk.csi.azure.com", "diskURI"),
    "cinder": ("cinder.csi.openstack.org", "volumeID"),
    "portworxVolume": ("pxd.portworx.com", "volumeID"),
}
MIGRATED_PROVISIONER = {
    "kubernetes.io/aws-ebs": "ebs.csi.aws.com",
    "kubernetes.io/gce-pd": "pd.csi.storage.gke.io",
    "kubernetes.io/azure-disk": "disk.csi.azure.com",
    "kubernetes.io/cinder": "cinder.csi.openstack.org",
    "kubernetes.io/portworx-volume": "pxd.portworx.com",
}
Attached = dict[tuple[str, str], str]  # (driver, handle) -> driver


def csi_limits(world: World, pod: Pod, node: Node) -> str | None:
    storage = Storage.of(world)
    csi_node = storage.csi_nodes.get(node.name)
    drivers = {d["name"]: d for d in (csi_node or {}).get("spec", {}).get("drivers") or []}
    new = _volumes(storage, pod, migrated=csi_node is not None)
    for driver in new.values():
        opted_in = (storage.csi_drivers.get(driver, {}).get("spec") or {}).get(
            "preventPodSchedulingIfMissing"
        )
        if opted_in and driver not in drivers:
            return f"CSI driver {driver} is not installed on the node"
    limits = {
        name: d["allocatable"]["count"]
        for name, d in drivers.items()
        if "count" in (d.get("allocatable") or {})
    }
    if not new or not limits:
        return None
    used: Attached = {}
    for other in world.on[node.name].values():
        used |= _surely_attached(storage, other)
    attached = {key: driver for key, driver in _attachments(storage, node).items() if key not in used}
    fresh = {key: driver for key, driver in new.items() if key not in used}
    counts = Counter([*used.values(), *attached.values(), *fresh.values()])
    for driver in sorted(set(fresh.values()) & limits.keys()):
        if counts[driver] > limits[driver]:
            return f"{counts[driver]} volumes of {driver}, the node takes {limits[driver]}"
    return None


def _volumes(storage: Storage, pod: Pod, *, migrated: bool) -> Attached:
    found: Attached = {}
    for volume in pod.volumes:
        found |= _in_tree(volume) if migrated else {}
    for key in pod.claims():
        claim = storage.claims.get(key)
        if claim is None:
            continue
        volume = storage.volumes.get(storage.volume_of(claim) or "")
        if volume is not None:
            found |= _of_volume(volume, migrated=migrated)
            continue
        storage_class = storage.class_of(claim)
        if storage_class is not None:
            provisioner = storage_class.get("provisioner") or ""
            driver = MIGRATED_PROVISIONER.get(provisioner, provisioner)
            if provisioner not in MIGRATED_PROVISIONER or migrated:
                found[driver, f"claim {'/'.join(key)}"] = driver
    return found


def _surely_attached(storage: Storage, pod: Pod) -> Attached:
    """Volumes of a placed pod; a claim that was unbound at the start counts only if its driver is certain."""
    found = _volumes(storage, pod, migrated=True)
    for key in pod.claims():
        claim = storage.claims.get(key)
        if claim is None or storage.volume_of(claim) is not None:
            continue
        mark = f"claim {'/'.join(key)}"
        found = {k: d for k, d in found.items() if k[1] != mark}
        possible = _possible_drivers(storage, claim)
        if len(possible) == 1 and None not in possible:
            (driver,) = possible
            found[driver, mark] = driver
    return found


def _possible_drivers(storage: Storage, claim: dict) -> set[str | None]:
    """Drivers of the volumes that the claim may have got; None for one that no CSI driver serves."""
    provisioner = (storage.class_of(claim) or {}).get("provisioner") or ""
    made = set() if provisioner in NO_PROVISIONER else {MIGRATED_PROVISIONER.get(provisioner, provisioner)}
    fitting = [v for v in storage.volumes.values() if storage.fits(v, claim, None)]
    return made | {driver for v in fitting for driver in _of_volume(v, migrated=True).values() or [None]}


def _of_volume(volume: dict, *, migrated: bool) -> Attached:
    csi = volume["spec"].get("csi")
    if csi is not None:
        return {(csi["driver"], csi["volumeHandle"]): csi["driver"]}
    return _in_tree(volume["spec"]) if migrated else {}


def _in_tree(source: dict) -> Attached:
    return {
        (driver, str(source[kind].get(field))): driver
        for kind, (driver, field) in MIGRATED.items()
        if source.get(kind) is not None
    }


def _attachments(storage: Storage, node: Node) -> Attached:
    found: Attached = {}
    for attachment in storage.attachments:
        spec = attachment["spec"]
        volume = storage.volumes.get((spec.get("source") or {}).get("persistentVolumeName") or "")
        if (
            spec.get("nodeName") == node.name
            and spec.get("attacher")
            and volume
            and volume["spec"].get("csi")
        ):
            found[spec["attacher"], volume["spec"]["csi"]["volumeHandle"]] = spec["attacher"]
    return found
