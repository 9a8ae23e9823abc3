//! Filters of one pod on hypothetical nodes: pods are put on and taken off, the filters told as upstream's
//! PreFilterExtensions are, and everything is undone at the end.

use crate::filtering::{FEASIBLE, Filters};
use crate::snapshot::{Books, PodId, Row, Snapshot};
use crate::status::Status;
use std::sync::Arc;

/// Must be ended: until then the rows it touched show what is only supposed, and nothing else may change.
#[derive(Debug)]
pub struct Trial {
    filters: Filters,
    /// The parts that hypothetical pods make a difference to beyond their own row.
    counting: Vec<usize>,
    /// Moves in order: pod, row, whether it came.
    moves: Vec<(PodId, Row, bool)>,
    /// The books of each touched row as they were.
    rows: Vec<(Row, Books)>,
    spare: Vec<Books>,
    pod: PodId,
}

/// Why a hypothetical node is rejected.
#[derive(Clone, Debug, Default)]
pub struct Refused {
    pub plugin: &'static str,
    /// Shared: many pods meet the same refusal.
    pub status: Arc<Status>,
}

impl Trial {
    /// `filters` are those of `pod`. Nothing may follow the snapshot's changes until [`Trial::end`].
    pub fn new(_snap: &Snapshot, filters: &Filters, pod: PodId) -> Self {
        let parts = filters.parts.iter().enumerate();
        let counting = parts.filter(|(_, part)| part.filter.counts_pods());
        Trial {
            counting: counting.map(|(at, _)| at).collect(),
            filters: filters.copy(),
            moves: Vec::new(),
            rows: Vec::new(),
            spare: Vec::new(),
            pod,
        }
    }

    /// Puts a pod that is on no node on a row.
    pub fn add(&mut self, snap: &mut Snapshot, pod: PodId, row: Row) {
        self.suppose(snap, pod, row, true);
        let record = &snap.pods[pod];
        for &at in &self.counting {
            self.filters.parts[at]
                .filter_mut()
                .add_pod(snap, record, row);
        }
    }

    /// Takes a pod off its node; one that is on none stays as it is.
    pub fn remove(&mut self, snap: &mut Snapshot, pod: PodId) {
        let Some(row) = snap.pods[pod].row else {
            return;
        };
        self.suppose(snap, pod, row, false);
        let record = &snap.pods[pod];
        for &at in &self.counting {
            self.filters.parts[at]
                .filter_mut()
                .remove_pod(snap, record, row);
        }
    }

    fn suppose(&mut self, snap: &mut Snapshot, pod: PodId, row: Row, added: bool) {
        if !self.rows.iter().any(|(touched, _)| *touched == row) {
            let mut books = self.spare.pop().unwrap_or_default();
            snap.copy_books(row, &mut books);
            self.rows.push((row, books));
        }
        snap.suppose(pod, row, added);
        self.moves.push((pod, row, added));
    }

    /// Filters the pod on `row`: first with the pods nominated there that it may not push aside, then
    /// without them, since they may never come. Both must pass.
    pub fn judge(&mut self, snap: &mut Snapshot, row: Row) -> Result<(), Refused> {
        self.with_nominated(snap, row, Trial::alone)?;
        self.alone(snap, row)
    }

    /// Whether [`Trial::judge`] accepts the row.
    pub fn passes(&mut self, snap: &mut Snapshot, row: Row) -> bool {
        let passes = |trial: &Trial, snap: &Snapshot, row| match trial.filters.judge(snap, row, 0) {
            FEASIBLE => Ok(()),
            _ => Err(()),
        };
        self.with_nominated(snap, row, passes).is_ok() && passes(self, snap, row).is_ok()
    }

    fn with_nominated<E>(
        &self,
        snap: &mut Snapshot,
        row: Row,
        judge: impl Fn(&Trial, &Snapshot, Row) -> Result<(), E>,
    ) -> Result<(), E> {
        let nominated = snap.nominated_above(row, self.pod);
        if nominated.is_empty() {
            return Ok(());
        }
        let mut with = Trial::new(snap, &self.filters, self.pod);
        for pod in nominated {
            with.add(snap, pod, row);
        }
        let verdict = judge(&with, snap, row);
        with.end(snap);
        verdict
    }

    fn alone(&self, snap: &Snapshot, row: Row) -> Result<(), Refused> {
        let verdict = self.filters.judge(snap, row, 0);
        if verdict == FEASIBLE {
            return Ok(());
        }
        let (plugin, status) = self.filters.status(snap, row, verdict).unwrap_or_default();
        Err(Refused {
            plugin,
            status: Arc::new(status),
        })
    }

    /// Undoes everything, so that another node can be tried; `filters` are those the trial began with.
    pub fn restart(&mut self, snap: &mut Snapshot, filters: &Filters) {
        self.undo(snap);
        for &at in &self.counting {
            self.filters.parts[at].filter = Arc::clone(&filters.parts[at].filter);
        }
    }

    fn undo(&mut self, snap: &mut Snapshot) {
        for (pod, row, added) in self.moves.drain(..).rev() {
            snap.unsuppose(pod, row, added);
        }
        for (row, mut books) in self.rows.drain(..) {
            snap.put_books_back(row, &mut books);
            self.spare.push(books);
        }
    }

    /// Undoes everything; the snapshot is as before.
    pub fn end(mut self, snap: &mut Snapshot) {
        self.undo(snap);
    }
}
