//! What is remembered between pods of one class, kept in step with the snapshot.
//!
//! Invariant: after [`Memo::catch_up`] a memo equals one that [`Memo::build`] makes of the present
//! snapshot: same verdicts, same raw and normalised scores, same totals, bit for bit.

mod follow;

use crate::cycle;
use crate::diagnosis::Diagnosis;
use crate::filtering::{FEASIBLE, Filters, Rejection, Verdict};
use crate::normalize::{Extremes, Normalize};
use crate::pick::{NEVER, PickIndex};
use crate::plugin::{Plugin, Point, Rows};
use crate::profile::Profile;
use crate::scoring;
use crate::snapshot::{Generation, Pod, PodId, Row, Snapshot};
use crate::status::Status;
use crate::trial::{Refused, Trial};
use follow::Scratch;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Why a class cannot be scored at all.
#[derive(Clone, Debug)]
pub enum Refusal {
    Rejected(Rejection),
    Failed(Status),
}

/// State of the snapshot, version of the nominations, and priority of the pod.
type Circumstances = (Generation, u64, i32);

#[derive(Debug, Default)]
pub struct Memo {
    seen: Generation,
    filters: Filters,
    /// Plugins that skipped the pod at PreFilter or PreScore; a placed pod can give them something to say.
    skipped: Vec<(Arc<dyn Plugin>, Point)>,
    verdicts: Vec<Verdict>,
    feasible: usize,
    scores: Vec<Scored>,
    /// Per row the weighted sum of the scores that need no normalisation.
    base: Vec<i64>,
    index: PickIndex,
    diagnosis: Option<(Circumstances, Arc<Diagnosis>)>,
    /// That preemption cannot help, and its text.
    helpless: Option<(Circumstances, String)>,
    /// Per row what the pods nominated there made of it, by the stamp of its nominations and the pod's
    /// priority. Rows that change are dropped.
    crowding: FxHashMap<Row, (u64, i32, Option<Refused>)>,
    /// Whether some plugin reads volumes or claims for this class.
    reads_storage: bool,
    scratch: Scratch,
}

#[derive(Debug)]
struct Scored {
    part: scoring::Part,
    form: Normalize,
    /// Per row; kept only where normalisation needs it. Stale on infeasible rows.
    raw: Vec<i64>,
    extremes: Extremes,
}

impl Memo {
    /// Evaluates a pod over all nodes.
    pub fn build(snap: &Snapshot, profile: &Profile, pod: &Pod) -> Result<Self, Refusal> {
        let mut memo = Memo::default();
        memo.rebuild(snap, profile, pod)?;
        Ok(memo)
    }

    /// The same in the buffers of an earlier evaluation. After a refusal the memo is of no use.
    pub fn rebuild(
        &mut self,
        snap: &Snapshot,
        profile: &Profile,
        pod: &Pod,
    ) -> Result<(), Refusal> {
        self.filters = Filters::new(snap, profile, pod).map_err(Refusal::Rejected)?;
        self.filters
            .judge_all(snap, &mut self.verdicts, &mut self.scratch.codes);
        self.feasible = self.verdicts.iter().filter(|v| **v == FEASIBLE).count();
        self.seen = snap.changes.now();
        self.diagnosis = None;
        self.crowding.clear();
        self.reads_storage = profile
            .pre_filter
            .iter()
            .any(|plugin| plugin.reads_storage(pod));
        self.score_all(snap, profile, pod)
    }

    pub fn feasible(&self) -> usize {
        self.feasible
    }

    pub fn filters(&self) -> &Filters {
        &self.filters
    }

    pub fn verdicts(&self) -> &[Verdict] {
        &self.verdicts
    }

    pub fn index(&self) -> &PickIndex {
        &self.index
    }

    pub fn index_mut(&mut self) -> &mut PickIndex {
        &mut self.index
    }

    /// What the failure of a pod of this class depends on; `None` if on the pod itself too, which is
    /// nominated somewhere.
    fn circumstances(&self, snap: &Snapshot, pod: PodId) -> Option<Circumstances> {
        let pod = &snap.pods[pod];
        let nominations = snap.nominations_version();
        let common = pod.nominated.is_none() && pod.template.may_preempt;
        common.then_some((self.seen, nominations, pod.template.priority))
    }

    /// Why no node takes the pod; computed once per class and circumstances.
    pub fn diagnosis(
        &mut self,
        snap: &Snapshot,
        pod: PodId,
        crowded: &[(Row, Refused)],
    ) -> Arc<Diagnosis> {
        let now = self.circumstances(snap, pod);
        match &self.diagnosis {
            Some((known, diagnosis)) if now.is_some_and(|now| now == *known) => {
                Arc::clone(diagnosis)
            }
            _ => {
                let found = Diagnosis::of_verdicts(snap, &self.filters, &self.verdicts, crowded);
                let found = Arc::new(found);
                self.diagnosis = now.map(|now| (now, Arc::clone(&found)));
                found
            }
        }
    }

    /// What was found out about preemption in the same circumstances.
    pub fn helpless(&self, snap: &Snapshot, pod: PodId) -> Option<&str> {
        let (known, text) = self.helpless.as_ref()?;
        (self.circumstances(snap, pod)? == *known).then_some(text)
    }

    pub fn set_helpless(&mut self, snap: &Snapshot, pod: PodId, text: &str) {
        let now = self.circumstances(snap, pod);
        self.helpless = now.map(|now| (now, text.to_owned()));
    }

    /// Whether the pod is known to fail now as another of its class did; nothing need be tried then.
    pub fn fails_alike(&self, snap: &Snapshot, pod: PodId) -> Option<Arc<Diagnosis>> {
        let (known, diagnosis) = self.diagnosis.as_ref()?;
        (self.circumstances(snap, pod)? == *known).then(|| Arc::clone(diagnosis))
    }

    /// Rows where the pods nominated there leave no room for `pod`, ascending.
    pub fn crowded(&mut self, snap: &mut Snapshot, pod: PodId) -> Vec<(Row, Refused)> {
        if self
            .filters
            .parts
            .iter()
            .any(|part| part.filter.counts_pods())
        {
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
            let known = self
                .crowding
                .get(&row)
                .filter(|(s, p, _)| (*s, *p) == (stamp, priority));
            let refused = match known.filter(|_| own != Some(row)) {
                Some((_, _, refused)) => refused.clone(),
                None => {
                    let refused = trial.judge(snap, row).err();
                    if own != Some(row) {
                        self.crowding
                            .insert(row, (stamp, priority, refused.clone()));
                    }
                    refused
                }
            };
            crowded.extend(refused.map(|refused| (row, refused)));
        }
        trial.end(snap);
        crowded
    }

    /// Bytes held, approximately: what bounds the number of memos.
    pub fn size(&self) -> usize {
        let raws: usize = self.scores.iter().map(|s| s.raw.len() * 8).sum();
        self.verdicts.len() * 18 + raws + 1024
    }

    fn score_all(&mut self, snap: &Snapshot, profile: &Profile, pod: &Pod) -> Result<(), Refusal> {
        let len = self.verdicts.len();
        self.scratch.touched.clear();
        let rows = self.verdicts.iter().enumerate();
        let feasible = rows
            .filter(|(_, v)| **v == FEASIBLE)
            .map(|(row, _)| row as Row);
        self.scratch.touched.extend(feasible);
        let fail = |(_, status)| Refusal::Failed(status);
        let parts = scoring::parts(snap, profile, pod, &self.scratch.touched).map_err(fail)?;
        self.skipped = skipped(profile, &self.filters, &parts);
        self.base.clear();
        self.base.resize(len, 0);
        let mut spare: Vec<Vec<i64>> = self.scores.drain(..).map(|s| s.raw).collect();
        for part in parts {
            let form = part.score.normalize();
            let mut raw = match form {
                Normalize::None => std::mem::take(&mut self.scratch.raw),
                _ => spare.pop().unwrap_or_default(),
            };
            raw.resize(len, 0);
            part.score.score(snap, Rows::All(len), &mut raw);
            let (raw, extremes) = if form == Normalize::None {
                add_weighted(&mut self.base, &raw, part.weight);
                self.scratch.raw = raw;
                (Vec::new(), Extremes::of([]))
            } else {
                let extremes = self.extremes(&raw);
                (raw, extremes)
            };
            self.scores.push(Scored {
                part,
                form,
                raw,
                extremes,
            });
        }
        self.fill_index();
        Ok(())
    }

    fn extremes(&self, raw: &[i64]) -> Extremes {
        let rows = raw.iter().zip(&self.verdicts);
        Extremes::of(rows.filter(|(_, v)| **v == FEASIBLE).map(|(raw, _)| *raw))
    }

    fn fill_index(&mut self) {
        let Memo {
            base,
            scores,
            verdicts,
            index,
            ..
        } = self;
        index.rebuild(|totals| {
            totals.clone_from(base);
            for scored in scores.iter().filter(|s| s.form != Normalize::None) {
                for (total, raw) in totals.iter_mut().zip(&scored.raw) {
                    *total = total.wrapping_add(scored.weighted(*raw));
                }
            }
            for (total, verdict) in totals.iter_mut().zip(verdicts.iter()) {
                if *verdict != FEASIBLE {
                    *total = NEVER;
                }
            }
        });
    }

    fn total(&self, row: Row) -> i64 {
        if self.verdicts[row as usize] != FEASIBLE {
            return NEVER;
        }
        let normalized = self.scores.iter().filter(|s| s.form != Normalize::None);
        normalized.fold(self.base[row as usize], |sum, scored| {
            sum.wrapping_add(scored.weighted(scored.raw[row as usize]))
        })
    }
}

impl Scored {
    fn weighted(&self, raw: i64) -> i64 {
        self.form
            .apply(raw, self.extremes)
            .wrapping_mul(self.part.weight)
    }
}

fn add_weighted(base: &mut [i64], raw: &[i64], weight: i64) {
    for (sum, raw) in base.iter_mut().zip(raw) {
        *sum = sum.wrapping_add(raw.wrapping_mul(weight));
    }
}

/// Plugins of the profile that take no part in judging the pod, each with the role it does not play.
fn skipped(
    profile: &Profile,
    filters: &Filters,
    scores: &[scoring::Part],
) -> Vec<(Arc<dyn Plugin>, Point)> {
    let filtering = |p: &Arc<dyn Plugin>| filters.parts.iter().any(|f| f.plugin.name() == p.name());
    let scoring = |p: &Arc<dyn Plugin>| scores.iter().any(|s| s.plugin == p.name());
    let filters = profile.filter.iter().filter(|p| !filtering(p));
    let scores = profile.score.iter().map(|(p, _)| p).filter(|p| !scoring(p));
    let filters = filters.map(|p| (Arc::clone(p), Point::Filter));
    filters
        .chain(scores.map(|p| (Arc::clone(p), Point::Score)))
        .collect()
}
