//! Small clusters from JSON, and what a plugin says of them.

use podium_core::object;
use podium_core::plugin::{Filter, Plugin, PreFilter, PreScore, Rows};
use podium_core::plugins::constructor;
use podium_core::snapshot::{Kind, PodId, Row, Snapshot};
use podium_core::status::{Code, Status};
use serde_json::{Value, json};
use std::sync::Arc;

#[derive(Default)]
pub(crate) struct World {
    pub(crate) snap: Snapshot,
}

/// What a plugin's PreFilter and Filter make of a pod.
#[derive(Debug, PartialEq)]
pub(crate) enum Judged {
    Skip,
    Rejected(Code, String),
    /// By node, in the order of rows: the code and the reasons, joined.
    Rows(Vec<(Code, String)>),
}

pub(crate) fn ok() -> (Code, String) {
    (Code::Success, String::new())
}

pub(crate) fn unschedulable(reason: &str) -> (Code, String) {
    (Code::Unschedulable, reason.to_owned())
}

pub(crate) fn unresolvable(reason: &str) -> (Code, String) {
    (Code::UnschedulableAndUnresolvable, reason.to_owned())
}

pub(crate) fn error(reason: &str) -> (Code, String) {
    (Code::Error, reason.to_owned())
}

pub(crate) fn rejected(reason: &str) -> Judged {
    Judged::Rejected(Code::UnschedulableAndUnresolvable, reason.to_owned())
}

impl World {
    pub(crate) fn plugin(&mut self, name: &str, args: &Value) -> Arc<dyn Plugin> {
        let new = constructor(name).expect("a plugin of the table");
        new(&mut self.snap, args).expect("valid arguments")
    }

    pub(crate) fn node(&mut self, name: &str, labels: &[(&str, &str)]) -> Row {
        let labels: serde_json::Map<_, _> = labels
            .iter()
            .map(|(k, v)| ((*k).to_owned(), json!(v)))
            .collect();
        let node = json!({"metadata": {"name": name, "labels": labels}});
        let node: object::Node = serde_json::from_value(node).expect("a node");
        self.snap.set_node(&node)
    }

    pub(crate) fn set(&mut self, kind: Kind, object: &Value) {
        let json = serde_json::to_vec(object).expect("JSON");
        self.snap.set(kind, &json).expect("a valid object");
    }

    pub(crate) fn volume(&mut self, object: &Value) {
        self.set(Kind::PersistentVolume, object);
    }

    pub(crate) fn claim(&mut self, object: &Value) {
        self.set(Kind::PersistentVolumeClaim, object);
    }

    pub(crate) fn class(&mut self, object: &Value) {
        self.set(Kind::StorageClass, object);
    }

    pub(crate) fn pod(&mut self, object: &Value) -> PodId {
        let pod: object::Pod = serde_json::from_value(object.clone()).expect("a pod");
        self.snap.add_pod(&pod)
    }

    pub(crate) fn update(&mut self, id: PodId, object: &Value) {
        let pod: object::Pod = serde_json::from_value(object.clone()).expect("a pod");
        self.snap.update_pod(id, &pod);
    }

    pub(crate) fn filter(&mut self, name: &str, pod: PodId) -> Result<Box<dyn Filter>, Judged> {
        let plugin = self.plugin(name, &Value::Null);
        match plugin.pre_filter(&self.snap, &self.snap.pods[pod]) {
            PreFilter::Skip => Err(Judged::Skip),
            PreFilter::Reject(status) => Err(Judged::Rejected(status.code, status.message())),
            PreFilter::Run { filter, .. } => Ok(filter),
        }
    }

    pub(crate) fn judge(&mut self, name: &str, pod: PodId) -> Judged {
        match self.filter(name, pod) {
            Err(judged) => judged,
            Ok(filter) => Judged::Rows(statuses(&self.snap, &*filter)),
        }
    }

    /// Raw scores of VolumeBinding over all rows; `None` if it skips.
    pub(crate) fn scores(&mut self, args: &Value, pod: PodId) -> Option<Vec<i64>> {
        let plugin = self.plugin("VolumeBinding", args);
        let rows: Vec<Row> = (0..self.snap.nodes.len() as Row).collect();
        match plugin.pre_score(&self.snap, &self.snap.pods[pod], &rows) {
            PreScore::Skip => None,
            PreScore::Reject(status) => panic!("PreScore: {}", status.message()),
            PreScore::Run(score) => {
                let mut all = vec![-1; rows.len()];
                score.score(&self.snap, Rows::All(rows.len()), &mut all);
                let mut list = vec![-1; rows.len()];
                score.score(&self.snap, Rows::List(&rows), &mut list);
                assert_eq!(all, list, "all rows and a list of them");
                Some(all)
            }
        }
    }
}

/// Statuses of all rows, after checking that a dense pass, a list and single rows agree.
pub(crate) fn statuses(snap: &Snapshot, filter: &dyn Filter) -> Vec<(Code, String)> {
    let len = snap.nodes.len();
    let rows: Vec<Row> = (0..len as Row).collect();
    let mut all = vec![Code::Success; len];
    filter.filter(snap, Rows::All(len), &mut all);
    let mut list = vec![Code::Success; len];
    filter.filter(snap, Rows::List(&rows), &mut list);
    assert_eq!(all, list, "all rows and a list of them");
    let statuses: Vec<Status> = rows.iter().map(|row| filter.status(snap, *row)).collect();
    let codes: Vec<_> = statuses.iter().map(|status| status.code).collect();
    assert_eq!(all, codes, "codes and statuses");
    statuses
        .iter()
        .map(|status| (status.code, status.message()))
        .collect()
}

/// Overwrites what `patch` has, deeply.
pub(crate) fn with(mut object: Value, patch: Value) -> Value {
    merge(&mut object, patch);
    object
}

fn merge(object: &mut Value, patch: Value) {
    match (object, patch) {
        (Value::Object(object), Value::Object(patch)) => {
            for (key, value) in patch {
                merge(object.entry(key).or_insert(Value::Null), value);
            }
        }
        (object, patch) => *object = patch,
    }
}

/// An available volume.
pub(crate) fn volume(name: &str, class: &str, size: &str) -> Value {
    json!({
        "metadata": {"name": name, "uid": format!("uid-{name}")},
        "spec": {
            "storageClassName": class,
            "capacity": {"storage": size},
            "accessModes": ["ReadWriteOnce"],
            "persistentVolumeReclaimPolicy": "Retain",
        },
        "status": {"phase": "Available"},
    })
}

pub(crate) fn csi(driver: &str, handle: &str) -> Value {
    json!({"spec": {"csi": {"driver": driver, "volumeHandle": handle}}})
}

/// The patch that makes a volume reachable from nodes with these label values only.
pub(crate) fn reach(expressions: &[(&str, &[&str])]) -> Value {
    let expression =
        |(key, values): &(&str, &[&str])| json!({"key": key, "operator": "In", "values": values});
    let expressions: Vec<_> = expressions.iter().map(expression).collect();
    json!({"spec": {"nodeAffinity": {"required": {
        "nodeSelectorTerms": [{"matchExpressions": expressions}]}}}})
}

/// An unbound claim of namespace `default`.
pub(crate) fn claim(name: &str, class: &str, size: &str) -> Value {
    json!({
        "metadata": {"name": name, "namespace": "default", "uid": format!("uid-{name}")},
        "spec": {
            "storageClassName": class,
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": size}},
        },
        "status": {"phase": "Pending"},
    })
}

pub(crate) fn bound(volume: &str) -> Value {
    json!({
        "metadata": {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}},
        "spec": {"volumeName": volume},
        "status": {"phase": "Bound"},
    })
}

pub(crate) fn class(name: &str, provisioner: &str, mode: &str) -> Value {
    json!({
        "metadata": {"name": name},
        "provisioner": provisioner,
        "volumeBindingMode": mode,
    })
}

pub(crate) const WAIT: &str = "WaitForFirstConsumer";

/// A pod of namespace `default` with these claims.
pub(crate) fn pod(name: &str, claims: &[&str]) -> Value {
    let volume =
        |claim: &&str| json!({"name": claim, "persistentVolumeClaim": {"claimName": claim}});
    let volumes: Vec<_> = claims.iter().map(volume).collect();
    json!({
        "metadata": {"name": name, "namespace": "default", "uid": format!("uid-{name}")},
        "spec": {"volumes": volumes},
    })
}

pub(crate) fn on(node: &str) -> Value {
    json!({"spec": {"nodeName": node}})
}

pub(crate) fn csi_node(node: &str, drivers: &[(&str, Option<i32>)]) -> Value {
    let driver = |(name, limit): &(&str, Option<i32>)| json!({"name": name, "nodeID": node, "allocatable": limit.map(|count| json!({"count": count}))});
    let drivers: Vec<_> = drivers.iter().map(driver).collect();
    json!({"metadata": {"name": node}, "spec": {"drivers": drivers}})
}
