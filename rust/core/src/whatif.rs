//! Hypothetical clusters that a caller opens, looks into and closes: overlays, which nest, and the trial of
//! a preemption. While one is open nothing is remembered, since the change log will be rewound.

use crate::engine::Engine;
use crate::filtering::Filters;
use crate::overlay::Overlay;
use crate::preempt::{self, Candidate, Preemption};
use crate::snapshot::{ChangeMark, PodId, Row};
use crate::status::{Code, Status};
use crate::trial::{Refused, Trial};

#[derive(Debug, Default)]
pub struct WhatIf {
    overlays: Vec<(Overlay, ChangeMark)>,
    trial: Option<(Trial, Filters)>,
}

/// Which nodes preemption looks at, and how far.
#[derive(Clone, Debug)]
pub struct Plan {
    /// In the order in which they are tried.
    pub rows: Vec<Row>,
    /// Enough candidates, if one of them violates no budget.
    pub wanted: usize,
}

impl Engine {
    /// Whether some hypothetical cluster is open.
    pub fn hypothetical(&self) -> bool {
        !self.whatif.overlays.is_empty() || self.whatif.trial.is_some()
    }

    pub fn begin_overlay(&mut self) {
        let mark = self.snap.changes.mark();
        self.whatif.overlays.push((Overlay::default(), mark));
    }

    /// Puts a pod on a node of the innermost overlay, with what native plugins reserve for it.
    pub fn place_in_overlay(&mut self, pod: PodId, row: Row) -> Result<(), (&'static str, Status)> {
        let profile = self.profile_of(pod).map(|(_, profile)| profile);
        let Some((overlay, _)) = self.whatif.overlays.last_mut() else {
            return Ok(());
        };
        let before = overlay.savepoint();
        overlay.place(&mut self.snap, pod, row);
        for plugin in profile.iter().flat_map(|profile| &profile.reserve) {
            if let Err(status) = overlay.reserve(&mut self.snap, plugin, pod, row) {
                overlay.undo_to(&mut self.snap, before);
                return Err((plugin.name(), status));
            }
        }
        Ok(())
    }

    pub fn evict_in_overlay(&mut self, pod: PodId) {
        if let Some((overlay, _)) = self.whatif.overlays.last_mut() {
            overlay.evict(&mut self.snap, pod);
        }
    }

    /// Undoes everything done in the innermost overlay.
    pub fn end_overlay(&mut self) {
        if let Some((overlay, mark)) = self.whatif.overlays.pop() {
            overlay.discard(&mut self.snap);
            self.snap.rewind_changes(mark);
        }
    }

    /// Begins to try a pod on hypothetical nodes; false if its filters cannot be made.
    pub fn begin_trial(&mut self, pod: PodId) -> bool {
        let Some((_, profile)) = self.profile_of(pod) else {
            return false;
        };
        let Ok(filters) = Filters::new(&self.snap, &profile, &self.snap.pods[pod]) else {
            return false;
        };
        let trial = Trial::new(&self.snap, &filters, pod);
        self.whatif.trial = Some((trial, filters));
        true
    }

    pub fn try_with(&mut self, pod: PodId, row: Row) {
        if let Some((trial, _)) = &mut self.whatif.trial {
            trial.add(&mut self.snap, pod, row);
        }
    }

    pub fn try_without(&mut self, pod: PodId) {
        if let Some((trial, _)) = &mut self.whatif.trial {
            trial.remove(&mut self.snap, pod);
        }
    }

    /// Whether the native plugins accept the row as it is in the trial.
    pub fn try_row(&mut self, row: Row) -> Result<(), Refused> {
        match &mut self.whatif.trial {
            Some((trial, _)) => trial.judge(&mut self.snap, row),
            None => Ok(()),
        }
    }

    /// Undoes what was tried, so that another node can be.
    pub fn restart_trial(&mut self) {
        if let Some((trial, filters)) = &mut self.whatif.trial {
            trial.restart(&mut self.snap, filters);
        }
    }

    pub fn end_trial(&mut self) {
        if let Some((trial, _)) = self.whatif.trial.take() {
            trial.end(&mut self.snap);
        }
    }

    /// What preemption is to try for a pod whose nodes have these codes, by row; or why it is not to.
    pub fn plan_preemption(
        &mut self,
        pod: PodId,
        attempt: u64,
        codes: &[Code],
    ) -> Option<Result<Plan, Preemption>> {
        let (_, profile) = self.profile_of(pod)?;
        let args = profile.preemption?;
        let draw = self.preemption_draw(pod, attempt);
        Some(
            preempt::plan(&self.snap, args, pod, codes, draw)
                .map(|(rows, wanted)| Plan { rows, wanted }),
        )
    }

    /// What preemption comes to, given what was found on the nodes that were tried.
    pub fn conclude_preemption(
        &self,
        candidates: Vec<Candidate>,
        statuses: &[Status],
    ) -> Preemption {
        preempt::conclude(&self.snap, candidates, statuses)
    }
}
