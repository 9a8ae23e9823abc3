//! What the score of a pod's constraints is made of besides pods and the feasible set.

use super::Constraints;
use crate::intern::Symbol;
use crate::plugin::GroupId;
use crate::plugins::inclusion::Inclusion;
use crate::plugins::partition::Partition;
use crate::snapshot::{DomainId, NO_DOMAIN, Row, Snapshot};
use crate::template::SpreadConstraint;

/// The node has a hostname label.
const HOST: u32 = 4;

/// What does not depend on pods on nodes, nor on which nodes are feasible.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) constraints: Constraints,
    inclusion: Inclusion,
    /// The hostname key, if some constraint is over it.
    hostname: Option<Symbol>,
    /// Per constraint: where its counts are.
    pub(super) places: Vec<Place>,
    pub(super) partition: Partition,
    /// Per column: the domain that nodes without the label belong to where they take part at all, the
    /// one of the empty value.
    unlabelled: Vec<DomainId>,
    /// Nodes that lack a key are ignored.
    require_all: bool,
}

/// Where the number comes from that a constraint weighs.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// The domains of this column of the partition.
    Column(usize),
    /// The node's own pods (the key is the hostname); the index among such constraints.
    Node(usize),
}

impl Rule {
    pub(super) fn new(
        snap: &Snapshot,
        constraints: Constraints,
        inclusion: Inclusion,
        hostname: Symbol,
        require_all: bool,
    ) -> Self {
        let (mut keys, mut nodes) = (Vec::new(), 0);
        let place = |constraint: &SpreadConstraint| {
            if constraint.topology_key == hostname {
                nodes += 1;
                return Place::Node(nodes - 1);
            }
            keys.push(constraint.topology_key);
            Place::Column(keys.len() - 1)
        };
        let places = constraints.list.iter().map(place).collect();
        let hostname = (nodes > 0).then_some(hostname);
        let facts = |row| inclusion.facts(snap, row) | host(snap, hostname, row);
        let partition = Partition::new(snap, &keys, facts);
        let unlabelled = keys.iter().map(|key| {
            let domains = snap.topology.domains(*key);
            domains
                .id(Symbol::EMPTY)
                .unwrap_or(domains.len() as DomainId)
        });
        Rule {
            unlabelled: unlabelled.collect(),
            constraints,
            inclusion,
            hostname,
            places,
            partition,
            require_all,
        }
    }

    /// Nodes of the group are not scored.
    pub(super) fn ignores(&self, group: GroupId) -> bool {
        let no_host = self.hostname.is_some() && !self.has_host(group);
        self.require_all && (no_host || self.partition.cells(group).contains(&NO_DOMAIN))
    }

    /// Whether the nodes of the group have a hostname.
    pub(super) fn has_host(&self, group: GroupId) -> bool {
        self.partition.facts(group) & HOST != 0
    }

    /// Whether a node that may have changed is still of its group.
    pub(super) fn holds(&self, snap: &Snapshot, row: Row) -> bool {
        let facts = self.inclusion.facts(snap, row) | host(snap, self.hostname, row);
        self.partition.holds(snap, row, facts)
    }

    /// The index under which a column counts the nodes of a group.
    pub(super) fn slot(&self, group: GroupId, column: usize) -> usize {
        let domain = match self.partition.cells(group)[column] {
            NO_DOMAIN => self.unlabelled[column],
            domain => domain,
        };
        domain as usize
    }

    /// The slot of `column` in which a constraint counts the pods on the nodes of a group.
    pub(super) fn counted_in(&self, group: GroupId, index: usize, column: usize) -> Option<usize> {
        let needed = Inclusion::needed(&self.constraints.list[index]);
        let counts = self.partition.facts(group) & needed == needed && !self.ignores(group);
        counts.then(|| self.slot(group, column))
    }
}

fn host(snap: &Snapshot, hostname: Option<Symbol>, row: Row) -> u32 {
    let has = hostname.is_some_and(|key| snap.topology.domains(key).of(row).is_some());
    u32::from(has) * HOST
}
