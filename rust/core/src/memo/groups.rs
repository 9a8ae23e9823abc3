//! Rows that all domain-valued plugins of a class see alike, and what such rows share: whether those
//! plugins accept them, and what they add to their totals.

use super::{Kept, Scored, dense};
use crate::filtering::{FEASIBLE, Filters, Verdict};
use crate::normalize::Extremes;
use crate::pick::NEVER;
use crate::plugin::GroupId;
use crate::snapshot::Row;
use crate::status::Code;
use rustc_hash::FxHashMap;

/// The most groups that are worth keeping among so many rows: a pick looks at each.
pub(super) fn limit(rows: usize) -> usize {
    (rows / 8).clamp(8, 512)
}

#[derive(Clone, Debug)]
pub(super) struct Group {
    /// Rows that the parts kept by row accept.
    alive: u32,
    /// The first part kept by group that rejects it.
    pub(super) verdict: Verdict,
    /// What is added to the totals of its rows.
    pub(super) offset: i64,
}

impl Group {
    pub(super) fn is_open(&self) -> bool {
        self.alive > 0 && self.verdict == FEASIBLE
    }
}

/// A combined group is a tuple of groups, one of each part that is kept by group: filters, then scores.
#[derive(Debug, Default)]
pub(super) struct Combined {
    filters: Vec<usize>,
    scores: Vec<usize>,
    /// Per score: the layout of the groups it was combined from.
    layouts: Vec<usize>,
    /// Per part: (number of the tuple so far, its own group) → number of the longer tuple.
    steps: Vec<FxHashMap<(GroupId, GroupId), GroupId>>,
    /// Tuple after tuple.
    tuples: Vec<GroupId>,
    /// Per row; empty if no part is kept by group: then all rows are one group.
    of_row: Vec<GroupId>,
    pub(super) groups: Vec<Group>,
    feasible: usize,
}

impl Combined {
    pub(super) fn clear(&mut self) {
        *self = Combined {
            of_row: std::mem::take(&mut self.of_row),
            ..Combined::default()
        };
        self.of_row.clear();
    }

    /// Combines the filters that are to be kept by group; one that would make too many groups is kept by row.
    pub(super) fn add_filters(&mut self, filters: &Filters, kept: &mut [Kept]) {
        self.clear();
        for (index, part) in filters.parts.iter().enumerate() {
            if let (Kept::Groups, Some(groups)) = (kept[index], part.filter.groups()) {
                match self.refine(groups.of_row) {
                    true => self.filters.push(index),
                    false => kept[index] = Kept::Rows(part.filter.reads()),
                }
            }
        }
    }

    /// Combines the scores with the filters, those with few groups first, in the same way.
    pub(super) fn add_scores(&mut self, scores: &mut [Scored]) {
        self.steps.truncate(self.filters.len());
        self.scores.clear();
        self.layouts.clear();
        let grouped = |(at, scored): (usize, &Scored)| {
            let groups = scored.part.score.groups()?;
            (scored.kept == Kept::Groups).then_some((groups.values.len(), at))
        };
        let mut order: Vec<_> = scores.iter().enumerate().filter_map(grouped).collect();
        order.sort_unstable();
        for (_, at) in order {
            let groups = scores[at].part.score.groups();
            if groups.is_some_and(|groups| self.refine(groups.of_row)) {
                self.scores.push(at);
                self.layouts.push(scores[at].layout());
            } else {
                scores[at].keep_by_row();
            }
        }
    }

    /// Splits the groups so far by those of one more part, unless that makes too many.
    fn refine(&mut self, of_row: &[GroupId]) -> bool {
        let mut step = FxHashMap::default();
        let mut split = Vec::with_capacity(of_row.len());
        for (row, group) in of_row.iter().enumerate() {
            let next = step.len() as GroupId;
            let before = self.group(row as Row);
            split.push(*step.entry((before, *group)).or_insert(next));
        }
        let fits = step.len() <= limit(of_row.len());
        if fits {
            self.of_row = split;
            self.steps.push(step);
        }
        fits
    }

    /// Counts the rows of each group, and notes of which groups of the parts it is made.
    pub(super) fn take_in(&mut self, verdicts: &[Verdict], filters: &Filters, scores: &[Scored]) {
        let len = self.steps.last().map_or(1, FxHashMap::len);
        let group = Group {
            alive: 0,
            verdict: FEASIBLE,
            offset: 0,
        };
        self.groups.clear();
        self.groups.resize(len, group);
        self.tuples.clear();
        self.tuples.resize(len * self.steps.len(), 0);
        if self.of_row.is_empty() {
            self.groups[0].alive = dense::feasible(verdicts) as u32;
        }
        for (group, verdict) in self.of_row.iter().zip(verdicts) {
            self.groups[*group as usize].alive += u32::from(*verdict == FEASIBLE);
        }
        let mut noted = vec![false; len];
        for row in 0..self.of_row.len() {
            let group = self.of_row[row] as usize;
            if !std::mem::replace(&mut noted[group], true) {
                self.note(group, row as Row, filters, scores);
            }
        }
        for index in 0..len {
            self.groups[index].verdict = self.judge(index, filters);
        }
    }

    fn note(&mut self, group: usize, row: Row, filters: &Filters, scores: &[Scored]) {
        let width = self.steps.len();
        for part in 0..width {
            self.tuples[group * width + part] = self.part_group(part, row, filters, scores);
        }
    }

    /// The group of a row in one part.
    fn part_group(&self, part: usize, row: Row, filters: &Filters, scores: &[Scored]) -> GroupId {
        let of_row = match part.checked_sub(self.filters.len()) {
            None => {
                let groups = filters.parts[self.filters[part]].filter.groups();
                groups.map(|groups| groups.of_row)
            }
            Some(at) => {
                let groups = scores[self.scores[at]].part.score.groups();
                groups.map(|groups| groups.of_row)
            }
        };
        of_row.map_or(0, |of_row| of_row[row as usize])
    }

    /// The first part kept by group that rejects a group.
    fn judge(&self, group: usize, filters: &Filters) -> Verdict {
        for (part, index) in self.filters.iter().enumerate() {
            let own = self.tuples[group * self.steps.len() + part];
            let groups = filters.parts[*index].filter.groups();
            if groups.is_some_and(|groups| groups.values[own as usize] != Code::Success) {
                return *index as Verdict;
            }
        }
        FEASIBLE
    }

    /// Judges all groups anew; whether any is accepted that was not, or the other way round.
    pub(super) fn rejudge(&mut self, filters: &Filters) -> bool {
        let mut flipped = false;
        for index in 0..self.groups.len() {
            let verdict = self.judge(index, filters);
            let before = std::mem::replace(&mut self.groups[index].verdict, verdict);
            flipped |= (before == FEASIBLE) != (verdict == FEASIBLE);
        }
        flipped
    }

    /// Whether the groups of all scores are still numbered as they were.
    pub(super) fn holds(&self, scores: &[Scored]) -> bool {
        let few = limit(self.of_row.len());
        let mut pairs = self.scores.iter().zip(&self.layouts);
        self.groups.len() <= 2 * few
            && pairs.all(|(at, layout)| scores[*at].holds_layout(*layout, few))
    }

    /// Puts a row in the group it now belongs to; its old and new one if they differ.
    pub(super) fn regroup(
        &mut self,
        row: Row,
        is_alive: bool,
        filters: &Filters,
        scores: &[Scored],
    ) -> Option<GroupId> {
        let mut combined = 0;
        for part in 0..self.steps.len() {
            let own = self.part_group(part, row, filters, scores);
            let step = &mut self.steps[part];
            let next = step.len() as GroupId;
            combined = *step.entry((combined, own)).or_insert(next);
        }
        let before = std::mem::replace(&mut self.of_row[row as usize], combined);
        if before == combined {
            return None;
        }
        let index = combined as usize;
        if index == self.groups.len() {
            self.groups.push(Group {
                alive: 0,
                verdict: FEASIBLE,
                offset: 0,
            });
            self.tuples.resize(self.groups.len() * self.steps.len(), 0);
            self.note(index, row, filters, scores);
            self.groups[index].verdict = self.judge(index, filters);
        }
        self.groups[before as usize].alive -= u32::from(is_alive);
        self.groups[index].alive += u32::from(is_alive);
        Some(combined)
    }

    /// A row came to be accepted, or rejected, by the parts kept by row.
    pub(super) fn count(&mut self, row: Row, is_alive: bool) {
        let group = self.group(row);
        let alive = &mut self.groups[group as usize].alive;
        match is_alive {
            true => *alive += 1,
            false => *alive -= 1,
        }
    }

    /// Brings what groups add to totals up to date, and the number of feasible rows.
    pub(super) fn settle(&mut self, scores: &mut [Scored]) {
        let open = self.groups.iter().filter(|group| group.is_open());
        self.feasible = open.map(|group| group.alive as usize).sum();
        let width = self.steps.len();
        let first = self.filters.len();
        for (at, index) in self.scores.iter().enumerate() {
            let own = |group: usize| self.tuples[group * width + first + at];
            let scored = &mut scores[*index];
            let open = (0..self.groups.len()).filter(|group| self.groups[*group].is_open());
            scored.extremes = Extremes::of(open.map(|group| scored.of_group(own(group))));
        }
        let everywhere = scores.iter().map(Scored::everywhere);
        let everywhere = everywhere.fold(0i64, i64::wrapping_add);
        for index in 0..self.groups.len() {
            let parts = self.scores.iter().enumerate();
            let add = |sum: i64, (at, score): (usize, &usize)| {
                let scored = &scores[*score];
                let own = self.tuples[index * width + first + at];
                sum.wrapping_add(scored.weighted(scored.of_group(own)))
            };
            self.groups[index].offset = parts.fold(everywhere, add);
        }
    }

    pub(super) fn group(&self, row: Row) -> GroupId {
        self.of_row.get(row as usize).copied().unwrap_or(0)
    }

    pub(super) fn of_row(&self) -> &[GroupId] {
        &self.of_row
    }

    /// Whether some part is kept by group.
    pub(super) fn is_divided(&self) -> bool {
        !self.steps.is_empty()
    }

    /// Whether some score is kept by group.
    pub(super) fn has_scores(&self) -> bool {
        !self.scores.is_empty()
    }

    pub(super) fn verdict(&self, row: Row) -> Verdict {
        self.groups[self.group(row) as usize].verdict
    }

    /// Whether a part kept by group rejects some row.
    pub(super) fn rejects(&self) -> bool {
        self.groups.iter().any(|group| group.verdict != FEASIBLE)
    }

    pub(super) fn accepts(&self, row: Row) -> bool {
        self.verdict(row) == FEASIBLE
    }

    pub(super) fn feasible(&self) -> usize {
        self.feasible
    }

    /// Makes totals of rows' own parts of them.
    pub(super) fn add_offsets(&self, totals: &mut [i64]) {
        if !self.is_divided() {
            let is_open = self.groups[0].verdict == FEASIBLE;
            let offset = self.groups[0].offset;
            for total in totals {
                let counts = is_open & (*total != NEVER);
                *total = if counts {
                    total.wrapping_add(offset)
                } else {
                    NEVER
                };
            }
            return;
        }
        for (row, total) in totals.iter_mut().enumerate() {
            let group = &self.groups[self.group(row as Row) as usize];
            *total = match *total != NEVER && group.verdict == FEASIBLE {
                true => total.wrapping_add(group.offset),
                false => NEVER,
            };
        }
    }

    pub(super) fn size(&self) -> usize {
        4 * self.of_row.len() + 64 * self.groups.len()
    }
}
