//! The best of many things, each reachable from some nodes only, for any node in almost no time.

use super::reach::Reach;
use super::table::Slot;
use crate::intern::{Interner, Symbol};
use crate::snapshot::nodes::{Nodes, Row};
use crate::snapshot::topology::{DomainId, Topology};

/// Slots of volumes or capacities, best first, indexed by the anchors of their reaches.
///
/// Local volumes have one anchor value each, zonal ones a few: a node meets only the things of its own
/// domain, and the first of them decides.
#[derive(Clone, Debug, Default)]
pub struct Ranked {
    /// By rank.
    items: Vec<Item>,
    /// Ranks without an anchor.
    loose: Vec<Rank>,
    keyed: Vec<Keyed>,
}

type Rank = u32;

#[derive(Clone, Copy, Debug)]
struct Item {
    slot: Slot,
    /// The anchor's domain says all; the reach itself need not be asked.
    settled: bool,
}

/// Ranks by domain of one key: those of domain `d` are `ranks[starts[d]..starts[d + 1]]`, ascending.
#[derive(Clone, Debug)]
struct Keyed {
    key: Symbol,
    starts: Vec<u32>,
    ranks: Vec<Rank>,
}

impl Ranked {
    /// `items` best first.
    pub fn new<'a>(items: impl IntoIterator<Item = (Slot, &'a Reach)>) -> Self {
        let mut ranked = Ranked::default();
        let mut pairs: Vec<(Symbol, Vec<(DomainId, Rank)>)> = Vec::new();
        for (slot, reach) in items {
            if reach.is_nowhere() {
                continue;
            }
            let rank = ranked.items.len() as Rank;
            let settled = match reach.anchor() {
                None => {
                    ranked.loose.push(rank);
                    reach.is_everywhere()
                }
                Some(anchor) => {
                    let at = pairs.iter().position(|(key, _)| *key == anchor.key);
                    let at = at.unwrap_or_else(|| {
                        pairs.push((anchor.key, Vec::new()));
                        pairs.len() - 1
                    });
                    pairs[at]
                        .1
                        .extend(anchor.domains.iter().map(|domain| (*domain, rank)));
                    anchor.exact
                }
            };
            ranked.items.push(Item { slot, settled });
        }
        ranked.keyed = pairs
            .into_iter()
            .map(|(key, pairs)| Keyed::new(key, &pairs))
            .collect();
        ranked
    }

    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Ready for many rows.
    pub fn lookup<'a>(&'a self, topology: &'a Topology) -> Lookup<'a> {
        let column = |keyed: &'a Keyed| (topology.domains(keyed.key).of_rows(), keyed);
        Lookup {
            ranked: self,
            columns: self.keyed.iter().map(column).collect(),
        }
    }
}

impl Keyed {
    /// `pairs` in the order of ranks.
    fn new(key: Symbol, pairs: &[(DomainId, Rank)]) -> Self {
        let domains = pairs
            .iter()
            .map(|(domain, _)| *domain as usize + 1)
            .max()
            .unwrap_or(0);
        let mut starts = vec![0u32; domains + 1];
        for (domain, _) in pairs {
            starts[*domain as usize + 1] += 1;
        }
        for domain in 0..domains {
            starts[domain + 1] += starts[domain];
        }
        let mut next = starts.clone();
        let mut ranks = vec![0; pairs.len()];
        for (domain, rank) in pairs {
            let at = &mut next[*domain as usize];
            ranks[*at as usize] = *rank;
            *at += 1;
        }
        Keyed { key, starts, ranks }
    }

    fn of(&self, domain: DomainId) -> &[Rank] {
        let domain = domain as usize;
        match (
            self.starts.get(domain),
            self.starts.get(domain.wrapping_add(1)),
        ) {
            (Some(from), Some(to)) => &self.ranks[*from as usize..*to as usize],
            _ => &[],
        }
    }
}

#[derive(Debug)]
pub struct Lookup<'a> {
    ranked: &'a Ranked,
    columns: Vec<(&'a [DomainId], &'a Keyed)>,
}

/// What a lookup asks the reaches of loose items against.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    pub row: Row,
    pub nodes: &'a Nodes,
    pub interner: &'a Interner,
}

impl<'a> Lookup<'a> {
    /// The best item that `place` reaches and `free` accepts.
    pub fn first<'r>(
        &self,
        place: Place<'_>,
        reach: impl Fn(Slot) -> Option<&'r Reach>,
        free: impl Fn(Slot) -> bool,
    ) -> Option<Slot> {
        let mut best = Rank::MAX;
        let fits = |rank: &Rank| {
            let item = self.ranked.items[*rank as usize];
            let reaches = || {
                reach(item.slot).is_some_and(|reach| {
                    reach.matches(&place.nodes.info(place.row).labels, place.interner)
                })
            };
            free(item.slot) && (item.settled || reaches())
        };
        let mut scan = |ranks: &[Rank]| {
            let better = ranks.iter().take_while(|rank| **rank < best);
            if let Some(rank) = better.copied().find(|rank| fits(rank)) {
                best = rank;
            }
        };
        for (of_rows, keyed) in &self.columns {
            if let Some(domain) = of_rows.get(place.row as usize) {
                scan(keyed.of(*domain));
            }
        }
        scan(&self.ranked.loose);
        self.ranked.items.get(best as usize).map(|item| item.slot)
    }
}
