"""DefaultStorageClass: a claim without a class gets the default one."""

from collections.abc import Iterable

from podium.api.objects.storage import PersistentVolumeClaim, StorageClass

_IS_DEFAULT = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)
_CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"


def _is_default(item: StorageClass) -> bool:
    return any(item.metadata.annotations.get(key) == "true" for key in _IS_DEFAULT)


def default_class(classes: Iterable[StorageClass]) -> str | None:
    """Return the name of the default class: of several the newest, then the first by name."""
    marked = [
        item for item in classes if any(item.metadata.annotations.get(key) == "true" for key in _IS_DEFAULT)
    ]
    by_name = sorted(marked, key=lambda item: item.metadata.name)
    newest = max(by_name, key=lambda item: item.metadata.creation_timestamp or "", default=None)
    return None if newest is None else newest.metadata.name


def set_class(claim: PersistentVolumeClaim, default: str | None) -> None:
    """Set the class of a claim that names none, in place; an empty name is a choice."""
    if claim.spec.storage_class_name is None and _CLASS_ANNOTATION not in claim.metadata.annotations:
        claim.spec.storage_class_name = default
