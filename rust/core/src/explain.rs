//! Why a pod may or may not run where, node by node and plugin by plugin. Nothing is placed.

use crate::cycle::{self, Judged};
use crate::diagnosis::Diagnosis;
use crate::engine::{Engine, Outcome};
use crate::scoring::Scores;
use crate::snapshot::{PodId, Row, Snapshot};
use crate::status::Status;

#[derive(Clone, Debug, Default)]
pub struct Explanation {
    /// `feasible`, `unschedulable` or `error`.
    pub state: &'static str,
    pub message: String,
    /// Names of the nodes that pass every filter, in node order.
    pub feasible: Vec<String>,
    /// Plugins that rejected the pod or some node.
    pub plugins: Vec<&'static str>,
    /// Every node that some filter rejects.
    pub nodes: Vec<(String, NodeRejection)>,
    /// Per score plugin, in the order of `feasible`.
    pub scores: Vec<Scores>,
    /// In the order of `feasible`.
    pub totals: Vec<i64>,
}

#[derive(Clone, Debug)]
pub struct NodeRejection {
    pub plugin: &'static str,
    pub status: Status,
}

pub fn explain(engine: &mut Engine, pod: PodId) -> Explanation {
    if let Some(outcome) = engine.without_nodes() {
        return refused(outcome);
    }
    match engine.judge(pod) {
        None => Explanation {
            state: "error",
            message: "no profile has the pod's scheduler name".into(),
            ..Default::default()
        },
        Some(Err(rejection)) => {
            let code = rejection.status.code;
            let mut answer = refused(engine.rejected(&rejection));
            if code.is_rejected() {
                let each = |row: &Row| {
                    let rejection = NodeRejection {
                        plugin: rejection.plugin,
                        status: rejection.status.clone(),
                    };
                    (name(&engine.snap, *row), rejection)
                };
                answer.nodes = engine.snap.order.rows().iter().map(each).collect();
            }
            answer
        }
        Some(Ok(judged)) => judged_pod(engine, pod, &judged),
    }
}

/// The native scores of the nodes of `mask`, as if no others were feasible.
pub fn ranked_within(engine: &Engine, pod: PodId, mask: &[bool]) -> Explanation {
    ranked(engine, pod, &engine.rows_within(mask))
}

fn refused(outcome: Outcome) -> Explanation {
    match outcome {
        Outcome::Unschedulable(diagnosis) => unschedulable(&diagnosis),
        Outcome::Failed(message) => Explanation {
            state: "error",
            message,
            ..Default::default()
        },
        Outcome::Placed { .. } => Explanation::default(),
    }
}

fn unschedulable(diagnosis: &Diagnosis) -> Explanation {
    Explanation {
        state: "unschedulable",
        message: diagnosis.message(""),
        plugins: diagnosis.plugins.clone(),
        ..Default::default()
    }
}

fn judged_pod(engine: &Engine, pod: PodId, judged: &Judged) -> Explanation {
    let snap = &engine.snap;
    let rows = judged.feasible(snap);
    let mut answer = if rows.is_empty() {
        unschedulable(&judged.diagnosis(snap))
    } else {
        ranked(engine, pod, &rows)
    };
    for &row in snap.order.rows() {
        if let Some((plugin, status)) = judged.status(snap, row) {
            answer
                .nodes
                .push((name(snap, row), NodeRejection { plugin, status }));
        }
    }
    answer
}

fn ranked(engine: &Engine, pod: PodId, rows: &[Row]) -> Explanation {
    let snap = &engine.snap;
    let Some((_, profile)) = engine.profile_of(pod) else {
        return Explanation::default();
    };
    let feasible = rows.iter().map(|row| name(snap, *row)).collect();
    match cycle::rank(snap, &profile, pod, rows) {
        // Where one node is left, a cycle takes it without scoring it: a failing score does no harm.
        Err(status) if rows.len() > 1 => Explanation {
            state: "error",
            message: status.message(),
            feasible,
            ..Default::default()
        },
        Err(_) => Explanation {
            state: "feasible",
            feasible,
            ..Default::default()
        },
        Ok(ranking) => Explanation {
            state: "feasible",
            feasible,
            scores: ranking.scores,
            totals: ranking.totals,
            ..Default::default()
        },
    }
}

fn name(snap: &Snapshot, row: Row) -> String {
    snap.interner.text(snap.nodes.name(row)).to_owned()
}
