//! Choosing a row by what is remembered.

use super::{Memo, Scored, Scratch, dense};
use crate::pick::{NEVER, scaled};
use crate::pick_index::PickIndex;
use crate::plugin::GroupId;
use crate::snapshot::Row;

impl Memo {
    /// One of the best rows by `draw`, without those in `barred`.
    pub fn pick(&mut self, draw: u64, barred: &[Row], scratch: &mut Scratch) -> Option<Row> {
        let Some(mut index) = self.index.take() else {
            return self.pick_by_scan(draw, barred, scratch);
        };
        scratch.kept.clear();
        for row in barred {
            scratch.kept.push(index.totals()[*row as usize]);
            index.set(*row, NEVER);
        }
        let picked = self.pick_by_index(&index, draw, &mut scratch.ties);
        for (row, total) in barred.iter().zip(&scratch.kept) {
            index.set(*row, *total);
        }
        self.index = Some(index);
        picked
    }

    fn pick_by_index(&self, index: &PickIndex, draw: u64, ties: &mut Vec<GroupId>) -> Option<Row> {
        ties.clear();
        let (mut highest, mut count) = (NEVER, 0);
        for (group, state) in self.combined.groups.iter().enumerate() {
            let group = group as GroupId;
            let Some(best) = index.best(group).filter(|_| state.is_open()) else {
                continue;
            };
            let total = best.total.wrapping_add(state.offset);
            if total > highest || ties.is_empty() {
                (highest, count) = (total, 0);
                ties.clear();
            }
            if total == highest {
                ties.push(group);
                count += u64::from(best.count);
            }
        }
        index.nth_best(ties, scaled(draw, count))
    }

    fn pick_by_scan(&self, draw: u64, barred: &[Row], scratch: &mut Scratch) -> Option<Row> {
        let plain = barred.is_empty() && !self.combined.is_divided() && !self.varies();
        let totals = if plain {
            &self.base
        } else {
            let totals = &mut scratch.totals;
            self.own_totals(totals);
            if self.combined.is_divided() {
                self.combined.add_offsets(totals);
            }
            for row in barred {
                totals[*row as usize] = NEVER;
            }
            &*totals
        };
        let best = dense::highest(totals, &self.verdicts);
        if best == NEVER {
            return None;
        }
        let count = dense::count_with(totals, &self.verdicts, best);
        dense::nth_with(totals, &self.verdicts, best, scaled(draw, count))
    }

    /// Whether some score is normalised row by row.
    fn varies(&self) -> bool {
        self.scores.iter().any(Scored::varies)
    }

    /// How many of these rows pass all filters.
    pub fn feasible_among(&self, rows: &[Row]) -> usize {
        rows.iter().filter(|row| self.is_feasible(**row)).count()
    }

    /// Whether leaving out rows can change what the others' scores become.
    pub fn is_relative(&self) -> bool {
        self.combined.has_scores() || self.varies()
    }

    /// Prepares for many picks.
    pub fn ensure_index(&mut self, scratch: &mut Scratch) {
        if self.index.is_none() {
            self.fill_index(scratch);
        }
    }

    pub(super) fn fill_index(&mut self, scratch: &mut Scratch) {
        self.own_totals(&mut scratch.totals);
        let index = self.index.get_or_insert_default();
        let groups = self.combined.groups.len();
        index.rebuild(&scratch.totals, self.combined.of_row(), groups);
    }
}
