"""Volumes, as a pod names them and as a PersistentVolume is backed."""

from collections.abc import Sequence

import msgspec

from podium.api.objects.base import (
    Base,
    Int32,
    Labels,
    LabelSelector,
    ObjectMeta,
    Opaque,
    Quantity,
    ResourceRequirements,
)


class PersistentVolumeClaimSpec(Base):
    """What a claim asks for; a class of ``None`` means the default class, "" none."""

    access_modes: Sequence[str] = ()
    selector: LabelSelector | None = None
    resources: ResourceRequirements = msgspec.field(default_factory=ResourceRequirements)
    volume_name: str = ""
    storage_class_name: str | None = None
    volume_mode: str | None = None
    volume_attributes_class_name: str | None = None


class PersistentVolumeClaimTemplate(Base):
    """The claim of a generic ephemeral volume."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: PersistentVolumeClaimSpec = msgspec.field(default_factory=PersistentVolumeClaimSpec)


class EphemeralVolume(Base):
    """A claim made and deleted with its pod."""

    volume_claim_template: PersistentVolumeClaimTemplate | None = None


class ClaimReference(Base):
    """A claim in the pod's namespace."""

    claim_name: str = ""
    read_only: bool = False


class EmptyDir(Base):
    """A directory that lives as long as its pod."""

    medium: str = ""
    size_limit: Quantity | None = None


class Csi(Base):
    """A CSI volume; an inline one has no handle."""

    driver: str = ""
    volume_handle: str = ""
    read_only: bool | None = None
    volume_attributes: Labels = {}


class GcePersistentDisk(Base):
    """A GCE disk, migrated to pd.csi.storage.gke.io."""

    pd_name: str = ""
    partition: Int32 = 0
    read_only: bool = False


class AwsElasticBlockStore(Base):
    """An EBS volume, migrated to ebs.csi.aws.com."""

    volume_id: str = msgspec.field(name="volumeID", default="")
    partition: Int32 = 0
    read_only: bool = False


class AzureDisk(Base):
    """An Azure disk, migrated to disk.csi.azure.com."""

    disk_name: str = ""
    disk_uri: str = msgspec.field(name="diskURI", default="")
    kind: str | None = None
    read_only: bool | None = None


class AzureFile(Base):
    """An Azure file share, migrated to file.csi.azure.com."""

    secret_name: str = ""
    share_name: str = ""
    secret_namespace: str | None = None


class Cinder(Base):
    """A Cinder volume, migrated to cinder.csi.openstack.org."""

    volume_id: str = msgspec.field(name="volumeID", default="")


class VsphereVolume(Base):
    """A vSphere disk, migrated to csi.vsphere.vmware.com."""

    volume_path: str = ""


class PortworxVolume(Base):
    """A Portworx volume, migrated to pxd.portworx.com."""

    volume_id: str = msgspec.field(name="volumeID", default="")


class Iscsi(Base):
    """An iSCSI disk: one read-write user at a time."""

    target_portal: str = ""
    iqn: str = ""
    lun: Int32 = 0
    read_only: bool = False


class Rbd(Base):
    """A Ceph block device: one read-write user at a time."""

    monitors: Sequence[str] = ()
    image: str = ""
    pool: str = ""
    read_only: bool = False


class ImageVolume(Base):
    """An OCI image mounted as a volume."""

    reference: str = ""


class HostPath(Base):
    """A path of the node."""

    path: str = ""
    type: str | None = None


class LocalVolume(Base):
    """A disk of one node, which the volume's node affinity names."""

    path: str = ""


class VolumeSource(Base):
    """What backs a volume. Exactly one field is set in a valid object."""

    host_path: HostPath | None = None
    gce_persistent_disk: GcePersistentDisk | None = None
    aws_elastic_block_store: AwsElasticBlockStore | None = None
    azure_disk: AzureDisk | None = None
    azure_file: AzureFile | None = None
    cinder: Cinder | None = None
    vsphere_volume: VsphereVolume | None = None
    portworx_volume: PortworxVolume | None = None
    iscsi: Iscsi | None = None
    rbd: Rbd | None = None
    csi: Csi | None = None
    nfs: Opaque | None = None
    fc: Opaque | None = None
    glusterfs: Opaque | None = None
    cephfs: Opaque | None = None
    flocker: Opaque | None = None
    flex_volume: Opaque | None = None
    quobyte: Opaque | None = None
    photon_persistent_disk: Opaque | None = None
    scale_io: Opaque | None = msgspec.field(name="scaleIO", default=None)
    storageos: Opaque | None = None


class Volume(VolumeSource):
    """A volume of a pod."""

    name: str = ""
    persistent_volume_claim: ClaimReference | None = None
    ephemeral: EphemeralVolume | None = None
    empty_dir: EmptyDir | None = None
    image: ImageVolume | None = None
    secret: Opaque | None = None
    config_map: Opaque | None = None
    downward_api: Opaque | None = msgspec.field(name="downwardAPI", default=None)
    projected: Opaque | None = None
    git_repo: Opaque | None = None


VOLUME_SOURCES: Sequence[str] = (
    "empty_dir",
    "host_path",
    "git_repo",
    "gce_persistent_disk",
    "aws_elastic_block_store",
    "secret",
    "nfs",
    "iscsi",
    "glusterfs",
    "flocker",
    "persistent_volume_claim",
    "rbd",
    "cinder",
    "cephfs",
    "quobyte",
    "downward_api",
    "fc",
    "flex_volume",
    "config_map",
    "azure_file",
    "vsphere_volume",
    "photon_persistent_disk",
    "portworx_volume",
    "azure_disk",
    "storageos",
    "projected",
    "scale_io",
    "csi",
    "ephemeral",
    "image",
)
"""The fields of a volume that say what backs it, in the order in which upstream looks at them."""
