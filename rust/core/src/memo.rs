//! What is remembered between pods of one class, kept in step with the snapshot.
//!
//! Invariant: after [`Memo::catch_up`] a memo equals one that [`Memo::build`] makes of the present
//! snapshot: same verdicts, same raw and normalised scores, same totals, bit for bit.

use crate::diagnosis::Diagnosis;
use crate::filtering::{FEASIBLE, Filters, NO_NODE, Rejection, Verdict};
use crate::normalize::{Extremes, Normalize};
use crate::pick::{NEVER, PickIndex};
use crate::plugin::{Affects, Plugin, Point, Rows};
use crate::profile::Profile;
use crate::scoring;
use crate::snapshot::{Change, Generation, Pod, Row, Snapshot};
use crate::status::{Code, Status};
use crate::trial::Refused;
use std::sync::Arc;

/// Why a class cannot be scored at all.
#[derive(Clone, Debug)]
pub enum Refusal {
    Rejected(Rejection),
    Failed(Status),
}

#[derive(Debug)]
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
    /// Whether some plugin reads volumes or claims for this class.
    reads_storage: bool,
}

#[derive(Debug)]
struct Scored {
    part: scoring::Part,
    form: Normalize,
    /// Per row; kept only where normalisation needs it. Stale on infeasible rows.
    raw: Vec<i64>,
    extremes: Extremes,
}

/// Rows that one part must look at again.
#[derive(Debug, Default)]
struct Dirty {
    rows: Vec<Row>,
    every: bool,
    all: bool,
}

impl Dirty {
    fn add(&mut self, snap: &Snapshot, affects: Affects, row: Row) {
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
    fn settle(&mut self, len: usize) {
        if self.every {
            self.rows.clear();
            self.rows.extend(0..len as Row);
            return;
        }
        self.rows.sort_unstable();
        self.rows.dedup();
    }
}

impl Memo {
    /// Evaluates a pod over all nodes.
    pub fn build(snap: &Snapshot, profile: &Profile, pod: &Pod) -> Result<Self, Refusal> {
        let filters = Filters::new(snap, profile, pod).map_err(Refusal::Rejected)?;
        let verdicts = filters.judge_all(snap);
        let feasible = verdicts.iter().filter(|v| **v == FEASIBLE).count();
        let mut memo = Memo {
            seen: snap.changes.now(),
            filters,
            skipped: Vec::new(),
            verdicts,
            feasible,
            scores: Vec::new(),
            base: Vec::new(),
            index: PickIndex::default(),
            diagnosis: None,
            reads_storage: profile
                .pre_filter
                .iter()
                .any(|plugin| plugin.reads_storage(pod)),
        };
        memo.score_all(snap, profile, pod)?;
        Ok(memo)
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

    /// Bytes held, approximately: what bounds the number of memos.
    pub fn size(&self) -> usize {
        let raws: usize = self.scores.iter().map(|s| s.raw.len() * 8).sum();
        self.verdicts.len() * 18 + raws + 1024
    }

    fn feasible_rows(&self) -> Vec<Row> {
        let rows = self.verdicts.iter().enumerate();
        rows.filter(|(_, v)| **v == FEASIBLE)
            .map(|(row, _)| row as Row)
            .collect()
    }

    fn score_all(&mut self, snap: &Snapshot, profile: &Profile, pod: &Pod) -> Result<(), Refusal> {
        let feasible = self.feasible_rows();
        let fail = |(_, status)| Refusal::Failed(status);
        let parts = scoring::parts(snap, profile, pod, &feasible).map_err(fail)?;
        self.skipped = skipped(profile, &self.filters, &parts);
        self.scores.clear();
        self.base.clear();
        self.base.resize(self.verdicts.len(), 0);
        let mut raw = vec![0; self.verdicts.len()];
        for part in parts {
            let form = part.score.normalize();
            part.score
                .score(snap, Rows::All(self.verdicts.len()), &mut raw);
            let kept = if form == Normalize::None {
                add_weighted(&mut self.base, &raw, part.weight);
                Vec::new()
            } else {
                raw.clone()
            };
            let extremes = self.extremes(&kept);
            self.scores.push(Scored {
                part,
                form,
                raw: kept,
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

    /// Brings everything up to date. Falls back to a fresh evaluation where following costs more or
    /// a plugin cannot follow.
    pub fn catch_up(
        &mut self,
        snap: &Snapshot,
        profile: &Profile,
        pod: &Pod,
    ) -> Result<(), Refusal> {
        let Some(changes) = snap.changes.since(self.seen) else {
            return self.remake(snap, profile, pod);
        };
        if changes.is_empty() {
            return Ok(());
        }
        if changes.len() > self.verdicts.len() / 4 + 64 || self.must_remake(snap, changes, pod) {
            return self.remake(snap, profile, pod);
        }
        let Some(flipped) = self.follow_filters(snap, changes) else {
            return self.remake(snap, profile, pod);
        };
        self.seen = snap.changes.now();
        if !self.follow_scores(snap, changes, &flipped) {
            self.score_all(snap, profile, pod)?;
        }
        Ok(())
    }

    fn remake(&mut self, snap: &Snapshot, profile: &Profile, pod: &Pod) -> Result<(), Refusal> {
        *self = Memo::build(snap, profile, pod)?;
        Ok(())
    }

    /// Whether a change reaches beyond what the parts can follow.
    fn must_remake(&self, snap: &Snapshot, changes: &[Change], pod: &Pod) -> bool {
        if self.verdicts.len() != snap.nodes.len() {
            return true;
        }
        changes.iter().any(|change| match change {
            Change::World => true,
            Change::Storage => self.reads_storage,
            Change::Node { row } => {
                let was_node = self.verdicts[*row as usize] != NO_NODE;
                was_node != snap.nodes.live[*row as usize]
            }
            Change::Placed { template, .. } | Change::Removed { template, .. } => {
                let wakes = |(plugin, at): &(Arc<dyn Plugin>, Point)| {
                    plugin.wakes(snap, template, pod, *at)
                };
                self.skipped.iter().any(wakes)
            }
        })
    }

    /// Follows the changes in all filters; the rows whose feasibility flipped, or `None` if some filter
    /// must be made anew.
    fn follow_filters(&mut self, snap: &Snapshot, changes: &[Change]) -> Option<Vec<Row>> {
        let mut dirty: Vec<Dirty> = Vec::with_capacity(self.filters.parts.len());
        for part in &mut self.filters.parts {
            let mut rows = Dirty::default();
            for change in changes {
                if let Some(row) = row_of(change) {
                    rows.add(snap, part.filter.follow(snap, change), row);
                }
            }
            if rows.all {
                return None;
            }
            rows.settle(self.verdicts.len());
            dirty.push(rows);
        }
        let mut flipped = Vec::new();
        let mut codes = Vec::new();
        for (index, dirty) in dirty.iter().enumerate() {
            codes.clear();
            codes.resize(dirty.rows.len(), Code::Success);
            self.filters.parts[index]
                .filter
                .filter(snap, Rows::List(&dirty.rows), &mut codes);
            for (&row, code) in dirty.rows.iter().zip(&codes) {
                self.revise(
                    snap,
                    row,
                    index as Verdict,
                    *code == Code::Success,
                    &mut flipped,
                );
            }
        }
        flipped.sort_unstable();
        Some(flipped)
    }

    /// Records that part `index` now accepts or rejects `row`. An earlier part's rejection stands.
    fn revise(
        &mut self,
        snap: &Snapshot,
        row: Row,
        index: Verdict,
        accepts: bool,
        flipped: &mut Vec<Row>,
    ) {
        let before = self.verdicts[row as usize];
        let after = match (accepts, before) {
            (_, NO_NODE) => return,
            (false, FEASIBLE) => index,
            (false, first) if index < first => index,
            (true, first) if first == index => {
                self.filters.judge(snap, row, usize::from(index) + 1)
            }
            _ => return,
        };
        self.verdicts[row as usize] = after;
        if (before == FEASIBLE) != (after == FEASIBLE) {
            self.feasible = if after == FEASIBLE {
                self.feasible + 1
            } else {
                self.feasible - 1
            };
            // A row may flip twice when two parts changed; then it has not flipped at all.
            match flipped.iter().position(|r| *r == row) {
                Some(at) => drop(flipped.swap_remove(at)),
                None => flipped.push(row),
            }
        }
    }

    /// Follows the changes in all scores; false if some score must be made anew.
    fn follow_scores(&mut self, snap: &Snapshot, changes: &[Change], flipped: &[Row]) -> bool {
        let mut dirty: Vec<Dirty> = Vec::with_capacity(self.scores.len());
        let is_feasible = |row: &Row| self.verdicts[*row as usize] == FEASIBLE;
        let (entered, left): (Vec<Row>, Vec<Row>) = flipped.iter().partition(|r| is_feasible(r));
        for scored in &mut self.scores {
            let mut rows = Dirty::default();
            for change in changes {
                if let Some(row) = row_of(change) {
                    rows.add(snap, scored.part.score.follow(snap, change), row);
                }
            }
            if let Some(&row) = flipped.first() {
                let affects = scored.part.score.feasible(snap, &entered, &left);
                rows.add(snap, affects, row);
            }
            if rows.all {
                return false;
            }
            dirty.push(rows);
        }
        self.rescore(snap, &mut dirty, flipped);
        true
    }

    fn rescore(&mut self, snap: &Snapshot, dirty: &mut [Dirty], flipped: &[Row]) {
        let mut touched: Vec<Row> = flipped.to_vec();
        let mut moved = false;
        let mut local = flipped.to_vec();
        for (scored, dirty) in self.scores.iter().zip(dirty.iter_mut()) {
            if scored.form == Normalize::None {
                dirty.settle(self.verdicts.len());
                local.extend(&dirty.rows);
            }
        }
        local.sort_unstable();
        local.dedup();
        self.rescore_base(snap, &local);
        touched.extend(&local);
        for (at, dirty) in dirty.iter_mut().enumerate() {
            if self.scores[at].form == Normalize::None {
                continue;
            }
            dirty.rows.extend(flipped);
            dirty.settle(self.verdicts.len());
            moved |= self.rescore_raw(snap, at, &dirty.rows, flipped);
            touched.extend(&dirty.rows);
        }
        touched.sort_unstable();
        touched.dedup();
        if moved || touched.len() > self.verdicts.len() / 8 {
            self.fill_index();
        } else {
            for row in touched {
                let total = self.total(row);
                self.index.set(row, total);
            }
        }
    }

    fn rescore_base(&mut self, snap: &Snapshot, rows: &[Row]) {
        let mut raw = vec![0; rows.len()];
        for &row in rows {
            self.base[row as usize] = 0;
        }
        for scored in self.scores.iter().filter(|s| s.form == Normalize::None) {
            scored.part.score.score(snap, Rows::List(rows), &mut raw);
            for (&row, raw) in rows.iter().zip(&raw) {
                let sum = &mut self.base[row as usize];
                *sum = sum.wrapping_add(raw.wrapping_mul(scored.part.weight));
            }
        }
    }

    /// Scores `rows` (all flipped rows among them) anew for one part; whether its extremes moved.
    fn rescore_raw(&mut self, snap: &Snapshot, at: usize, rows: &[Row], flipped: &[Row]) -> bool {
        let mut raw = vec![0; rows.len()];
        let scored = &mut self.scores[at];
        scored.part.score.score(snap, Rows::List(rows), &mut raw);
        let before = scored.extremes;
        let mut rescan = false;
        for (&row, new) in rows.iter().zip(raw) {
            let old = std::mem::replace(&mut scored.raw[row as usize], new);
            let now = self.verdicts[row as usize] == FEASIBLE;
            let was = now != flipped.binary_search(&row).is_ok();
            // An extreme may leave with this row: only a scan can tell what is next.
            rescan |= was && (old == before.min || old == before.max) && !(now && old == new);
            rescan |= now && (new < before.min || new > before.max);
        }
        if rescan {
            self.scores[at].extremes = self.extremes(&self.scores[at].raw);
        }
        self.scores[at].extremes != before
    }
}

impl Scored {
    fn weighted(&self, raw: i64) -> i64 {
        self.form
            .apply(raw, self.extremes)
            .wrapping_mul(self.part.weight)
    }
}

fn row_of(change: &Change) -> Option<Row> {
    match change {
        Change::Placed { row, .. } | Change::Removed { row, .. } | Change::Node { row } => {
            Some(*row)
        }
        Change::World | Change::Storage => None,
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
