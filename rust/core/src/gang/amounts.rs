//! Nodes as vectors of free amounts: enough to search in where nothing else about a node changes when
//! members are placed.

use super::bounds::{Least, Left, Nodes};
use super::needs::{Need, least, need};
use super::problem::{At, Class, Problem, World, mix};
use crate::engine::Engine;
use crate::resources::ResourceId;
use crate::snapshot::{PodId, Row, Snapshot};

/// Nodes times classes up to which it is asked at every step whether sums leave a way.
const OFTEN: usize = 4096;

#[derive(Debug)]
pub(super) struct Amounts {
    rows: Vec<Row>,
    resources: Vec<ResourceId>,
    /// By node, then by resource.
    free: Vec<i64>,
    slots: Vec<i64>,
    kinds: Vec<u64>,
    classes: Vec<Need>,
    /// By resource, what makes amounts of it comparable: how much of all that is free is asked for, by the most
    /// that any node has free.
    scale: Vec<f64>,
    /// By class, how hard it is to place.
    sizes: Vec<f64>,
    /// By class, the nodes that take one more of it, and their number.
    open: Vec<Nodes>,
    counts: Vec<usize>,
    least: Least,
    seats: Nodes,
    trail: Vec<(usize, At)>,
    spent: u64,
}

impl Amounts {
    /// The nodes of `rows`; `None` if amounts are not all that matters.
    pub(super) fn new(engine: &Engine, problem: &Problem, rows: &[Row]) -> Option<Self> {
        let pods: Vec<PodId> = problem.classes.iter().map(|c| c.members[0]).collect();
        let snap = &engine.snap;
        let mut resources: Vec<ResourceId> = Vec::new();
        for pod in &pods {
            let requests = &snap.pods[*pod].template.requests;
            resources.extend(
                requests
                    .held
                    .iter()
                    .chain(requests.spec.iter())
                    .map(|(id, _)| id),
            );
        }
        resources.sort_unstable();
        resources.dedup();
        let mut classes = Vec::new();
        for (pod, class) in pods.iter().zip(&problem.classes) {
            let mut need = need(engine, *pod, &resources, rows)?;
            if let Some(kind) = class.kind {
                for (allowed, row) in need.allowed.iter_mut().zip(rows) {
                    *allowed &= problem.said.allows(kind, *row, std::iter::empty);
                }
            }
            classes.push(need);
        }
        let mut world = Amounts {
            rows: rows.to_vec(),
            free: free(snap, &resources, rows),
            slots: rows.iter().map(|row| slots(snap, *row)).collect(),
            kinds: Vec::new(),
            scale: Vec::new(),
            sizes: Vec::new(),
            open: vec![Nodes::none(rows.len()); classes.len()],
            counts: vec![0; classes.len()],
            least: Least::new(least(&classes, resources.len())),
            seats: Nodes::none(rows.len()),
            classes,
            resources,
            trail: Vec::new(),
            spent: 0,
        };
        world.leave_room_for_nominated(snap, *pods.first()?);
        world.kinds = (0..rows.len()).map(|at| world.kind_of(at)).collect();
        (0..rows.len()).for_each(|at| world.judge(at));
        world.weigh(problem);
        Some(world)
    }

    /// Equal for problems that differ in nothing but names.
    pub(super) fn signature(&self, problem: &Problem) -> u64 {
        let classes = self.classes.iter().zip(&problem.classes);
        let of_class = |(need, class): (&Need, &Class)| {
            let amounts = need.asks.iter().chain(&need.takes);
            let start = mix(class.members.len() as u64, u64::from(class.role));
            amounts.fold(start, |hash, amount| mix(hash, *amount as u64))
        };
        let needs = problem.role_needs.iter().map(|need| *need as u64);
        let hash = classes
            .map(of_class)
            .chain(needs)
            .fold(problem.need as u64, mix);
        // The order of nodes means nothing.
        let nodes = self.kinds.iter().map(|kind| mix(7, *kind));
        mix(hash, nodes.fold(0, u64::wrapping_add))
    }

    /// Finds out which classes a node takes now.
    fn judge(&mut self, at: At) {
        for class in 0..self.classes.len() {
            let fits = self.fits(class, at);
            if fits == self.open[class].contains(at) {
                continue;
            }
            if fits {
                self.open[class].insert(at);
                self.counts[class] += 1;
            } else {
                self.open[class].remove(at);
                self.counts[class] -= 1;
            }
        }
        self.spent += self.classes.len() as u64;
    }

    fn weigh(&mut self, problem: &Problem) {
        let of = |resource: usize| {
            let asked = self.classes.iter().zip(&problem.classes);
            let asked = asked.map(|(need, class)| {
                need.takes[resource].max(0) as f64 * class.members.len() as f64
            });
            let free = (0..self.rows.len()).map(|at| self.free(at)[resource].max(0) as f64);
            let scarcity = asked.sum::<f64>() / free.sum::<f64>().max(1.0);
            scarcity / self.most(resource)
        };
        self.scale = (0..self.resources.len()).map(of).collect();
        let size = |need: &Need| -> f64 {
            let takes = need.takes.iter().zip(&self.scale);
            takes.map(|(takes, scale)| *takes as f64 * scale).sum()
        };
        self.sizes = self.classes.iter().map(size).collect();
    }

    fn free(&self, at: At) -> &[i64] {
        &self.free[at * self.resources.len()..(at + 1) * self.resources.len()]
    }

    /// Others wait for some nodes and may not be pushed aside.
    fn leave_room_for_nominated(&mut self, snap: &Snapshot, pod: PodId) {
        for at in 0..self.rows.len() {
            for other in snap.nominated_above(self.rows[at], pod) {
                let held = &snap.pods[other].template.requests.held;
                let taken: Vec<i64> = self.resources.iter().map(|id| held.get(*id)).collect();
                self.take(at, &taken, -1);
            }
        }
    }

    fn take(&mut self, at: At, amounts: &[i64], sign: i64) {
        let width = self.resources.len();
        let free = &mut self.free[at * width..(at + 1) * width];
        for (free, amount) in free.iter_mut().zip(amounts) {
            *free = free.saturating_add(amount.saturating_mul(sign));
        }
        self.slots[at] += sign;
    }

    fn kind_of(&self, at: At) -> u64 {
        let amounts = self.free(at).iter().map(|free| *free as u64);
        let allowed = self.classes.iter().map(|c| u64::from(c.allowed[at]));
        amounts.chain(allowed).fold(self.slots[at] as u64, mix)
    }

    fn most(&self, resource: usize) -> f64 {
        let free = (0..self.rows.len()).map(|at| self.free(at)[resource]);
        free.max().unwrap_or(0).max(1) as f64
    }

    fn fits(&self, class: usize, at: At) -> bool {
        let need = &self.classes[class];
        let short = |(asks, free): (&i64, &i64)| *asks > 0 && asks > free;
        need.allowed[at] && self.slots[at] > 0 && !need.asks.iter().zip(self.free(at)).any(short)
    }
}

fn free(snap: &Snapshot, resources: &[ResourceId], rows: &[Row]) -> Vec<i64> {
    let mut free = Vec::with_capacity(rows.len() * resources.len());
    for &row in rows {
        for &id in resources {
            let left = snap
                .nodes
                .allocatable(id, row)
                .wrapping_sub(snap.nodes.requested(id, row));
            free.push(left);
        }
    }
    free
}

fn slots(snap: &Snapshot, row: Row) -> i64 {
    snap.nodes.allowed_pods[row as usize] - snap.nodes.pod_count[row as usize]
}

impl Left for Amounts {
    fn free(&self, resource: usize, at: At) -> i64 {
        self.free(at)
            .get(resource)
            .copied()
            .unwrap_or(self.slots[at])
    }

    fn slots(&self, at: At) -> i64 {
        self.slots[at]
    }

    fn open(&self, class: usize) -> &Nodes {
        &self.open[class]
    }
}

impl World for Amounts {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn count(&mut self, class: usize) -> usize {
        self.spent += 1;
        self.counts[class]
    }

    fn open(&self, class: usize, out: &mut Vec<At>) {
        out.extend(self.open[class].iter());
    }

    fn place(&mut self, class: usize, at: At) -> bool {
        let takes = std::mem::take(&mut self.classes[class].takes);
        self.take(at, &takes, -1);
        self.classes[class].takes = takes;
        self.judge(at);
        self.trail.push((class, at));
        true
    }

    fn undo(&mut self) {
        if let Some((class, at)) = self.trail.pop() {
            let takes = std::mem::take(&mut self.classes[class].takes);
            self.take(at, &takes, 1);
            self.classes[class].takes = takes;
            self.judge(at);
        }
    }

    fn row(&self, at: At) -> Row {
        self.rows[at]
    }

    fn kind(&self, at: At) -> u64 {
        self.kinds[at]
    }

    fn leaves(&self, class: usize, at: At) -> f64 {
        let takes = &self.classes[class].takes;
        let left = self.free(at).iter().zip(takes).zip(&self.scale);
        let parts = left.map(|((free, takes), scale)| free.saturating_sub(*takes) as f64 * scale);
        parts.map(|part| part * part).sum()
    }

    fn size(&self, class: usize) -> f64 {
        self.sizes[class]
    }

    fn monotone(&self) -> bool {
        true
    }

    fn is_hopeless(&mut self, left: &[usize], need: usize) -> bool {
        // Where it takes long to find out it is not asked each time.
        let every = 1 + self.rows.len() * self.classes.len() / OFTEN;
        if !self.trail.len().is_multiple_of(every) {
            return false;
        }
        let mut seats = std::mem::take(&mut self.seats);
        let mut work = 0;
        let hopeless = self
            .least
            .exceeds(self, left, need, (&mut seats, &mut work));
        self.seats = seats;
        self.spent += work;
        hopeless
    }

    fn spent(&mut self) -> u64 {
        std::mem::take(&mut self.spent)
    }
}
