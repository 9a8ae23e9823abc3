//! A small cluster made of JSON objects, and random changes to it.

use podium_core::intern::Symbol;
use podium_core::object;
use podium_core::plugin::Plugin;
use podium_core::plugins;
use podium_core::snapshot::{Kind, PodId, Row, Snapshot};
use serde_json::{Value, json};
use std::sync::Arc;

pub(crate) const HOSTNAME: &str = "kubernetes.io/hostname";
pub(crate) const ZONE: &str = "topology.kubernetes.io/zone";

pub(crate) fn plugin(snap: &mut Snapshot, name: &str, args: &Value) -> Arc<dyn Plugin> {
    let constructor = plugins::constructor(name).expect("a native plugin");
    constructor(snap, args).expect("valid arguments")
}

pub(crate) fn node(snap: &mut Snapshot, name: &str, labels: Value) -> Row {
    set_node(snap, json!({"metadata": {"name": name, "labels": labels}}))
}

pub(crate) fn set_node(snap: &mut Snapshot, json: Value) -> Row {
    let node: object::Node = serde_json::from_value(json).expect("a node");
    snap.set_node(&node)
}

/// Adds a pod; `on` is its node, empty for none.
pub(crate) fn pod(snap: &mut Snapshot, on: &str, mut json: Value) -> PodId {
    json["spec"]["nodeName"] = on.into();
    if json["metadata"]["namespace"].is_null() {
        json["metadata"]["namespace"] = "default".into();
    }
    let pod: object::Pod = serde_json::from_value(json).expect("a pod");
    snap.add_pod(&pod)
}

/// A stream of choices, the same for the same seed (splitmix64).
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % sides
    }

    pub(crate) fn one_in(&mut self, sides: u64) -> bool {
        self.roll(sides) == 0
    }

    pub(crate) fn of<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.roll(list.len() as u64) as usize].clone()
    }
}

const NODES: u64 = 9;

/// Rules that pods of a random cluster may have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rules {
    Spread,
    Affinity,
}

pub(crate) fn labels(dice: &mut Dice) -> Value {
    let mut labels = json!({});
    if !dice.one_in(5) {
        labels["app"] = dice.of(&["x", "y"]).into();
    }
    if dice.one_in(2) {
        labels["tier"] = dice.of(&["p", "q"]).into();
    }
    labels
}

pub(crate) fn selector(dice: &mut Dice) -> Value {
    let expression = |key, operator, values: &[&str]| {
        let values = values.to_vec();
        json!({"matchExpressions": [{"key": key, "operator": operator, "values": values}]})
    };
    match dice.roll(8) {
        0 => Value::Null,
        1 => json!({}),
        2 => expression("tier", "Exists", &[]),
        3 => expression("app", "NotIn", &["x"]),
        4 => expression("app", "In", &["x", "y"]),
        _ => json!({"matchLabels": {"app": dice.of(&["x", "y"])}}),
    }
}

fn random_node(dice: &mut Dice, name: u64) -> Value {
    let mut labels = json!({});
    if !dice.one_in(6) {
        // Sometimes two nodes share a hostname.
        labels[HOSTNAME] = format!("h{}", if dice.one_in(5) { 0 } else { name }).into();
    }
    if !dice.one_in(5) {
        labels[ZONE] = dice.of(&["a", "b", "c", ""]).into();
    }
    if dice.one_in(2) {
        labels["rack"] = dice.of(&["1", "2"]).into();
    }
    if dice.one_in(2) {
        labels["disk"] = "ssd".into();
    }
    let taint = json!([{"key": "k", "effect": dice.of(&["NoSchedule", "PreferNoSchedule"])}]);
    let taints = if dice.one_in(3) { taint } else { json!([]) };
    json!({"metadata": {"name": format!("n{name}"), "labels": labels}, "spec": {"taints": taints}})
}

pub(crate) fn random_pod(dice: &mut Dice, rules: Rules) -> Value {
    let mut pod = json!({
        "metadata": {"namespace": dice.of(&["a", "b"]), "labels": labels(dice)},
        "spec": {},
    });
    if dice.one_in(6) {
        pod["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
    }
    if dice.one_in(3) {
        pod["spec"]["nodeSelector"] = json!({"disk": "ssd"});
    }
    if dice.one_in(3) {
        pod["spec"]["tolerations"] = json!([{"key": "k", "operator": "Exists"}]);
    }
    if dice.one_in(3) {
        let owner = json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "rs", "controller": true});
        pod["metadata"]["ownerReferences"] = json!([owner]);
    }
    match rules {
        Rules::Spread => {
            let list: Vec<_> = (0..dice.roll(4)).map(|_| constraint(dice)).collect();
            pod["spec"]["topologySpreadConstraints"] = list.into();
        }
        Rules::Affinity => pod["spec"]["affinity"] = affinity(dice),
    }
    pod
}

fn constraint(dice: &mut Dice) -> Value {
    let mut constraint = json!({
        "maxSkew": 1 + dice.roll(3),
        "topologyKey": dice.of(&[HOSTNAME, ZONE, ZONE, "rack"]),
        "whenUnsatisfiable": dice.of(&["DoNotSchedule", "ScheduleAnyway"]),
        "labelSelector": selector(dice),
    });
    if dice.one_in(3) {
        constraint["minDomains"] = dice.roll(5).into();
    }
    if dice.one_in(3) {
        constraint["nodeAffinityPolicy"] = dice.of(&["Ignore", "Honor"]).into();
    }
    if dice.one_in(3) {
        constraint["nodeTaintsPolicy"] = dice.of(&["Ignore", "Honor"]).into();
    }
    if dice.one_in(4) {
        constraint["matchLabelKeys"] = json!(["tier"]);
    }
    constraint
}

fn affinity(dice: &mut Dice) -> Value {
    let mut affinity = json!({});
    for side in ["podAffinity", "podAntiAffinity"] {
        if dice.one_in(2) {
            continue;
        }
        let count = dice.of(&[0, 0, 1, 1, 2]);
        let required: Vec<_> = (0..count).map(|_| term(dice)).collect();
        let weighted =
            |dice: &mut Dice| json!({"weight": 1 + dice.roll(9), "podAffinityTerm": term(dice)});
        let preferred: Vec<_> = (0..dice.roll(3)).map(|_| weighted(dice)).collect();
        affinity[side] = json!({
            "requiredDuringSchedulingIgnoredDuringExecution": required,
            "preferredDuringSchedulingIgnoredDuringExecution": preferred,
        });
    }
    affinity
}

fn term(dice: &mut Dice) -> Value {
    let mut term = json!({
        "topologyKey": dice.of(&[HOSTNAME, ZONE, ZONE, "rack"]),
        "labelSelector": selector(dice),
    });
    if dice.one_in(3) {
        term["namespaces"] = json!([dice.of(&["a", "b", "c"])]);
    }
    if dice.one_in(3) {
        term["namespaceSelector"] = match dice.roll(3) {
            0 => json!({}),
            1 => json!({"matchLabels": {"team": "t"}}),
            _ => json!({"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]}),
        };
    }
    term
}

/// Makes one random change.
pub(crate) fn change(snap: &mut Snapshot, dice: &mut Dice, rules: Rules) {
    let pods: Vec<PodId> = snap.pods.iter().map(|(id, _)| id).collect();
    match dice.roll(40) {
        0..=1 => {
            let name = dice.roll(NODES);
            set_node(snap, random_node(dice, name));
        }
        2 if dice.one_in(2) => drop(snap.remove_node(&format!("n{}", dice.roll(NODES)))),
        3 if dice.one_in(3) => world(snap, dice),
        4..=14 => {
            let on = format!("n{}", dice.roll(NODES));
            let json = random_pod(dice, rules);
            pod(snap, &on, json);
        }
        15..=17 => {
            let json = random_pod(dice, rules);
            pod(snap, "", json);
        }
        18..=27 if !pods.is_empty() => snap.remove_pod(dice.of(&pods)),
        28..=30 if !pods.is_empty() => drop(snap.unplace(dice.of(&pods))),
        31..=39 if !pods.is_empty() => {
            let (id, row) = (
                dice.of(&pods),
                dice.roll(snap.nodes.len().max(1) as u64) as Row,
            );
            let live = snap.nodes.live.get(row as usize) == Some(&true);
            if live && snap.pods[id].row.is_none() && snap.pods[id].node_name == Symbol::EMPTY {
                snap.place(id, row);
            }
        }
        _ => {}
    }
}

fn world(snap: &mut Snapshot, dice: &mut Dice) {
    let namespace = dice.of(&["a", "b", "c"]);
    let (kind, object) = match dice.roll(3) {
        0 => {
            let labels = if dice.one_in(2) {
                json!({"team": "t"})
            } else {
                json!({})
            };
            (
                Kind::Namespace,
                json!({"metadata": {"name": namespace, "labels": labels}}),
            )
        }
        1 => {
            let meta = json!({"name": "svc", "namespace": namespace});
            (
                Kind::Service,
                json!({"metadata": meta, "spec": {"selector": labels(dice)}}),
            )
        }
        _ => {
            let meta = json!({"name": "rs", "namespace": namespace});
            (
                Kind::ReplicaSet,
                json!({"metadata": meta, "spec": {"selector": selector(dice)}}),
            )
        }
    };
    if dice.one_in(3) {
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        snap.remove(kind, namespace, name);
    } else {
        snap.set(kind, object.to_string().as_bytes())
            .expect("a valid object");
    }
}
