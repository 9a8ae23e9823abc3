//! One score plugin's part in the totals.

use super::{Kept, dense, is_relative};
use crate::filtering::{NO_NODE, Verdict};
use crate::normalize::{Extremes, Normalize};
use crate::plugin::{GroupId, Rows};
use crate::scoring;
use crate::snapshot::Snapshot;

#[derive(Debug)]
pub(super) struct Scored {
    pub(super) part: scoring::Part,
    pub(super) form: Normalize,
    pub(super) kept: Kept,
    /// Per row, where it is kept by row, normalised, and not the same everywhere.
    pub(super) raw: Vec<i64>,
    /// Of all nodes, where it is kept by row and known to be the same everywhere.
    pub(super) constant: Option<i64>,
    /// Over the feasible rows.
    pub(super) extremes: Extremes,
}

impl Scored {
    /// `few` is the most groups worth keeping.
    pub(super) fn new(part: scoring::Part, few: usize) -> Self {
        let groups = part.score.groups();
        let kept = match groups.is_some_and(|groups| groups.values.len() <= few) {
            true => Kept::Groups,
            false => Kept::Rows(part.score.reads()),
        };
        Scored {
            form: part.score.normalize(),
            part,
            kept,
            raw: Vec::new(),
            constant: None,
            extremes: Extremes::of([]),
        }
    }

    /// Whether it has a raw score of its own for each row.
    pub(super) fn varies(&self) -> bool {
        !self.raw.is_empty()
    }

    /// Whether rows have it in `base`.
    pub(super) fn is_in_base(&self) -> bool {
        matches!(self.kept, Kept::Rows(_)) && !is_relative(self.form) && self.constant.is_none()
    }

    pub(super) fn weighted(&self, raw: i64) -> i64 {
        let normalized = self.form.apply(raw, self.extremes);
        normalized.wrapping_mul(self.part.weight)
    }

    /// What a score that is the same everywhere adds to every total.
    pub(super) fn everywhere(&self) -> i64 {
        self.constant.map_or(0, |raw| self.weighted(raw))
    }

    /// Scores all rows if the scores are to be normalised. `spare` are buffers to take from.
    pub(super) fn evaluate(
        &mut self,
        snap: &Snapshot,
        verdicts: &[Verdict],
        spare: &mut Vec<Vec<i64>>,
    ) {
        if let Some(constant) = self.part.score.everywhere(snap) {
            self.constant = Some(constant);
            self.extremes = Extremes::of(self.constant);
            return;
        }
        if !is_relative(self.form) {
            return;
        }
        let mut raw = spare.pop().unwrap_or_default();
        raw.resize(verdicts.len(), 0);
        let all = Rows::All(verdicts.len());
        self.part.score.score(snap, all, &mut raw);
        let (same, first) = sameness(&raw, verdicts);
        if same {
            raw.clear();
            self.constant = Some(first);
            self.extremes = Extremes::of(self.constant);
        }
        self.raw = raw;
    }

    /// Adds the weighted scores of all rows to `base`, or writes them there if it is empty. The scores.
    pub(super) fn add_to<'a>(
        &self,
        base: &'a mut [i64],
        snap: &Snapshot,
        (is_empty, raw): (bool, &'a mut Vec<i64>),
    ) -> &'a [i64] {
        let (all, weight) = (Rows::All(base.len()), self.part.weight);
        if is_empty && weight == 1 {
            self.part.score.score(snap, all, base);
            return base;
        }
        raw.resize(base.len(), 0);
        self.part.score.score(snap, all, raw);
        if is_empty {
            base.fill(0);
        }
        dense::add_weighted(base, raw, weight);
        raw
    }

    /// The raw score of a group of rows.
    pub(super) fn of_group(&self, group: GroupId) -> i64 {
        let groups = self.part.score.groups();
        groups.map_or(0, |groups| groups.values[group as usize])
    }

    pub(super) fn keep_by_row(&mut self) {
        self.kept = Kept::Rows(self.part.score.reads());
    }

    pub(super) fn layout(&self) -> usize {
        self.part.score.groups().map_or(0, |groups| groups.layout)
    }

    /// Whether its groups are what they were combined from.
    pub(super) fn holds_layout(&self, layout: usize, few: usize) -> bool {
        let groups = self.part.score.groups();
        groups.is_some_and(|groups| groups.layout == layout && groups.values.len() <= few)
    }
}

/// Whether all nodes have the same score, and the first one's.
fn sameness(raw: &[i64], verdicts: &[Verdict]) -> (bool, i64) {
    if dense::is_even(raw) {
        return (true, raw.first().copied().unwrap_or(0));
    }
    let mut nodes = raw.iter().zip(verdicts).filter(|(_, v)| **v != NO_NODE);
    let first = nodes.next().map_or(0, |(raw, _)| *raw);
    (nodes.all(|(raw, _)| *raw == first), first)
}
