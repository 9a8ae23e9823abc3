//! TaintToleration: taints keep pods away, or ask them to stay away.

use super::taints::{Effects, tolerates};
use crate::hints::{Happening, NodeFacts};
use crate::normalize::Normalize;
use crate::plugin::{Affects, Filter, KeyWriter, Plugin, PreFilter, PreScore, Reads, Rows, Score};
use crate::snapshot::{Change, Effect, Pod, Row, Snapshot};
use crate::status::{Code, Status};
use crate::template::{Template, Toleration};
use serde_json::Value;
use std::hash::Hash;
use std::sync::Arc;

pub(super) const NAME: &str = "TaintToleration";
const REASON: &str = "node(s) had untolerated taint(s)";

#[derive(Clone, Debug)]
struct TaintToleration {
    effects: Effects,
}

pub(super) fn new(snap: &mut Snapshot, _: &Value) -> Result<Arc<dyn Plugin>, String> {
    Ok(Arc::new(TaintToleration {
        effects: Effects::new(snap),
    }))
}

impl Plugin for TaintToleration {
    fn name(&self) -> &'static str {
        NAME
    }

    fn helped_by(&self, _: &Snapshot, pod: &Pod, what: &Happening<'_>) -> bool {
        let Some((before, after)) = what.standing_node() else {
            return true;
        };
        let bears = |facts: &NodeFacts| {
            let mut repelling = facts.info.taints.iter().filter(|t| t.effect.repels());
            repelling.all(|taint| tolerates(&pod.template.tolerations, taint, &self.effects))
        };
        bears(after) && before.is_none_or(|before| !bears(before))
    }

    fn key(&self, _: &Snapshot, pod: &Pod, key: &mut KeyWriter) {
        pod.template.tolerations.hash(key);
    }

    fn pre_filter(&self, _: &Snapshot, pod: &Pod) -> PreFilter {
        let tolerations = pod.template.tolerations.clone();
        let filter = Box::new(Tolerated {
            tolerations,
            effects: self.effects,
        });
        PreFilter::Run {
            filter,
            nodes: None,
        }
    }

    fn pre_score(&self, _: &Snapshot, pod: &Pod, _: &[Row]) -> PreScore {
        let covers = |t: &&Toleration| self.effects.covers(t, Effect::PreferNoSchedule);
        let tolerations = pod
            .template
            .tolerations
            .iter()
            .filter(covers)
            .cloned()
            .collect();
        PreScore::Run(Box::new(Tolerated {
            tolerations,
            effects: self.effects,
        }))
    }

    fn affects(&self, _: &Snapshot, _: &Template, _: &Pod) -> Affects {
        Affects::Nothing
    }
}

/// The tolerations that count: for the filter all, for the score those that cover PreferNoSchedule.
#[derive(Clone, Debug)]
struct Tolerated {
    tolerations: Box<[Toleration]>,
    effects: Effects,
}

impl Tolerated {
    fn rejects(&self, snap: &Snapshot, row: Row) -> bool {
        let mut repelling = snap
            .nodes
            .info(row)
            .taints
            .iter()
            .filter(|t| t.effect.repels())
            .filter(|t| !(crate::mutation::active(NAME) && t.effect == Effect::NoExecute));
        repelling.any(|taint| !tolerates(&self.tolerations, taint, &self.effects))
    }
}

fn follow(change: &Change) -> Affects {
    match change {
        Change::Node { .. } => Affects::Node,
        _ => Affects::Nothing,
    }
}

impl Filter for Tolerated {
    fn filter(&self, snap: &Snapshot, rows: Rows<'_>, out: &mut [Code]) {
        let judge = |row| match self.rejects(snap, row) {
            true => Code::UnschedulableAndUnresolvable,
            false => Code::Success,
        };
        rows.judge_only(snap.nodes.repelling.rows(), out, judge);
    }

    fn status(&self, snap: &Snapshot, row: Row) -> Status {
        if self.rejects(snap, row) {
            Status::unresolvable(REASON)
        } else {
            Status::default()
        }
    }

    fn follow(&mut self, _: &Snapshot, change: &Change) -> Affects {
        follow(change)
    }

    fn reads(&self) -> Reads {
        Reads::Node
    }

    fn boxed_clone(&self) -> Box<dyn Filter> {
        Box::new(self.clone())
    }
}

impl Score for Tolerated {
    fn score(&self, snap: &Snapshot, rows: Rows<'_>, out: &mut [i64]) {
        let count = |row: Row| {
            let taints = snap.nodes.info(row).taints.iter();
            let soft = taints.filter(|t| t.effect == Effect::PreferNoSchedule);
            soft.filter(|t| !tolerates(&self.tolerations, t, &self.effects))
                .count() as i64
        };
        match rows {
            Rows::All(_) => {
                out.fill(0);
                for &row in snap.nodes.discouraging.rows() {
                    out[row as usize] = count(row);
                }
            }
            Rows::List(_) => rows.each(out, |row, score| *score = count(row)),
        }
    }

    fn normalize(&self) -> Normalize {
        Normalize::ReverseMax
    }

    fn follow(&mut self, _: &Snapshot, change: &Change) -> Affects {
        follow(change)
    }

    fn everywhere(&self, snap: &Snapshot) -> Option<i64> {
        snap.nodes.discouraging.rows().is_empty().then_some(0)
    }

    fn reads(&self) -> Reads {
        Reads::Node
    }

    fn boxed_clone(&self) -> Box<dyn Score> {
        Box::new(self.clone())
    }
}
