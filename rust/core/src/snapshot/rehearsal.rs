//! Hypothetical moves of pods that only a row's own books show. They are undone by putting the books back,
//! so a dry run of preemption costs a few stores per pod.

use super::nodes::Row;
use super::pods::PodId;
use super::{Nodes, Snapshot};
use crate::template::HostPort;

/// A row's books at one moment. Buffers are reused.
#[derive(Debug, Default)]
pub(crate) struct Books {
    requested: Vec<i64>,
    nonzero: [i64; 2],
    pod_count: i64,
    pods: Vec<PodId>,
    ports: Vec<HostPort>,
}

impl Books {
    fn copy(&mut self, nodes: &Nodes, row: Row) {
        let at = row as usize;
        self.requested.clear();
        self.requested
            .extend(nodes.requested.iter().map(|column| column[at]));
        self.nonzero = [nodes.nonzero[0][at], nodes.nonzero[1][at]];
        self.pod_count = nodes.pod_count[at];
        self.pods.clone_from(&nodes.pods[at]);
        self.ports.clone_from(&nodes.ports[at]);
    }

    fn put_back(&mut self, nodes: &mut Nodes, row: Row) {
        let at = row as usize;
        let requested = nodes.requested.iter_mut().zip(&self.requested);
        let nonzero = nodes.nonzero.iter_mut().zip(&self.nonzero);
        for (column, value) in requested.chain(nonzero) {
            if column[at] != *value {
                column.set(row, *value);
            }
        }
        if nodes.pod_count[at] != self.pod_count {
            nodes.pod_count.set(row, self.pod_count);
        }
        std::mem::swap(&mut nodes.pods[at], &mut self.pods);
        std::mem::swap(&mut nodes.ports[at], &mut self.ports);
    }
}

impl Snapshot {
    pub(crate) fn copy_books(&self, row: Row, books: &mut Books) {
        books.copy(&self.nodes, row);
    }

    /// Puts a pod on a row or takes it off as far as filters look at that row: peers, the change log and
    /// the row's version stay as they are. Must be undone by [`Snapshot::unsuppose`] for every pod, the
    /// last first, and [`Snapshot::put_books_back`] for every row before anything else changes.
    pub(crate) fn suppose(&mut self, id: PodId, row: Row, added: bool) {
        let list = &mut self.nodes.pods[row as usize];
        if added {
            list.push(id);
        } else if let Some(at) = list.iter().position(|pod| *pod == id) {
            list.swap_remove(at);
        }
        self.set_row(id, added.then_some(row));
        self.account_row(id, row, added);
    }

    /// Undoes what [`Snapshot::suppose`] did outside the row's books.
    pub(crate) fn unsuppose(&mut self, id: PodId, row: Row, added: bool) {
        self.set_row(id, (!added).then_some(row));
        self.volumes.pod_moved(id, &self.pods[id], row, !added);
    }

    pub(crate) fn put_books_back(&mut self, row: Row, books: &mut Books) {
        books.put_back(&mut self.nodes, row);
    }

    fn set_row(&mut self, id: PodId, row: Option<Row>) {
        let pod = self.pods.get_mut(id);
        pod.expect("the handle of a pod that exists").row = row;
    }
}
