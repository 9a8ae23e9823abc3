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

/// How many changes are kept at least where no cycle comes; readers further behind rebuild instead.
const UNREAD: usize = 1 << 16;

/// How many changes readers follow at most: with more than one for each row, making anew costs less.
/// The more are kept, the longer do templates of pods that are gone.
const fn worth_following(rows: usize) -> usize {
    rows + 1024
}

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
        if self.entries.len() >= 2 * UNREAD {
            self.keep_last(UNREAD);
        }
        self.worlds += u64::from(matches!(change, Change::World));
        self.entries.push(change);
    }

    /// Lets go of what no reader will follow. Runs once all that every cycle must see has been seen, and
    /// at twice the size, so that each change is moved once.
    pub(super) fn let_go(&mut self, rows: usize) {
        let keep = worth_following(rows);
        if self.entries.len() >= 2 * keep {
            self.keep_last(keep);
            self.entries.shrink_to(2 * keep);
        }
    }

    fn keep_last(&mut self, keep: usize) {
        let gone = self.entries.len().saturating_sub(keep);
        self.entries.drain(..gone);
        self.base += gone as Generation;
    }

    pub(super) fn worlds(&self) -> u64 {
        self.worlds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whoever is behind gets every change it has not seen or none; those that are worth following
        /// are always had, and never many more.
        #[test]
        fn what_is_worth_following_is_kept(
            steps in prop::collection::vec((0..3000_u32, any::<bool>()), 1..20),
            rows in 0..2000_usize,
        ) {
            let mut log = ChangeLog::default();
            let mut pushed = 0;
            for (more, cycle) in steps {
                for row in pushed..pushed + more {
                    log.push(Change::Node { row, noted: true });
                }
                pushed += more;
                if cycle {
                    log.let_go(rows);
                    prop_assert!(log.entries.len() < 2 * worth_following(rows));
                }
                prop_assert_eq!(log.now(), Generation::from(pushed));
                for behind in [0, 1, worth_following(rows) as u32, pushed] {
                    let since = pushed - behind.min(pushed);
                    match log.since(Generation::from(since)) {
                        Some(changes) => {
                            let seen = changes.iter().filter_map(Change::row);
                            prop_assert!(seen.eq(since..pushed));
                        }
                        None => prop_assert!(behind as usize > worth_following(rows)),
                    }
                }
            }
        }
    }
}
