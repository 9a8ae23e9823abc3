//! What a member asks of a node, where amounts are all that matters.

use crate::engine::Engine;
use crate::filtering::Filters;
use crate::memos::Memos;
use crate::plugin::Rows;
use crate::resources::ResourceId;
use crate::snapshot::{Pod, PodId, Row, Snapshot};
use crate::status::Code;

const FIT: &str = "NodeResourcesFit";

/// Filters whose answer for a node no placed member changes.
const CONSTANT: [&str; 6] = [
    "NodeUnschedulable",
    "NodeName",
    "TaintToleration",
    "NodeAffinity",
    "NodeDeclaredFeatures",
    FIT,
];

#[derive(Debug)]
pub(super) struct Need {
    /// What the filter asks for, and what the node's books then show.
    pub(super) asks: Vec<i64>,
    pub(super) takes: Vec<i64>,
    pub(super) allowed: Vec<bool>,
}

/// `None` if amounts are not all that matters.
pub(super) fn need(
    engine: &Engine,
    id: PodId,
    resources: &[ResourceId],
    rows: &[Row],
) -> Option<Need> {
    let snap = &engine.snap;
    let pod = &snap.pods[id];
    let (_, profile) = engine.profile_of(id)?;
    if !has_only_amounts(pod) || !profile.filter.iter().any(|p| p.name() == FIT) {
        return None;
    }
    let requests = &pod.template.requests;
    let amounts = |list: &crate::resources::Amounts| -> Vec<i64> {
        resources.iter().map(|id| list.get(*id)).collect()
    };
    let allowed = match Filters::new(snap, &profile, pod) {
        Err(_) => vec![false; rows.len()],
        Ok(filters) => allowed(snap, &filters, rows)?,
    };
    Some(Need {
        asks: amounts(&requests.spec),
        takes: amounts(&requests.held),
        allowed,
    })
}

/// What members take at least, by resource, the place of one pod as the last of them.
pub(super) fn least(classes: &[Need], resources: usize) -> Vec<Vec<i64>> {
    let of = |resource: usize| -> Vec<i64> {
        let least = |need: &Need| need.asks[resource].min(need.takes[resource]);
        classes.iter().map(least).collect()
    };
    let amounts = (0..resources).map(of);
    amounts.chain([vec![1; classes.len()]]).collect()
}

fn has_only_amounts(pod: &Pod) -> bool {
    let template = &pod.template;
    Memos::shareable(pod)
        && template.ports.is_empty()
        && template.volumes.is_empty()
        && !template.has_claims
        && !template.has_resource_claims
}

/// What the constant filters say; `None` if there are others.
fn allowed(snap: &Snapshot, filters: &Filters, rows: &[Row]) -> Option<Vec<bool>> {
    let mut codes = vec![Code::Success; rows.len()];
    for part in &filters.parts {
        if !CONSTANT.contains(&part.plugin.name()) {
            return None;
        }
        if part.plugin.name() != FIT {
            part.filter.filter(snap, Rows::List(rows), &mut codes);
        }
    }
    let mut allowed: Vec<bool> = codes.iter().map(|code| *code == Code::Success).collect();
    if filters.nodes.is_some() {
        let only = filters.rows(snap);
        for (allowed, row) in allowed.iter_mut().zip(rows) {
            *allowed &= only.contains(row);
        }
    }
    Some(allowed)
}
