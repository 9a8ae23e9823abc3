//! Things in an order of their own, found for any node in almost no time.

use super::reach::Reach;
use super::table::Slot;
use crate::intern::{Interner, Symbol};
use crate::snapshot::nodes::{Nodes, Row};
use crate::snapshot::topology::{DomainId, Topology};
use std::cell::Cell;

/// Volumes or capacities of one class, best first, also by the anchors of their reaches.
///
/// Local volumes have one anchor value each, zonal ones a few: a node meets only the things of its own
/// domain, and the first of them that will do decides.
#[derive(Clone, Debug, Default)]
pub struct Shelf {
    all: Vec<Entry>,
    /// Without an anchor.
    loose: Vec<Entry>,
    keyed: Vec<Keyed>,
}

/// What is known of a thing without looking it up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub slot: Slot,
    /// What it is like, for whoever put it here.
    pub kind: u32,
    /// Bytes; `None` where that is no plain number.
    pub size: Option<i64>,
    /// Whoever finds it by its anchor, or has it without one, reaches it for certain.
    settled: bool,
}

/// Entries by domain of one key.
#[derive(Clone, Debug)]
struct Keyed {
    key: Symbol,
    domains: Vec<Vec<Entry>>,
}

impl Entry {
    pub(super) fn new(slot: Slot, kind: u32, size: Option<i64>) -> Self {
        Entry {
            slot,
            kind,
            size,
            settled: false,
        }
    }
}

impl Shelf {
    /// `before` tells which of the others go before this one.
    pub(super) fn insert(
        &mut self,
        mut entry: Entry,
        reach: &Reach,
        before: impl Fn(Slot) -> bool,
    ) {
        entry.settled = reach.is_everywhere() || reach.anchor().is_some_and(|anchor| anchor.exact);
        self.each_list(reach, |list| {
            let at = list.partition_point(|other| before(other.slot));
            list.insert(at, entry);
        });
    }

    pub(super) fn remove(&mut self, slot: Slot, reach: &Reach) {
        self.each_list(reach, |list| list.retain(|entry| entry.slot != slot));
    }

    /// Calls `change` with the lists on which a thing of this reach stands.
    fn each_list(&mut self, reach: &Reach, mut change: impl FnMut(&mut Vec<Entry>)) {
        change(&mut self.all);
        let Some(anchor) = reach.anchor() else {
            if !reach.is_nowhere() {
                change(&mut self.loose);
            }
            return;
        };
        let at = self.keyed.iter().position(|keyed| keyed.key == anchor.key);
        let at = at.unwrap_or_else(|| {
            self.keyed.push(Keyed {
                key: anchor.key,
                domains: Vec::new(),
            });
            self.keyed.len() - 1
        });
        let domains = &mut self.keyed[at].domains;
        for domain in anchor.domains.iter().map(|domain| *domain as usize) {
            if domains.len() <= domain {
                domains.resize_with(domain + 1, Vec::new);
            }
            change(&mut domains[domain]);
        }
    }

    pub fn all(&self) -> &[Entry] {
        &self.all
    }

    /// Ready for a search on about `rows` rows.
    pub fn lookup<'a>(&'a self, topology: &'a Topology, rows: usize) -> Lookup<'a> {
        let column = |keyed: &'a Keyed| {
            let domains = keyed.domains.len();
            let remember = rows > domains / 8;
            Column {
                of_rows: topology.domains(keyed.key).of_rows(),
                lists: &keyed.domains,
                skips: vec![Skip::default(); if remember { domains } else { 0 }],
            }
        };
        Lookup {
            loose: &self.loose,
            skip: Skip::default(),
            columns: self.keyed.iter().map(column).collect(),
        }
    }
}

/// A shelf as one claim sees it.
#[derive(Debug)]
pub struct Lookup<'a> {
    loose: &'a [Entry],
    skip: Skip,
    columns: Vec<Column<'a>>,
}

/// How many entries at the beginning of a list are known not to suit the claim: they are not looked at
/// again for every node of a domain.
type Skip = Cell<usize>;

#[derive(Debug)]
struct Column<'a> {
    of_rows: &'a [DomainId],
    /// By domain.
    lists: &'a [Vec<Entry>],
    /// The same; empty where few rows are asked for.
    skips: Vec<Skip>,
}

/// The node that things must be usable on.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    pub row: Row,
    pub nodes: &'a Nodes,
    pub interner: &'a Interner,
}

/// What a claim asks of things on a shelf.
pub trait Search {
    /// Whether a thing suits the claim, wherever it is; the answer never changes.
    fn suits(&self, entry: &Entry) -> bool;

    /// Whether it is still to be had.
    fn is_free(&self, _slot: Slot) -> bool {
        true
    }

    fn reach(&self, slot: Slot) -> Option<&Reach>;

    /// Whether one comes before the other on the shelf.
    fn before(&self, one: Slot, other: Slot) -> bool;
}

/// The first entry of a list that will do.
fn first(list: &[Entry], skip: &Skip, place: Place<'_>, search: &impl Search) -> Option<Slot> {
    let known = skip.get();
    let unfit = list[known..]
        .iter()
        .take_while(|entry| !search.suits(entry));
    let start = known + unfit.count();
    skip.set(start);
    let reaches = |entry: &&Entry| {
        let labels = &place.nodes.info(place.row).labels;
        let matches = |reach: &Reach| reach.matches(labels, place.interner);
        entry.settled || search.reach(entry.slot).is_some_and(matches)
    };
    let mut rest = list[start..].iter();
    let found = rest.find(|e| search.is_free(e.slot) && search.suits(e) && reaches(e));
    found.map(|entry| entry.slot)
}

impl Lookup<'_> {
    /// The first thing that suits, is free, and can be used at `place`.
    pub fn first(&self, place: Place<'_>, search: &impl Search) -> Option<Slot> {
        let mut best = first(self.loose, &self.skip, place, search);
        for column in &self.columns {
            let Some(domain) = column.of_rows.get(place.row as usize) else {
                continue;
            };
            let Some(list) = column.lists.get(*domain as usize) else {
                continue;
            };
            let fresh = Skip::default();
            let skip = column.skips.get(*domain as usize).unwrap_or(&fresh);
            let Some(slot) = first(list, skip, place, search) else {
                continue;
            };
            if best.is_none_or(|best| search.before(slot, best)) {
                best = Some(slot);
            }
        }
        best
    }
}
