//! Where a group may be together: the domains of its topology keys, the tightest first.

use super::Request;
use crate::intern::Symbol;
use crate::resources::ResourceId;
use crate::snapshot::{Row, Snapshot};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// Nodes among which a group is placed.
#[derive(Clone, Debug)]
pub(super) struct Domain {
    /// Value of the topology keys; empty if it is no domain of one.
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

/// The domains to try, in this order.
pub(super) fn candidates(snap: &Snapshot, request: &Request) -> Vec<Domain> {
    if request.together.keys.is_empty() {
        return vec![everywhere()];
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
    let mut tried: Vec<Domain> = rated
        .iter()
        .filter(|(fill, _)| *fill <= 1.0 || !wanted.is_certain)
        .map(|(_, domain)| Domain {
            name: domain.name.clone(),
            some: Some(domain.rows.clone()),
        })
        .collect();
    if request.together.preferred {
        tried.extend(unions(rated));
        tried.push(everywhere());
    } else if tried.is_empty() {
        // None has room: the roomiest, which is the last, says best what is missing.
        tried.extend(rated.pop().map(|(_, domain)| domain.into()));
    }
    tried
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
    let name = |values: Vec<Symbol>| {
        let texts: Vec<_> = values.into_iter().map(|v| snap.interner.text(v)).collect();
        texts.join("/")
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
