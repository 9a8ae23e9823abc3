//! NodeUnschedulable: a cordoned node takes only pods that tolerate it.

use super::taints::{self, tolerates};
use crate::hints::Happening;
use crate::intern::Symbol;
use crate::plugin::{Affects, Filter, KeyWriter, Plugin, PreFilter, Reads, Rows};
use crate::snapshot::{Change, Effect, Pod, Row, Snapshot, Taint};
use crate::status::{Code, Status};
use crate::template::Template;
use serde_json::Value;
use std::hash::Hash;
use std::sync::Arc;

pub(super) const NAME: &str = "NodeUnschedulable";
const REASON: &str = "node(s) were unschedulable";

#[derive(Clone, Debug)]
struct NodeUnschedulable {
    cordoned: Taint,
    effects: taints::Effects,
}

pub(super) fn new(snap: &mut Snapshot, _: &Value) -> Result<Arc<dyn Plugin>, String> {
    let key = snap.interner.intern("node.kubernetes.io/unschedulable");
    let cordoned = Taint {
        key,
        value: Symbol::EMPTY,
        number: None,
        effect: Effect::NoSchedule,
    };
    Ok(Arc::new(NodeUnschedulable {
        cordoned,
        effects: taints::Effects::new(snap),
    }))
}

impl Plugin for NodeUnschedulable {
    fn name(&self) -> &'static str {
        NAME
    }

    fn helped_by(&self, _: &Snapshot, _: &Pod, what: &Happening<'_>) -> bool {
        let Some((before, after)) = what.standing_node() else {
            return true;
        };
        !after.info.unschedulable && before.is_none_or(|before| before.info.unschedulable)
    }

    fn key(&self, _: &Snapshot, pod: &Pod, key: &mut KeyWriter) {
        tolerates(&pod.template.tolerations, &self.cordoned, &self.effects).hash(key);
    }

    fn pre_filter(&self, _: &Snapshot, pod: &Pod) -> PreFilter {
        let tolerated = tolerates(&pod.template.tolerations, &self.cordoned, &self.effects);
        PreFilter::Run {
            filter: Box::new(Cordon { tolerated }),
            nodes: None,
        }
    }

    fn affects(&self, _: &Snapshot, _: &Template, _: &Pod) -> Affects {
        Affects::Nothing
    }
}

#[derive(Clone, Debug)]
struct Cordon {
    tolerated: bool,
}

impl Filter for Cordon {
    fn filter(&self, snap: &Snapshot, rows: Rows<'_>, out: &mut [Code]) {
        if self.tolerated || crate::mutation::active(NAME) {
            return;
        }
        let judge = |row| match snap.nodes.info(row).unschedulable {
            true => Code::UnschedulableAndUnresolvable,
            false => Code::Success,
        };
        rows.judge_only(snap.nodes.cordoned.rows(), out, judge);
    }

    fn status(&self, snap: &Snapshot, row: Row) -> Status {
        if snap.nodes.info(row).unschedulable && !self.tolerated {
            Status::unresolvable(REASON)
        } else {
            Status::default()
        }
    }

    fn follow(&mut self, _: &Snapshot, change: &Change) -> Affects {
        match change {
            Change::Node { .. } => Affects::Node,
            _ => Affects::Nothing,
        }
    }

    fn reads(&self) -> Reads {
        Reads::Node
    }

    fn boxed_clone(&self) -> Box<dyn Filter> {
        Box::new(self.clone())
    }
}
