use super::{LabelSelector, ObjectMeta, StringMap, nullable};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Namespace {
    #[serde(deserialize_with = "nullable")]
    pub metadata: ObjectMeta,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Service {
    #[serde(deserialize_with = "nullable")]
    pub metadata: ObjectMeta,
    #[serde(deserialize_with = "nullable")]
    pub spec: MapSelectorSpec,
}

/// Service and ReplicationController: the selector is a plain map.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct MapSelectorSpec {
    #[serde(deserialize_with = "nullable")]
    pub selector: StringMap,
}

/// ReplicaSet and StatefulSet.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct SetWorkload {
    #[serde(deserialize_with = "nullable")]
    pub metadata: ObjectMeta,
    #[serde(deserialize_with = "nullable")]
    pub spec: SelectorSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct SelectorSpec {
    pub selector: Option<LabelSelector>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct PodDisruptionBudget {
    #[serde(deserialize_with = "nullable")]
    pub metadata: ObjectMeta,
    #[serde(deserialize_with = "nullable")]
    pub spec: SelectorSpec,
    #[serde(deserialize_with = "nullable")]
    pub status: PodDisruptionBudgetStatus,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodDisruptionBudgetStatus {
    #[serde(deserialize_with = "nullable")]
    pub disruptions_allowed: i32,
    #[serde(deserialize_with = "nullable")]
    pub disrupted_pods: BTreeMap<String, serde_json::Value>,
}
