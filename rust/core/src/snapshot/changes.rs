//! Which rows changed, in order, so that whoever remembers results can catch up.

use super::nodes::Row;
use crate::template::Template;
use std::sync::Arc;

/// One change. `Placed` and `Removed` carry what a domain count needs (the pod itself may be gone when
/// they are read); `Node` means that labels, taints or amounts of the node itself may have changed.
#[derive(Clone, Debug)]
pub enum Change {
    Placed {
        row: Row,
        template: Arc<Template>,
        terminating: bool,
    },
    Removed {
        row: Row,
        template: Arc<Template>,
        terminating: bool,
    },
    /// `noted`: whether kube-scheduler's cache notes it as a change of the node, too.
    Node { row: Row, noted: bool },
    /// A claim, a volume, a storage class or what a driver says of nodes, or an assumption about them:
    /// whatever remembers a pod for which a plugin [`reads_storage`](crate::plugin::Plugin::reads_storage)
    /// must be made anew, the rest stands.
    Storage,
    /// Something else outside nodes and pods (a namespace, a Service): everything may differ.
    World,
}

impl Change {
    /// What deliberate mistakes call it.
    fn name(&self) -> &'static str {
        match self {
            Change::Placed { .. } => "change: Placed",
            Change::Removed { .. } => "change: Removed",
            Change::Node { .. } => "change: Node",
            Change::Storage => "change: Storage",
            Change::World => "change: World",
        }
    }

    /// The row it is about, if it is about one.
    pub fn row(&self) -> Option<Row> {
        match self {
            Change::Placed { row, .. } | Change::Removed { row, .. } | Change::Node { row, .. } => {
                Some(*row)
            }
            Change::World | Change::Storage => None,
        }
    }
}

/// A position in the log; positions only grow.
pub type Generation = u64;

/// See [`ChangeLog::mark`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangeMark(Generation);

#[derive(Debug, Default)]
pub struct ChangeLog {
    /// The position of `entries[0]`.
    base: Generation,
    entries: Vec<Change>,
    /// How many changes were [`Change::World`].
    worlds: u64,
}

/// Readers further behind than this rebuild instead.
const KEEP: usize = 1 << 16;

impl ChangeLog {
    pub fn now(&self) -> Generation {
        self.base + self.entries.len() as Generation
    }

    /// The changes after `since`, or `None` if they are no longer kept.
    pub fn since(&self, since: Generation) -> Option<&[Change]> {
        let skip = since.checked_sub(self.base)?;
        self.entries.get(usize::try_from(skip).ok()?..)
    }

    /// A point to which the log can be rewound while nobody has read beyond it.
    pub fn mark(&self) -> ChangeMark {
        ChangeMark(self.now())
    }

    pub(super) fn rewind(&mut self, mark: ChangeMark) {
        if let Some(keep) = mark.0.checked_sub(self.base) {
            self.entries
                .truncate(usize::try_from(keep).unwrap_or(usize::MAX));
        }
    }

    pub(super) fn push(&mut self, change: Change) {
        if crate::mutation::active(change.name()) {
            return;
        }
        if self.entries.len() >= 2 * KEEP {
            self.entries.drain(..KEEP);
            self.base += KEEP as Generation;
        }
        self.worlds += u64::from(matches!(change, Change::World));
        self.entries.push(change);
    }

    pub(super) fn worlds(&self) -> u64 {
        self.worlds
    }
}
