//! kube-scheduler's node order: zones in first-seen order, then round-robin over the zones.

use super::nodes::{Nodes, Row};
use crate::intern::{Interner, Symbol};
use crate::selector::Labels;

/// Nodes by zone. The list is rebuilt only when there are other nodes than at the last cycle: a zone label
/// that changes on a living node moves it within the tree at once, but the list keeps its old order until
/// then. A node that went and came back between two cycles has its old place in the list as well.
#[derive(Debug, Default)]
pub struct Order {
    zones: Vec<(Zone, Vec<Row>)>,
    list: Vec<Row>,
    /// The names of the nodes in the list.
    names: Vec<Symbol>,
    stale: bool,
}

/// Region and zone, as upstream's `GetZoneKey` reads them.
type Zone = (Symbol, Symbol);

/// The label keys that name region and zone; the beta names win where both stand.
#[derive(Clone, Copy, Debug)]
pub(super) struct ZoneKeys {
    beta: (Symbol, Symbol),
    stable: (Symbol, Symbol),
}

impl ZoneKeys {
    pub(super) fn new(interner: &mut Interner) -> Self {
        ZoneKeys {
            beta: (
                interner.intern("failure-domain.beta.kubernetes.io/region"),
                interner.intern("failure-domain.beta.kubernetes.io/zone"),
            ),
            stable: (
                interner.intern("topology.kubernetes.io/region"),
                interner.intern("topology.kubernetes.io/zone"),
            ),
        }
    }

    fn zone(self, labels: &Labels) -> Zone {
        let read = |beta, stable| {
            labels
                .get(beta)
                .or_else(|| labels.get(stable))
                .unwrap_or_default()
        };
        (
            read(self.beta.0, self.stable.0),
            read(self.beta.1, self.stable.1),
        )
    }
}

impl Order {
    pub(super) fn add(&mut self, row: Row, labels: &Labels, keys: ZoneKeys) {
        self.insert(row, keys.zone(labels));
        self.stale = true;
    }

    pub(super) fn update(&mut self, row: Row, before: &Labels, after: &Labels, keys: ZoneKeys) {
        let (old, new) = (keys.zone(before), keys.zone(after));
        if old != new {
            self.take(row, old);
            self.insert(row, new);
        }
    }

    pub(super) fn remove(&mut self, row: Row, labels: &Labels, keys: ZoneKeys) {
        self.take(row, keys.zone(labels));
        self.stale = true;
    }

    fn insert(&mut self, row: Row, zone: Zone) {
        match self.zones.iter_mut().find(|(z, _)| *z == zone) {
            Some((_, rows)) => rows.push(row),
            None => self.zones.push((zone, vec![row])),
        }
    }

    fn take(&mut self, row: Row, zone: Zone) {
        let Some(index) = self.zones.iter().position(|(z, _)| *z == zone) else {
            return;
        };
        let rows = &mut self.zones[index].1;
        rows.retain(|r| *r != row);
        if rows.is_empty() {
            self.zones.remove(index);
        }
    }

    /// Brings the list up to date; called before a cycle reads it. Whether it was rebuilt: because there are
    /// other nodes, or because it must be.
    pub(super) fn refresh(&mut self, nodes: &Nodes, must: bool) -> bool {
        let stale = std::mem::take(&mut self.stale);
        let kept = !crate::mutation::active("node order");
        if !must && (!stale || kept && self.find_again(nodes)) {
            return false;
        }
        self.rebuild(nodes);
        true
    }

    /// The same nodes in the same order, on the rows that they have now; false if others are there.
    fn find_again(&mut self, nodes: &Nodes) -> bool {
        self.list.clear();
        if self.names.len() == nodes.count() {
            let rows = self.names.iter().map_while(|name| nodes.row(*name));
            self.list.extend(rows);
        }
        self.list.len() == self.names.len() && self.names.len() == nodes.count()
    }

    fn rebuild(&mut self, nodes: &Nodes) {
        self.list.clear();
        let longest = self
            .zones
            .iter()
            .map(|(_, rows)| rows.len())
            .max()
            .unwrap_or(0);
        for turn in 0..longest {
            self.list
                .extend(self.zones.iter().filter_map(|(_, rows)| rows.get(turn)));
        }
        self.names.clear();
        self.names
            .extend(self.list.iter().map(|row| nodes.name(*row)));
    }

    pub fn rows(&self) -> &[Row] {
        &self.list
    }
}
