"""What a change of an object of storage can help, as far as that is the same for all pods.

Semantics: the ``isSchedulableAfter…`` functions of VolumeBinding, NodeVolumeLimits and VolumeZone in
``k8s.io/kubernetes/pkg/scheduler/framework/plugins`` at v1.37.2. Where those overlook something that lets a
pod fit (a limit that is gone, a driver that is new on a node), this does not.
"""

from dataclasses import dataclass
from typing import Final

from podium._core import Quantity
from podium.api import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    Object,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)

_MIGRATED: Final = "storage.alpha.kubernetes.io/migrated-plugins"
_ZONES: Final = (
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
)


@dataclass(frozen=True, slots=True)
class Happened:
    """What the core is told besides the event.

    Attributes:
        claim: namespace and name of the claim that came or changed.
        detached: whether a volume was detached.
        deaf: plugins to which it means nothing.

    """

    claim: tuple[str, str] | None = None
    detached: bool = False
    deaf: tuple[str, ...] = ()


NOTHING_TO_ADD: Final = Happened()


def happened(before: Object | None, after: Object | None) -> Happened:
    """Look into a change of an object that is neither Node nor Pod; None stands for no object."""
    match before, after:
        case _, PersistentVolumeClaim() as claim:
            return Happened(claim=(claim.metadata.namespace, claim.metadata.name))
        case VolumeAttachment(), None:
            return Happened(detached=True)
        case None, StorageClass() as new if new.volume_binding_mode != "WaitForFirstConsumer":
            return Happened(deaf=("VolumeZone",))
        case StorageClass() as old, StorageClass() as new if old.allowed_topologies == new.allowed_topologies:
            return Happened(deaf=("VolumeBinding",))
        case PersistentVolume() as old, PersistentVolume() as new if _zones(old) == _zones(new):
            return Happened(deaf=("VolumeZone",))
        case CSINode() as old, CSINode() as new:
            return Happened(deaf=_deaf_to_csi_node(old, new))
        case CSIDriver() as old, CSIDriver() as new if not (
            old.spec.storage_capacity and not new.spec.storage_capacity
        ):
            return Happened(deaf=("VolumeBinding",))
        case CSIStorageCapacity() as old, CSIStorageCapacity() as new if not _more(old, new):
            return Happened(deaf=("VolumeBinding",))
    return NOTHING_TO_ADD


def _zones(volume: PersistentVolume) -> list[str | None]:
    return [volume.metadata.labels.get(key) for key in _ZONES]


def _deaf_to_csi_node(old: CSINode, new: CSINode) -> tuple[str, ...]:
    deaf = []
    if old.metadata.annotations.get(_MIGRATED) == new.metadata.annotations.get(_MIGRATED):
        deaf.append("VolumeBinding")
    was = _limits(old)
    if not any(name not in was or _above(limit, was[name]) for name, limit in _limits(new).items()):
        deaf.append("NodeVolumeLimits")
    return tuple(deaf)


def _limits(node: CSINode) -> dict[str, int | None]:
    return {
        driver.name: None if driver.allocatable is None else driver.allocatable.count
        for driver in node.spec.drivers
    }


def _above(limit: int | None, before: int | None) -> bool:
    return before is not None and (limit is None or limit > before)


def _more(old: CSIStorageCapacity, new: CSIStorageCapacity) -> bool:
    before, after = _largest(old), _largest(new)
    return after is not None and (before is None or Quantity(after).value() > Quantity(before).value())


def _largest(capacity: CSIStorageCapacity) -> str | int | float | None:
    """Return the largest volume there can be."""
    if capacity.maximum_volume_size is not None:
        return capacity.maximum_volume_size
    return capacity.capacity
