//! What is remembered of pods of a class that no node took.

use super::Memo;
use super::crowd::{Barred, Crowd};
use super::standing::Standing;
use crate::cycle;
use crate::diagnosis::Diagnosis;
use crate::snapshot::{Change, Generation, PodId, Snapshot};
use crate::status::Code;
use std::sync::Arc;

/// State of the snapshot, version of the nominations, and priority of the pod.
type Circumstances = (Generation, u64, i32);

#[derive(Debug, Default)]
pub(super) struct Failures {
    diagnosis: Option<(Circumstances, Arc<Diagnosis>)>,
    /// That preemption cannot help, and its text.
    helpless: Option<(Circumstances, String)>,
    pub(super) crowd: Crowd,
    pub(super) standing: Standing,
}

impl Failures {
    pub(super) fn follow(&mut self, changes: &[Change]) {
        self.crowd.follow(changes);
        self.standing.follow(changes.iter().filter_map(Change::row));
    }
}

impl Memo {
    /// What the failure of a pod of this class depends on; `None` if on the pod itself too, which is
    /// nominated somewhere.
    fn circumstances(&self, snap: &Snapshot, pod: PodId) -> Option<Circumstances> {
        let pod = &snap.pods[pod];
        let nominations = snap.nominations_version();
        let common = pod.nominated.is_none() && pod.template.may_preempt;
        let (mut seen, mut priority) = (self.seen, pod.template.priority);
        if crate::mutation::active("failures: snapshot") {
            seen = 0;
        }
        if crate::mutation::active("failures: priority") {
            priority = 0;
        }
        common.then_some((seen, nominations, priority))
    }

    /// Why no node takes the pod, computed once per class and circumstances; or, where only some nodes were
    /// looked at and others would take it, why none of those does, which says nothing of the class.
    /// `barred` is what [`Memo::crowd`] returned.
    pub fn diagnosis(&mut self, snap: &Snapshot, pod: PodId, barred: &Barred) -> Arc<Diagnosis> {
        let now = self
            .circumstances(snap, pod)
            .filter(|_| self.open(barred) == 0);
        match &self.failures.diagnosis {
            Some((known, diagnosis)) if now.is_some_and(|now| now == *known) => {
                Arc::clone(diagnosis)
            }
            _ => {
                let found = Arc::new(self.condense(snap, barred));
                if let Some(now) = now {
                    self.failures.diagnosis = Some((now, Arc::clone(&found)));
                }
                found
            }
        }
    }

    fn condense(&mut self, snap: &Snapshot, barred: &Barred) -> Diagnosis {
        let followed = match barred {
            Barred::Alike => self.condensed(snap, None),
            Barred::But(row, refused) => self.condensed(snap, Some((*row, refused.as_ref()))),
            Barred::Listed(_) => None,
        };
        followed.unwrap_or_else(|| {
            let crowded = self.crowded(barred);
            Diagnosis::of_verdicts(snap, &self.filters, &self.verdicts(), &crowded)
        })
    }

    /// The code of each row's status for a pod, as [`cycle::codes`] has it.
    pub fn codes(&mut self, snap: &Snapshot, barred: &Barred) -> Vec<Code> {
        if matches!(barred, Barred::Alike)
            && let Some(standing) = self.stand(snap)
        {
            return standing.codes().to_vec();
        }
        let (verdicts, crowded) = (self.verdicts(), self.crowded(barred));
        cycle::codes(snap, &self.filters, &verdicts, &crowded)
    }

    /// What was found out about preemption in the same circumstances.
    pub fn helpless(&self, snap: &Snapshot, pod: PodId) -> Option<&str> {
        let (known, text) = self.failures.helpless.as_ref()?;
        (self.circumstances(snap, pod)? == *known).then_some(text)
    }

    pub fn set_helpless(&mut self, snap: &Snapshot, pod: PodId, text: &str) {
        let now = self.circumstances(snap, pod);
        self.failures.helpless = now.map(|now| (now, text.to_owned()));
    }

    /// Whether the pod is known to fail now as another of its class did; nothing need be tried then.
    pub fn fails_alike(&self, snap: &Snapshot, pod: PodId) -> Option<Arc<Diagnosis>> {
        let (known, diagnosis) = self.failures.diagnosis.as_ref()?;
        (self.circumstances(snap, pod)? == *known).then(|| Arc::clone(diagnosis))
    }
}
