//! Rows that the pods nominated there keep the pods of a class from.

use super::Memo;
use crate::cycle;
use crate::pick::NEVER;
use crate::snapshot::{Change, PodId, Row, Snapshot};
use crate::trial::{Refused, Trial};
use std::borrow::Cow;

/// What holds for a pod of the class that is not nominated itself. The index has no total for such rows.
#[derive(Debug, Default)]
pub(super) struct Crowd {
    /// Version of the nominations and priority of the pod that it is true of.
    known: Option<(u64, i32)>,
    /// Ascending.
    pub(super) refused: Vec<(Row, Refused)>,
    /// Those of them that would be feasible otherwise, ascending.
    kept: Vec<Row>,
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

    pub(super) fn refusal(&self, row: Row) -> Option<&Refused> {
        let at = self
            .refused
            .binary_search_by_key(&row, |(row, _)| *row)
            .ok()?;
        Some(&self.refused[at].1)
    }

    /// `fits`: whether the row is feasible without the nominated pods.
    fn set(&mut self, row: Row, refused: Option<Refused>, fits: bool) {
        match (self.kept.binary_search(&row), fits && refused.is_some()) {
            (Ok(at), false) => drop(self.kept.remove(at)),
            (Err(at), true) => self.kept.insert(at, row),
            _ => {}
        }
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

/// Which rows pods nominated there keep one pod from.
#[derive(Debug)]
pub enum Barred {
    /// Those of its class.
    Alike,
    /// Those of its class but for one row, where the pod is nominated itself.
    But(Row, Option<Refused>),
    /// These, ascending.
    Listed(Vec<(Row, Refused)>),
}

/// Whether a list, ascending, has the row.
pub(super) fn holds(list: &[(Row, Refused)], row: Row) -> bool {
    list.binary_search_by_key(&row, |(row, _)| *row).is_ok()
}

impl Memo {
    /// Finds out which rows the pods nominated there keep `pod` from.
    pub fn crowd(&mut self, snap: &mut Snapshot, pod: PodId) -> Barred {
        if !snap.has_nominations() {
            self.disperse();
            return Barred::Alike;
        }
        let mut parts = self.filters.parts.iter();
        if self.filters.nodes.is_some() || parts.any(|part| part.filter.counts_pods()) {
            // What is nominated anywhere may make a difference here.
            return Barred::Listed(cycle::crowded(snap, &self.filters, pod));
        }
        let own = snap.pods[pod].nominated;
        let own = own.and_then(|name| snap.nodes.row(name));
        let rows = self.failures.crowd.outdated(snap, pod);
        let mut trial = Trial::new(snap, &self.filters, pod);
        let mut judge = |snap: &mut Snapshot, row| {
            let alone = snap.nominated_above(row, pod).is_empty();
            (!alone).then(|| trial.judge(snap, row).err()).flatten()
        };
        for &row in rows.iter().filter(|row| own != Some(**row)) {
            let refused = judge(snap, row);
            let fits = self.is_feasible(row);
            self.failures.crowd.set(row, refused, fits);
            let total = self.total_in_index(row);
            if let Some(index) = &mut self.index {
                index.set(row, total);
            }
        }
        self.failures.standing.follow(rows.iter().copied());
        // To its likes the pod itself is one that is nominated there, whether or not the row was asked for.
        self.failures.crowd.stale.extend(own);
        let apart = own.map(|row| (row, judge(snap, row)));
        trial.end(snap);
        match apart {
            Some((row, refused)) if refused.is_some() || self.failures.crowd.bars(row) => {
                Barred::But(row, refused)
            }
            _ => Barred::Alike,
        }
    }

    /// Nobody is nominated anywhere.
    fn disperse(&mut self) {
        let crowd = std::mem::take(&mut self.failures.crowd);
        let rows = crowd.refused.iter().map(|(row, _)| *row);
        self.failures.standing.follow(rows);
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

    /// All rows that are barred, ascending.
    pub fn crowded<'a>(&'a self, barred: &'a Barred) -> Cow<'a, [(Row, Refused)]> {
        let class = &self.failures.crowd.refused;
        match barred {
            Barred::Alike => Cow::Borrowed(class),
            Barred::Listed(list) => Cow::Borrowed(list),
            Barred::But(row, refused) => {
                let others = class.iter().filter(|(other, _)| other != row);
                let mut list: Vec<_> = others.cloned().collect();
                if let Some(refused) = refused {
                    let at = list.partition_point(|(other, _)| other < row);
                    list.insert(at, (*row, refused.clone()));
                }
                Cow::Owned(list)
            }
        }
    }

    pub fn is_barred(&self, barred: &Barred, row: Row) -> bool {
        match barred {
            Barred::But(other, refused) if *other == row => refused.is_some(),
            Barred::Listed(list) => holds(list, row),
            Barred::Alike | Barred::But(..) => self.failures.crowd.bars(row),
        }
    }

    /// Whether any row is barred.
    pub fn is_crowded(&self, barred: &Barred) -> bool {
        let class = &self.failures.crowd.refused;
        match barred {
            Barred::Alike => !class.is_empty(),
            Barred::Listed(list) => !list.is_empty(),
            Barred::But(row, refused) => {
                refused.is_some() || class.iter().any(|(other, _)| other != row)
            }
        }
    }

    /// How many rows are feasible and not barred.
    pub fn open(&self, barred: &Barred) -> usize {
        let kept = &self.failures.crowd.kept;
        let closed = match barred {
            Barred::Alike => kept.len(),
            Barred::Listed(list) => {
                let rows = list.iter().filter(|(row, _)| self.is_feasible(*row));
                rows.count()
            }
            Barred::But(row, refused) => {
                let others = kept.len() - usize::from(kept.binary_search(row).is_ok());
                others + usize::from(refused.is_some() && self.is_feasible(*row))
            }
        };
        self.feasible() - closed
    }
}
