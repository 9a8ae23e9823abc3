"""Volumes of the cluster, claims, classes and CSI objects."""

from collections.abc import Iterable

from podium.api.features import FeatureGates
from podium.api.objects.storage import (
    CSIDriver,
    CSINode,
    CSINodeDriver,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    TopologySelectorTerm,
    VolumeAttachment,
)
from podium.api.quantities import exact
from podium.api.validation import meta, placement, volumes
from podium.api.validation.fields import NEGATIVE, Errors
from podium.api.validation.names import dns_subdomain, label_key
from podium.api.validation.resources import positive

_RECLAIM = ("Delete", "Recycle", "Retain")
_CLASS_RECLAIM = ("Delete", "Retain")
_BINDING = ("Immediate", "WaitForFirstConsumer")
_NODE_ID_LENGTH = 256


def volume(errors: Errors, item: PersistentVolume, _gates: FeatureGates) -> None:
    """Check a volume."""
    meta.object_meta(errors, item, dns_subdomain, namespaced=False)
    spec = item.spec
    if not spec.access_modes:
        errors.required("spec.accessModes")
    volumes.access_modes(errors, spec.access_modes, "spec.accessModes")
    _capacity(errors, item)
    if spec.persistent_volume_reclaim_policy:
        errors.one_of("spec.persistentVolumeReclaimPolicy", spec.persistent_volume_reclaim_policy, _RECLAIM)
    if spec.node_affinity is not None:
        if spec.node_affinity.required is None:
            errors.required("spec.nodeAffinity.required", "must specify required node constraints")
        else:
            placement.node_selector(errors, spec.node_affinity.required, "spec.nodeAffinity.required")
    volumes.backing(errors, spec, "spec")
    volumes.csi_handle(errors, spec.csi, "spec.csi")
    if spec.storage_class_name:
        name = spec.storage_class_name
        errors.invalids("spec.storageClassName", name, dns_subdomain(name))
    errors.one_of("spec.volumeMode", spec.volume_mode, volumes.VOLUME_MODES)


def _capacity(errors: Errors, item: PersistentVolume) -> None:
    capacity = item.spec.capacity
    if not capacity:
        errors.required("spec.capacity")
    if "storage" not in capacity or len(capacity) > 1:
        errors.unsupported("spec.capacity", dict(sorted(capacity.items())) or None, ("storage",))
    for name, value in capacity.items():
        at = f"spec.capacity[{name}]"
        whole = exact(value).value()
        if whole < 0:
            errors.invalid(at, whole, "must be a valid resource quantity")
        positive(errors, at, value)


def claim(errors: Errors, item: PersistentVolumeClaim, _gates: FeatureGates) -> None:
    """Check a claim."""
    meta.object_meta(errors, item, dns_subdomain, namespaced=True)
    volumes.claim_spec(errors, item.spec, "spec")


def storage_class(errors: Errors, item: StorageClass, _gates: FeatureGates) -> None:
    """Check a storage class."""
    meta.object_meta(errors, item, dns_subdomain, namespaced=False)
    if not item.provisioner:
        errors.required("provisioner")
    else:
        lower = item.provisioner.lower()
        errors.invalids("provisioner", lower, label_key(lower))
    errors.one_of("reclaimPolicy", item.reclaim_policy, _CLASS_RECLAIM)
    errors.one_of("volumeBindingMode", item.volume_binding_mode, _BINDING)
    seen: list[dict[str, set[str]]] = []
    for index, term in enumerate(item.allowed_topologies):
        at = f"allowedTopologies[{index}]"
        values = _topology(errors, term, f"{at}.matchLabelExpressions")
        if values in seen:
            errors.duplicate(f"{at}.matchLabelExpressions", "")
        seen.append(values)


def _topology(errors: Errors, term: TopologySelectorTerm, path: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for index, item in enumerate(term.match_label_expressions):
        at = f"{path}[{index}]"
        if not item.values:
            errors.required(f"{at}.values")
        seen: set[str] = set()
        for number, value in enumerate(item.values):
            if value in seen:
                errors.duplicate(f"{at}.values[{number}]", value)
            seen.add(value)
        errors.invalids(f"{at}.key", item.key, label_key(item.key))
        if item.key in found:
            errors.duplicate(f"{at}.key", item.key)
        found[item.key] = seen
    return found


def csi_node(errors: Errors, item: CSINode, _gates: FeatureGates) -> None:
    """Check the drivers of a node."""
    meta.object_meta(errors, item, dns_subdomain, namespaced=False)
    _drivers(errors, item.spec.drivers, "spec.drivers")


def _drivers(errors: Errors, drivers: Iterable[CSINodeDriver], path: str) -> None:
    seen: set[str] = set()
    for index, item in enumerate(drivers):
        at = f"{path}[{index}]"
        volumes.driver_name(errors, item.name, f"{at}.name")
        if not item.node_id:
            errors.required(f"{at}.nodeID")
        elif len(item.node_id) > _NODE_ID_LENGTH:
            errors.invalid(f"{at}.nodeID", item.node_id, f"must be {_NODE_ID_LENGTH} characters or less")
        if item.allocatable is not None:
            errors.not_negative(f"{at}.allocatable.count", item.allocatable.count)
        if item.name in seen:
            errors.duplicate(f"{at}.name", item.name)
        seen.add(item.name)
        keys: set[str] = set()
        for key in item.topology_keys:
            if not key:
                errors.required(at)
            if key in keys:
                errors.duplicate(at, key)
            keys.add(key)
            errors.invalids(at, key, label_key(key))


def csi_driver(errors: Errors, item: CSIDriver, _gates: FeatureGates) -> None:
    """Check a driver."""
    meta.object_meta(errors, item, dns_subdomain, namespaced=False)
    modes = ("Persistent", "Ephemeral")
    for mode in item.spec.volume_lifecycle_modes:
        if mode not in modes:
            errors.unsupported("spec.volumeLifecycleModes", mode, modes)


def capacity(errors: Errors, item: CSIStorageCapacity, _gates: FeatureGates) -> None:
    """Check a capacity."""
    meta.object_meta(errors, item, dns_subdomain, namespaced=True)
    meta.selector(errors, item.node_topology, "nodeTopology")
    errors.invalids("storageClassName", item.storage_class_name, dns_subdomain(item.storage_class_name))
    if item.capacity is not None and exact(item.capacity).sign() < 0:
        errors.invalid("capacity", item.capacity, NEGATIVE)


def attachment(errors: Errors, item: VolumeAttachment, _gates: FeatureGates) -> None:
    """Check an attachment."""
    meta.object_meta(errors, item, dns_subdomain, namespaced=False)
    spec = item.spec
    volumes.driver_name(errors, spec.attacher, "spec.attacher")
    name, inline = spec.source.persistent_volume_name, spec.source.inline_volume_spec
    if inline is None and name is None:
        errors.required(
            "spec.source", "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
        )
    elif inline is not None and name is not None:
        text = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
        errors.forbidden("spec.source", text)
    elif name == "":
        errors.required("spec.source.persistentVolumeName", "must specify non empty persistentVolumeName")
    if name is not None:
        errors.invalids("spec.source.persistentVolumeName", name, dns_subdomain(name))
    errors.invalids("spec.nodeName", spec.node_name, dns_subdomain(spec.node_name))
