"""Volumes of pods, and what backs a PersistentVolume."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from podium.api.objects.storage import PersistentVolumeSpec
from podium.api.objects.volumes import (
    VOLUME_SOURCES,
    Csi,
    Iscsi,
    PersistentVolumeClaimSpec,
    Rbd,
    Volume,
    VolumeSource,
)
from podium.api.quantities import exact
from podium.api.validation import meta
from podium.api.validation.fields import Errors, between
from podium.api.validation.names import dns_label, dns_subdomain
from podium.api.validation.resources import positive

ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
VOLUME_MODES = ("Block", "Filesystem")
_HOST_PATHS = (
    "",
    "BlockDevice",
    "CharDevice",
    "Directory",
    "DirectoryOrCreate",
    "File",
    "FileOrCreate",
    "Socket",
)
_IQN = re.compile(r"iqn\.\d{4}-\d{2}\.([A-Za-z0-9.-]+)(:[^,;*&$|\s]+)\Z")
_EUI = re.compile(r"eui.[a-z0-9A-Z]{16}\Z")
_NAA = re.compile(r"naa.[a-z0-9A-Z]{32}\Z")
_DRIVER_LENGTH = 63

_WIRE: Mapping[str, str] = dict(zip(Volume.__struct_fields__, Volume.__struct_encode_fields__, strict=True))


def volumes(errors: Errors, values: Iterable[Volume], pod_name: str, path: str) -> None:
    """Check the volumes of a pod; ``pod_name`` is empty for a template."""
    values = list(values)
    seen: set[str] = set()
    made = {f"{pod_name}-{item.name}" for item in values if pod_name and item.ephemeral is not None}
    for index, item in enumerate(values):
        at = f"{path}[{index}]"
        _source(errors, item, VOLUME_SOURCES, at)
        if not item.name:
            errors.required(f"{at}.name")
        else:
            errors.invalids(f"{at}.name", item.name, dns_label(item.name))
        if item.name in seen:
            errors.duplicate(f"{at}.name", item.name)
        seen.add(item.name)
        claim = item.persistent_volume_claim
        if claim is not None and claim.claim_name in made:
            text = "must not reference a PVC that gets created for an ephemeral volume"
            errors.invalid(f"{at}.persistentVolumeClaim.claimName", claim.claim_name, text)


def backing(errors: Errors, spec: PersistentVolumeSpec, path: str) -> None:
    """Check what backs a PersistentVolume."""
    _source(errors, spec, (*VolumeSource.__struct_fields__, "local"), path)
    if spec.local is not None and spec.node_affinity is None:
        errors.required(f"{path}.nodeAffinity", "Local volume requires node affinity")


def _source(errors: Errors, item: VolumeSource, names: Iterable[str], path: str) -> None:
    found = [name for name in names if getattr(item, name) is not None]
    if not found:
        errors.required(path, "must specify a volume type")
        return
    for name in found[1:]:
        errors.forbidden(f"{path}.{_WIRE.get(name, name)}", "may not specify more than 1 volume type")
    check = _CHECKS.get(found[0])
    if check is not None:
        check(errors, getattr(item, found[0]), f"{path}.{_WIRE.get(found[0], found[0])}")


def _empty_dir(errors: Errors, value: Any, path: str) -> None:
    if value.size_limit is not None and exact(value.size_limit).sign() < 0:
        errors.forbidden(f"{path}.sizeLimit", "SizeLimit field must be a valid resource quantity")


def _no_backsteps(errors: Errors, value: str, path: str) -> None:
    if ".." in value.split("/"):
        errors.invalid(path, value, "must not contain '..'")


def _host_path(errors: Errors, value: Any, path: str) -> None:
    if not value.path:
        errors.required(f"{path}.path")
        return
    _no_backsteps(errors, value.path, f"{path}.path")
    errors.one_of(f"{path}.type", value.type, _HOST_PATHS)


def _local(errors: Errors, value: Any, path: str) -> None:
    if not value.path:
        errors.required(f"{path}.path")
    else:
        _no_backsteps(errors, value.path, f"{path}.path")


def _claim(errors: Errors, value: Any, path: str) -> None:
    if not value.claim_name:
        errors.required(f"{path}.claimName")


def _gce(errors: Errors, value: Any, path: str) -> None:
    # Upstream's path for what is in gcePersistentDisk.
    at = f"{path.rpartition('.')[0]}.persistentDisk"
    if not value.pd_name:
        errors.required(f"{at}.pdName")
    if not 0 <= value.partition <= 255:
        errors.invalid(f"{at}.partition", value.partition, between(1, 255))


def _aws(errors: Errors, value: Any, path: str) -> None:
    if not value.volume_id:
        errors.required(f"{path}.volumeID")
    if not 0 <= value.partition <= 255:
        errors.invalid(f"{path}.partition", value.partition, between(1, 255))


def _iscsi(errors: Errors, value: Iscsi, path: str) -> None:
    if not value.target_portal:
        errors.required(f"{path}.targetPortal")
    if not value.iqn:
        errors.required(f"{path}.iqn")
    elif not value.iqn.startswith(("iqn", "eui", "naa")):
        errors.invalid(f"{path}.iqn", value.iqn, "must be valid format starting with iqn, eui, or naa")
    elif not {"iqn": _IQN, "eui": _EUI, "naa": _NAA}[value.iqn[:3]].match(value.iqn):
        errors.invalid(f"{path}.iqn", value.iqn, "must be valid format")
    if not 0 <= value.lun <= 255:
        errors.invalid(f"{path}.lun", value.lun, between(0, 255))


def _rbd(errors: Errors, value: Rbd, path: str) -> None:
    if not value.monitors:
        errors.required(f"{path}.monitors")
    if not value.image:
        errors.required(f"{path}.image")


def driver_name(errors: Errors, value: str, path: str) -> None:
    """Check the name of a CSI driver."""
    if not value:
        errors.required(path)
        return
    if len(value) > _DRIVER_LENGTH:
        errors.append(f"{path}: Too long: may not be more than {_DRIVER_LENGTH} bytes")
    errors.invalids(path, value, dns_subdomain(value.lower()))


def _csi(errors: Errors, value: Csi, path: str) -> None:
    driver_name(errors, value.driver, f"{path}.driver")


def csi_handle(errors: Errors, value: Csi | None, path: str) -> None:
    """Check the handle of a CSI volume of the cluster; an inline one has none."""
    if value is not None and not value.volume_handle:
        errors.required(f"{path}.volumeHandle")


def _ephemeral(errors: Errors, value: Any, path: str) -> None:
    at = f"{path}.volumeClaimTemplate"
    template = value.volume_claim_template
    if template is None:
        errors.required(at)
        return
    meta.annotations(errors, template.metadata.annotations, f"{at}.metadata.annotations")
    meta.labels(errors, template.metadata.labels, f"{at}.metadata.labels")
    claim_spec(errors, template.spec, f"{at}.spec")


def _image(errors: Errors, value: Any, path: str) -> None:
    if not value.reference:
        errors.required(f"{path}.reference")


_CHECKS: Mapping[str, Callable[[Errors, Any, str], None]] = {
    "empty_dir": _empty_dir,
    "host_path": _host_path,
    "persistent_volume_claim": _claim,
    "gce_persistent_disk": _gce,
    "aws_elastic_block_store": _aws,
    "iscsi": _iscsi,
    "rbd": _rbd,
    "csi": _csi,
    "ephemeral": _ephemeral,
    "image": _image,
    "local": _local,
}


def access_modes(errors: Errors, modes: Iterable[str], path: str) -> None:
    """Check access modes: ReadWriteOncePod stands alone."""
    modes = list(modes)
    for mode in modes:
        errors.one_of(path, mode, ACCESS_MODES)
    others = set(modes) & set(ACCESS_MODES) - {"ReadWriteOncePod"}
    if "ReadWriteOncePod" in modes and others:
        errors.forbidden(path, "may not use ReadWriteOncePod with other access modes")


def claim_spec(errors: Errors, spec: PersistentVolumeClaimSpec, path: str) -> None:
    """Check what a claim asks for."""
    if not spec.access_modes:
        errors.required(f"{path}.accessModes", "at least 1 access mode is required")
    meta.selector(errors, spec.selector, f"{path}.selector")
    access_modes(errors, spec.access_modes, f"{path}.accessModes")
    size = spec.resources.requests.get("storage")
    if size is None:
        errors.required(f"{path}.resources[storage]")
    else:
        positive(errors, f"{path}.resources[storage]", size)
    for name in ("storage_class_name", "volume_attributes_class_name"):
        value = getattr(spec, name)
        if value:
            wire = "storageClassName" if name == "storage_class_name" else "volumeAttributesClassName"
            errors.invalids(f"{path}.{wire}", value, dns_subdomain(value))
    errors.one_of(f"{path}.volumeMode", spec.volume_mode, VOLUME_MODES)
