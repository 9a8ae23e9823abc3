//! Rows that the pods nominated there keep the pods of a class from.

use super::Memo;
use crate::cycle;
use crate::pick::NEVER;
use crate::snapshot::{Change, PodId, Row, Snapshot};
use crate::trial::{Refused, Trial};

/// What holds for a pod of the class that is not nominated itself. The index has no total for such rows.
#[derive(Debug, Default)]
pub(super) struct Crowd {
    /// Version of the nominations and priority of the pod that it is true of.
    known: Option<(u64, i32)>,
    /// Ascending.
    pub(super) refused: Vec<(Row, Refused)>,
    /// Rows to ask again.
    stale: Vec<Row>,
}

impl Crowd {
    pub(super) fn follow(&mut self, changes: &[Change]) {
        if self.known.is_some() && !crate::mutation::active("failures: rows") {
            self.stale.extend(changes.iter().filter_map(Change::row));
        }
    }

    pub(super) fn bars(&self, row: Row) -> bool {
        !self.refused.is_empty() && holds(&self.refused, row)
    }

    fn set(&mut self, row: Row, refused: Option<Refused>) {
        let at = self.refused.binary_search_by_key(&row, |(row, _)| *row);
        match (at, refused) {
            (Ok(at), Some(refused)) => self.refused[at].1 = refused,
            (Err(at), Some(refused)) => self.refused.insert(at, (row, refused)),
            (Ok(at), None) => drop(self.refused.remove(at)),
            (Err(_), None) => {}
        }
    }

    /// The rows whose answer may no longer be true, ascending.
    fn outdated(&mut self, snap: &Snapshot, pod: PodId) -> Vec<Row> {
        let priority = snap.pods[pod].template.priority;
        let known = self.known.filter(|(_, known)| *known == priority);
        let since = known.and_then(|(version, _)| snap.nominations_since(version));
        let mut rows = std::mem::take(&mut self.stale);
        match since {
            Some(nodes) => rows.extend(nodes.iter().filter_map(|name| snap.nodes.row(*name))),
            None => {
                rows.extend(self.refused.iter().map(|(row, _)| *row));
                rows.extend(snap.rows_nominated_above(pod));
            }
        }
        rows.sort_unstable();
        rows.dedup();
        self.known = Some((snap.nominations_version(), priority));
        rows
    }
}

/// Whether a list, ascending, has the row.
pub(super) fn holds(list: &[(Row, Refused)], row: Row) -> bool {
    list.binary_search_by_key(&row, |(row, _)| *row).is_ok()
}

impl Memo {
    /// Finds out which rows the pods nominated there keep `pod` from: those of the class, unless the pod
    /// has a list of its own, which is returned.
    pub fn crowd(&mut self, snap: &mut Snapshot, pod: PodId) -> Option<Vec<(Row, Refused)>> {
        if !snap.has_nominations() {
            self.disperse();
            return None;
        }
        let mut parts = self.filters.parts.iter();
        if self.filters.nodes.is_some() || parts.any(|part| part.filter.counts_pods()) {
            // What is nominated anywhere may make a difference here.
            return Some(cycle::crowded(snap, &self.filters, pod));
        }
        let own = snap.pods[pod].nominated;
        let own = own.and_then(|name| snap.nodes.row(name));
        let rows = self.failures.crowd.outdated(snap, pod);
        let mut trial = Trial::new(snap, &self.filters, pod);
        let mut judge = |snap: &mut Snapshot, row| {
            let alone = snap.nominated_above(row, pod).is_empty();
            (!alone).then(|| trial.judge(snap, row).err()).flatten()
        };
        for row in rows {
            if own == Some(row) {
                continue;
            }
            let refused = judge(snap, row);
            self.failures.crowd.set(row, refused);
            let total = self.total_in_index(row);
            if let Some(index) = &mut self.index {
                index.set(row, total);
            }
        }
        // To its likes the pod itself is one that is nominated there, whether or not the row was asked for.
        self.failures.crowd.stale.extend(own);
        let apart = own.and_then(|row| {
            let refused = judge(snap, row);
            let differs = refused.is_some() || self.failures.crowd.bars(row);
            differs.then_some((row, refused))
        });
        trial.end(snap);
        apart.map(|(row, refused)| {
            let others = self.failures.crowd.refused.iter();
            let mut list: Vec<_> = others.filter(|(r, _)| *r != row).cloned().collect();
            list.extend(refused.map(|refused| (row, refused)));
            list.sort_unstable_by_key(|(row, _)| *row);
            list
        })
    }

    /// Nobody is nominated anywhere.
    fn disperse(&mut self) {
        let crowd = std::mem::take(&mut self.failures.crowd);
        for (row, _) in crowd.refused {
            let total = self.own_total(row);
            if let Some(index) = &mut self.index {
                index.set(row, total);
            }
        }
    }

    /// A row's own part of its total as the index has it.
    pub(super) fn total_in_index(&self, row: Row) -> i64 {
        match self.failures.crowd.bars(row) {
            true => NEVER,
            false => self.own_total(row),
        }
    }

    /// The rows that count for a pod, given its own list if it has one.
    pub fn crowded<'a>(&'a self, own: Option<&'a [(Row, Refused)]>) -> &'a [(Row, Refused)] {
        own.unwrap_or(&self.failures.crowd.refused)
    }
}
