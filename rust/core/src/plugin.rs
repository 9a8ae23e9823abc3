//! The contract of a native plugin.
//!
//! A [`Plugin`] is a configured rule. For a pod it makes a [`Filter`] (PreFilter) and a [`Score`]
//! (PreScore): the rule with everything computed once that does not depend on the node. Those judge
//! many rows in one call, can be remembered between pods with equal keys, and follow changes of the
//! snapshot exactly. All methods are pure functions of their arguments.

use crate::hints::Happening;
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
    /// results on the same snapshot. The projection depends on the snapshot too (which labels can be
    /// told apart, what a pod's owner selects): a key that is kept must be made anew when
    /// [`Snapshot::key_epoch`] has moved. What was remembered under a key stays true of that key.
    fn key(&self, snap: &Snapshot, pod: &Pod, key: &mut KeyWriter);

    /// Whether the key of this pod may be another if its labels were.
    fn reads_labels(&self, _: &Snapshot, _pod: &Pod) -> bool {
        false
    }

    /// PreFilter.
    fn pre_filter(&self, _snap: &Snapshot, _pod: &Pod) -> PreFilter {
        PreFilter::Skip
    }

    /// PreScore; `feasible` are the rows that passed all filters, in node order.
    fn pre_score(&self, _snap: &Snapshot, _pod: &Pod, _feasible: &[Row]) -> PreScore {
        PreScore::Skip
    }

    /// Whether `pre_score` of this pod reads which rows are feasible; if not, it may be told of none.
    fn reads_feasible(&self, _: &Snapshot, _pod: &Pod) -> bool {
        false
    }

    /// What a pod of template `placed`, put on or taken off a node, changes in the results
    /// remembered for `pod`. An upper bound: more than necessary is slow, less is wrong.
    fn affects(&self, snap: &Snapshot, placed: &Template, pod: &Pod) -> Affects;

    /// Whether what is on nodes decides if the plugin skips a pod. If so it implements [`Plugin::wakes`]
    /// and [`Plugin::wakes_with_node`]; if not, only the pod itself, storage and the world decide.
    fn can_wake(&self) -> bool {
        false
    }

    /// Whether a pod of template `placed`, put on a node, can give the plugin something to say about
    /// `pod` at a point where it skipped it. A `Skip` has nothing to follow changes with: it holds until
    /// this is true of one, or something besides nodes and pods changed.
    fn wakes(&self, _: &Snapshot, _placed: &Template, _pod: &Pod, _at: Point) -> bool {
        false
    }

    /// The same for a node that changed, such as one that got the label of a topology key.
    fn wakes_with_node(&self, _: &Snapshot, _: &Pod, _at: Point) -> bool {
        false
    }

    /// Whether the results for this pod, or its being skipped, depend on claims, volumes or other
    /// objects of storage. If not, no [`Change::Storage`] can alter them.
    fn reads_storage(&self, _pod: &Pod) -> bool {
        false
    }

    /// Upstream's queueing hint, besides those about pods on nodes, which [`Plugin::affects`] answers: whether
    /// what happened may make room for a pod that this plugin rejected.
    fn helped_by(&self, _: &Snapshot, _pod: &Pod, _: &Happening<'_>) -> bool {
        true
    }

    /// Takes what the pod needs on its node besides amounts (volumes). On refusal nothing is kept.
    fn reserve(&self, _snap: &mut Snapshot, _pod: PodId, _row: Row) -> Result<(), Status> {
        Ok(())
    }

    /// Gives back what `reserve` took; does nothing if it took nothing.
    fn unreserve(&self, _snap: &mut Snapshot, _pod: PodId) {}
}

/// The two roles of a plugin: `pre_filter` makes the one, `pre_score` the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point {
    Filter,
    Score,
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

    /// A number that is equal for rejected rows only where their reasons are: what many rows say is then
    /// put into words once. `None`: it must be asked row by row.
    fn reason_class(&self, _snap: &Snapshot, _row: Row) -> Option<u64> {
        None
    }

    /// Whether a code may be `Error`: the node cannot be judged, which ends the cycle.
    fn can_fail(&self) -> bool {
        false
    }

    /// Whether `add_pod` and `remove_pod` change anything.
    fn counts_pods(&self) -> bool {
        false
    }

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

    /// What the code of a row depends on.
    fn reads(&self) -> Reads {
        Reads::Follow
    }

    /// The codes by group, where a domain of nodes shares its code. `None` where each row has its own,
    /// and after `add_pod` or `remove_pod`.
    fn groups(&self) -> Option<Groups<'_, Code>> {
        None
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

    /// The raw score, where the plugin knows that it is the same for all nodes.
    fn everywhere(&self, _: &Snapshot) -> Option<i64> {
        None
    }

    /// Like [`Filter::follow`].
    fn follow(&mut self, _snap: &Snapshot, change: &Change) -> Affects {
        match change {
            Change::World | Change::Storage => Affects::All,
            _ => Affects::Node,
        }
    }

    /// What the raw score of a row depends on.
    fn reads(&self) -> Reads {
        Reads::Follow
    }

    /// Whether the raw scores depend on which rows are feasible; if not, `feasible` need not be told.
    fn reads_feasible(&self) -> bool {
        false
    }

    /// Follows a change of the feasible set, told after the changes of the snapshot and once for as
    /// many rows as have come and gone, so that this equals a fresh `pre_score` for the present set;
    /// tells which rows' raw scores may differ. A score whose `pre_score` reads the set must have its own.
    fn feasible(&mut self, _snap: &Snapshot, _entered: &[Row], _left: &[Row]) -> Affects {
        Affects::Nothing
    }

    /// The raw scores by group, where there are few different ones: normalising then costs a step per
    /// group, and a pick a step per group and node-local maximum.
    fn groups(&self) -> Option<Groups<'_, i64>> {
        None
    }

    fn boxed_clone(&self) -> Box<dyn Score>;
}

/// What a result for one row depends on, apart from the pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// Only what the node says of itself: stays true until a [`Change::Node`] of the row.
    Node,
    /// That, and what its own pods use: stays true until any change of the row.
    Row,
    /// More; `follow` must be told of every change.
    Follow,
}

/// Which rows a change concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Affects {
    Nothing,
    /// The row of the change itself.
    Node,
    /// All rows that share its domain of this topology key.
    Domain(Symbol),
    /// Any row; what is remembered has followed and can be asked.
    Every,
    /// Any row; what is remembered could not follow and must be made anew.
    All,
}

impl Affects {
    /// What two changes of one row concern together.
    #[must_use]
    pub fn and(self, other: Affects) -> Affects {
        use Affects::{All, Domain, Every, Node, Nothing};
        match (self, other) {
            (All, _) | (_, All) => All,
            (Every, _) | (_, Every) => Every,
            (Nothing, one) | (one, Nothing) => one,
            // A row is part of its own domains.
            (Node, one) | (one, Node) => one,
            (Domain(a), Domain(b)) if a == b => Domain(a),
            (Domain(_), Domain(_)) => Every,
        }
    }
}

/// A number for rows that are alike to one plugin.
pub type GroupId = u32;

/// Results that all rows of a group share: a row has `values[of_row[row]]`. As long as `layout` is the
/// same, only the row of a change can be in another group; any group can have another value. Rows that
/// are not live and groups without rows have any value.
#[derive(Clone, Copy, Debug)]
pub struct Groups<'a, T> {
    pub of_row: &'a [GroupId],
    pub values: &'a [T],
    pub layout: usize,
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

    /// The same where only the rows in `candidates` (ascending) can be rejected.
    pub fn judge_only(
        self,
        candidates: &[Row],
        out: &mut [Code],
        mut judge: impl FnMut(Row) -> Code,
    ) {
        let Rows::All(_) = self else {
            return self.judge(out, judge);
        };
        for &row in candidates {
            let cell = &mut out[row as usize];
            if *cell == Code::Success {
                *cell = judge(row);
            }
        }
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

impl Groups<'_, Code> {
    /// [`Filter::filter`] by these groups.
    pub fn judge(&self, rows: Rows<'_>, out: &mut [Code]) {
        let code = |group: &GroupId| self.values[*group as usize];
        match rows {
            Rows::All(n) => {
                for (cell, group) in out[..n].iter_mut().zip(self.of_row) {
                    if *cell == Code::Success {
                        *cell = code(group);
                    }
                }
            }
            Rows::List(_) => {
                rows.judge(out, |row| {
                    self.of_row.get(row as usize).map_or(Code::Success, code)
                });
            }
        }
    }
}

impl Groups<'_, i64> {
    /// [`Score::score`] by these groups.
    pub fn write(&self, rows: Rows<'_>, out: &mut [i64]) {
        match rows {
            Rows::All(n) => {
                for (cell, group) in out[..n].iter_mut().zip(self.of_row) {
                    *cell = self.values[*group as usize];
                }
            }
            Rows::List(list) => {
                for (cell, row) in out.iter_mut().zip(list) {
                    *cell = self.values[self.of_row[*row as usize] as usize];
                }
            }
        }
    }
}
