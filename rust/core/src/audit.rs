//! Everything that all plugins have to say about one pod, for comparing with another scheduler.
//!
//! Unlike [`crate::explain`], every filter judges every node, also those that an earlier one rejected.

use crate::cycle::{self, Judged};
use crate::diagnosis::Diagnosis;
use crate::engine::{Engine, Outcome};
use crate::filtering::{Filters, Rejection};
use crate::pick::heap_root;
use crate::plugin::{Plugin, PreFilter};
use crate::preempt::{self, Failed, Preemption};
use crate::profile::Profile;
use crate::snapshot::{PodId, Row, Snapshot};
use crate::status::{Code, Status};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The audit as JSON; its fields are those of the parity suite's answers of tier A.
pub fn audit(engine: &mut Engine, pod: PodId) -> Value {
    engine.snap.refresh();
    let Some((_, profile)) = engine.profile_of(pod) else {
        return json!({"result": "foreign"});
    };
    let mut answer = Map::new();
    let filters = pre_filters(&engine.snap, &profile, pod, &mut answer);
    answer.insert(
        "filter".into(),
        all_filters(&engine.snap, &profile, &filters),
    );
    if engine.snap.nodes.is_empty() {
        pre_filter_result(&engine.snap, &profile, pod, &mut answer);
        let message = Diagnosis {
            no_nodes: true,
            ..Diagnosis::default()
        }
        .message("");
        answer.insert("result".into(), json!("unschedulable"));
        answer.insert("message".into(), json!(message));
        answer.insert("nominating".into(), json!("clear"));
        answer.retain(|_, value| !is_empty(value));
        answer.insert("feasible".into(), json!([]));
        return Value::Object(answer);
    }
    match Judged::new(&mut engine.snap, &profile, pod) {
        Err(rejection) => rejected(engine, pod, &profile, &rejection, &mut answer),
        Ok(judged) => judged_pod(engine, pod, &profile, &judged, &mut answer),
    }
    answer.retain(|_, value| !is_empty(value));
    answer.entry("feasible").or_insert_with(|| json!([]));
    Value::Object(answer)
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}

fn status_json(plugin: Option<&str>, status: &Status) -> Value {
    let mut value = json!({"code": status.code.name()});
    if let Some(plugin) = plugin.filter(|p| !p.is_empty()) {
        value["plugin"] = json!(plugin);
    }
    if !status.reasons.is_empty() {
        value["reasons"] = json!(status.reasons);
    }
    value
}

type Named = (Arc<dyn Plugin>, Box<dyn crate::plugin::Filter>);

/// Each plugin's own PreFilter, whatever the others say; the filters of those that passed.
fn pre_filters(
    snap: &Snapshot,
    profile: &Profile,
    pod: PodId,
    answer: &mut Map<String, Value>,
) -> Vec<Named> {
    let mut statuses = Map::new();
    let mut filters = Vec::new();
    for plugin in &profile.pre_filter {
        let name = plugin.name().to_owned();
        match plugin.pre_filter(snap, &snap.pods[pod]) {
            PreFilter::Skip => drop(statuses.insert(name, json!({"code": "Skip"}))),
            PreFilter::Reject(status) => drop(statuses.insert(name, status_json(None, &status))),
            PreFilter::Run { filter, nodes } => {
                if let Some(nodes) = nodes {
                    let mut names: Vec<_> = nodes.iter().map(|n| snap.interner.text(*n)).collect();
                    names.sort_unstable();
                    statuses.insert(name, json!({"code": "Success", "nodes": names}));
                }
                filters.push((Arc::clone(plugin), filter));
            }
        }
    }
    answer.insert("preFilter".into(), Value::Object(statuses));
    let asked = |p: &&Arc<dyn Plugin>| filters.iter().any(|(f, _)| f.name() == p.name());
    let evaluated: Vec<_> = profile
        .filter
        .iter()
        .filter(asked)
        .map(|p| p.name())
        .collect();
    answer.insert("evaluated".into(), json!(evaluated));
    filters
}

/// Every rejection by every filter, without nominated pods.
fn all_filters(snap: &Snapshot, profile: &Profile, filters: &[Named]) -> Value {
    let mut nodes = Map::new();
    for &row in snap.order.rows() {
        let mut plugins = Map::new();
        for plugin in &profile.filter {
            let Some((_, filter)) = filters.iter().find(|(p, _)| p.name() == plugin.name()) else {
                continue;
            };
            let status = filter.status(snap, row);
            if status.code != Code::Success {
                plugins.insert(plugin.name().to_owned(), status_json(None, &status));
            }
        }
        if !plugins.is_empty() {
            nodes.insert(name(snap, row), Value::Object(plugins));
        }
    }
    Value::Object(nodes)
}

/// What PreFilter says where there is no node that it could speak about.
fn pre_filter_result(
    snap: &Snapshot,
    profile: &Profile,
    pod: PodId,
    answer: &mut Map<String, Value>,
) {
    match Filters::new(snap, profile, &snap.pods[pod]) {
        Ok(filters) => restriction(snap, &filters, answer),
        Err(rejection) => rejection_json(&rejection, answer),
    }
}

/// The nodes that PreFilter results left, if they left out any.
fn restriction(snap: &Snapshot, filters: &Filters, answer: &mut Map<String, Value>) {
    let Some(nodes) = &filters.nodes else {
        return;
    };
    let mut names: Vec<_> = nodes.iter().map(|n| snap.interner.text(*n)).collect();
    names.sort_unstable();
    answer.insert(
        "preFilterResult".into(),
        json!({"code": "Success", "nodes": names}),
    );
}

fn rejection_json(rejection: &Rejection, answer: &mut Map<String, Value>) {
    let plugin = rejection
        .restricted_by
        .is_empty()
        .then_some(rejection.plugin);
    answer.insert(
        "preFilterResult".into(),
        status_json(plugin, &rejection.status),
    );
}

fn rejected(
    engine: &mut Engine,
    pod: PodId,
    profile: &Profile,
    rejection: &Rejection,
    answer: &mut Map<String, Value>,
) {
    rejection_json(rejection, answer);
    let message = match engine.rejected(rejection) {
        Outcome::Unschedulable(diagnosis) => diagnosis.message(""),
        Outcome::Failed(message) => {
            answer.insert("result".into(), json!("error"));
            answer.insert("error".into(), json!(message));
            return;
        }
        Outcome::Placed { .. } => unreachable!("a rejection places nothing"),
    };
    answer.insert("result".into(), json!("unschedulable"));
    let preemption = preempt::after_rejection(&engine.snap, profile, pod, rejection);
    post_filter(&engine.snap, message, preemption, answer);
}

fn judged_pod(
    engine: &mut Engine,
    pod: PodId,
    profile: &Profile,
    judged: &Judged,
    answer: &mut Map<String, Value>,
) {
    let snap = &engine.snap;
    restriction(snap, &judged.filters, answer);
    let mut statuses = Map::new();
    let looked_at = judged
        .filters
        .nodes
        .as_ref()
        .map(|_| judged.filters.rows(snap));
    for &row in snap.order.rows() {
        let left_out = looked_at.as_ref().is_some_and(|rows| !rows.contains(&row));
        if let Some((plugin, status)) = judged.status(snap, row).filter(|_| !left_out) {
            statuses.insert(name(snap, row), status_json(Some(plugin), &status));
        }
    }
    answer.insert("status".into(), Value::Object(statuses));
    let order = looked_at.as_deref().unwrap_or(snap.order.rows());
    let failure = judged.failure(snap, order);
    let rows = judged.feasible(snap);
    let names: Vec<_> = rows.iter().map(|row| name(snap, *row)).collect();
    answer.insert("feasible".into(), json!(names));
    if let Some(status) = failure
        && engine.on_nominated_node(profile, pod).is_none()
    {
        answer.insert("result".into(), json!("error"));
        answer.insert("error".into(), json!(status.message()));
    } else if rows.is_empty() {
        unschedulable(engine, pod, profile, judged, answer);
    } else {
        ranked(engine, pod, profile, &rows, answer);
    }
}

fn ranked(
    engine: &mut Engine,
    pod: PodId,
    profile: &Profile,
    rows: &[Row],
    answer: &mut Map<String, Value>,
) {
    answer.insert("result".into(), json!("feasible"));
    let nominated = engine.on_nominated_node(profile, pod);
    let snap = &engine.snap;
    let ranking = match cycle::rank(snap, profile, pod, rows) {
        Ok(ranking) => ranking,
        // A single node is taken without scoring, and so is the pod's own.
        Err(_) if rows.len() == 1 || nominated.is_some() => {
            let row = nominated.unwrap_or(rows[0]);
            answer.insert("winner".into(), json!(name(snap, row)));
            return;
        }
        Err(status) => {
            answer.insert("result".into(), json!("error"));
            answer.insert("error".into(), json!(status.message()));
            return;
        }
    };
    let mut scores = Map::new();
    for (at, row) in rows.iter().enumerate() {
        let part = |s: &crate::scoring::Scores| {
            let weighted = s.normalized[at].wrapping_mul(s.weight);
            (
                s.plugin.to_owned(),
                json!([s.raw_shown(at), s.normalized[at], weighted]),
            )
        };
        let plugins: Map<String, Value> = ranking.scores.iter().map(part).collect();
        scores.insert(
            name(snap, *row),
            json!({"total": ranking.totals[at], "plugins": plugins}),
        );
    }
    answer.insert("scores".into(), Value::Object(scores));
    let winner = nominated.or_else(|| heap_root(&ranking.totals).map(|at| rows[at]));
    answer.insert("winner".into(), json!(winner.map(|row| name(snap, row))));
}

fn unschedulable(
    engine: &mut Engine,
    pod: PodId,
    profile: &Profile,
    judged: &Judged,
    answer: &mut Map<String, Value>,
) {
    answer.insert("result".into(), json!("unschedulable"));
    let message = judged.diagnosis(&engine.snap).message("");
    let preemption = profile.preemption.map(|args| {
        let codes = judged.codes(&engine.snap);
        let failed = Failed {
            filters: &judged.filters,
            codes: &codes,
            draw: 0,
        };
        preempt::preempt(&mut engine.snap, args, pod, failed)
    });
    post_filter(&engine.snap, message, preemption, answer);
}

fn post_filter(
    snap: &Snapshot,
    mut message: String,
    preemption: Option<Preemption>,
    answer: &mut Map<String, Value>,
) {
    let nominating = match &preemption {
        None | Some(Preemption::Ineligible { .. } | Preemption::Failed { .. }) => "keep",
        Some(Preemption::Helpless { .. }) => "clear",
        Some(Preemption::Nominate { row, victims, .. }) => {
            let victim = |id: &PodId| {
                let pod = &snap.pods[*id];
                format!(
                    "{}/{}",
                    snap.interner.text(pod.template.namespace),
                    pod.name
                )
            };
            answer.insert("nominated".into(), json!(name(snap, *row)));
            answer.insert(
                "victims".into(),
                json!(victims.iter().map(victim).collect::<Vec<_>>()),
            );
            "set"
        }
    };
    if let Some(preemption) = &preemption {
        message.push_str(&format!(" {}", preemption.text()));
    }
    answer.insert("message".into(), json!(message));
    answer.insert("nominating".into(), json!(nominating));
}

fn name(snap: &Snapshot, row: Row) -> String {
    snap.interner.text(snap.nodes.name(row)).to_owned()
}
