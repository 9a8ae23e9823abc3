//! Nodes as all filters see them: members are really placed, one transaction deep.

use super::search::{At, Problem, World, mix};
use super::transaction::Transaction;
use crate::cycle::Judged;
use crate::engine::Engine;
use crate::filtering::FEASIBLE;
use crate::profile::Profile;
use crate::resources::ResourceId;
use crate::snapshot::{PodId, Row};

/// Units that judging a class costs beside its nodes.
const JUDGING: u64 = 400;

#[derive(Debug)]
pub(super) struct Evaluated<'a> {
    engine: &'a mut Engine,
    tx: &'a mut Transaction,
    problem: &'a Problem,
    rows: &'a [Row],
    used: Vec<usize>,
    trail: Vec<usize>,
    monotone: bool,
}

impl<'a> Evaluated<'a> {
    /// The nodes of `rows`, ascending.
    pub(super) fn new(
        engine: &'a mut Engine,
        tx: &'a mut Transaction,
        problem: &'a Problem,
        rows: &'a [Row],
    ) -> Self {
        let counts_pods = |pod: PodId| {
            let (_, profile) = engine.profile_of(pod)?;
            let filters =
                crate::filtering::Filters::new(&engine.snap, &profile, &engine.snap.pods[pod]);
            let parts = filters.ok()?.parts;
            Some(parts.iter().any(|part| part.filter.counts_pods()))
        };
        let mut first = problem.classes.iter().map(|class| class.members[0]);
        let monotone = first.all(|pod| counts_pods(pod) == Some(false));
        Evaluated {
            used: vec![0; problem.classes.len()],
            trail: Vec::new(),
            engine,
            tx,
            problem,
            rows,
            monotone,
        }
    }

    fn next(&self, class: usize) -> PodId {
        self.problem.classes[class].members[self.used[class]]
    }
}

/// Rows that take the pod now, nominations considered.
fn feasible(engine: &mut Engine, pod: PodId) -> Vec<Row> {
    let Some((index, profile)) = engine.profile_of(pod) else {
        return Vec::new();
    };
    engine.snap.refresh();
    if engine.remembers(pod)
        && let Some(rows) = remembered(engine, (index, &*profile), pod)
    {
        return rows;
    }
    let judged = Judged::new(&mut engine.snap, &profile, pod);
    judged.map_or(Vec::new(), |judged| judged.feasible(&engine.snap))
}

/// The same by what is remembered of the class; `None` if that cannot tell.
fn remembered(engine: &mut Engine, profile: (usize, &Profile), pod: PodId) -> Option<Vec<Row>> {
    let Engine { snap, memos, .. } = engine;
    let (memo, _) = memos.get(snap, profile, &snap.pods[pod]).ok()?;
    if memo.must_be_afresh(&snap.pods[pod]) {
        return None;
    }
    let barred = memo.crowd(snap, pod);
    let open = |row: &Row| !memo.is_barred(&barred, *row);
    let verdicts = memo.verdicts();
    let passed = verdicts
        .iter()
        .enumerate()
        .filter(|(_, v)| **v == FEASIBLE)
        .map(|(row, _)| row as Row);
    Some(passed.filter(open).collect())
}

impl World for Evaluated<'_> {
    fn open(&mut self, class: usize, out: &mut Vec<At>) -> u64 {
        let pod = self.next(class);
        let feasible = feasible(self.engine, pod);
        out.extend(
            feasible
                .iter()
                .filter_map(|row| self.rows.binary_search(row).ok()),
        );
        out.sort_unstable();
        JUDGING + self.engine.snap.nodes.len() as u64
    }

    fn place(&mut self, class: usize, at: At) -> bool {
        let pod = self.next(class);
        if self.tx.place(self.engine, pod, self.rows[at]).is_err() {
            return false;
        }
        self.used[class] += 1;
        self.trail.push(class);
        true
    }

    fn undo(&mut self) {
        if let Some(class) = self.trail.pop() {
            self.used[class] -= 1;
            let keep = self.tx.len() - 1;
            self.tx.undo_to(self.engine, keep);
        }
    }

    fn row(&self, at: At) -> Row {
        self.rows[at]
    }

    /// Filters may tell any two nodes apart.
    fn kind(&self, at: At) -> u64 {
        mix(1, at as u64)
    }

    fn leaves(&self, class: usize, at: At) -> f64 {
        let (nodes, row) = (&self.engine.snap.nodes, self.rows[at]);
        let pod = self.problem.classes[class].members[0];
        let takes = &self.engine.snap.pods[pod].template.requests.held;
        let part = |(id, amount): (ResourceId, i64)| {
            let all = nodes.allocatable(id, row);
            let free = all.saturating_sub(nodes.requested(id, row));
            free.saturating_sub(amount) as f64 / all.max(1) as f64
        };
        takes.iter().map(part).sum()
    }

    fn monotone(&self) -> bool {
        self.monotone
    }
}
