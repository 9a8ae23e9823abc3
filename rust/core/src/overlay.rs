//! A what-if transaction on the snapshot: everything done through it can be undone exactly.

use crate::plugin::Plugin;
use crate::snapshot::{PodId, Position, Row, Snapshot};
use crate::status::Status;
use crate::template::HostPort;
use std::sync::Arc;

#[derive(Debug)]
enum Step {
    Placed {
        pod: PodId,
        ports: Vec<HostPort>,
    },
    Evicted {
        pod: PodId,
        row: Row,
        position: Position,
        ports: Vec<HostPort>,
    },
    Reserved {
        plugin: Arc<dyn Plugin>,
        pod: PodId,
    },
}

/// The journal of one transaction. Dropping it keeps what was done; [`Overlay::discard`] undoes it.
#[derive(Debug, Default)]
pub struct Overlay {
    steps: Vec<Step>,
}

/// A point within a transaction to which it can be undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Savepoint(usize);

impl Overlay {
    pub fn place(&mut self, snap: &mut Snapshot, pod: PodId, row: Row) {
        let ports = snap.nodes.ports[row as usize].clone();
        snap.place(pod, row);
        self.steps.push(Step::Placed { pod, ports });
    }

    /// Takes a pod off its node; one that is on none stays as it is.
    pub fn evict(&mut self, snap: &mut Snapshot, pod: PodId) {
        let Some(row) = snap.pods[pod].row else {
            return;
        };
        let ports = snap.nodes.ports[row as usize].clone();
        if let Some((row, position)) = snap.unplace(pod) {
            self.steps.push(Step::Evicted {
                pod,
                row,
                position,
                ports,
            });
        }
    }

    /// Runs Reserve of one plugin.
    pub fn reserve(
        &mut self,
        snap: &mut Snapshot,
        plugin: &Arc<dyn Plugin>,
        pod: PodId,
        row: Row,
    ) -> Result<(), Status> {
        plugin.reserve(snap, pod, row)?;
        self.steps.push(Step::Reserved {
            plugin: Arc::clone(plugin),
            pod,
        });
        Ok(())
    }

    pub fn savepoint(&self) -> Savepoint {
        Savepoint(self.steps.len())
    }

    pub fn undo_to(&mut self, snap: &mut Snapshot, savepoint: Savepoint) {
        while self.steps.len() > savepoint.0 {
            match self.steps.pop() {
                Some(Step::Placed { pod, ports }) => {
                    if let Some((row, _)) = snap.unplace(pod) {
                        snap.nodes.ports[row as usize] = ports;
                    }
                }
                Some(Step::Evicted {
                    pod,
                    row,
                    position,
                    ports,
                }) => {
                    snap.place_at(pod, row, position);
                    snap.nodes.ports[row as usize] = ports;
                }
                Some(Step::Reserved { plugin, pod }) => plugin.unreserve(snap, pod),
                None => {}
            }
        }
    }

    pub fn discard(mut self, snap: &mut Snapshot) {
        self.undo_to(snap, Savepoint(0));
    }
}
