//! Filters of one pod on hypothetical nodes: pods are put on and taken off, the filters told as upstream's
//! PreFilterExtensions are, and everything is undone at the end.

use crate::filtering::{FEASIBLE, Filters, Part, Verdict};
use crate::overlay::Overlay;
use crate::snapshot::{ChangeMark, PodId, Row, Snapshot};
use crate::status::Status;
use std::sync::Arc;

#[derive(Debug)]
pub struct Trial {
    filters: Filters,
    overlay: Overlay,
    mark: ChangeMark,
    pod: PodId,
}

/// Why a hypothetical node is rejected.
#[derive(Clone, Debug)]
pub struct Refused {
    pub plugin: &'static str,
    /// Shared: many pods meet the same refusal.
    pub status: Arc<Status>,
}

impl Trial {
    /// `filters` are those of `pod`. Nothing may follow the snapshot's changes until [`Trial::end`].
    pub fn new(snap: &Snapshot, filters: &Filters, pod: PodId) -> Self {
        let mark = snap.changes.mark();
        Trial {
            filters: filters.copy(),
            overlay: Overlay::default(),
            mark,
            pod,
        }
    }

    pub fn add(&mut self, snap: &mut Snapshot, pod: PodId, row: Row) {
        self.overlay.place(snap, pod, row);
        let record = &snap.pods[pod];
        for part in self.counting() {
            part.filter_mut().add_pod(snap, record, row);
        }
    }

    pub fn remove(&mut self, snap: &mut Snapshot, pod: PodId) {
        let Some(row) = snap.pods[pod].row else {
            return;
        };
        self.overlay.evict(snap, pod);
        let record = &snap.pods[pod];
        for part in self.counting() {
            part.filter_mut().remove_pod(snap, record, row);
        }
    }

    /// The parts that hypothetical pods make a difference to.
    fn counting(&mut self) -> impl Iterator<Item = &mut Part> {
        self.filters
            .parts
            .iter_mut()
            .filter(|part| part.filter.counts_pods())
    }

    /// Filters the pod on `row`: first with the pods nominated there that it may not push aside, then
    /// without them, since they may never come. Both must pass.
    pub fn judge(&mut self, snap: &mut Snapshot, row: Row) -> Result<(), Refused> {
        let nominated = snap.nominated_above(row, self.pod);
        if !nominated.is_empty() {
            let mut with = Trial::new(snap, &self.filters, self.pod);
            for pod in nominated {
                with.add(snap, pod, row);
            }
            let verdict = with.alone(snap, row);
            with.end(snap);
            verdict?;
        }
        self.alone(snap, row)
    }

    fn alone(&self, snap: &Snapshot, row: Row) -> Result<(), Refused> {
        let verdict: Verdict = self.filters.judge(snap, row, 0);
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
        std::mem::take(&mut self.overlay).discard(snap);
        snap.rewind_changes(self.mark);
        for (part, original) in self.filters.parts.iter_mut().zip(&filters.parts) {
            if part.filter.counts_pods() {
                part.filter = Arc::clone(&original.filter);
            }
        }
    }

    /// Undoes everything; the snapshot and its change log are as before.
    pub fn end(self, snap: &mut Snapshot) {
        self.overlay.discard(snap);
        snap.rewind_changes(self.mark);
    }
}
