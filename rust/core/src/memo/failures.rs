//! What is remembered of pods of a class that no node took.

use super::Memo;
use crate::cycle;
use crate::diagnosis::Diagnosis;
use crate::snapshot::{Change, Generation, PodId, Row, Snapshot};
use crate::trial::{Refused, Trial};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// State of the snapshot, version of the nominations, and priority of the pod.
type Circumstances = (Generation, u64, i32);

#[derive(Debug, Default)]
pub(super) struct Failures {
    diagnosis: Option<(Circumstances, Arc<Diagnosis>)>,
    /// That preemption cannot help, and its text.
    helpless: Option<(Circumstances, String)>,
    /// Per row what the pods nominated there made of it, by the stamp of its nominations and the pod's
    /// priority. Rows that change are dropped.
    crowding: FxHashMap<Row, (u64, i32, Option<Refused>)>,
}

impl Failures {
    pub(super) fn follow(&mut self, changes: &[Change]) {
        if self.crowding.is_empty() || crate::mutation::active("failures: rows") {
            return;
        }
        for row in changes.iter().filter_map(Change::row) {
            self.crowding.remove(&row);
        }
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

    /// Why no node takes the pod; computed once per class and circumstances.
    pub fn diagnosis(
        &mut self,
        snap: &Snapshot,
        pod: PodId,
        crowded: &[(Row, Refused)],
    ) -> Arc<Diagnosis> {
        let now = self.circumstances(snap, pod);
        match &self.failures.diagnosis {
            Some((known, diagnosis)) if now.is_some_and(|now| now == *known) => {
                Arc::clone(diagnosis)
            }
            _ => {
                let found = Diagnosis::of_verdicts(snap, &self.filters, &self.verdicts(), crowded);
                let found = Arc::new(found);
                self.failures.diagnosis = now.map(|now| (now, Arc::clone(&found)));
                found
            }
        }
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

    /// Rows where the pods nominated there leave no room for `pod`, ascending.
    pub fn crowded(&mut self, snap: &mut Snapshot, pod: PodId) -> Vec<(Row, Refused)> {
        if !snap.has_nominations() {
            return Vec::new();
        }
        let mut parts = self.filters.parts.iter();
        if parts.any(|part| part.filter.counts_pods()) {
            return cycle::crowded(snap, &self.filters, pod);
        }
        let priority = snap.pods[pod].template.priority;
        let own = snap.pods[pod]
            .nominated
            .and_then(|name| snap.nodes.row(name));
        let mut trial = Trial::new(snap, &self.filters, pod);
        let mut crowded = Vec::new();
        for row in snap.rows_nominated_above(pod) {
            let stamp = snap.nominations_stamp(row);
            let known = self.failures.crowding.get(&row);
            let known = known.filter(|(s, p, _)| (*s, *p) == (stamp, priority));
            let refused = match known.filter(|_| own != Some(row)) {
                Some((_, _, refused)) => refused.clone(),
                None => {
                    let refused = trial.judge(snap, row).err();
                    if own != Some(row) {
                        let found = (stamp, priority, refused.clone());
                        self.failures.crowding.insert(row, found);
                    }
                    refused
                }
            };
            crowded.extend(refused.map(|refused| (row, refused)));
        }
        trial.end(snap);
        crowded
    }
}
