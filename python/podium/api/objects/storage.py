"""Volumes, claims, classes and CSI objects."""

from collections.abc import Sequence

import msgspec

from podium.api.objects.affinity import NodeSelector
from podium.api.objects.base import Base, Int32, LabelSelector, Object, Quantity, ResourceList
from podium.api.objects.volumes import LocalVolume, PersistentVolumeClaimSpec, VolumeSource


class ObjectReference(Base):
    """The claim that a volume is bound to."""

    api_version: str = ""
    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""


class VolumeNodeAffinity(Base):
    """The nodes that reach a volume."""

    required: NodeSelector | None = None


class PersistentVolumeSpec(VolumeSource):
    """A volume: what backs it, how big, where, for whom."""

    capacity: ResourceList = {}
    access_modes: Sequence[str] = ()
    claim_ref: ObjectReference | None = None
    storage_class_name: str = ""
    persistent_volume_reclaim_policy: str = ""
    volume_mode: str | None = None
    node_affinity: VolumeNodeAffinity | None = None
    volume_attributes_class_name: str | None = None
    local: LocalVolume | None = None


class VolumePhase(Base):
    """Available, Bound, Released, Failed or Pending."""

    phase: str = ""


class PersistentVolume(Object, tag="PersistentVolume"):
    """A volume of the cluster."""

    spec: PersistentVolumeSpec = msgspec.field(default_factory=PersistentVolumeSpec)
    status: VolumePhase = msgspec.field(default_factory=VolumePhase)


class PersistentVolumeClaimStatus(Base):
    """Pending, Bound or Lost, and what was got."""

    phase: str = ""
    access_modes: Sequence[str] = ()
    capacity: ResourceList = {}


class PersistentVolumeClaim(Object, tag="PersistentVolumeClaim"):
    """A claim on a volume."""

    spec: PersistentVolumeClaimSpec = msgspec.field(default_factory=PersistentVolumeClaimSpec)
    status: PersistentVolumeClaimStatus = msgspec.field(default_factory=PersistentVolumeClaimStatus)


class TopologySelectorLabelRequirement(Base):
    """A label that must have one of the values."""

    key: str = ""
    values: Sequence[str] = ()


class TopologySelectorTerm(Base):
    """All of its expressions."""

    match_label_expressions: Sequence[TopologySelectorLabelRequirement] = ()


class StorageClass(Object, tag="StorageClass"):
    """How volumes are provisioned; Immediate unless ``volume_binding_mode`` says WaitForFirstConsumer."""

    provisioner: str = ""
    reclaim_policy: str | None = None
    volume_binding_mode: str | None = None
    allowed_topologies: Sequence[TopologySelectorTerm] = ()


class VolumeNodeResources(Base):
    """How many volumes a driver can attach; ``None`` is no limit."""

    count: Int32 | None = None


class CSINodeDriver(Base):
    """A driver on a node."""

    name: str = ""
    node_id: str = msgspec.field(name="nodeID", default="")
    topology_keys: Sequence[str] = ()
    allocatable: VolumeNodeResources | None = None


class CSINodeSpec(Base):
    """The drivers of a node."""

    drivers: Sequence[CSINodeDriver] = ()


class CSINode(Object, tag="CSINode"):
    """The CSI drivers of the node of the same name."""

    spec: CSINodeSpec = msgspec.field(default_factory=CSINodeSpec)


class CSIDriverSpec(Base):
    """What the cluster knows of a driver."""

    attach_required: bool | None = None
    storage_capacity: bool | None = None
    volume_lifecycle_modes: Sequence[str] = ()
    prevent_pod_scheduling_if_missing: bool | None = None


class CSIDriver(Object, tag="CSIDriver"):
    """A CSI driver."""

    spec: CSIDriverSpec = msgspec.field(default_factory=CSIDriverSpec)


class CSIStorageCapacity(Object, tag="CSIStorageCapacity"):
    """Free capacity of a class in a topology; ``node_topology`` ``None`` is no node."""

    node_topology: LabelSelector | None = None
    storage_class_name: str = ""
    capacity: Quantity | None = None
    maximum_volume_size: Quantity | None = None


class VolumeAttachmentSource(Base):
    """What is attached."""

    persistent_volume_name: str | None = None
    inline_volume_spec: PersistentVolumeSpec | None = None


class VolumeAttachmentSpec(Base):
    """Which volume is attached where, by which driver."""

    attacher: str = ""
    node_name: str = ""
    source: VolumeAttachmentSource = msgspec.field(default_factory=VolumeAttachmentSource)


class VolumeAttachmentStatus(Base):
    """Whether it is done."""

    attached: bool = False


class VolumeAttachment(Object, tag="VolumeAttachment"):
    """A volume attached, or being attached, to a node."""

    spec: VolumeAttachmentSpec = msgspec.field(default_factory=VolumeAttachmentSpec)
    status: VolumeAttachmentStatus = msgspec.field(default_factory=VolumeAttachmentStatus)
