//! Numbers per topology key and domain.

use crate::snapshot::DomainId;

/// A column without counts takes no room.
#[derive(Clone, Debug)]
pub(super) struct Tally {
    /// Per column and domain.
    counts: Vec<Vec<i64>>,
    /// Counts that are not zero.
    entries: usize,
}

impl Tally {
    pub(super) fn new(columns: usize) -> Self {
        Tally {
            counts: vec![Vec::new(); columns],
            entries: 0,
        }
    }

    /// `domains` is how many the column has.
    pub(super) fn add(&mut self, (column, domains): (usize, usize), domain: DomainId, delta: i64) {
        let counts = &mut self.counts[column];
        if counts.is_empty() {
            counts.resize(domains, 0);
        }
        let count = &mut counts[domain as usize];
        self.entries -= usize::from(*count != 0);
        *count = count.wrapping_add(delta);
        self.entries += usize::from(*count != 0);
    }

    pub(super) fn get(&self, column: usize, domain: DomainId) -> i64 {
        self.counts[column]
            .get(domain as usize)
            .copied()
            .unwrap_or(0)
    }

    pub(super) fn is_zero(&self) -> bool {
        self.entries == 0
    }
}
