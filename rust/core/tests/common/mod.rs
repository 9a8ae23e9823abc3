//! What the plugin tests share: snapshots from JSON, and one plugin asked in every way it can be asked.
// Each test binary compiles this module and uses its own part of it.
#![allow(dead_code)]

use podium_core::plugin::{Filter, Plugin, PreFilter, PreScore, Rows, Score};
use podium_core::plugins;
use podium_core::snapshot::{PodId, Row, Snapshot};
use podium_core::status::{Code, Status};
use serde_json::{Value, json};
use std::sync::Arc;

pub(crate) fn plugin(snap: &mut Snapshot, name: &str, args: Value) -> Arc<dyn Plugin> {
    let constructor = plugins::constructor(name).expect("a plugin of the table");
    constructor(snap, &args).expect("valid arguments")
}

/// The error that a plugin answers its arguments with.
pub(crate) fn refusal(name: &str, args: Value) -> String {
    let constructor = plugins::constructor(name).expect("a plugin of the table");
    constructor(&mut Snapshot::default(), &args).expect_err("invalid arguments")
}

/// Adds or replaces a node of this name; `body` holds its other fields.
pub(crate) fn set_node(snap: &mut Snapshot, name: &str, body: Value) -> Row {
    let mut node = body;
    node["metadata"]["name"] = json!(name);
    snap.set_node(&serde_json::from_value(node).expect("a node"))
}

/// A node with these allocatable amounts.
pub(crate) fn sized(allocatable: Value) -> Value {
    json!({"status": {"allocatable": allocatable}})
}

/// Adds a pod of namespace `default`.
pub(crate) fn add_pod(snap: &mut Snapshot, name: &str, spec: Value) -> PodId {
    let pod =
        json!({"metadata": {"name": name, "namespace": "default", "uid": name}, "spec": spec});
    snap.add_pod(&serde_json::from_value(pod).expect("a pod"))
}

/// A spec of one container with these requests.
pub(crate) fn requesting(requests: Value) -> Value {
    json!({"containers": [{"name": "c", "resources": {"requests": requests}}]})
}

pub(crate) fn filter(
    snap: &Snapshot,
    plugin: &Arc<dyn Plugin>,
    pod: PodId,
) -> Option<Box<dyn Filter>> {
    match plugin.pre_filter(snap, &snap.pods[pod]) {
        PreFilter::Run { filter, .. } => Some(filter),
        PreFilter::Skip => None,
        PreFilter::Reject(status) => panic!("rejected: {status:?}"),
    }
}

pub(crate) fn score(
    snap: &Snapshot,
    plugin: &Arc<dyn Plugin>,
    pod: PodId,
) -> Option<Box<dyn Score>> {
    let feasible: Vec<Row> = live(snap).collect();
    match plugin.pre_score(snap, &snap.pods[pod], &feasible) {
        PreScore::Run(score) => Some(score),
        PreScore::Skip => None,
        PreScore::Reject(status) => panic!("rejected: {status:?}"),
    }
}

pub(crate) fn live(snap: &Snapshot) -> impl Iterator<Item = Row> + '_ {
    (0..snap.nodes.len() as Row).filter(|row| snap.nodes.live[*row as usize])
}

/// The status of each live row, after checking that all rows at once, a list and one at a time agree
/// and that rows which are rejected already stay as they are.
pub(crate) fn statuses(snap: &Snapshot, filter: &dyn Filter) -> Vec<Status> {
    let len = snap.nodes.len();
    let mut all = vec![Code::Success; len];
    filter.filter(snap, Rows::All(len), &mut all);
    let mut rejected = vec![Code::Skip; len];
    filter.filter(snap, Rows::All(len), &mut rejected);
    assert!(rejected.iter().all(|code| *code == Code::Skip));
    let rows: Vec<Row> = live(snap).collect();
    let mut list = vec![Code::Success; rows.len()];
    filter.filter(snap, Rows::List(&rows), &mut list);
    let check = |(row, code): (&Row, &Code)| {
        let status = filter.status(snap, *row);
        let mut one = [Code::Success];
        filter.filter(snap, Rows::List(&[*row]), &mut one);
        assert_eq!(
            [status.code, *code, all[*row as usize]],
            [one[0]; 3],
            "row {row}"
        );
        assert_eq!(status.code == Code::Success, status.reasons.is_empty());
        status
    };
    rows.iter().zip(&list).map(check).collect()
}

/// The raw score of each live row, after the same checks.
pub(crate) fn scores(snap: &Snapshot, score: &dyn Score) -> Vec<i64> {
    let len = snap.nodes.len();
    let mut all = vec![0; len];
    score.score(snap, Rows::All(len), &mut all);
    let rows: Vec<Row> = live(snap).collect();
    let mut list = vec![0; rows.len()];
    score.score(snap, Rows::List(&rows), &mut list);
    for (row, scored) in rows.iter().zip(&list) {
        let mut one = [0];
        score.score(snap, Rows::List(&[*row]), &mut one);
        assert_eq!([*scored, all[*row as usize]], [one[0]; 2], "row {row}");
    }
    list
}
