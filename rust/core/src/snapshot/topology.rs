//! Topology domains: for a label key, which nodes share its value.

use super::nodes::{Nodes, Row};
use crate::intern::Symbol;
use rustc_hash::FxHashMap;

/// A domain of one key, numbered densely in the order its values were seen.
pub type DomainId = u32;

/// Keys known before those are refused that need not be.
const FEW: usize = 128;

/// The row has no such label (or is no node).
pub const NO_DOMAIN: DomainId = DomainId::MAX;

/// The partition of the nodes by one label key.
#[derive(Clone, Debug, Default)]
pub struct Domains {
    /// Per row.
    of_row: Vec<DomainId>,
    ids: FxHashMap<Symbol, DomainId>,
    values: Vec<Symbol>,
    rows: Vec<Vec<Row>>,
}

impl Domains {
    fn new(key: Symbol, nodes: &Nodes) -> Self {
        let mut domains = Domains::default();
        for row in 0..nodes.len() as Row {
            domains.set(
                row,
                nodes.live[row as usize]
                    .then(|| nodes.info(row).labels.get(key))
                    .flatten(),
            );
        }
        domains
    }

    fn set(&mut self, row: Row, value: Option<Symbol>) {
        if self.of_row.len() <= row as usize {
            self.of_row.resize(row as usize + 1, NO_DOMAIN);
        }
        let next = value.map_or(NO_DOMAIN, |value| self.ensure(value));
        let before = std::mem::replace(&mut self.of_row[row as usize], next);
        if before == next {
            return;
        }
        if before != NO_DOMAIN {
            self.rows[before as usize].retain(|r| *r != row);
        }
        if next != NO_DOMAIN {
            self.rows[next as usize].push(row);
        }
    }

    fn ensure(&mut self, value: Symbol) -> DomainId {
        *self.ids.entry(value).or_insert_with(|| {
            self.values.push(value);
            self.rows.push(Vec::new());
            self.values.len() as DomainId - 1
        })
    }

    /// The label's value of each domain.
    pub fn values(&self) -> &[Symbol] {
        &self.values
    }

    /// Domain of each row, [`NO_DOMAIN`] where the label is missing.
    pub fn of_rows(&self) -> &[DomainId] {
        &self.of_row
    }

    pub fn of(&self, row: Row) -> Option<DomainId> {
        self.of_row
            .get(row as usize)
            .copied()
            .filter(|d| *d != NO_DOMAIN)
    }

    /// The domain of a value that some node has or had, or that [`Topology::ensure_domain`] was asked for.
    pub fn id(&self, value: Symbol) -> Option<DomainId> {
        self.ids.get(&value).copied()
    }

    /// How many domains are numbered; some may have no node, or never had one.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    pub fn rows(&self, domain: DomainId) -> &[Row] {
        &self.rows[domain as usize]
    }
}

/// The partitions by every key that a pod has referred to.
#[derive(Debug, Default)]
pub struct Topology {
    keys: FxHashMap<Symbol, Domains>,
}

impl Topology {
    /// Must have been asked for by [`Topology::ensure`] when the pod that names the key came in.
    pub fn domains(&self, key: Symbol) -> &Domains {
        &self.keys[&key]
    }

    /// The same for a key that may not be known.
    pub fn known(&self, key: Symbol) -> Option<&Domains> {
        self.keys.get(&key)
    }

    /// Makes a key known that is only looked up faster then, unless there are many.
    pub(super) fn ensure_if_few(&mut self, key: Symbol, nodes: &Nodes) {
        if self.keys.len() < FEW {
            self.ensure(key, nodes);
        }
    }

    pub(super) fn ensure(&mut self, key: Symbol, nodes: &Nodes) {
        self.keys
            .entry(key)
            .or_insert_with(|| Domains::new(key, nodes));
    }

    /// The number of a domain, whether or not a node is in it yet.
    pub(super) fn ensure_domain(&mut self, key: Symbol, value: Symbol, nodes: &Nodes) -> DomainId {
        self.ensure(key, nodes);
        self.keys
            .get_mut(&key)
            .map_or(NO_DOMAIN, |domains| domains.ensure(value))
    }

    pub(super) fn update(&mut self, row: Row, nodes: &Nodes) {
        for (key, domains) in &mut self.keys {
            let value = nodes.live[row as usize]
                .then(|| nodes.info(row).labels.get(*key))
                .flatten();
            domains.set(row, value);
        }
    }
}
