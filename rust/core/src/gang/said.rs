//! What plugins of the caller's say of members. The core cannot ask them while it looks for places, so it is told
//! beforehand which nodes they leave to each kind of member, and from failure to failure in what company
//! they have refused one on a node.

use crate::snapshot::{PodId, Row};
use rustc_hash::FxHashMap;

/// Number of members that those plugins cannot tell apart.
pub type Kind = usize;

/// Empty: those plugins have nothing to do with the gang.
#[derive(Clone, Debug, Default)]
pub struct Said {
    kinds: FxHashMap<PodId, Kind>,
    /// By kind, ascending.
    rows: Vec<Vec<Row>>,
    /// How many members of each kind were on a node when it was refused to one more.
    refused: FxHashMap<(Kind, Row), Vec<Vec<usize>>>,
}

impl Said {
    /// `rows` are by kind and ascending.
    pub fn new(kinds: impl IntoIterator<Item = (PodId, Kind)>, rows: Vec<Vec<Row>>) -> Self {
        Said {
            kinds: kinds.into_iter().collect(),
            rows,
            refused: FxHashMap::default(),
        }
    }

    /// A member of `kind` was refused on `row`, where `beside` members of each kind were. More of them do not
    /// change that.
    pub fn refuse(&mut self, kind: Kind, row: Row, beside: Vec<usize>) {
        self.refused.entry((kind, row)).or_default().push(beside);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    pub(super) fn kind(&self, pod: PodId) -> Option<Kind> {
        self.kinds.get(&pod).copied()
    }

    /// Whether one more of a kind may go to a node; `company` are the kinds of the members placed there.
    pub(super) fn allows<I: Iterator<Item = Kind>>(
        &self,
        kind: Kind,
        row: Row,
        company: impl FnOnce() -> I,
    ) -> bool {
        if self.rows[kind].binary_search(&row).is_err() {
            return false;
        }
        let Some(refused) = self.refused.get(&(kind, row)) else {
            return true;
        };
        let mut there = vec![0; self.rows.len()];
        for kind in company() {
            there[kind] += 1;
        }
        let covers = |with: &Vec<usize>| with.iter().zip(&there).all(|(with, there)| with <= there);
        !refused.iter().any(covers)
    }

    /// What tells nodes apart in the eyes of those plugins, as far as they have said.
    pub(super) fn traits(&self, row: Row) -> impl Iterator<Item = u64> + '_ {
        let of_kind = move |kind: Kind| {
            let left = self.rows[kind].binary_search(&row).is_ok();
            let refused = self.refused.get(&(kind, row)).into_iter().flatten();
            let counts = refused.flatten().map(|count| *count as u64 + 2);
            std::iter::once(u64::from(left)).chain(counts)
        };
        (0..self.rows.len()).flat_map(of_kind)
    }
}
