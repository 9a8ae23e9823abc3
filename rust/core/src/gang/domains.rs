//! Where a group may be together: the domains of its topology keys, the tightest first.

use super::{GroupId, Request};
use crate::engine::Engine;
use crate::intern::Symbol;
use crate::resources::ResourceId;
use crate::snapshot::{Row, Snapshot};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// Nodes among which a group is placed.
#[derive(Clone, Debug)]
pub(super) struct Domain {
    /// Such as `rack=r1`; empty if it is no domain of a topology key.
    pub(super) name: String,
    /// Ascending; `None`: all nodes.
    some: Option<Vec<Row>>,
}

impl Domain {
    /// Whether these are all nodes.
    pub(super) fn whole(&self) -> bool {
        self.some.is_none()
    }

    /// Ascending. Collecting all nodes takes longer than placing a small group, so it is done on demand.
    pub(super) fn rows(&self, snap: &Snapshot) -> Cow<'_, [Row]> {
        match &self.some {
            Some(rows) => Cow::Borrowed(rows),
            None => {
                let rows = 0..snap.nodes.len() as Row;
                Cow::Owned(rows.filter(|row| snap.nodes.live[*row as usize]).collect())
            }
        }
    }
}

/// A domain of a topology key.
struct Part {
    name: String,
    rows: Vec<Row>,
}

impl From<Part> for Domain {
    fn from(part: Part) -> Self {
        Domain {
            name: part.name,
            some: Some(part.rows),
        }
    }
}

/// Where a group may be together.
pub(super) struct Candidates {
    /// In the order in which they are tried.
    pub(super) tried: Vec<Domain>,
    /// Those that surely lack room for all members, by how much they lack.
    too_small: Vec<Part>,
    /// How many domains the topology keys make.
    pub(super) domains: usize,
}

impl Candidates {
    fn everywhere() -> Self {
        Candidates {
            tried: vec![everywhere()],
            too_small: Vec::new(),
            domains: 0,
        }
    }

    /// Those of the domains that are too small in which most members seem to have room.
    pub(super) fn nearest(self, snap: &Snapshot, request: &Request) -> Vec<Domain> {
        let mut rated: Vec<(usize, Part)> = self
            .too_small
            .into_iter()
            .map(|domain| (seats(snap, request, &domain.rows), domain))
            .collect();
        rated.sort_by_key(|(seats, _)| std::cmp::Reverse(*seats));
        rated.truncate(MOST_COMPARED);
        rated.into_iter().map(|(_, part)| part.into()).collect()
    }
}

/// Domains without room for all members that are looked at for the one that comes nearest.
const MOST_COMPARED: usize = 4;

/// How many members these nodes have room for, were all of them like the first.
fn seats(snap: &Snapshot, request: &Request, rows: &[Row]) -> usize {
    let Some((pod, _)) = request.members.first() else {
        return 0;
    };
    let (nodes, spec) = (&snap.nodes, &snap.pods[*pod].template.requests.spec);
    let on = |row: &Row| {
        let pods = nodes.allowed_pods[*row as usize] - nodes.pod_count[*row as usize];
        let asked = spec.iter().filter(|(_, ask)| *ask > 0);
        let by_amounts = asked.map(|(id, ask)| {
            let free = nodes.allocatable(id, *row);
            free.saturating_sub(nodes.requested(id, *row)) / ask
        });
        usize::try_from(by_amounts.fold(pods, i64::min)).unwrap_or(0)
    };
    rows.iter().map(on).fold(0, usize::saturating_add)
}

/// The domains to try.
pub(super) fn candidates(snap: &Snapshot, request: &Request) -> Candidates {
    if request.together.keys.is_empty() {
        return Candidates::everywhere();
    }
    let mut domains = partition(snap, &request.together.keys);
    if let Some(anchor) = request.anchored.first() {
        domains.retain(|domain| domain.rows.contains(anchor));
    }
    let wanted = Wanted::new(snap, request);
    let mut rated: Vec<(f64, Part)> = domains
        .into_iter()
        .map(|domain| (wanted.fill(snap, &domain.rows), domain))
        .collect();
    rated.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.name.cmp(&b.1.name)));
    let count = rated.len();
    let fits = |(fill, _): &(f64, Part)| *fill <= 1.0 || !wanted.is_certain;
    if request.together.preferred {
        let mut tried: Vec<Domain> = rated
            .iter()
            .filter(|rated| fits(rated))
            .map(|(_, domain)| Domain {
                name: domain.name.clone(),
                some: Some(domain.rows.clone()),
            })
            .collect();
        tried.extend(unions(rated));
        tried.push(everywhere());
        return Candidates {
            tried,
            too_small: Vec::new(),
            domains: count,
        };
    }
    // The fullest first, so those that are too small come before the others.
    let split = rated.partition_point(|rated| !fits(rated));
    let tried = rated.split_off(split.min(count.saturating_sub(1)));
    Candidates {
        tried: tried.into_iter().map(|(_, part)| part.into()).collect(),
        too_small: rated.into_iter().rev().map(|(_, part)| part).collect(),
        domains: count,
    }
}

/// What a domain is called and its rows, `None` for all nodes.
pub type Named = (String, Option<Vec<Row>>);

impl Engine {
    /// Where the missing members of a group may be together, in the order in which it is tried, and how many
    /// domains the topology keys make.
    pub fn group_domains(&self, group: GroupId) -> (Vec<Named>, usize) {
        let request = self.request_of(group, 0);
        let mut found = candidates(&self.snap, &request);
        let (mut all, domains) = (std::mem::take(&mut found.tried), found.domains);
        all.extend(found.nearest(&self.snap, &request));
        let all = all.into_iter().map(|domain| (domain.name, domain.some));
        (all.collect(), domains)
    }
}

fn everywhere() -> Domain {
    Domain {
        name: String::new(),
        some: None,
    }
}

fn partition(snap: &Snapshot, keys: &[Symbol]) -> Vec<Part> {
    let mut by_value: FxHashMap<Vec<Symbol>, Vec<Row>> = FxHashMap::default();
    for row in 0..snap.nodes.len() as Row {
        let labels = &snap.nodes.info(row).labels;
        let values: Option<Vec<Symbol>> = keys.iter().map(|key| labels.get(*key)).collect();
        if let Some(values) = values.filter(|_| snap.nodes.live[row as usize]) {
            by_value.entry(values).or_default().push(row);
        }
    }
    let text = |symbol: Symbol| snap.interner.text(symbol);
    let name = |values: Vec<Symbol>| {
        let pairs = keys.iter().zip(values);
        let texts: Vec<_> = pairs
            .map(|(key, value)| format!("{}={}", text(*key), text(value)))
            .collect();
        texts.join(",")
    };
    by_value
        .into_iter()
        .map(|(values, rows)| Part {
            name: name(values),
            rows,
        })
        .collect()
}

/// The 2, 4, 8 … roomiest domains together, while that is not all of them.
fn unions(rated: Vec<(f64, Part)>) -> Vec<Domain> {
    let roomiest: Vec<Part> = rated.into_iter().rev().map(|(_, domain)| domain).collect();
    let sizes = std::iter::successors(Some(2), |size| Some(size * 2));
    let sizes = sizes.take_while(|size| *size < roomiest.len());
    sizes
        .map(|size| {
            let mut rows: Vec<Row> = roomiest[..size]
                .iter()
                .flat_map(|d| d.rows.clone())
                .collect();
            rows.sort_unstable();
            let names: Vec<&str> = roomiest[..size].iter().map(|d| d.name.as_str()).collect();
            Domain {
                name: names.join("+"),
                some: Some(rows),
            }
        })
        .collect()
}

/// What the members that must be placed ask for.
struct Wanted {
    amounts: Vec<(ResourceId, i128)>,
    /// Whether it is these very members that must be placed.
    is_certain: bool,
}

impl Wanted {
    fn new(snap: &Snapshot, request: &Request) -> Self {
        let mut sums: FxHashMap<ResourceId, i128> = FxHashMap::default();
        for (pod, _) in request.members.iter().take(request.need) {
            for (id, amount) in snap.pods[*pod].template.requests.spec.iter() {
                *sums.entry(id).or_default() += i128::from(amount);
            }
        }
        let mut amounts: Vec<_> = sums.into_iter().filter(|(_, sum)| *sum > 0).collect();
        amounts.sort_unstable();
        Wanted {
            amounts,
            is_certain: request.members.len() <= request.need,
        }
    }

    /// The part of a domain's free amounts that the group would take, of the scarcest resource; above 1
    /// there is no room for it.
    fn fill(&self, snap: &Snapshot, rows: &[Row]) -> f64 {
        let part = |(id, wanted): &(ResourceId, i128)| {
            let free: i128 = rows
                .iter()
                .map(|row| {
                    (
                        snap.nodes.allocatable(*id, *row),
                        snap.nodes.requested(*id, *row),
                    )
                })
                .map(|(all, used)| i128::from(all.saturating_sub(used).max(0)))
                .sum();
            *wanted as f64 / free as f64
        };
        self.amounts.iter().map(part).fold(0.0, f64::max)
    }
}
