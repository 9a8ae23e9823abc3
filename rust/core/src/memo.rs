//! What is remembered between pods of one class, kept in step with the snapshot.
//!
//! Invariant: after [`Memo::catch_up`] a memo equals one that [`Memo::build`] makes of the present
//! snapshot: same verdicts, same raw and normalised scores, same totals, bit for bit.

mod follow;

use crate::diagnosis::Diagnosis;
use crate::filtering::{FEASIBLE, Filters, Rejection, Verdict};
use crate::normalize::{Extremes, Normalize};
use crate::pick::{NEVER, PickIndex};
use crate::plugin::{Plugin, Point, Rows};
use crate::profile::Profile;
use crate::scoring;
use crate::snapshot::{Generation, Pod, Row, Snapshot};
use crate::status::Status;
use crate::trial::Refused;
use follow::Scratch;
use std::sync::Arc;

/// Why a class cannot be scored at all.
#[derive(Clone, Debug)]
pub enum Refusal {
    Rejected(Rejection),
    Failed(Status),
}

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
    diagnosis: Option<(Generation, Arc<Diagnosis>)>,
    /// That preemption cannot help a pod of this priority, and its text: true of a state of the snapshot.
    helpless: Option<(Generation, i32, String)>,
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

    /// Why no node takes the class; computed once per state of the snapshot.
    pub fn diagnosis(&mut self, snap: &Snapshot, crowded: &[(Row, Refused)]) -> Arc<Diagnosis> {
        let make = |memo: &Memo| {
            Arc::new(Diagnosis::of_verdicts(
                snap,
                &memo.filters,
                &memo.verdicts,
                crowded,
            ))
        };
        if !crowded.is_empty() {
            return make(self);
        }
        match &self.diagnosis {
            Some((seen, diagnosis)) if *seen == self.seen => Arc::clone(diagnosis),
            _ => {
                let diagnosis = make(self);
                self.diagnosis = Some((self.seen, Arc::clone(&diagnosis)));
                diagnosis
            }
        }
    }

    /// What was found out about preemption for a pod of this priority, if the snapshot is still the same.
    pub fn helpless(&self, priority: i32) -> Option<&str> {
        let (seen, known, text) = self.helpless.as_ref()?;
        (*seen == self.seen && *known == priority).then_some(text)
    }

    pub fn set_helpless(&mut self, priority: i32, text: &str) {
        self.helpless = Some((self.seen, priority, text.to_owned()));
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
