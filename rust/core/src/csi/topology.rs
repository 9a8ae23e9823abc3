use super::{BETA_REGION, BETA_ZONE, InTree, REGION, ZONE, ZONE_DELIMITER};
use crate::object::{
    NodeSelector, NodeSelectorTerm, PersistentVolume, SelectorRequirement, VolumeNodeAffinity,
};
use std::collections::BTreeSet;

/// The node affinity of the translated volume: the driver's own key stands for Kubernetes' zone label.
/// Zones of the volume's labels count where the affinity names none.
pub fn translated_affinity(plugin: InTree, volume: &PersistentVolume) -> Option<NodeSelector> {
    let affinity = volume.spec.node_affinity.as_ref();
    let mut required = affinity.and_then(|a| a.required.clone());
    let Some(csi_key) = plugin.topology_key() else {
        return required;
    };
    let labels = &volume.metadata.labels;
    let beta = !names(affinity, ZONE)
        && (names(affinity, BETA_ZONE)
            || (!labels.contains_key(ZONE) && labels.contains_key(BETA_ZONE)));
    let zone_key = if beta { BETA_ZONE } else { ZONE };
    if has_values(required.as_ref(), zone_key) {
        rename(required.as_mut(), zone_key, csi_key);
    } else if let Some(zones) = labels.get(zone_key) {
        add_zones(&mut required, csi_key, zones);
    }
    if beta && has_values(required.as_ref(), BETA_REGION) {
        rename(required.as_mut(), BETA_REGION, REGION);
    }
    required
}

fn expressions(required: Option<&NodeSelector>) -> impl Iterator<Item = &SelectorRequirement> {
    let terms = required.into_iter().flat_map(|r| &r.node_selector_terms);
    terms.flat_map(|t| &t.match_expressions)
}

fn names(affinity: Option<&VolumeNodeAffinity>, key: &str) -> bool {
    expressions(affinity.and_then(|a| a.required.as_ref())).any(|e| e.key == key)
}

fn has_values(required: Option<&NodeSelector>, key: &str) -> bool {
    expressions(required).any(|e| e.key == key && !e.values.is_empty())
}

fn rename(required: Option<&mut NodeSelector>, from: &str, to: &str) {
    let terms = required
        .into_iter()
        .flat_map(|r| &mut r.node_selector_terms);
    for expression in terms.flat_map(|t| &mut t.match_expressions) {
        if expression.key == from {
            to.clone_into(&mut expression.key);
        }
    }
}

/// Adds `key In zones` to every term.
fn add_zones(required: &mut Option<NodeSelector>, key: &str, label: &str) {
    let zones = label
        .split(ZONE_DELIMITER)
        .map(str::trim)
        .filter(|zone| !zone.is_empty());
    let zones: BTreeSet<_> = zones.map(str::to_owned).collect();
    if zones.is_empty() {
        return;
    }
    let terms = &mut required.get_or_insert_default().node_selector_terms;
    if terms.is_empty() {
        terms.push(NodeSelectorTerm::default());
    }
    for term in terms {
        term.match_expressions.push(SelectorRequirement {
            key: key.to_owned(),
            operator: "In".to_owned(),
            values: zones.iter().cloned().collect(),
        });
    }
}
