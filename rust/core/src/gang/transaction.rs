//! Members on their nodes, with all that plugins reserved for them, until it is kept or undone.

use crate::engine::Engine;
use crate::overlay::{Overlay, Savepoint};
use crate::snapshot::{PodId, Row};
use crate::status::Status;

use super::Places;
use crate::intern::Symbol;

/// Dropping it keeps what was done; [`Transaction::discard`] undoes it in reverse order.
#[derive(Debug)]
pub(super) struct Transaction {
    overlay: Overlay,
    placed: Vec<(PodId, Row, Savepoint)>,
    /// Nominations that were lifted, and whether their places were kept; in the order of the list they were
    /// lifted from.
    lifted: Vec<(PodId, Symbol, bool)>,
    /// What may still be spent on searches.
    pub(super) budget: u64,
}

impl Transaction {
    /// `budget` is what may be spent on searches.
    pub(super) fn new(budget: u64) -> Self {
        Transaction {
            overlay: Overlay::default(),
            placed: Vec::new(),
            lifted: Vec::new(),
            budget,
        }
    }

    /// Puts a member on a node and lets every plugin reserve what it needs there.
    pub(super) fn place(
        &mut self,
        engine: &mut Engine,
        pod: PodId,
        row: Row,
    ) -> Result<(), (&'static str, Status)> {
        let before = self.overlay.savepoint();
        self.overlay.place(&mut engine.snap, pod, row);
        if let Some((_, profile)) = engine.profile_of(pod) {
            for plugin in &profile.reserve {
                if let Err(status) = self.overlay.reserve(&mut engine.snap, plugin, pod, row) {
                    self.overlay.undo_to(&mut engine.snap, before);
                    return Err((plugin.name(), status));
                }
            }
        }
        self.placed.push((pod, row, before));
        Ok(())
    }

    pub(super) fn evict(&mut self, engine: &mut Engine, pod: PodId) {
        self.overlay.evict(&mut engine.snap, pod);
    }

    /// Puts an evicted pod back; its reservations were never touched.
    pub(super) fn put_back(&mut self, engine: &mut Engine, pod: PodId, row: Row) {
        self.overlay.place(&mut engine.snap, pod, row);
    }

    pub(super) fn savepoint(&self) -> Savepoint {
        self.overlay.savepoint()
    }

    /// Only where no member was placed since.
    pub(super) fn undo_to_savepoint(&mut self, engine: &mut Engine, savepoint: Savepoint) {
        self.overlay.undo_to(&mut engine.snap, savepoint);
    }

    /// Takes nominations away, so that members are free to go elsewhere.
    pub(super) fn lift(&mut self, engine: &mut Engine, pods: impl Iterator<Item = PodId>) {
        for pod in pods {
            if let Some(node) = engine.snap.pods[pod].nominated {
                let kept = engine.snap.pods[pod].kept;
                engine.snap.nominate(pod, None);
                self.lifted.push((pod, node, kept));
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.placed.len()
    }

    /// Members that were placed on a node.
    pub(super) fn on(&self, row: Row) -> impl Iterator<Item = PodId> + '_ {
        let there = self.placed.iter().filter(move |(_, at, _)| *at == row);
        there.map(|(pod, ..)| *pod)
    }

    pub(super) fn places(&self) -> Places {
        self.placed
            .iter()
            .map(|(pod, row, _)| (*pod, *row))
            .collect()
    }

    /// Undoes all placements but the first `keep`.
    pub(super) fn undo_to(&mut self, engine: &mut Engine, keep: usize) {
        if let Some((_, _, before)) = self.placed.get(keep) {
            self.overlay.undo_to(&mut engine.snap, *before);
            self.placed.truncate(keep);
        }
    }

    pub(super) fn discard(self, engine: &mut Engine) {
        self.overlay.discard(&mut engine.snap);
        for nomination in self.lifted {
            restore(engine, nomination);
        }
    }

    /// Keeps the placements; who has a node waits for none.
    pub(super) fn commit(self, engine: &mut Engine) -> Places {
        for (pod, _, _) in &self.placed {
            engine.snap.nominate(*pod, None);
        }
        for nomination in &self.lifted {
            if engine.snap.pods[nomination.0].row.is_none() {
                restore(engine, *nomination);
            }
        }
        self.places()
    }
}

fn restore(engine: &mut Engine, (pod, node, kept): (PodId, Symbol, bool)) {
    engine.snap.nominate(pod, Some(node));
    if kept {
        engine.snap.keep(pod);
    }
}
