//! NodePorts: a host port is taken once per node.

use crate::intern::Symbol;
use crate::plugin::{Affects, Filter, KeyWriter, Plugin, PreFilter, Reads, Rows};
use crate::snapshot::{Change, Pod, Row, Snapshot};
use crate::status::{Code, Status};
use crate::template::{HostPort, Template};
use serde_json::Value;
use std::hash::Hash;
use std::sync::Arc;

pub(super) const NAME: &str = "NodePorts";
const REASON: &str = "node(s) didn't have free ports for the requested pod ports";

#[derive(Debug)]
struct NodePorts {
    /// `0.0.0.0`, which stands for every address of the node.
    any: Symbol,
}

pub(super) fn new(snap: &mut Snapshot, _: &Value) -> Result<Arc<dyn Plugin>, String> {
    Ok(Arc::new(NodePorts {
        any: snap.interner.intern("0.0.0.0"),
    }))
}

impl NodePorts {
    fn wanted(&self, pod: &Template) -> Wanted {
        Wanted {
            ports: pod.ports.clone(),
            any: self.any,
        }
    }
}

impl Plugin for NodePorts {
    fn name(&self) -> &'static str {
        NAME
    }

    fn key(&self, _: &Snapshot, pod: &Pod, key: &mut KeyWriter) {
        pod.template.ports.hash(key);
    }

    fn pre_filter(&self, _: &Snapshot, pod: &Pod) -> PreFilter {
        if pod.template.ports.is_empty() {
            return PreFilter::Skip;
        }
        PreFilter::Run {
            filter: Box::new(self.wanted(&pod.template)),
            nodes: None,
        }
    }

    fn affects(&self, _: &Snapshot, placed: &Template, pod: &Pod) -> Affects {
        if self.wanted(&pod.template).conflicts(&placed.ports) {
            Affects::Node
        } else {
            Affects::Nothing
        }
    }
}

#[derive(Clone, Debug)]
struct Wanted {
    ports: Box<[HostPort]>,
    any: Symbol,
}

impl Wanted {
    fn conflicts(&self, used: &[HostPort]) -> bool {
        self.ports.iter().any(|wanted| {
            used.iter().any(|used| {
                let overlap = wanted.ip == used.ip || wanted.ip == self.any || used.ip == self.any;
                let protocol = wanted.protocol == used.protocol || crate::mutation::active(NAME);
                overlap && protocol && wanted.port == used.port
            })
        })
    }
}

impl Filter for Wanted {
    fn filter(&self, snap: &Snapshot, rows: Rows<'_>, out: &mut [Code]) {
        rows.judge(out, |row| {
            match self.conflicts(&snap.nodes.ports[row as usize]) {
                true => Code::Unschedulable,
                false => Code::Success,
            }
        });
    }

    fn status(&self, snap: &Snapshot, row: Row) -> Status {
        if self.conflicts(&snap.nodes.ports[row as usize]) {
            Status::unschedulable(REASON)
        } else {
            Status::default()
        }
    }

    fn follow(&mut self, _: &Snapshot, change: &Change) -> Affects {
        match change {
            Change::Placed { template, .. } | Change::Removed { template, .. } => {
                if self.conflicts(&template.ports) {
                    Affects::Node
                } else {
                    Affects::Nothing
                }
            }
            Change::Node { .. } => Affects::Node,
            _ => Affects::Nothing,
        }
    }

    fn reads(&self) -> Reads {
        Reads::Row
    }

    fn boxed_clone(&self) -> Box<dyn Filter> {
        Box::new(self.clone())
    }
}
