//! Buffers that all memos share, kept so that a steady state allocates nothing.

use crate::plugin::{Affects, GroupId};
use crate::snapshot::{Change, Row, Snapshot};
use crate::status::Code;

/// A set of rows that is emptied in O(1).
#[derive(Debug, Default)]
pub(super) struct RowSet {
    stamps: Vec<u32>,
    stamp: u32,
}

impl RowSet {
    pub(super) fn clear(&mut self, len: usize) {
        self.stamp = self.stamp.wrapping_add(1);
        if self.stamp == 0 || self.stamps.len() < len {
            self.stamps.clear();
            self.stamps.resize(len, 0);
            self.stamp = 1;
        }
    }

    /// Whether the row is new to the set.
    pub(super) fn insert(&mut self, row: Row) -> bool {
        std::mem::replace(&mut self.stamps[row as usize], self.stamp) != self.stamp
    }
}

/// Rows that one part must look at again.
#[derive(Debug, Default)]
pub(super) struct Dirty {
    pub(super) rows: Vec<Row>,
    pub(super) every: bool,
    pub(super) all: bool,
}

impl Dirty {
    pub(super) fn clear(&mut self) {
        self.rows.clear();
        self.all = false;
        self.every = false;
    }

    pub(super) fn add(&mut self, snap: &Snapshot, affects: Affects, row: Row) {
        match affects {
            Affects::Nothing => {}
            Affects::Node => self.rows.push(row),
            Affects::All => self.all = true,
            Affects::Every => self.every = true,
            Affects::Domain(key) => {
                let domains = snap.topology.domains(key);
                match domains.of(row) {
                    Some(domain) => self.rows.extend(domains.rows(domain)),
                    None => self.rows.push(row),
                }
            }
        }
    }

    /// `len` is the number of all rows.
    pub(super) fn settle(&mut self, len: usize) {
        if self.every {
            self.rows.clear();
            self.rows.extend(0..len as Row);
            return;
        }
        self.rows.sort_unstable();
        self.rows.dedup();
    }
}

#[derive(Debug, Default)]
pub struct Scratch {
    pub(super) codes: Vec<Code>,
    pub(super) raw: Vec<i64>,
    pub(super) totals: Vec<i64>,
    pub(super) ties: Vec<GroupId>,
    pub(super) kept: Vec<(Row, i64)>,
    /// Rows of the changes, each once, and those of them where the node itself changed.
    pub(super) moved: Vec<Row>,
    pub(super) renewed: Vec<Row>,
    /// Per filter and per score, what it must look at again.
    pub(super) filters: Vec<Dirty>,
    pub(super) scores: Vec<Dirty>,
    /// Rows that the parts kept by row judged anew, with whether they accepted them before.
    pub(super) revised: Vec<(Row, bool)>,
    /// Rows that may be in another group of some score.
    pub(super) regrouped: Vec<Row>,
    /// Rows that came to or left the feasible set.
    pub(super) entered: Vec<Row>,
    pub(super) left: Vec<Row>,
    /// Rows whose total must be computed anew.
    pub(super) touched: Vec<Row>,
    pub(super) set: RowSet,
}

impl Scratch {
    /// Collects the rows of the changes.
    pub(super) fn collect(&mut self, changes: &[Change], len: usize) {
        self.moved.clear();
        self.renewed.clear();
        self.set.clear(len);
        for row in changes.iter().filter_map(Change::row) {
            if self.set.insert(row) {
                self.moved.push(row);
            }
        }
        if changes.iter().any(|c| matches!(c, Change::Node { .. })) {
            self.set.clear(len);
            for change in changes {
                if let Change::Node { row, .. } = change
                    && self.set.insert(*row)
                {
                    self.renewed.push(*row);
                }
            }
        }
    }
}
