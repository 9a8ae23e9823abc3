//! The rows in groups that one domain-valued result cannot tell apart: same domain of each of its
//! topology keys, same facts about the node.

use crate::intern::Symbol;
use crate::plugin::{Affects, GroupId};
use crate::snapshot::{DomainId, NO_DOMAIN, Row, Snapshot};
use rustc_hash::FxHashMap;

/// Never changes once made: a node that goes to another group makes the partition void.
#[derive(Debug)]
pub(super) struct Partition {
    keys: Box<[Symbol]>,
    of_row: Vec<GroupId>,
    /// Domain per group and key, group by group.
    cells: Vec<DomainId>,
    /// Per group.
    facts: Vec<u32>,
    /// Per key.
    columns: Vec<Column>,
}

/// The groups by their domain of one key.
#[derive(Debug)]
struct Column {
    /// Per domain, and one more: where its groups start.
    starts: Vec<u32>,
    groups: Vec<GroupId>,
}

impl Partition {
    /// The keys must be known to the snapshot's topology; `facts` tells what else matters of a node.
    pub(super) fn new(snap: &Snapshot, keys: &[Symbol], facts: impl Fn(Row) -> u32) -> Self {
        let len = snap.nodes.len();
        let facts_of_row: Vec<u32> = (0..len as Row).map(facts).collect();
        let mut of_row = vec![0; len];
        let bound = facts_of_row
            .iter()
            .max()
            .map_or(0, |most| *most as usize + 1);
        let mut groups = refine(&mut of_row, 1, &facts_of_row, bound);
        let domains: Vec<_> = keys.iter().map(|k| snap.topology.domains(*k)).collect();
        for domains in &domains {
            groups = refine(&mut of_row, groups, domains.of_rows(), domains.len());
        }
        let mut cells = vec![NO_DOMAIN; groups * keys.len()];
        let mut facts = vec![0; groups];
        for (row, group) in of_row.iter().map(|g| *g as usize).enumerate() {
            facts[group] = facts_of_row[row];
            for (column, domains) in domains.iter().enumerate() {
                cells[group * keys.len() + column] = domains.of(row as Row).unwrap_or(NO_DOMAIN);
            }
        }
        let columns = domains.iter().enumerate().map(|(column, domains)| {
            let cells = cells.iter().skip(column).step_by(keys.len());
            Column::new(domains.len(), cells.copied())
        });
        Partition {
            columns: columns.collect(),
            keys: keys.into(),
            of_row,
            cells,
            facts,
        }
    }

    /// How many groups there are; none is empty.
    pub(super) fn len(&self) -> usize {
        self.facts.len()
    }

    pub(super) fn keys(&self) -> &[Symbol] {
        &self.keys
    }

    /// How many domains the key of a column had.
    pub(super) fn domains(&self, column: usize) -> usize {
        self.columns[column].starts.len() - 1
    }

    pub(super) fn of_rows(&self) -> &[GroupId] {
        &self.of_row
    }

    /// `None` for a row that came later.
    pub(super) fn group(&self, row: Row) -> Option<GroupId> {
        self.of_row.get(row as usize).copied()
    }

    /// A group's domain of each key, [`NO_DOMAIN`] where its nodes lack the label.
    pub(super) fn cells(&self, group: GroupId) -> &[DomainId] {
        let start = group as usize * self.keys.len();
        &self.cells[start..start + self.keys.len()]
    }

    pub(super) fn facts(&self, group: GroupId) -> u32 {
        self.facts[group as usize]
    }

    /// The groups within a domain.
    pub(super) fn within(&self, column: usize, domain: DomainId) -> &[GroupId] {
        let Column { starts, groups } = &self.columns[column];
        let bound = |d: DomainId| starts[d as usize] as usize;
        &groups[bound(domain)..bound(domain + 1)]
    }

    /// Whether a node that may have changed is still of its group.
    pub(super) fn holds(&self, snap: &Snapshot, row: Row, facts: u32) -> bool {
        let Some(group) = self.group(row) else {
            return false;
        };
        let present = |key: &Symbol| snap.topology.domains(*key).of(row).unwrap_or(NO_DOMAIN);
        self.facts(group) == facts
            && self
                .keys
                .iter()
                .map(present)
                .eq(self.cells(group).iter().copied())
    }
}

/// Splits groups `0..count` by a value per row; returns how many there are then. Values are below `bound`
/// or the largest number.
fn refine(of_row: &mut [GroupId], count: usize, values: &[u32], bound: usize) -> usize {
    const NEW: GroupId = GroupId::MAX;
    let width = bound + 1;
    let mut next: GroupId = 0;
    let mut number = |known: &mut GroupId| {
        if *known == NEW {
            *known = next;
            next += 1;
        }
        *known
    };
    let rows = of_row.iter_mut().zip(values);
    let pairs =
        rows.map(|(group, value)| (*group as usize * width + bound.min(*value as usize), group));
    if count * width <= 1024 + 8 * values.len() {
        let mut table = vec![NEW; count * width];
        pairs.for_each(|(pair, group)| *group = number(&mut table[pair]));
    } else {
        let mut table: FxHashMap<usize, GroupId> = FxHashMap::default();
        pairs.for_each(|(pair, group)| *group = number(table.entry(pair).or_insert(NEW)));
    }
    next as usize
}

impl Column {
    fn new(domains: usize, cells: impl Iterator<Item = DomainId> + Clone) -> Self {
        let mut starts = vec![0u32; domains + 1];
        for cell in cells.clone().filter(|c| *c != NO_DOMAIN) {
            starts[cell as usize + 1] += 1;
        }
        for domain in 0..domains {
            starts[domain + 1] += starts[domain];
        }
        let mut next = starts.clone();
        let mut groups = vec![0; starts[domains] as usize];
        for (group, cell) in cells.enumerate().filter(|(_, c)| *c != NO_DOMAIN) {
            groups[next[cell as usize] as usize] = group as GroupId;
            next[cell as usize] += 1;
        }
        Column { starts, groups }
    }
}

/// What a change of the domain of `row` concerns: a domain with one node is that node.
pub(super) fn domain_of(snap: &Snapshot, key: Symbol, row: Row) -> Affects {
    let domains = snap.topology.domains(key);
    match domains.of(row).map(|domain| domains.rows(domain)) {
        Some([_]) => Affects::Node,
        _ => Affects::Domain(key),
    }
}
