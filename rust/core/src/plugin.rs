//! The contract of a native plugin.
//!
//! A [`Plugin`] is a configured rule. For a pod it makes a [`Filter`] (PreFilter) and a [`Score`]
//! (PreScore): the rule with everything computed once that does not depend on the node. Those judge
//! many rows in one call, can be remembered between pods with equal keys, and follow changes of the
//! snapshot exactly. All methods are pure functions of their arguments.

use crate::intern::Symbol;
use crate::normalize::Normalize;
use crate::snapshot::{Change, Pod, PodId, Row, Snapshot};
use crate::status::{Code, Status};
use crate::template::Template;
use std::fmt::Debug;
use std::hash::Hasher;

pub trait Plugin: Debug + Send + Sync {
    fn name(&self) -> &'static str;

    /// Writes the projection of the pod that this plugin reads. Pods with equal keys have equal
    /// results on the same snapshot.
    fn key(&self, snap: &Snapshot, pod: &Pod, key: &mut KeyWriter);

    /// PreFilter.
    fn pre_filter(&self, _snap: &Snapshot, _pod: &Pod) -> PreFilter {
        PreFilter::Skip
    }

    /// PreScore; `feasible` are the rows that passed all filters, in node order.
    fn pre_score(&self, _snap: &Snapshot, _pod: &Pod, _feasible: &[Row]) -> PreScore {
        PreScore::Skip
    }

    /// What a pod of template `placed`, put on or taken off a node, changes in the results
    /// remembered for `pod`. An upper bound: more than necessary is slow, less is wrong.
    fn affects(&self, snap: &Snapshot, placed: &Template, pod: &Pod) -> Affects;

    /// Whether the results for this pod, or its being skipped, depend on claims, volumes or other
    /// objects of storage. If not, no [`Change::Storage`] can alter them.
    fn reads_storage(&self, _pod: &Pod) -> bool {
        false
    }

    /// Takes what the pod needs on its node besides amounts (volumes). On refusal nothing is kept.
    fn reserve(&self, _snap: &mut Snapshot, _pod: PodId, _row: Row) -> Result<(), Status> {
        Ok(())
    }

    /// Gives back what `reserve` took; does nothing if it took nothing.
    fn unreserve(&self, _snap: &mut Snapshot, _pod: PodId) {}
}

#[derive(Debug)]
pub enum PreFilter {
    /// The plugin has nothing to say about this pod.
    Skip,
    /// No node can take the pod.
    Reject(Status),
    Run {
        filter: Box<dyn Filter>,
        /// If given, only nodes of these names can be feasible, and only they are looked at.
        nodes: Option<Vec<Symbol>>,
    },
}

#[derive(Debug)]
pub enum PreScore {
    /// The plugin's score is absent from the totals.
    Skip,
    Reject(Status),
    Run(Box<dyn Score>),
}

pub trait Filter: Debug + Send + Sync {
    /// Writes for the i-th row of `rows` its code to `out[i]`. Rows whose `out[i]` is not `Success`
    /// on entry may be left alone: an earlier plugin has rejected them.
    fn filter(&self, snap: &Snapshot, rows: Rows<'_>, out: &mut [Code]);

    /// The code and reasons for one row, equal to what `filter` writes there.
    fn status(&self, snap: &Snapshot, row: Row) -> Status;

    /// Upstream's PreFilterExtensions: a hypothetical pod was put on `row` (preemption, nominations).
    /// The snapshot has it already.
    fn add_pod(&mut self, _snap: &Snapshot, _pod: &Pod, _row: Row) {}

    /// The same for a pod taken off `row`; the snapshot no longer has it there.
    fn remove_pod(&mut self, _snap: &Snapshot, _pod: &Pod, _row: Row) {}

    /// Follows a real change of the snapshot, so that this equals a fresh `pre_filter`; tells which
    /// rows' results may differ. `All` means that it could not follow and must be made anew.
    fn follow(&mut self, _snap: &Snapshot, change: &Change) -> Affects {
        match change {
            Change::World | Change::Storage => Affects::All,
            _ => Affects::Node,
        }
    }

    fn boxed_clone(&self) -> Box<dyn Filter>;
}

pub trait Score: Debug + Send + Sync {
    /// Writes the raw score of the i-th row to `out[i]`; [`crate::normalize::IGNORED`] takes the
    /// node out of normalisation and scores 0.
    fn score(&self, snap: &Snapshot, rows: Rows<'_>, out: &mut [i64]);

    /// How raw scores become 0–100.
    fn normalize(&self) -> Normalize {
        Normalize::None
    }

    /// Like [`Filter::follow`].
    fn follow(&mut self, _snap: &Snapshot, change: &Change) -> Affects {
        match change {
            Change::World | Change::Storage => Affects::All,
            _ => Affects::Node,
        }
    }

    /// `row` entered (`now`) or left the feasible set; called after all changes were followed. The row
    /// itself is scored anew in any case; the answer tells which others may differ.
    fn feasible(&mut self, _snap: &Snapshot, _row: Row, _now: bool) -> Affects {
        Affects::Nothing
    }

    fn boxed_clone(&self) -> Box<dyn Score>;
}

/// Which rows a change concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Affects {
    Nothing,
    /// The row of the change itself.
    Node,
    /// All rows that share its domain of this topology key.
    Domain(Symbol),
    All,
}

/// The rows of one call: all of them, or a list.
#[derive(Clone, Copy, Debug)]
pub enum Rows<'a> {
    /// Rows `0..n`; some may not be live.
    All(usize),
    List(&'a [Row]),
}

impl Rows<'_> {
    pub fn len(&self) -> usize {
        match self {
            Rows::All(n) => *n,
            Rows::List(rows) => rows.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Calls `judge` for each row that no earlier plugin has rejected and stores its answer.
    pub fn judge(self, out: &mut [Code], mut judge: impl FnMut(Row) -> Code) {
        self.each(out, |row, cell| {
            if *cell == Code::Success {
                *cell = judge(row);
            }
        });
    }

    /// Calls `visit` with each row and its cell of `out`.
    pub fn each<T>(self, out: &mut [T], mut visit: impl FnMut(Row, &mut T)) {
        match self {
            Rows::All(n) => {
                for (row, cell) in out[..n].iter_mut().enumerate() {
                    visit(row as Row, cell);
                }
            }
            Rows::List(rows) => {
                for (&row, cell) in rows.iter().zip(out) {
                    visit(row, cell);
                }
            }
        }
    }
}

/// Collects a plugin's key as bytes. `std`'s `Hash` implementations are prefix-free, so equal bytes
/// are equal keys: no two different keys are ever taken for one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct KeyWriter(pub Vec<u8>);

impl Hasher for KeyWriter {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// Unused: the bytes themselves are the key.
    fn finish(&self) -> u64 {
        0
    }
}
