//! Why a group has no places: who, what, how near, and who holds it.

use super::domains::Domain;
use super::failures::diagnose_within;
use super::greedy::Refused;
use super::transaction::Transaction;
use super::{GroupId, Request};
use crate::engine::{Engine, Outcome};
use crate::filtering::Filters;
use crate::plugin::Rows;
use crate::resources::ResourceId;
use crate::snapshot::{PodId, Row, Snapshot};
use crate::status::Code;
use rustc_hash::{FxHashMap, FxHashSet};

const FIT: &str = "NodeResourcesFit";

/// Holders that are named.
const NAMED: usize = 3;

#[derive(Clone, Debug, Default)]
pub struct Shortage {
    pub need: usize,
    /// How many of them found places.
    pub placeable: usize,
    /// The first that did not; `None` if there are not enough members.
    pub member: Option<PodId>,
    /// What its filters say of the nodes, with the others in place.
    pub message: String,
    /// Plugins whose events can help.
    pub plugins: Vec<&'static str>,
    pub nearest: Option<Nearest>,
    pub holders: Vec<Holder>,
    /// The domain that came nearest, where a topology is wanted, and how many there are.
    pub domain: String,
    pub domains: usize,
    /// Something unexpected, nobody is to blame.
    pub failed: bool,
    /// The search for an arrangement ended before it was certain that there is none.
    pub gave_up: bool,
}

/// The least that must become free.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nearest {
    pub resource: String,
    /// In base units: cpu in thousandths.
    pub amount: i64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// A pod, or any of the group's.
    pub pod: PodId,
    pub group: Option<GroupId>,
    pub amount: i64,
}

impl Nearest {
    /// Such as `2 more nvidia.com/gpu`.
    pub fn text(&self) -> String {
        format!(
            "{} more {}",
            quantity(&self.resource, self.amount),
            self.resource
        )
    }
}

/// An amount in base units as a person writes it.
pub fn quantity(resource: &str, amount: i64) -> String {
    const UNITS: [(&str, i64); 4] = [
        ("Ti", 1 << 40),
        ("Gi", 1 << 30),
        ("Mi", 1 << 20),
        ("Ki", 1 << 10),
    ];
    match resource {
        "cpu" if amount % 1000 == 0 => (amount / 1000).to_string(),
        "cpu" => format!("{amount}m"),
        "memory" | "ephemeral-storage" => {
            let unit = UNITS
                .iter()
                .find(|(_, size)| amount >= *size && amount % size == 0);
            unit.map_or_else(
                || amount.to_string(),
                |(name, size)| format!("{}{name}", amount / size),
            )
        }
        _ => amount.to_string(),
    }
}

impl Shortage {
    /// There are fewer members than needed.
    pub(super) fn of_members(request: &Request) -> Box<Self> {
        let (have, need) = (request.members.len(), request.need);
        Box::new(Shortage {
            need,
            placeable: 0,
            message: format!("{have} of {need} members exist"),
            ..Shortage::default()
        })
    }

    /// No node is in a domain where the members may be together.
    pub(super) fn of_domains(snap: &Snapshot, request: &Request) -> Box<Self> {
        let keys = request.together.keys.iter();
        let keys: Vec<&str> = keys.map(|key| snap.interner.text(*key)).collect();
        let among = match request.anchored.is_empty() {
            true => "no node has a value of",
            false => "the members' nodes have no value of",
        };
        Box::new(Shortage {
            need: request.need,
            placeable: 0,
            message: format!("{among} {}", keys.join(", ")),
            plugins: vec!["Gang"],
            ..Shortage::default()
        })
    }

    /// How many of the members that are needed are among those that found places.
    pub(super) fn placeable(request: &Request, tx: &Transaction) -> usize {
        let own: FxHashSet<PodId> = tx.places().into_iter().map(|(pod, _)| pod).collect();
        let of_request = request.members.iter().filter(|(pod, _)| own.contains(pod));
        of_request.count().min(request.need)
    }

    /// `tx` holds the members that found places.
    pub(super) fn new(
        engine: &mut Engine,
        request: &Request,
        (pod, outcome): &Refused,
        tx: &Transaction,
        domain: &Domain,
    ) -> Box<Self> {
        let mut shortage = Box::new(Shortage {
            need: request.need,
            placeable: Shortage::placeable(request, tx),
            member: Some(*pod),
            domain: domain.name.clone(),
            ..Shortage::default()
        });
        match outcome {
            Outcome::Failed(message) => {
                shortage.message.clone_from(message);
                shortage.failed = true;
            }
            Outcome::Unschedulable(diagnosis) => {
                let rows = domain.rows(&engine.snap).into_owned();
                let here = match domain.whole() && request.said.kind(*pod).is_none() {
                    true => None,
                    false => diagnose_within(engine, request, *pod, tx, &rows),
                };
                let diagnosis = here.as_ref().unwrap_or(diagnosis);
                shortage.message = diagnosis.message("");
                shortage.plugins.clone_from(&diagnosis.plugins);
                let missing = request.need - shortage.placeable;
                let own = tx.places().into_iter().map(|(pod, _)| pod).collect();
                shortage.measure(engine, *pod, missing.max(1), &rows, &own);
            }
            Outcome::Placed { .. } => {}
        }
        shortage
    }

    /// Finds how much of which resource is missing and who holds it, on nodes where amounts alone are
    /// in the way.
    fn measure(
        &mut self,
        engine: &Engine,
        pod: PodId,
        missing: usize,
        rows: &[Row],
        own: &FxHashSet<PodId>,
    ) {
        let Some(rows) = otherwise_fitting(engine, pod, rows) else {
            return;
        };
        let snap = &engine.snap;
        let nearest = rows.iter().filter_map(|row| lack(snap, pod, *row));
        let Some(worst) =
            nearest.min_by(|a, b| a.rank.0.cmp(&b.rank.0).then(a.rank.1.total_cmp(&b.rank.1)))
        else {
            return;
        };
        let ask = worst
            .resource
            .map_or(1, |id| snap.pods[pod].template.requests.spec.get(id));
        let mut costs: Vec<i64> = rows
            .iter()
            .map(|row| ask - free(snap, worst.resource, *row))
            .filter(|cost| *cost > 0)
            .map(|cost| cost.min(ask))
            .collect();
        costs.sort_unstable();
        costs.resize(costs.len().max(missing), ask);
        self.nearest = Some(Nearest {
            resource: worst
                .resource
                .map_or("pods", |id| snap.resources.name(id))
                .to_owned(),
            amount: costs[..missing].iter().sum(),
        });
        self.holders = holders(snap, worst.resource, &rows, own);
    }
}

/// Rows where every filter but that of amounts accepts the pod.
fn otherwise_fitting(engine: &Engine, pod: PodId, rows: &[Row]) -> Option<Vec<Row>> {
    let (_, profile) = engine.profile_of(pod)?;
    let snap = &engine.snap;
    let filters = Filters::new(snap, &profile, &snap.pods[pod]).ok()?;
    let only = filters.nodes.is_some().then(|| filters.rows(snap));
    let kept = rows.iter().copied();
    let kept: Vec<Row> = kept
        .filter(|row| only.as_ref().is_none_or(|only| only.contains(row)))
        .collect();
    let mut codes = vec![Code::Success; kept.len()];
    for part in filters
        .parts
        .iter()
        .filter(|part| part.plugin.name() != FIT)
    {
        part.filter.filter(snap, Rows::List(&kept), &mut codes);
    }
    let passed = kept
        .into_iter()
        .zip(codes)
        .filter(|(_, code)| *code == Code::Success);
    Some(passed.map(|(row, _)| row).collect())
}

/// What a node lacks.
struct Lack {
    /// How many resources, and what part of the pod's request is missing of the scarcest.
    rank: (usize, f64),
    /// `None`: room for one more pod.
    resource: Option<ResourceId>,
}

fn lack(snap: &Snapshot, pod: PodId, row: Row) -> Option<Lack> {
    let spec = &snap.pods[pod].template.requests.spec;
    let asks = spec
        .iter()
        .filter(|(_, ask)| *ask > 0)
        .map(|(id, ask)| (Some(id), ask));
    let lacks = asks.chain([(None, 1)]).filter_map(|(id, ask)| {
        let free = free(snap, id, row);
        (ask > free).then(|| (id, (ask - free.max(0)) as f64 / ask as f64))
    });
    let lacks: Vec<_> = lacks.collect();
    let (resource, part) = lacks.iter().max_by(|a, b| a.1.total_cmp(&b.1)).copied()?;
    Some(Lack {
        rank: (lacks.len(), part),
        resource,
    })
}

fn free(snap: &Snapshot, resource: Option<ResourceId>, row: Row) -> i64 {
    let nodes = &snap.nodes;
    match resource {
        Some(id) => nodes
            .allocatable(id, row)
            .saturating_sub(nodes.requested(id, row)),
        None => nodes.allowed_pods[row as usize] - nodes.pod_count[row as usize],
    }
}

/// Who holds most of a resource on these rows; a group counts as one.
fn holders(
    snap: &Snapshot,
    resource: Option<ResourceId>,
    rows: &[Row],
    own: &FxHashSet<PodId>,
) -> Vec<Holder> {
    let Some(resource) = resource else {
        return Vec::new();
    };
    let mut sums: FxHashMap<(Option<GroupId>, Option<PodId>), Holder> = FxHashMap::default();
    let pods = rows.iter().flat_map(|row| &snap.nodes.pods[*row as usize]);
    for &pod in pods.filter(|pod| !own.contains(pod)) {
        let amount = snap.pods[pod].template.requests.held.get(resource);
        if amount <= 0 {
            continue;
        }
        let group = snap.groups.of(pod);
        let key = (group, group.is_none().then_some(pod));
        let holder = sums.entry(key).or_insert(Holder {
            pod,
            group,
            amount: 0,
        });
        holder.amount = holder.amount.saturating_add(amount);
        holder.pod = holder.pod.min(pod);
    }
    let mut all: Vec<Holder> = sums.into_values().collect();
    all.sort_unstable_by_key(|holder| (std::cmp::Reverse(holder.amount), holder.pod));
    all.truncate(NAMED);
    all
}
