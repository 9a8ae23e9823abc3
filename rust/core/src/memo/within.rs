//! Totals as if fewer nodes were feasible than the native filters say.

use super::{Kept, Memo};
use crate::filtering::{FEASIBLE, Verdict};
use crate::normalize::Extremes;
use crate::plugin::{Affects, Rows};
use crate::snapshot::{Row, Snapshot};
use std::borrow::Cow;

impl Memo {
    /// Totals of the rows of `within`, which are feasible here, as if the other rows were not; anything
    /// elsewhere. `None` where a score has to be made anew for that.
    pub fn totals_within(&self, snap: &Snapshot, within: &[bool]) -> Option<Vec<i64>> {
        if self.invalid {
            return None;
        }
        let alive = |(within, verdict): (&bool, &Verdict)| !*within & (*verdict == FEASIBLE);
        let rows = within.iter().zip(&self.verdicts);
        // Mostly there is none: a pass without branches.
        if !rows.clone().fold(false, |any, row| any | alive(row)) {
            return Some(self.totals());
        }
        let left: Vec<Row> = rows
            .enumerate()
            .filter(|(row, pair)| alive(*pair) && self.is_feasible(*row as Row))
            .map(|(row, _)| row as Row)
            .collect();
        if left.is_empty() {
            return Some(self.totals());
        }
        let mut totals = self.base.clone();
        for scored in &self.scores {
            let mut score = scored.part.score.boxed_clone();
            let affects = score.feasible(snap, &[], &left);
            let is_own = matches!(scored.kept, Kept::Rows(_));
            match affects {
                Affects::Nothing if scored.is_in_base() => continue,
                Affects::All => return None,
                Affects::Nothing => {}
                _ if is_own => return None,
                _ => {}
            }
            if is_own && scored.constant.is_some() {
                let everywhere = scored.everywhere();
                totals
                    .iter_mut()
                    .for_each(|total| *total = total.wrapping_add(everywhere));
                continue;
            }
            let raw = if scored.varies() {
                Cow::Borrowed(&scored.raw)
            } else {
                let mut raw = vec![0; within.len()];
                score.score(snap, Rows::All(within.len()), &mut raw);
                Cow::Owned(raw)
            };
            let inside = raw.iter().zip(within).filter(|(_, within)| **within);
            let extremes = Extremes::of(inside.map(|(raw, _)| *raw));
            let (form, weight) = (score.normalize(), scored.part.weight);
            for (total, raw) in totals.iter_mut().zip(raw.iter()) {
                let normalized = form.apply(*raw, extremes);
                *total = total.wrapping_add(normalized.wrapping_mul(weight));
            }
        }
        Some(totals)
    }
}
