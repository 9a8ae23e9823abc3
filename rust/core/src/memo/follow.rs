//! Keeping a memo in step: the changes of the snapshot go through every part that keeps counts, and only
//! what they can reach is judged and scored anew.

use super::{Kept, Memo, Refusal, Scratch};
use crate::filtering::{FEASIBLE, NO_NODE, Verdict};
use crate::normalize::MAX_SCORE;
use crate::plugin::{Affects, Plugin, Point, Reads, Rows};
use crate::profile::Profile;
use crate::snapshot::{Change, Pod, Row, Snapshot};
use crate::status::Code;
use std::sync::Arc;

/// Something could not follow: the memo must be made anew.
struct Lost;

/// What the parts kept by group made of the changes.
#[derive(Clone, Copy, Default)]
struct Moves {
    /// Some group has another value, or some row another group.
    groups: bool,
    /// Some group is accepted that was not, or the other way round.
    verdicts: bool,
}

impl Memo {
    /// Brings everything up to date. Falls back to a fresh evaluation where following costs more or
    /// a plugin cannot follow.
    pub fn catch_up(
        &mut self,
        snap: &Snapshot,
        profile: &Profile,
        pod: &Pod,
        scratch: &mut Scratch,
    ) -> Result<(), Refusal> {
        let Some(changes) = snap.changes.since(self.seen) else {
            return self.rebuild(snap, profile, pod, scratch);
        };
        if changes.is_empty() {
            return Ok(());
        }
        let lost = self.invalid || changes.len() > self.patience();
        if lost || self.must_remake(snap, changes, pod) {
            return self.rebuild(snap, profile, pod, scratch);
        }
        self.failures.follow(changes);
        scratch.collect(changes, self.verdicts.len());
        let Ok(mut moves) = self.follow_filters(snap, changes, scratch) else {
            return self.rebuild(snap, profile, pod, scratch);
        };
        self.seen = snap.changes.now();
        if self
            .follow_scores(snap, changes, &mut moves, scratch)
            .is_err()
        {
            return self.rescore_all(snap, profile, pod, scratch);
        }
        self.finish(snap, moves, scratch)
            .or_else(|Lost| self.rescore_all(snap, profile, pod, scratch))
    }

    /// Makes everything but the verdicts anew.
    fn rescore_all(
        &mut self,
        snap: &Snapshot,
        profile: &Profile,
        pod: &Pod,
        scratch: &mut Scratch,
    ) -> Result<(), Refusal> {
        self.combined.add_filters(&self.filters, &mut self.kept);
        self.score_all(snap, profile, pod, scratch)
    }

    /// How many changes are followed before a fresh evaluation costs less. Rows are evaluated many times
    /// faster together than by list; what keeps counts is dear to make.
    pub fn patience(&self) -> usize {
        let counts = |kept: &Kept| !matches!(kept, Kept::Rows(Reads::Node | Reads::Row));
        let filters = self.kept.iter().any(counts);
        let rows = self.verdicts.len();
        match filters || self.scores.iter().any(|scored| counts(&scored.kept)) {
            true => Self::most_patience(rows),
            false => rows / 32 + 64,
        }
    }

    /// The most that [`Memo::patience`] comes to.
    pub fn most_patience(rows: usize) -> usize {
        rows / 4 + 64
    }

    /// Whether a change reaches beyond what the parts can follow.
    fn must_remake(&self, snap: &Snapshot, changes: &[Change], pod: &Pod) -> bool {
        if self.verdicts.len() != snap.nodes.len() {
            return true;
        }
        changes.iter().any(|change| match change {
            Change::World => true,
            Change::Storage => self.reads_storage,
            Change::Node { row, .. } => {
                let was_node = self.verdicts[*row as usize] != NO_NODE;
                let wakes = |(plugin, at): &(Arc<dyn Plugin>, Point)| {
                    plugin.wakes_with_node(snap, pod, *at)
                };
                was_node != snap.nodes.live[*row as usize] || self.skipped.iter().any(wakes)
            }
            Change::Placed { template, .. } | Change::Removed { template, .. } => {
                let wakes = |(plugin, at): &(Arc<dyn Plugin>, Point)| {
                    plugin.wakes(snap, template, pod, *at)
                };
                self.skipped.iter().any(wakes)
            }
        })
    }

    /// Follows the changes in all filters, and judges anew what they can reach by row.
    fn follow_filters(
        &mut self,
        snap: &Snapshot,
        changes: &[Change],
        scratch: &mut Scratch,
    ) -> Result<Moves, Lost> {
        let mut moves = Moves::default();
        let parts = self.filters.parts.iter_mut().zip(&self.kept).enumerate();
        let len = self.kept.len();
        scratch
            .filters
            .resize_with(scratch.filters.len().max(len), Default::default);
        for (at, (part, kept)) in parts {
            let dirty = &mut scratch.filters[at];
            dirty.clear();
            if matches!(kept, Kept::Rows(Reads::Node | Reads::Row)) {
                continue;
            }
            for change in changes {
                let Some(row) = change.row() else { continue };
                match (part.filter_mut().follow(snap, change), kept) {
                    (Affects::All, _) => return Err(Lost),
                    (affects, Kept::Groups) => moves.groups |= affects != Affects::Nothing,
                    (affects, Kept::Rows(_)) => dirty.add(snap, affects, row),
                }
            }
            dirty.settle(self.verdicts.len());
        }
        self.rejudge_rows(snap, scratch);
        if moves.groups {
            moves.verdicts = self.combined.rejudge(&self.filters);
        }
        Ok(moves)
    }

    fn rejudge_rows(&mut self, snap: &Snapshot, scratch: &mut Scratch) {
        scratch.revised.clear();
        scratch.set.clear(self.verdicts.len());
        for at in 0..self.kept.len() {
            let Scratch {
                codes,
                moved,
                renewed,
                filters,
                revised,
                set,
                ..
            } = scratch;
            let rows = match self.kept[at] {
                Kept::Rows(Reads::Row) => moved,
                Kept::Rows(Reads::Node) => renewed,
                Kept::Rows(Reads::Follow) => &mut filters[at].rows,
                Kept::Groups => continue,
            };
            if rows.is_empty() {
                continue;
            }
            codes.clear();
            codes.resize(rows.len(), Code::Success);
            let filter = &self.filters.parts[at].filter;
            filter.filter(snap, Rows::List(rows), codes);
            for (&row, code) in rows.iter().zip(codes.iter()) {
                let before = self.verdicts[row as usize];
                if self.revise(snap, row, at as Verdict, *code == Code::Success) && set.insert(row)
                {
                    revised.push((row, before == FEASIBLE));
                }
            }
        }
        // A row may be rejected by one part and accepted by another: what counts is the end.
        let verdicts = &self.verdicts;
        let flips = |(row, was): &(Row, bool)| (verdicts[*row as usize] == FEASIBLE) != *was;
        scratch.revised.retain(flips);
        for (row, was) in &scratch.revised {
            self.combined.count(*row, !*was);
        }
    }

    /// Records that part `index` now accepts or rejects `row`; an earlier part's rejection stands. Whether
    /// the row's verdict changed.
    fn revise(&mut self, snap: &Snapshot, row: Row, index: Verdict, accepts: bool) -> bool {
        let before = self.verdicts[row as usize];
        let after = match (accepts, before) {
            (_, NO_NODE) => return false,
            (false, FEASIBLE) => index,
            (false, first) if index < first => index,
            (true, first) if first == index => self.judge(snap, row, usize::from(index) + 1),
            _ => return false,
        };
        self.verdicts[row as usize] = after;
        true
    }

    /// Follows the changes in all scores.
    fn follow_scores(
        &mut self,
        snap: &Snapshot,
        changes: &[Change],
        moves: &mut Moves,
        scratch: &mut Scratch,
    ) -> Result<(), Lost> {
        let len = self.scores.len();
        scratch
            .scores
            .resize_with(scratch.scores.len().max(len), Default::default);
        scratch.regrouped.clear();
        for (scored, dirty) in self.scores.iter_mut().zip(&mut scratch.scores) {
            dirty.clear();
            if matches!(scored.kept, Kept::Rows(Reads::Node | Reads::Row)) {
                continue;
            }
            for change in changes {
                let Some(row) = change.row() else { continue };
                match (scored.part.score.follow(snap, change), scored.kept) {
                    (Affects::All, _) => return Err(Lost),
                    (Affects::Nothing, _) => {}
                    (_, Kept::Groups) => {
                        moves.groups = true;
                        scratch.regrouped.push(row);
                    }
                    (affects, Kept::Rows(_)) => dirty.add(snap, affects, row),
                }
            }
        }
        self.follow_feasible(snap, moves, scratch)
    }

    /// Tells the scores that ask for it which rows came to and left the feasible set.
    fn follow_feasible(
        &mut self,
        snap: &Snapshot,
        moves: &mut Moves,
        scratch: &mut Scratch,
    ) -> Result<(), Lost> {
        let asks = |s: &super::Scored| s.part.score.reads_feasible();
        if !self.scores.iter().any(asks) {
            return Ok(());
        }
        if moves.verdicts {
            // Whole groups came or went; what the set was is no longer known.
            return Err(Lost);
        }
        let Scratch {
            revised,
            entered,
            left,
            scores,
            ..
        } = scratch;
        let counts = |(row, _): &&(Row, bool)| self.combined.accepts(*row);
        let rows = |was: bool| {
            let rows = revised.iter().filter(counts);
            rows.filter(move |(_, before)| *before == was)
                .map(|(row, _)| *row)
        };
        entered.clear();
        entered.extend(rows(false));
        left.clear();
        left.extend(rows(true));
        let Some(row) = entered.iter().chain(left.iter()).next().copied() else {
            return Ok(());
        };
        for (scored, dirty) in self.scores.iter_mut().zip(scores) {
            match (scored.part.score.feasible(snap, entered, left), scored.kept) {
                (Affects::All, _) => return Err(Lost),
                (affects, Kept::Groups) => moves.groups |= affects != Affects::Nothing,
                (affects, Kept::Rows(_)) => dirty.add(snap, affects, row),
            }
        }
        Ok(())
    }

    /// Brings totals, groups and the index up to date.
    fn finish(&mut self, snap: &Snapshot, moves: Moves, scratch: &mut Scratch) -> Result<(), Lost> {
        if moves.groups && !self.combined.holds(&self.scores) {
            return Err(Lost);
        }
        self.rescore_base(snap, scratch);
        let mut moved = self.rescore_varying(snap, scratch)?;
        scratch
            .touched
            .extend(scratch.revised.iter().map(|(row, _)| *row));
        if moves.verdicts || !scratch.revised.is_empty() {
            moved |= self.measure();
        }
        if moves.groups && self.combined.has_scores() {
            self.regroup(&scratch.regrouped);
        }
        if moves.groups || !scratch.revised.is_empty() {
            self.combined.settle(&mut self.scores);
        }
        if self.index.is_none() {
            return Ok(());
        }
        let many = scratch.touched.len() > self.verdicts.len() / 16 + 16;
        if moved || many {
            self.fill_index(scratch);
            return Ok(());
        }
        for &row in &scratch.touched {
            let total = self.total_in_index(row);
            if let Some(index) = &mut self.index {
                index.set(row, total);
            }
        }
        Ok(())
    }

    /// Puts rows in the groups they now belong to.
    fn regroup(&mut self, rows: &[Row]) {
        for &row in rows {
            let is_alive = self.verdicts[row as usize] == FEASIBLE;
            let combined = &mut self.combined;
            let moved = combined.regroup(row, is_alive, &self.filters, &self.scores);
            if let (Some(group), Some(index)) = (moved, &mut self.index) {
                index.ensure_groups(self.combined.groups.len());
                index.regroup(row, group);
            }
        }
    }

    /// Sums up the scores that need no normalisation for the rows that may have others; notes the rows.
    fn rescore_base(&mut self, snap: &Snapshot, scratch: &mut Scratch) {
        let Scratch {
            moved,
            renewed,
            scores: dirty,
            touched,
            raw,
            ..
        } = scratch;
        touched.clear();
        let in_base = |scored: &&super::Scored| scored.is_in_base();
        let mut parts = self.scores.iter().filter(in_base);
        let reads_row = parts.any(|scored| scored.kept == Kept::Rows(Reads::Row));
        touched.extend_from_slice(if reads_row { moved } else { renewed });
        let mut more = false;
        for (scored, dirty) in self.scores.iter().zip(dirty.iter_mut()) {
            if scored.is_in_base() && (dirty.every || !dirty.rows.is_empty()) {
                dirty.settle(self.verdicts.len());
                touched.extend_from_slice(&dirty.rows);
                more = true;
            }
        }
        if more {
            touched.sort_unstable();
            touched.dedup();
        }
        if touched.is_empty() {
            return;
        }
        for &row in touched.iter() {
            self.base[row as usize] = 0;
        }
        for scored in self.scores.iter().filter(in_base) {
            raw.clear();
            raw.resize(touched.len(), 0);
            scored.part.score.score(snap, Rows::List(touched), raw);
            let bounds = 0..=MAX_SCORE;
            for (&row, raw) in touched.iter().zip(raw.iter()) {
                self.invalid |= !bounds.contains(raw) && self.verdicts[row as usize] != NO_NODE;
                let sum = &mut self.base[row as usize];
                *sum = sum.wrapping_add(raw.wrapping_mul(scored.part.weight));
            }
        }
    }

    /// Scores anew what is normalised and kept by row; notes the rows. Whether any extremes moved.
    fn rescore_varying(&mut self, snap: &Snapshot, scratch: &mut Scratch) -> Result<bool, Lost> {
        let mut moved = false;
        for at in 0..self.scores.len() {
            let scored = &self.scores[at];
            let rows = match scored.kept {
                Kept::Groups => continue,
                Kept::Rows(_) if scored.is_in_base() => continue,
                Kept::Rows(Reads::Row) => &scratch.moved,
                Kept::Rows(Reads::Node) => &scratch.renewed,
                Kept::Rows(Reads::Follow) => {
                    scratch.scores[at].settle(self.verdicts.len());
                    &scratch.scores[at].rows
                }
            };
            if rows.is_empty() {
                continue;
            }
            let raw = &mut scratch.raw;
            raw.clear();
            raw.resize(rows.len(), 0);
            scored.part.score.score(snap, Rows::List(rows), raw);
            if let Some(constant) = scored.constant {
                let live = |row: &Row| self.verdicts[*row as usize] != NO_NODE;
                let mut pairs = rows.iter().zip(raw.iter());
                if pairs.any(|(row, raw)| live(row) && *raw != constant) {
                    return Err(Lost);
                }
                continue;
            }
            scratch.touched.extend_from_slice(rows);
            let mut rescan = false;
            for (&row, &new) in rows.iter().zip(raw.iter()) {
                let counts = self.is_feasible(row);
                let scored = &mut self.scores[at];
                let old = std::mem::replace(&mut scored.raw[row as usize], new);
                let known = scored.extremes;
                // An extreme may leave with this row: only a scan can tell what is next.
                rescan |= counts && old != new && (old == known.min || old == known.max);
                rescan |= counts && (new < known.min || new > known.max);
            }
            if rescan {
                moved |= self.measure();
            }
        }
        Ok(moved)
    }
}
