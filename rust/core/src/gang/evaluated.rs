//! Nodes as all filters see them: members are really placed, one transaction deep.

use super::apart::Apart;
use super::bounds::{Least, Left, Nodes};
use super::problem::{At, Problem, World, mix};
use super::transaction::Transaction;
use crate::cycle::Judged;
use crate::engine::Engine;
use crate::filtering::{FEASIBLE, Filters};
use crate::profile::Profile;
use crate::resources::ResourceId;
use crate::snapshot::{PodId, Row};

/// Units that judging a class costs beside its nodes.
const JUDGING: u64 = 600;

const FIT: &str = "NodeResourcesFit";

#[derive(Debug)]
pub(super) struct Evaluated<'a> {
    engine: &'a mut Engine,
    tx: &'a mut Transaction,
    problem: &'a Problem,
    rows: &'a [Row],
    used: Vec<usize>,
    trail: Vec<usize>,
    monotone: bool,
    /// By class, the nodes that take one more of it, as counted last.
    open: Vec<Nodes>,
    resources: Vec<ResourceId>,
    /// Only where amounts matter to all members.
    least: Option<Least>,
    apart: Vec<Apart>,
    sizes: Vec<f64>,
    spent: u64,
}

impl<'a> Evaluated<'a> {
    /// The nodes of `rows`, ascending.
    pub(super) fn new(
        engine: &'a mut Engine,
        tx: &'a mut Transaction,
        problem: &'a Problem,
        rows: &'a [Row],
    ) -> Self {
        let first: Vec<PodId> = problem.classes.iter().map(|c| c.members[0]).collect();
        let amounts = |pod: &PodId| &engine.snap.pods[*pod].template.requests;
        let mut resources: Vec<ResourceId> = first
            .iter()
            .flat_map(|pod| amounts(pod).spec.iter().map(|(id, _)| id))
            .collect();
        resources.sort_unstable();
        resources.dedup();
        let by_amounts = first.iter().all(|pod| is_by_amounts(engine, *pod));
        let least = by_amounts.then(|| {
            let of = |id: &ResourceId| -> Vec<i64> {
                let least = |pod| amounts(pod).spec.get(*id).min(amounts(pod).held.get(*id));
                first.iter().map(least).collect()
            };
            let all = resources.iter().map(of);
            Least::new(all.chain([vec![1; first.len()]]).collect())
        });
        let total = |id: ResourceId| {
            let all = rows
                .iter()
                .map(|row| engine.snap.nodes.allocatable(id, *row) as f64);
            all.sum::<f64>().max(1.0)
        };
        let size = |pod: &PodId| -> f64 {
            let asked = amounts(pod).held.iter();
            asked.map(|(id, amount)| amount as f64 / total(id)).sum()
        };
        let sizes = first.iter().map(size).collect();
        Evaluated {
            used: vec![0; problem.classes.len()],
            trail: Vec::new(),
            monotone: first.iter().all(|pod| !wants_company(engine, *pod)),
            open: vec![Nodes::none(rows.len()); first.len()],
            apart: Apart::of(engine, problem),
            resources,
            least,
            sizes,
            engine,
            tx,
            problem,
            rows,
            spent: 0,
        }
    }

    fn next(&self, class: usize) -> PodId {
        self.problem.classes[class].members[self.used[class]]
    }
}

/// Whether a node holds no more of such pods than there are amounts for.
fn is_by_amounts(engine: &Engine, pod: PodId) -> bool {
    let Some((_, profile)) = engine.profile_of(pod) else {
        return false;
    };
    // Devices may stand for an amount that a node does not have.
    let devices = engine.snap.pods[pod].template.has_resource_claims;
    !devices && profile.filter.iter().any(|plugin| plugin.name() == FIT)
}

/// Whether members on nodes may open others to the pod.
fn wants_company(engine: &Engine, pod: PodId) -> bool {
    let Some((_, profile)) = engine.profile_of(pod) else {
        return false;
    };
    let pod = &engine.snap.pods[pod];
    let Ok(filters) = Filters::new(&engine.snap, &profile, pod) else {
        return true;
    };
    let mut parts = filters.parts.iter();
    !pod.template.affinity.required.is_empty()
        || parts.any(|part| part.plugin.name() == "PodTopologySpread")
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

impl Left for Evaluated<'_> {
    fn free(&self, resource: usize, at: At) -> i64 {
        let (nodes, row) = (&self.engine.snap.nodes, self.rows[at]);
        match self.resources.get(resource) {
            Some(id) => nodes
                .allocatable(*id, row)
                .saturating_sub(nodes.requested(*id, row)),
            None => self.slots(at),
        }
    }

    fn slots(&self, at: At) -> i64 {
        let (nodes, row) = (&self.engine.snap.nodes, self.rows[at] as usize);
        nodes.allowed_pods[row] - nodes.pod_count[row]
    }

    fn open(&self, class: usize) -> &Nodes {
        &self.open[class]
    }
}

impl World for Evaluated<'_> {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn count(&mut self, class: usize) -> usize {
        let pod = self.next(class);
        let feasible = feasible(self.engine, pod);
        let open = &mut self.open[class];
        open.clear();
        let said = &self.problem.said;
        let mut count = 0;
        for row in feasible {
            let Ok(at) = self.rows.binary_search(&row) else {
                continue;
            };
            let kind = self.problem.classes[class].kind;
            if kind.is_none_or(|kind| said.allows(kind, row, std::iter::empty)) {
                open.insert(at);
                count += 1;
            }
        }
        self.spent += JUDGING + self.engine.snap.nodes.len() as u64;
        count
    }

    fn open(&self, class: usize, out: &mut Vec<At>) {
        out.extend(self.open[class].iter());
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

    fn size(&self, class: usize) -> f64 {
        self.sizes[class]
    }

    fn monotone(&self) -> bool {
        self.monotone
    }

    fn is_hopeless(&mut self, left: &[usize], need: usize) -> bool {
        if !self.monotone {
            // A node that takes nobody now may do so later.
            self.open
                .iter_mut()
                .for_each(|open| open.fill(self.rows.len()));
        }
        let (snap, rows, open) = (&self.engine.snap, self.rows, &self.open);
        let mut apart = self.apart.iter();
        if apart.any(|set| set.exceeds(snap, rows, (left, need), open)) {
            return true;
        }
        let Some(least) = &self.least else {
            return false;
        };
        let (mut seats, mut work) = (Nodes::none(rows.len()), 0);
        let hopeless = least.exceeds(self, left, need, (&mut seats, &mut work));
        self.spent += work;
        hopeless
    }

    fn spent(&mut self) -> u64 {
        std::mem::take(&mut self.spent)
    }
}
