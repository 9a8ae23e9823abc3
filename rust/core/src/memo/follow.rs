//! Keeping a memo in step: the changes of the snapshot go through every part, and only what they can
//! reach is judged and scored anew.

use super::{Memo, Refusal};
use crate::filtering::{FEASIBLE, NO_NODE, Verdict};
use crate::normalize::Normalize;
use crate::plugin::{Affects, Plugin, Point, Rows};
use crate::profile::Profile;
use crate::snapshot::{Change, Pod, Row, Snapshot};
use crate::status::Code;
use std::sync::Arc;

/// Rows that one part must look at again.
#[derive(Debug, Default)]
struct Dirty {
    rows: Vec<Row>,
    every: bool,
    all: bool,
}

impl Dirty {
    fn clear(&mut self) {
        self.rows.clear();
        self.all = false;
        self.every = false;
    }

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

/// Buffers of [`Memo::catch_up`], kept so that a steady state allocates nothing.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    filters: Vec<Dirty>,
    scores: Vec<Dirty>,
    pub(super) codes: Vec<Code>,
    /// Rows whose feasibility changed, ascending.
    flipped: Vec<Row>,
    /// Those of them that are feasible now, and the others.
    entered: Vec<Row>,
    left: Vec<Row>,
    /// Rows whose total must be computed anew.
    pub(super) touched: Vec<Row>,
    local: Vec<Row>,
    pub(super) raw: Vec<i64>,
}

impl Memo {
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
        if !self.crowding.is_empty() {
            for row in changes.iter().filter_map(Change::row) {
                self.crowding.remove(&row);
            }
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        let followed = self.follow_filters(snap, changes, &mut scratch);
        let scored = followed && self.follow_scores(snap, changes, &mut scratch);
        self.scratch = scratch;
        if !followed {
            return self.remake(snap, profile, pod);
        }
        self.seen = snap.changes.now();
        if !scored {
            self.score_all(snap, profile, pod)?;
        }
        Ok(())
    }

    fn remake(&mut self, snap: &Snapshot, profile: &Profile, pod: &Pod) -> Result<(), Refusal> {
        self.rebuild(snap, profile, pod)
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

    /// Follows the changes in all filters and notes the rows whose feasibility flipped; false if some
    /// filter must be made anew.
    fn follow_filters(
        &mut self,
        snap: &Snapshot,
        changes: &[Change],
        scratch: &mut Scratch,
    ) -> bool {
        let parts = self.filters.parts.len();
        let Scratch {
            filters: dirty,
            codes,
            flipped,
            ..
        } = scratch;
        dirty.resize_with(parts, Dirty::default);
        for (part, dirty) in self.filters.parts.iter_mut().zip(dirty.iter_mut()) {
            dirty.clear();
            for change in changes {
                if let Some(row) = change.row() {
                    dirty.add(snap, part.filter_mut().follow(snap, change), row);
                }
            }
            if dirty.all {
                return false;
            }
            dirty.settle(self.verdicts.len());
        }
        flipped.clear();
        for (index, dirty) in dirty.iter().enumerate() {
            if dirty.rows.is_empty() {
                continue;
            }
            codes.clear();
            codes.resize(dirty.rows.len(), Code::Success);
            let filter = &self.filters.parts[index].filter;
            filter.filter(snap, Rows::List(&dirty.rows), codes);
            for (&row, code) in dirty.rows.iter().zip(codes.iter()) {
                self.revise(snap, row, index as Verdict, *code == Code::Success, flipped);
            }
        }
        flipped.sort_unstable();
        true
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
    fn follow_scores(
        &mut self,
        snap: &Snapshot,
        changes: &[Change],
        scratch: &mut Scratch,
    ) -> bool {
        let Scratch {
            scores: dirty,
            flipped,
            entered,
            left,
            ..
        } = scratch;
        let is_feasible = |row: &Row| self.verdicts[*row as usize] == FEASIBLE;
        entered.clear();
        entered.extend(flipped.iter().filter(|row| is_feasible(row)));
        left.clear();
        left.extend(flipped.iter().filter(|row| !is_feasible(row)));
        dirty.resize_with(self.scores.len(), Dirty::default);
        for (scored, dirty) in self.scores.iter_mut().zip(dirty.iter_mut()) {
            dirty.clear();
            for change in changes {
                if let Some(row) = change.row() {
                    dirty.add(snap, scored.part.score.follow(snap, change), row);
                }
            }
            if let Some(&row) = flipped.first() {
                dirty.add(snap, scored.part.score.feasible(snap, entered, left), row);
            }
            if dirty.all {
                return false;
            }
        }
        self.rescore(snap, scratch);
        true
    }

    fn rescore(&mut self, snap: &Snapshot, scratch: &mut Scratch) {
        let Scratch {
            scores: dirty,
            flipped,
            touched,
            local,
            raw,
            ..
        } = scratch;
        local.clear();
        local.extend_from_slice(flipped);
        for (scored, dirty) in self.scores.iter().zip(dirty.iter_mut()) {
            if scored.form == Normalize::None {
                dirty.settle(self.verdicts.len());
                local.extend_from_slice(&dirty.rows);
            }
        }
        local.sort_unstable();
        local.dedup();
        self.rescore_base(snap, local, raw);
        touched.clear();
        touched.extend_from_slice(local);
        let mut moved = false;
        for (at, dirty) in dirty.iter_mut().enumerate() {
            if self.scores[at].form == Normalize::None {
                continue;
            }
            dirty.rows.extend_from_slice(flipped);
            dirty.settle(self.verdicts.len());
            moved |= self.rescore_raw(snap, at, &dirty.rows, flipped, raw);
            touched.extend_from_slice(&dirty.rows);
        }
        touched.sort_unstable();
        touched.dedup();
        if moved || touched.len() > self.verdicts.len() / 8 {
            self.fill_index();
            return;
        }
        for &row in touched.iter() {
            let total = self.total(row);
            self.index.set(row, total);
        }
    }

    fn rescore_base(&mut self, snap: &Snapshot, rows: &[Row], raw: &mut Vec<i64>) {
        if rows.is_empty() {
            return;
        }
        for &row in rows {
            self.base[row as usize] = 0;
        }
        for scored in self.scores.iter().filter(|s| s.form == Normalize::None) {
            raw.clear();
            raw.resize(rows.len(), 0);
            scored.part.score.score(snap, Rows::List(rows), raw);
            for (&row, raw) in rows.iter().zip(raw.iter()) {
                let sum = &mut self.base[row as usize];
                *sum = sum.wrapping_add(raw.wrapping_mul(scored.part.weight));
            }
        }
    }

    /// Scores `rows` (all flipped rows among them) anew for one part; whether its extremes moved.
    fn rescore_raw(
        &mut self,
        snap: &Snapshot,
        at: usize,
        rows: &[Row],
        flipped: &[Row],
        raw: &mut Vec<i64>,
    ) -> bool {
        if rows.is_empty() {
            return false;
        }
        raw.clear();
        raw.resize(rows.len(), 0);
        let scored = &mut self.scores[at];
        scored.part.score.score(snap, Rows::List(rows), raw);
        let before = scored.extremes;
        let mut rescan = false;
        for (&row, &new) in rows.iter().zip(raw.iter()) {
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
