//! What a provisioner makes for a claim: a volume promised to it, where its node can use it.

use super::{Verb, Write};
use crate::intern::Symbol;
use crate::object::TopologySelectorTerm;
use crate::snapshot::volumes::{ClaimInfo, Class, PROVISIONED_BY, SELECTED_NODE};
use crate::snapshot::{ClaimKey, Kind, Row, Snapshot};
use serde_json::{Value, json};

/// The volume for a claim, named `pvc-<uid of the claim>`. A claim whose node is gone is given back to
/// the scheduler.
pub(super) fn provision(
    snap: &Snapshot,
    key: ClaimKey,
    claim: &ClaimInfo,
    class: &Class,
) -> Vec<Write> {
    let node = claim.selected_node.map(|name| snap.nodes.row(name));
    let node = match node {
        Some(None) => {
            let patch = json!({"metadata": {"annotations": {SELECTED_NODE: null}}});
            return vec![Write::claim(snap, key, patch)];
        }
        Some(Some(row)) => Some(row),
        None => None,
    };
    let name = volume_name(snap, key, claim);
    let known = snap.interner.get(&name);
    if known.is_some_and(|name| snap.volumes.volume_named(name).is_some()) {
        // It exists and does not match: making it again would not help.
        return Vec::new();
    }
    let object = volume(snap, (key, claim), class, node, &name);
    vec![Write {
        kind: Kind::PersistentVolume,
        namespace: String::new(),
        name,
        verb: Verb::Create(object),
    }]
}

fn volume_name(snap: &Snapshot, key: ClaimKey, claim: &ClaimInfo) -> String {
    let text = |symbol| snap.interner.text(symbol);
    if claim.uid == Symbol::EMPTY {
        return format!("pvc-{}-{}", text(key.0), text(key.1));
    }
    format!("pvc-{}", text(claim.uid))
}

fn volume(
    snap: &Snapshot,
    (key, claim): (ClaimKey, &ClaimInfo),
    class: &Class,
    node: Option<Row>,
    name: &str,
) -> Value {
    let text = |symbol| snap.interner.text(symbol);
    let modes: Vec<_> = claim.access_modes.iter().map(|mode| text(*mode)).collect();
    let driver = text(class.driver());
    let mut spec = json!({
        "capacity": {"storage": claim.request},
        "accessModes": modes,
        "claimRef": {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "namespace": text(key.0),
            "name": text(key.1),
            "uid": text(claim.uid),
        },
        "persistentVolumeReclaimPolicy": class.reclaim_policy,
        "storageClassName": text(claim.class_name()),
        "volumeMode": text(claim.mode),
        "csi": {"driver": driver, "volumeHandle": name},
    });
    if !class.mount_options.is_empty() {
        spec["mountOptions"] = json!(class.mount_options);
    }
    if claim.attributes_class != Symbol::EMPTY {
        spec["volumeAttributesClassName"] = json!(text(claim.attributes_class));
    }
    let topology = topology(snap, class, node);
    if !topology.is_empty() {
        let expression =
            |(key, value): &(&str, &str)| json!({"key": key, "operator": "In", "values": [value]});
        let expressions: Vec<_> = topology.iter().map(expression).collect();
        let terms = json!([{"matchExpressions": expressions}]);
        spec["nodeAffinity"] = json!({"required": {"nodeSelectorTerms": terms}});
    }
    json!({
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {
            "name": name,
            "uid": name,
            "annotations": {PROVISIONED_BY: driver},
        },
        "spec": spec,
        "status": {"phase": "Pending"},
    })
}

/// Labels that nodes must have to use the new volume: on the selected node those by which its driver
/// tells nodes apart, else those of the class's allowed topologies. Without a node it is the first
/// topology that the class allows.
fn topology<'a>(
    snap: &'a Snapshot,
    class: &'a Class,
    node: Option<Row>,
) -> Vec<(&'a str, &'a str)> {
    let Some(row) = node else {
        let first = class.topologies.first();
        let requirements = first
            .into_iter()
            .flat_map(|term| &term.match_label_expressions);
        let pair = |r: &'a crate::object::TopologySelectorRequirement| {
            Some((r.key.as_str(), r.values.first()?.as_str()))
        };
        return requirements.filter_map(pair).collect();
    };
    let labels = &snap.nodes.info(row).labels;
    let csi_node = snap.volumes.csi_node(row);
    let driver = csi_node.and_then(|node| node.driver(class.driver()));
    let keys = driver.map_or(&[][..], |driver| &driver.topology_keys);
    if !keys.is_empty() {
        let pair = |key: &Symbol| {
            let value = labels.get(*key)?;
            Some((snap.interner.text(*key), snap.interner.text(value)))
        };
        return keys.iter().filter_map(pair).collect();
    }
    let value = |key: &str| {
        let value = labels.get(snap.interner.get(key)?)?;
        Some(snap.interner.text(value))
    };
    let allows = |term: &&TopologySelectorTerm| {
        let mut requirements = term.match_label_expressions.iter();
        requirements.all(|r| value(&r.key).is_some_and(|v| r.values.iter().any(|w| w == v)))
    };
    let term = class.topologies.iter().find(allows);
    let requirements = term
        .into_iter()
        .flat_map(|term| &term.match_label_expressions);
    requirements
        .filter_map(|r| Some((r.key.as_str(), value(&r.key)?)))
        .collect()
}
