//! Searches that found nothing, so that they are not repeated where nothing has changed.

use rustc_hash::FxHashMap;

/// Searches that are kept in mind; beyond that all are forgotten.
const MOST: usize = 4096;

/// Stands for a budget that is not used up: there is nothing to find.
pub(super) const ALL: u64 = u64::MAX;

/// By what the members ask for and what the nodes have left: what was spent on the search.
#[derive(Debug, Default)]
pub(super) struct Fruitless(FxHashMap<u64, u64>);

impl Fruitless {
    pub(super) fn spent_on(&self, signature: u64) -> Option<u64> {
        self.0.get(&signature).copied()
    }

    pub(super) fn note(&mut self, signature: u64, spent: u64) {
        if self.0.len() >= MOST {
            self.0.clear();
        }
        self.0.insert(signature, spent);
    }
}
