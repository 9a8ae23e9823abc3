//! Choosing a row by what is remembered.

use super::crowd::{Barred, holds};
use super::{Memo, Scored, Scratch, dense};
use crate::pick::{NEVER, scaled};
use crate::pick_index::PickIndex;
use crate::plugin::GroupId;
use crate::snapshot::Row;
use crate::trial::Refused;

impl Memo {
    /// One of the best rows by `draw`. `barred` is what [`Memo::crowd`] returned.
    pub fn pick(&mut self, draw: u64, barred: &Barred, scratch: &mut Scratch) -> Option<Row> {
        let Some(mut index) = self.index.take() else {
            return self.pick_by_scan(draw, &self.crowded(barred), scratch);
        };
        scratch.kept.clear();
        match barred {
            Barred::Alike => {}
            Barred::But(row, refused) => {
                let total = match refused {
                    Some(_) => NEVER,
                    None => self.own_total(*row),
                };
                scratch.kept.push((*row, index.totals()[*row as usize]));
                index.set(*row, total);
            }
            Barred::Listed(list) => self.bar_otherwise(&mut index, list, &mut scratch.kept),
        }
        let picked = self.pick_by_index(&index, draw, &mut scratch.ties);
        for (row, total) in &scratch.kept {
            index.set(*row, *total);
        }
        self.index = Some(index);
        picked
    }

    /// Bars the rows of another list than that of the class; `kept` has what is to be put back.
    fn bar_otherwise(
        &self,
        index: &mut PickIndex,
        own: &[(Row, Refused)],
        kept: &mut Vec<(Row, i64)>,
    ) {
        let class = &self.failures.crowd.refused;
        let open = class.iter().filter(|(row, _)| !holds(own, *row));
        for (row, _) in open {
            kept.push((*row, NEVER));
            index.set(*row, self.own_total(*row));
        }
        let barred = own.iter().filter(|(row, _)| !holds(class, *row));
        for (row, _) in barred {
            kept.push((*row, index.totals()[*row as usize]));
            index.set(*row, NEVER);
        }
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

    fn pick_by_scan(
        &self,
        draw: u64,
        barred: &[(Row, Refused)],
        scratch: &mut Scratch,
    ) -> Option<Row> {
        let plain = barred.is_empty() && !self.combined.is_divided() && !self.varies();
        let totals = if plain {
            &self.base
        } else {
            let totals = &mut scratch.totals;
            self.own_totals(totals);
            if self.combined.is_divided() {
                self.combined.add_offsets(totals);
            }
            for (row, _) in barred {
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
        for (row, _) in &self.failures.crowd.refused {
            scratch.totals[*row as usize] = NEVER;
        }
        let index = self.index.get_or_insert_default();
        let groups = self.combined.groups.len();
        index.rebuild(&scratch.totals, self.combined.of_row(), groups);
    }
}
