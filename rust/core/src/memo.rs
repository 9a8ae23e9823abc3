//! What is remembered between pods of one class, kept in step with the snapshot.
//!
//! A row's total is a part of its own plus a part that it shares with all rows of its group, where a plugin
//! says that nodes of a domain share their result; see [`groups`]. So a pod that moves a domain's number
//! changes one sum, not one for every node of the domain.
//!
//! Invariant: after [`Memo::catch_up`] a memo equals one that [`Memo::build`] makes of the present
//! snapshot: same verdicts, same totals, bit for bit.

mod crowd;
mod dense;
mod failures;
mod follow;
mod groups;
mod pick;
mod scored;
mod scratch;
mod standing;
mod within;

use crate::filtering::{FEASIBLE, Filters, LEFT_OUT, NO_NODE, Rejection, Verdict};
use crate::normalize::{MAX_SCORE, Normalize};
use crate::pick::NEVER;
use crate::pick_index::PickIndex;
use crate::plugin::{Plugin, Point, Reads, Rows};
use crate::profile::Profile;
use crate::scoring;
use crate::snapshot::{Generation, Pod, Row, Snapshot};
use crate::status::{Code, Status};
pub use crowd::Barred;
use failures::Failures;
use groups::Combined;
use scored::Scored;
pub use scratch::Scratch;
use std::sync::Arc;

/// Why a class cannot be scored at all.
#[derive(Clone, Debug)]
pub enum Refusal {
    Rejected(Rejection),
    Failed(Status),
}

/// How the results of one plugin are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    /// One for each row.
    Rows(Reads),
    /// One for each group of rows.
    Groups,
}

#[derive(Debug, Default)]
pub struct Memo {
    seen: Generation,
    filters: Filters,
    /// Per part of `filters`.
    kept: Vec<Kept>,
    /// Plugins that skipped the pod at PreFilter or PreScore for what is on nodes, which may change.
    skipped: Vec<(Arc<dyn Plugin>, Point)>,
    /// Per row: the first of the parts kept by row that rejects it.
    verdicts: Vec<Verdict>,
    scores: Vec<Scored>,
    /// Per row the weighted sum of the scores kept by row that need no normalisation.
    base: Vec<i64>,
    combined: Combined,
    /// Only where the memo is to serve again.
    index: Option<PickIndex>,
    failures: Failures,
    /// Whether some plugin reads volumes or claims for this class.
    reads_storage: bool,
    /// Whether some node's score is not one: a cycle that scores that node fails, so each is run afresh.
    invalid: bool,
}

impl Memo {
    /// Evaluates a pod over all nodes.
    pub fn build(
        snap: &Snapshot,
        profile: &Profile,
        pod: &Pod,
        scratch: &mut Scratch,
    ) -> Result<Self, Refusal> {
        let mut memo = Memo::default();
        memo.rebuild(snap, profile, pod, scratch)?;
        Ok(memo)
    }

    /// The same in the buffers of an earlier evaluation. After a refusal the memo is of no use.
    pub fn rebuild(
        &mut self,
        snap: &Snapshot,
        profile: &Profile,
        pod: &Pod,
        scratch: &mut Scratch,
    ) -> Result<(), Refusal> {
        self.filters = Filters::new(snap, profile, pod).map_err(Refusal::Rejected)?;
        self.keep_filters(snap);
        self.combined.add_filters(&self.filters, &mut self.kept);
        self.judge_rows(snap, &mut scratch.codes);
        self.seen = snap.changes.now();
        self.failures = Failures::default();
        self.reads_storage = profile
            .pre_filter
            .iter()
            .any(|plugin| plugin.reads_storage(pod));
        self.score_all(snap, profile, pod, scratch)
    }

    /// Decides how each filter's codes are kept: by group where it has few.
    fn keep_filters(&mut self, snap: &Snapshot) {
        let few = groups::limit(snap.nodes.len());
        // A node set leaves few rows to look at; all is kept by row.
        let restricted = self.filters.nodes.is_some();
        let parts = self.filters.parts.iter().map(|part| {
            let groups = part.filter.groups().filter(|_| !restricted);
            match groups.is_some_and(|groups| groups.values.len() <= few) {
                true => Kept::Groups,
                false => Kept::Rows(part.filter.reads()),
            }
        });
        self.kept.clear();
        self.kept.extend(parts);
    }

    /// Judges all rows by the parts that are kept by row.
    fn judge_rows(&mut self, snap: &Snapshot, codes: &mut Vec<Code>) {
        let live = &snap.nodes.live;
        self.verdicts.clear();
        if self.filters.nodes.is_some() {
            let outside = |live: &bool| if *live { LEFT_OUT } else { NO_NODE };
            self.verdicts.extend(live.iter().map(outside));
            for row in self.filters.rows(snap) {
                self.verdicts[row as usize] = self.judge(snap, row, 0);
            }
            return;
        }
        dense::start(live, &mut self.verdicts, codes);
        let mut rejected = dense::rejected(codes);
        for (index, part) in self.filters.parts.iter().enumerate() {
            if self.kept[index] == Kept::Groups {
                continue;
            }
            part.filter.filter(snap, Rows::All(live.len()), codes);
            let now = dense::rejected(codes);
            if std::mem::replace(&mut rejected, now) != now {
                dense::blame(index as Verdict, codes, &mut self.verdicts);
            }
        }
    }

    /// Judges one row by the parts kept by row, from `first` on.
    fn judge(&self, snap: &Snapshot, row: Row, first: usize) -> Verdict {
        let parts = self.filters.parts.iter().enumerate().skip(first);
        for (index, part) in parts.filter(|(index, _)| self.kept[*index] != Kept::Groups) {
            let mut code = [Code::Success];
            part.filter.filter(snap, Rows::List(&[row]), &mut code);
            if code[0] != Code::Success {
                return index as Verdict;
            }
        }
        FEASIBLE
    }

    fn score_all(
        &mut self,
        snap: &Snapshot,
        profile: &Profile,
        pod: &Pod,
        scratch: &mut Scratch,
    ) -> Result<(), Refusal> {
        let asks = |(plugin, _): &(Arc<dyn Plugin>, i64)| plugin.reads_feasible(snap, pod);
        scratch.touched.clear();
        if profile.score.iter().any(asks) {
            self.collect_feasible(&mut scratch.touched);
        }
        let fail = |(_, status)| Refusal::Failed(status);
        let parts = scoring::parts(snap, profile, pod, &scratch.touched).map_err(fail)?;
        self.skipped = skipped(profile, &self.filters, &parts);
        let spare = self.scores.drain(..).map(|s| s.raw);
        let mut spare: Vec<Vec<i64>> = spare.filter(|raw| raw.capacity() > 0).collect();
        let few = groups::limit(snap.nodes.len());
        for part in parts {
            self.scores.push(Scored::new(part, few));
        }
        self.combined.add_scores(&mut self.scores);
        self.combined
            .take_in(&self.verdicts, &self.filters, &self.scores);
        self.base.resize(self.verdicts.len(), 0);
        self.invalid = false;
        let mut base_is_empty = true;
        for scored in &mut self.scores {
            if matches!(scored.kept, Kept::Rows(_)) {
                scored.evaluate(snap, &self.verdicts, &mut spare);
            }
            if scored.is_in_base() {
                let raw = scored.add_to(&mut self.base, snap, (base_is_empty, &mut scratch.raw));
                self.invalid |=
                    !dense::are_scores(raw) && !are_scores_of_nodes(raw, &self.verdicts);
                base_is_empty = false;
            }
        }
        if base_is_empty {
            self.base.fill(0);
        }
        self.measure();
        self.combined.settle(&mut self.scores);
        if self.index.is_some() {
            self.fill_index(scratch);
        }
        Ok(())
    }

    /// Rows that pass all filters, ascending, before the groups are combined.
    fn collect_feasible(&self, rows: &mut Vec<Row>) {
        let own = self.verdicts.iter().enumerate();
        let own = own.filter(|(_, v)| **v == FEASIBLE).map(|(row, _)| row);
        let parts = self.filters.parts.iter().zip(&self.kept);
        let grouped = parts.filter(|(_, kept)| **kept == Kept::Groups);
        let grouped: Vec<_> = grouped.filter_map(|(p, _)| p.filter.groups()).collect();
        let accepts = |row: &usize| {
            let mut codes = grouped.iter().map(|g| g.values[g.of_row[*row] as usize]);
            codes.all(|code| code == Code::Success)
        };
        rows.extend(own.filter(accepts).map(|row| row as Row));
    }

    fn is_feasible(&self, row: Row) -> bool {
        self.verdicts[row as usize] == FEASIBLE && self.combined.accepts(row)
    }

    /// Takes the extremes of the scores kept by row anew; whether any moved.
    fn measure(&mut self) -> bool {
        let mut moved = false;
        for at in 0..self.scores.len() {
            if self.scores[at].varies() {
                let rows = self.scores[at].raw.iter().enumerate();
                let rows = rows.filter(|(row, _)| self.is_feasible(*row as Row));
                let extremes = crate::normalize::Extremes::of(rows.map(|(_, raw)| *raw));
                moved |= std::mem::replace(&mut self.scores[at].extremes, extremes) != extremes;
            }
        }
        moved
    }

    /// A row's part of its total, `NEVER` where a filter rejects it by row.
    fn own_total(&self, row: Row) -> i64 {
        if self.verdicts[row as usize] != FEASIBLE {
            return NEVER;
        }
        let varying = self.scores.iter().filter(|s| s.varies());
        varying.fold(self.base[row as usize], |sum, scored| {
            sum.wrapping_add(scored.weighted(scored.raw[row as usize]))
        })
    }

    fn own_totals(&self, totals: &mut Vec<i64>) {
        totals.clone_from(&self.base);
        for scored in self.scores.iter().filter(|s| s.varies()) {
            for (total, raw) in totals.iter_mut().zip(&scored.raw) {
                *total = total.wrapping_add(scored.weighted(*raw));
            }
        }
        dense::bar(totals, &self.verdicts);
    }

    pub fn feasible(&self) -> usize {
        self.combined.feasible()
    }

    pub fn filters(&self) -> &Filters {
        &self.filters
    }

    /// Whether what is remembered does not do for a pod of the class.
    pub fn must_be_afresh(&self, pod: &Pod) -> bool {
        self.invalid || self.filters.must_be_afresh(pod)
    }

    /// The first part that rejects each row, as [`Filters::judge_all`] has it.
    pub fn verdicts(&self) -> Vec<Verdict> {
        if !self.combined.rejects() {
            return self.verdicts.clone();
        }
        let rows = 0..self.verdicts.len() as Row;
        rows.map(|row| self.verdict(row)).collect()
    }

    fn verdict(&self, row: Row) -> Verdict {
        match self.verdicts[row as usize] {
            own @ (NO_NODE | LEFT_OUT) => own,
            own => own.min(self.combined.verdict(row)),
        }
    }

    /// Every row's total, [`NEVER`] where some filter rejects it.
    pub fn totals(&self) -> Vec<i64> {
        let mut totals = Vec::new();
        self.own_totals(&mut totals);
        self.combined.add_offsets(&mut totals);
        totals
    }

    /// Bytes held, approximately: what bounds the number of memos.
    pub fn size(&self) -> usize {
        let raws: usize = self.scores.iter().map(|s| s.raw.len() * 8).sum();
        let index = self.index.as_ref().map_or(0, PickIndex::size);
        self.verdicts.len() * 9 + raws + index + self.combined.size() + 1024
    }
}

/// Plugins of the profile that take no part in judging the pod but may come to, each with its role.
fn skipped(
    profile: &Profile,
    filters: &Filters,
    scores: &[scoring::Part],
) -> Vec<(Arc<dyn Plugin>, Point)> {
    let filtering = |p: &Arc<dyn Plugin>| filters.parts.iter().any(|f| f.plugin.name() == p.name());
    let scoring = |p: &Arc<dyn Plugin>| scores.iter().any(|s| s.plugin == p.name());
    let filters = profile
        .filter
        .iter()
        .filter(|p| p.can_wake() && !filtering(p));
    let scores = profile.score.iter().map(|(p, _)| p);
    let scores = scores.filter(|p| p.can_wake() && !scoring(p));
    let filters = filters.map(|p| (Arc::clone(p), Point::Filter));
    filters
        .chain(scores.map(|p| (Arc::clone(p), Point::Score)))
        .collect()
}

/// Whether the scores of all rows that are nodes are from 0 to 100, as kube-scheduler checks: sums of absurd
/// requests overflow, there as here.
fn are_scores_of_nodes(raw: &[i64], verdicts: &[Verdict]) -> bool {
    let mut nodes = raw.iter().zip(verdicts).filter(|(_, v)| **v != NO_NODE);
    nodes.all(|(raw, _)| (0..=MAX_SCORE).contains(raw))
}

/// Whether a form needs the other rows' scores.
fn is_relative(form: Normalize) -> bool {
    form != Normalize::None
}
