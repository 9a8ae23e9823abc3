//! Node labels against requirements, for all nodes at once: a requirement is asked once for each value of
//! its key, and a node has the answer of its value.

use crate::plugin::GroupId;
use crate::selector::Requirement;
use crate::snapshot::{Domains, NO_DOMAIN, Snapshot};
use crate::template::NodeTerm;

/// The answers of one requirement.
struct Table<'a> {
    of_row: &'a [GroupId],
    /// Per domain of the key, and one more for nodes without the label.
    accepts: Vec<bool>,
}

impl<'a> Table<'a> {
    /// `None` if the snapshot has no domains for the key.
    fn new(snap: &'a Snapshot, requirement: &Requirement) -> Option<Self> {
        let domains: &Domains = snap.topology.known(requirement.key)?;
        let values = domains.values().iter().map(|value| Some(*value));
        let answers = values.chain([None]);
        let accepts = answers.map(|value| requirement.matches(value, &snap.interner));
        Some(Table {
            of_row: domains.of_rows(),
            accepts: accepts.collect(),
        })
    }

    fn narrow(&self, mask: &mut [bool]) {
        let missing = self.accepts.len() - 1;
        let accepts = |domain: GroupId| match domain {
            NO_DOMAIN => self.accepts[missing],
            domain => self.accepts[domain as usize],
        };
        for (cell, domain) in mask.iter_mut().zip(self.of_row) {
            *cell &= accepts(*domain);
        }
        for cell in mask.iter_mut().skip(self.of_row.len()) {
            *cell &= self.accepts[missing];
        }
    }
}

/// Takes the rows out of `mask` that do not meet all requirements; `None` if that cannot be told by tables.
pub(super) fn narrow(snap: &Snapshot, all: &[Requirement], mask: &mut [bool]) -> Option<()> {
    for requirement in all {
        Table::new(snap, requirement)?.narrow(mask);
    }
    Some(())
}

/// The rows that a term matches; `None` if that cannot be told by tables.
pub(super) fn matching(snap: &Snapshot, term: &NodeTerm, rows: usize) -> Option<Vec<bool>> {
    if !term.fields.is_empty() {
        return None;
    }
    let mut mask = vec![term.valid; rows];
    narrow(snap, &term.expressions, &mut mask)?;
    Some(mask)
}
