use super::{AwsElasticBlockStore, AzureDisk, Cinder, GcePersistentDisk, PortworxVolume};
use super::{
    LabelSelector, NodeSelector, ObjectMeta, ResourceList, ResourceRequirements, nullable,
};
use crate::quantity::Quantity;
use serde::Deserialize;

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct PersistentVolume {
    #[serde(deserialize_with = "nullable")]
    pub metadata: ObjectMeta,
    #[serde(deserialize_with = "nullable")]
    pub spec: PersistentVolumeSpec,
    #[serde(deserialize_with = "nullable")]
    pub status: PhaseStatus,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct PhaseStatus {
    #[serde(deserialize_with = "nullable")]
    pub phase: String,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PersistentVolumeSpec {
    #[serde(deserialize_with = "nullable")]
    pub capacity: ResourceList,
    #[serde(deserialize_with = "nullable")]
    pub access_modes: Vec<String>,
    pub claim_ref: Option<ClaimReference>,
    #[serde(deserialize_with = "nullable")]
    pub storage_class_name: String,
    pub volume_mode: Option<String>,
    pub volume_attributes_class_name: Option<String>,
    pub node_affinity: Option<VolumeNodeAffinity>,
    pub csi: Option<CsiSource>,
    pub gce_persistent_disk: Option<GcePersistentDisk>,
    pub aws_elastic_block_store: Option<AwsElasticBlockStore>,
    pub azure_disk: Option<AzureDisk>,
    pub cinder: Option<Cinder>,
    pub portworx_volume: Option<PortworxVolume>,
    #[serde(deserialize_with = "nullable")]
    pub persistent_volume_reclaim_policy: String,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ClaimReference {
    #[serde(deserialize_with = "nullable")]
    pub namespace: String,
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    #[serde(deserialize_with = "nullable")]
    pub uid: String,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct VolumeNodeAffinity {
    pub required: Option<NodeSelector>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CsiSource {
    #[serde(deserialize_with = "nullable")]
    pub driver: String,
    #[serde(deserialize_with = "nullable")]
    pub volume_handle: String,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct PersistentVolumeClaim {
    #[serde(deserialize_with = "nullable")]
    pub metadata: ObjectMeta,
    #[serde(deserialize_with = "nullable")]
    pub spec: PersistentVolumeClaimSpec,
    #[serde(deserialize_with = "nullable")]
    pub status: PhaseStatus,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PersistentVolumeClaimSpec {
    #[serde(deserialize_with = "nullable")]
    pub access_modes: Vec<String>,
    pub selector: Option<LabelSelector>,
    #[serde(deserialize_with = "nullable")]
    pub resources: ResourceRequirements,
    #[serde(deserialize_with = "nullable")]
    pub volume_name: String,
    pub storage_class_name: Option<String>,
    pub volume_mode: Option<String>,
    pub volume_attributes_class_name: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StorageClass {
    #[serde(deserialize_with = "nullable")]
    pub metadata: ObjectMeta,
    #[serde(deserialize_with = "nullable")]
    pub provisioner: String,
    #[serde(deserialize_with = "nullable")]
    pub reclaim_policy: String,
    #[serde(deserialize_with = "nullable")]
    pub mount_options: Vec<String>,
    pub volume_binding_mode: Option<String>,
    #[serde(deserialize_with = "nullable")]
    pub allowed_topologies: Vec<TopologySelectorTerm>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TopologySelectorTerm {
    #[serde(deserialize_with = "nullable")]
    pub match_label_expressions: Vec<TopologySelectorRequirement>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct TopologySelectorRequirement {
    #[serde(deserialize_with = "nullable")]
    pub key: String,
    #[serde(deserialize_with = "nullable")]
    pub values: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct CsiNode {
    #[serde(deserialize_with = "nullable")]
    pub metadata: ObjectMeta,
    #[serde(deserialize_with = "nullable")]
    pub spec: CsiNodeSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct CsiNodeSpec {
    #[serde(deserialize_with = "nullable")]
    pub drivers: Vec<CsiNodeDriver>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CsiNodeDriver {
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    #[serde(deserialize_with = "nullable")]
    pub topology_keys: Vec<String>,
    #[serde(deserialize_with = "nullable")]
    pub allocatable: CsiAllocatable,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct CsiAllocatable {
    pub count: Option<i32>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct CsiDriver {
    #[serde(deserialize_with = "nullable")]
    pub metadata: ObjectMeta,
    #[serde(deserialize_with = "nullable")]
    pub spec: CsiDriverSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CsiDriverSpec {
    pub storage_capacity: Option<bool>,
    pub prevent_pod_scheduling_if_missing: Option<bool>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CsiStorageCapacity {
    #[serde(deserialize_with = "nullable")]
    pub metadata: ObjectMeta,
    #[serde(deserialize_with = "nullable")]
    pub storage_class_name: String,
    pub node_topology: Option<LabelSelector>,
    pub capacity: Option<Quantity>,
    pub maximum_volume_size: Option<Quantity>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct VolumeAttachment {
    #[serde(deserialize_with = "nullable")]
    pub metadata: ObjectMeta,
    #[serde(deserialize_with = "nullable")]
    pub spec: VolumeAttachmentSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct VolumeAttachmentSpec {
    #[serde(deserialize_with = "nullable")]
    pub attacher: String,
    #[serde(deserialize_with = "nullable")]
    pub node_name: String,
    #[serde(deserialize_with = "nullable")]
    pub source: VolumeAttachmentSource,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct VolumeAttachmentSource {
    pub persistent_volume_name: Option<String>,
    pub inline_volume_spec: Option<PersistentVolumeSpec>,
}
