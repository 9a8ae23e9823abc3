use super::{LabelSelector, ObjectMeta, SelectorRequirement, StringMap, nullable};
use crate::quantity::Quantity;
use serde::Deserialize;
use std::collections::BTreeMap;

pub type ResourceList = BTreeMap<String, Quantity>;

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Pod {
    #[serde(deserialize_with = "nullable")]
    pub metadata: ObjectMeta,
    #[serde(deserialize_with = "nullable")]
    pub spec: PodSpec,
    #[serde(deserialize_with = "nullable")]
    pub status: PodStatus,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodSpec {
    #[serde(deserialize_with = "nullable")]
    pub node_name: String,
    #[serde(deserialize_with = "nullable")]
    pub scheduler_name: String,
    #[serde(deserialize_with = "nullable")]
    pub containers: Vec<Container>,
    #[serde(deserialize_with = "nullable")]
    pub init_containers: Vec<Container>,
    #[serde(deserialize_with = "nullable")]
    pub ephemeral_containers: Vec<Container>,
    #[serde(deserialize_with = "nullable")]
    pub overhead: ResourceList,
    /// Pod-level resources.
    pub resources: Option<ResourceRequirements>,
    pub node_selector: Option<StringMap>,
    pub affinity: Option<Affinity>,
    #[serde(deserialize_with = "nullable")]
    pub tolerations: Vec<Toleration>,
    #[serde(deserialize_with = "nullable")]
    pub topology_spread_constraints: Vec<TopologySpreadConstraint>,
    #[serde(deserialize_with = "nullable")]
    pub volumes: Vec<Volume>,
    #[serde(deserialize_with = "nullable")]
    pub scheduling_gates: Vec<SchedulingGate>,
    pub scheduling_group: Option<SchedulingGroup>,
    #[serde(deserialize_with = "nullable")]
    pub resource_claims: Vec<PodResourceClaim>,
    pub priority: Option<i32>,
    pub preemption_policy: Option<String>,
    pub termination_grace_period_seconds: Option<i64>,
    pub host_network: Option<bool>,
    pub host_users: Option<bool>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Container {
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    #[serde(deserialize_with = "nullable")]
    pub image: String,
    #[serde(deserialize_with = "nullable")]
    pub resources: ResourceRequirements,
    #[serde(deserialize_with = "nullable")]
    pub ports: Vec<ContainerPort>,
    pub restart_policy: Option<String>,
    #[serde(deserialize_with = "nullable")]
    pub restart_policy_rules: Vec<RestartRule>,
    #[serde(deserialize_with = "nullable")]
    pub volume_mounts: Vec<VolumeMount>,
}

impl Container {
    /// An init container that keeps running beside the main ones.
    pub fn is_sidecar(&self) -> bool {
        self.restart_policy.as_deref() == Some("Always")
    }
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RestartRule {
    #[serde(deserialize_with = "nullable")]
    pub action: String,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct VolumeMount {
    #[serde(deserialize_with = "nullable")]
    pub bind_mount_options: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceRequirements {
    #[serde(deserialize_with = "nullable")]
    pub requests: ResourceList,
    #[serde(deserialize_with = "nullable")]
    pub limits: ResourceList,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ContainerPort {
    #[serde(deserialize_with = "nullable")]
    pub host_port: i32,
    #[serde(rename = "hostIP", deserialize_with = "nullable")]
    pub host_ip: String,
    #[serde(deserialize_with = "nullable")]
    pub protocol: String,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Affinity {
    pub node_affinity: Option<NodeAffinity>,
    pub pod_affinity: Option<PodAffinity>,
    pub pod_anti_affinity: Option<PodAffinity>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct NodeAffinity {
    #[serde(rename = "requiredDuringSchedulingIgnoredDuringExecution")]
    pub required: Option<NodeSelector>,
    #[serde(rename = "preferredDuringSchedulingIgnoredDuringExecution")]
    pub preferred: Option<Vec<PreferredSchedulingTerm>>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeSelector {
    #[serde(deserialize_with = "nullable")]
    pub node_selector_terms: Vec<NodeSelectorTerm>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeSelectorTerm {
    #[serde(deserialize_with = "nullable")]
    pub match_expressions: Vec<SelectorRequirement>,
    #[serde(deserialize_with = "nullable")]
    pub match_fields: Vec<SelectorRequirement>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PreferredSchedulingTerm {
    #[serde(deserialize_with = "nullable")]
    pub weight: i32,
    #[serde(deserialize_with = "nullable")]
    pub preference: NodeSelectorTerm,
}

/// `podAffinity` and `podAntiAffinity` have one shape.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct PodAffinity {
    #[serde(
        rename = "requiredDuringSchedulingIgnoredDuringExecution",
        deserialize_with = "nullable"
    )]
    pub required: Vec<PodAffinityTerm>,
    #[serde(
        rename = "preferredDuringSchedulingIgnoredDuringExecution",
        deserialize_with = "nullable"
    )]
    pub preferred: Vec<WeightedPodAffinityTerm>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodAffinityTerm {
    pub label_selector: Option<LabelSelector>,
    #[serde(deserialize_with = "nullable")]
    pub namespaces: Vec<String>,
    pub namespace_selector: Option<LabelSelector>,
    #[serde(deserialize_with = "nullable")]
    pub topology_key: String,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WeightedPodAffinityTerm {
    #[serde(deserialize_with = "nullable")]
    pub weight: i32,
    #[serde(deserialize_with = "nullable")]
    pub pod_affinity_term: PodAffinityTerm,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Toleration {
    #[serde(deserialize_with = "nullable")]
    pub key: String,
    #[serde(deserialize_with = "nullable")]
    pub operator: String,
    #[serde(deserialize_with = "nullable")]
    pub value: String,
    #[serde(deserialize_with = "nullable")]
    pub effect: String,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TopologySpreadConstraint {
    #[serde(deserialize_with = "nullable")]
    pub max_skew: i32,
    #[serde(deserialize_with = "nullable")]
    pub topology_key: String,
    #[serde(deserialize_with = "nullable")]
    pub when_unsatisfiable: String,
    pub label_selector: Option<LabelSelector>,
    pub min_domains: Option<i32>,
    pub node_affinity_policy: Option<String>,
    pub node_taints_policy: Option<String>,
    #[serde(deserialize_with = "nullable")]
    pub match_label_keys: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SchedulingGate {
    #[serde(deserialize_with = "nullable")]
    pub name: String,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SchedulingGroup {
    #[serde(deserialize_with = "nullable")]
    pub pod_group_name: String,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodResourceClaim {
    #[serde(deserialize_with = "nullable")]
    pub name: String,
}

/// A pod volume; only the sources that some default plugin reads.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Volume {
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    pub persistent_volume_claim: Option<ClaimSource>,
    pub ephemeral: Option<EphemeralSource>,
    pub gce_persistent_disk: Option<GcePersistentDisk>,
    pub aws_elastic_block_store: Option<AwsElasticBlockStore>,
    pub azure_disk: Option<AzureDisk>,
    pub cinder: Option<Cinder>,
    pub iscsi: Option<Iscsi>,
    pub rbd: Option<Rbd>,
    pub portworx_volume: Option<PortworxVolume>,
    pub azure_file: Option<OtherSource>,
    pub vsphere_volume: Option<OtherSource>,
    pub image: Option<ImageSource>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ClaimSource {
    #[serde(deserialize_with = "nullable")]
    pub claim_name: String,
    #[serde(deserialize_with = "nullable")]
    pub read_only: bool,
}

/// Its claim is named `<pod>-<volume>`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct EphemeralSource {}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GcePersistentDisk {
    #[serde(deserialize_with = "nullable")]
    pub pd_name: String,
    #[serde(deserialize_with = "nullable")]
    pub read_only: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AwsElasticBlockStore {
    #[serde(rename = "volumeID", deserialize_with = "nullable")]
    pub volume_id: String,
    #[serde(deserialize_with = "nullable")]
    pub read_only: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AzureDisk {
    #[serde(rename = "diskURI", deserialize_with = "nullable")]
    pub disk_uri: String,
    pub kind: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Cinder {
    #[serde(rename = "volumeID", deserialize_with = "nullable")]
    pub volume_id: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PortworxVolume {
    #[serde(rename = "volumeID", deserialize_with = "nullable")]
    pub volume_id: String,
}

/// A source of which only the presence counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(default)]
pub struct OtherSource {}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Iscsi {
    #[serde(rename = "iqn", deserialize_with = "nullable")]
    pub iqn: String,
    #[serde(deserialize_with = "nullable")]
    pub target_portal: String,
    #[serde(deserialize_with = "nullable")]
    pub lun: i32,
    #[serde(deserialize_with = "nullable")]
    pub read_only: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Rbd {
    #[serde(deserialize_with = "nullable")]
    pub monitors: Vec<String>,
    #[serde(deserialize_with = "nullable")]
    pub pool: String,
    #[serde(deserialize_with = "nullable")]
    pub image: String,
    #[serde(deserialize_with = "nullable")]
    pub read_only: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ImageSource {
    #[serde(deserialize_with = "nullable")]
    pub reference: String,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodStatus {
    #[serde(deserialize_with = "nullable")]
    pub phase: String,
    pub start_time: Option<String>,
    #[serde(deserialize_with = "nullable")]
    pub nominated_node_name: String,
    #[serde(deserialize_with = "nullable")]
    pub conditions: Vec<PodCondition>,
    #[serde(deserialize_with = "nullable")]
    pub container_statuses: Vec<ContainerStatus>,
    #[serde(deserialize_with = "nullable")]
    pub init_container_statuses: Vec<ContainerStatus>,
    /// Pod-level: what the kubelet has admitted.
    pub allocated_resources: Option<ResourceList>,
    /// Pod-level: what is actuated.
    pub resources: Option<ResourceRequirements>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodCondition {
    #[serde(rename = "type", deserialize_with = "nullable")]
    pub kind: String,
    #[serde(deserialize_with = "nullable")]
    pub status: String,
    #[serde(deserialize_with = "nullable")]
    pub reason: String,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ContainerStatus {
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    pub allocated_resources: Option<ResourceList>,
    pub resources: Option<ResourceRequirements>,
}
