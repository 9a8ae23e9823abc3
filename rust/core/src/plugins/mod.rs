//! The native plugins, one file each. The table is the only registry.

mod dynamic_resources;
mod image_locality;
mod inclusion;
mod inter_pod_affinity;
mod label_tables;
mod lanes;
mod node_affinity;
mod node_declared_features;
mod node_name;
mod node_ports;
mod node_resources_balanced_allocation;
mod node_resources_fit;
mod node_unschedulable;
mod node_volume_limits;
mod partition;
mod pod_topology_spread;
mod resource_spec;
mod shape;
mod taint_toleration;
mod taints;
mod told;
mod volume_binding;
mod volume_restrictions;
mod volume_zone;

pub use told::told;

use crate::plugin::Plugin;
use crate::snapshot::Snapshot;
use serde_json::Value;
use std::sync::Arc;

/// Makes a plugin from its arguments: the `args` of `pluginConfig`, defaulted, as JSON. The error
/// says which argument is wrong.
pub type Constructor = fn(&mut Snapshot, &Value) -> Result<Arc<dyn Plugin>, String>;

/// Name → constructor, in kube-scheduler's default order.
pub const TABLE: &[(&str, Constructor)] = &[
    (node_name::NAME, node_name::new),
    (node_unschedulable::NAME, node_unschedulable::new),
    (taint_toleration::NAME, taint_toleration::new),
    (node_affinity::NAME, node_affinity::new),
    (node_ports::NAME, node_ports::new),
    (node_resources_fit::NAME, node_resources_fit::new),
    (volume_restrictions::NAME, volume_restrictions::new),
    (node_volume_limits::NAME, node_volume_limits::new),
    (volume_binding::NAME, volume_binding::new),
    (volume_zone::NAME, volume_zone::new),
    (pod_topology_spread::NAME, pod_topology_spread::new),
    (inter_pod_affinity::NAME, inter_pod_affinity::new),
    (
        node_resources_balanced_allocation::NAME,
        node_resources_balanced_allocation::new,
    ),
    (image_locality::NAME, image_locality::new),
    (dynamic_resources::NAME, dynamic_resources::new),
    (node_declared_features::NAME, node_declared_features::new),
];

pub fn constructor(name: &str) -> Option<Constructor> {
    TABLE
        .iter()
        .find(|(n, _)| *n == name)
        .map(|(_, constructor)| *constructor)
}
