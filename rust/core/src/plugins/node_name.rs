//! NodeName: a pod that names its node already may only be there.

use crate::intern::Symbol;
use crate::plugin::{Affects, Filter, KeyWriter, Plugin, PreFilter, Reads, Rows};
use crate::snapshot::{Change, Pod, Row, Snapshot};
use crate::status::{Code, Status};
use crate::template::Template;
use serde_json::Value;
use std::hash::Hash;
use std::sync::Arc;

pub(super) const NAME: &str = "NodeName";
const REASON: &str = "node(s) didn't match the requested node name";

#[derive(Clone, Debug)]
struct NodeName;

pub(super) fn new(_: &mut Snapshot, _: &Value) -> Result<Arc<dyn Plugin>, String> {
    Ok(Arc::new(NodeName))
}

impl Plugin for NodeName {
    fn name(&self) -> &'static str {
        NAME
    }

    fn key(&self, _: &Snapshot, pod: &Pod, key: &mut KeyWriter) {
        pod.node_name.hash(key);
    }

    fn pre_filter(&self, _: &Snapshot, pod: &Pod) -> PreFilter {
        let name = pod.node_name;
        let nodes = (name != Symbol::EMPTY).then(|| vec![name]);
        PreFilter::Run {
            filter: Box::new(Wanted { name }),
            nodes,
        }
    }

    fn affects(&self, _: &Snapshot, _: &Template, _: &Pod) -> Affects {
        Affects::Nothing
    }
}

#[derive(Clone, Debug)]
struct Wanted {
    /// Empty where the pod names no node.
    name: Symbol,
}

impl Wanted {
    fn code(&self, snap: &Snapshot, row: Row) -> Code {
        let wanted = self.name == Symbol::EMPTY || self.name == snap.nodes.name(row);
        if wanted || crate::mutation::active(NAME) {
            Code::Success
        } else {
            Code::UnschedulableAndUnresolvable
        }
    }
}

impl Filter for Wanted {
    fn filter(&self, snap: &Snapshot, rows: Rows<'_>, out: &mut [Code]) {
        if self.name != Symbol::EMPTY {
            rows.judge(out, |row| self.code(snap, row));
        }
    }

    fn status(&self, snap: &Snapshot, row: Row) -> Status {
        match self.code(snap, row) {
            Code::Success => Status::default(),
            code => Status::new(code, REASON),
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
