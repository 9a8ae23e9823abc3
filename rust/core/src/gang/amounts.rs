//! Nodes as vectors of free amounts: enough to search in where nothing else about a node changes when
//! members are placed.

use super::search::{At, Problem, World, mix};
use crate::engine::Engine;
use crate::filtering::Filters;
use crate::memos::Memos;
use crate::plugin::Rows;
use crate::resources::ResourceId;
use crate::snapshot::{Pod, PodId, Row, Snapshot};
use crate::status::Code;

const FIT: &str = "NodeResourcesFit";

/// Filters whose answer for a node no placed member changes.
const CONSTANT: [&str; 6] = [
    "NodeUnschedulable",
    "NodeName",
    "TaintToleration",
    "NodeAffinity",
    "NodeDeclaredFeatures",
    FIT,
];

#[derive(Debug)]
pub(super) struct Amounts {
    rows: Vec<Row>,
    resources: Vec<ResourceId>,
    /// By node, then by resource.
    free: Vec<i64>,
    slots: Vec<i64>,
    kinds: Vec<u64>,
    classes: Vec<Need>,
    /// By resource, the most that any node has free.
    scale: Vec<f64>,
    trail: Vec<(usize, At)>,
}

#[derive(Debug)]
struct Need {
    /// What the filter asks for, and what the node's books then show.
    asks: Vec<i64>,
    takes: Vec<i64>,
    allowed: Vec<bool>,
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
        for pod in &pods {
            classes.push(need(engine, *pod, &resources, rows)?);
        }
        let mut world = Amounts {
            rows: rows.to_vec(),
            free: free(snap, &resources, rows),
            slots: rows.iter().map(|row| slots(snap, *row)).collect(),
            kinds: Vec::new(),
            scale: Vec::new(),
            classes,
            resources,
            trail: Vec::new(),
        };
        world.leave_room_for_nominated(snap, *pods.first()?);
        world.kinds = (0..rows.len()).map(|at| world.kind_of(at)).collect();
        world.scale = (0..world.resources.len()).map(|r| world.most(r)).collect();
        Some(world)
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

fn need(engine: &Engine, id: PodId, resources: &[ResourceId], rows: &[Row]) -> Option<Need> {
    let snap = &engine.snap;
    let pod = &snap.pods[id];
    let (_, profile) = engine.profile_of(id)?;
    if !has_only_amounts(pod) || !profile.filter.iter().any(|p| p.name() == FIT) {
        return None;
    }
    let requests = &pod.template.requests;
    let amounts = |list: &crate::resources::Amounts| -> Vec<i64> {
        resources.iter().map(|id| list.get(*id)).collect()
    };
    let allowed = match Filters::new(snap, &profile, pod) {
        Err(_) => vec![false; rows.len()],
        Ok(filters) => allowed(snap, &filters, rows)?,
    };
    Some(Need {
        asks: amounts(&requests.spec),
        takes: amounts(&requests.held),
        allowed,
    })
}

fn has_only_amounts(pod: &Pod) -> bool {
    let template = &pod.template;
    Memos::shareable(pod)
        && template.ports.is_empty()
        && template.volumes.is_empty()
        && !template.has_claims
        && !template.has_resource_claims
}

/// What the constant filters say; `None` if there are others.
fn allowed(snap: &Snapshot, filters: &Filters, rows: &[Row]) -> Option<Vec<bool>> {
    let mut codes = vec![Code::Success; rows.len()];
    for part in &filters.parts {
        if !CONSTANT.contains(&part.plugin.name()) {
            return None;
        }
        if part.plugin.name() != FIT {
            part.filter.filter(snap, Rows::List(rows), &mut codes);
        }
    }
    let mut allowed: Vec<bool> = codes.iter().map(|code| *code == Code::Success).collect();
    if filters.nodes.is_some() {
        let only = filters.rows(snap);
        for (allowed, row) in allowed.iter_mut().zip(rows) {
            *allowed &= only.contains(row);
        }
    }
    Some(allowed)
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

impl World for Amounts {
    fn open(&mut self, class: usize, out: &mut Vec<At>) -> u64 {
        out.extend((0..self.rows.len()).filter(|at| self.fits(class, *at)));
        self.rows.len() as u64 + 8
    }

    fn place(&mut self, class: usize, at: At) -> bool {
        let takes = self.classes[class].takes.clone();
        self.take(at, &takes, -1);
        self.trail.push((class, at));
        true
    }

    fn undo(&mut self) {
        if let Some((class, at)) = self.trail.pop() {
            let takes = self.classes[class].takes.clone();
            self.take(at, &takes, 1);
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
        left.map(|((free, takes), scale)| free.saturating_sub(*takes) as f64 / scale)
            .sum()
    }

    fn monotone(&self) -> bool {
        true
    }
}
