//! NodeDeclaredFeatures: a pod runs only where the node declares the features it needs.

use crate::hints::Happening;
use crate::intern::Symbol;
use crate::plugin::{Affects, Filter, KeyWriter, Plugin, PreFilter, Reads, Rows};
use crate::snapshot::{Change, Pod, Row, Snapshot};
use crate::status::{Code, Status};
use crate::template::Template;
use serde_json::Value;
use std::hash::Hash;
use std::sync::Arc;

pub(super) const NAME: &str = "NodeDeclaredFeatures";
const REASON: &str = "node(s) didn't match Pod's required features";

#[derive(Debug)]
struct NodeDeclaredFeatures;

pub(super) fn new(_: &mut Snapshot, _: &Value) -> Result<Arc<dyn Plugin>, String> {
    Ok(Arc::new(NodeDeclaredFeatures))
}

impl Plugin for NodeDeclaredFeatures {
    fn name(&self) -> &'static str {
        NAME
    }

    fn helped_by(&self, _: &Snapshot, _: &Pod, what: &Happening<'_>) -> bool {
        let Some((Some(before), after)) = what.standing_node() else {
            return true;
        };
        before.info.features != after.info.features
    }

    fn key(&self, _: &Snapshot, pod: &Pod, key: &mut KeyWriter) {
        pod.template.features.hash(key);
    }

    fn pre_filter(&self, _: &Snapshot, pod: &Pod) -> PreFilter {
        let features = &pod.template.features;
        if features.is_empty() {
            return PreFilter::Skip;
        }
        PreFilter::Run {
            filter: Box::new(Needed {
                features: features.clone(),
            }),
            nodes: None,
        }
    }

    fn affects(&self, _: &Snapshot, _: &Template, _: &Pod) -> Affects {
        Affects::Nothing
    }
}

#[derive(Clone, Debug)]
struct Needed {
    features: Box<[Symbol]>,
}

impl Needed {
    fn declared(&self, snap: &Snapshot, row: Row) -> bool {
        let declared = &snap.nodes.info(row).features;
        crate::mutation::active(NAME)
            || self
                .features
                .iter()
                .all(|feature| declared.contains(feature))
    }
}

impl Filter for Needed {
    fn filter(&self, snap: &Snapshot, rows: Rows<'_>, out: &mut [Code]) {
        rows.judge(out, |row| match self.declared(snap, row) {
            true => Code::Success,
            false => Code::UnschedulableAndUnresolvable,
        });
    }

    fn status(&self, snap: &Snapshot, row: Row) -> Status {
        if self.declared(snap, row) {
            Status::default()
        } else {
            Status::unresolvable(REASON)
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
