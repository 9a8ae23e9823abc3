//! What dry runs found, remembered per class of pods and row for as long as the row stays as it is.

use super::victims::Found;
use crate::filtering::Filters;
use crate::memos::Memos;
use crate::profile::Profile;
use crate::snapshot::{Pod, Row, Snapshot};
use crate::template::Template;
use std::sync::Arc;

/// Classes remembered: pods that must preempt at one time are mostly of a few.
const CLASSES: usize = 8;

/// The least recently used class first.
#[derive(Debug, Default)]
pub(crate) struct DryRuns {
    /// The snapshot's key epoch in which all of it holds: budgets and namespaces count in it.
    epoch: u64,
    classes: Vec<Known>,
}

/// Invariant: an entry whose version is that of its row equals a dry run made now, for any pod of the class
/// that is not itself nominated to the row.
#[derive(Debug)]
pub(crate) struct Known {
    profile: usize,
    template: Arc<Template>,
    /// The version of the nominations that all entries know of.
    nominations: u64,
    rows: Vec<Option<(u64, Found)>>,
}

impl DryRuns {
    /// What is known for a pod; `None` if what it finds on a row depends on more than its template and
    /// that row.
    pub(crate) fn of(
        &mut self,
        snap: &Snapshot,
        (index, profile): (usize, &Profile),
        filters: &Filters,
        pod: &Pod,
    ) -> Option<&mut Known> {
        let storage = profile
            .pre_filter
            .iter()
            .any(|plugin| plugin.reads_storage(pod));
        let elsewhere = filters.parts.iter().any(|part| part.filter.counts_pods());
        let gangs = !snap.groups.is_empty();
        if storage || elsewhere || gangs || !Memos::shareable(pod) {
            return None;
        }
        if self.epoch != snap.key_epoch() {
            self.epoch = snap.key_epoch();
            self.classes.clear();
        }
        let same =
            |known: &Known| known.profile == index && Arc::ptr_eq(&known.template, &pod.template);
        let mut class = match self.classes.iter().position(same) {
            Some(at) => self.classes.remove(at),
            None => {
                if self.classes.len() >= CLASSES {
                    self.classes.remove(0);
                }
                Known {
                    profile: index,
                    template: Arc::clone(&pod.template),
                    nominations: snap.nominations_version(),
                    rows: Vec::new(),
                }
            }
        };
        class.follow(snap);
        self.classes.push(class);
        self.classes.last_mut()
    }
}

impl Known {
    /// Forgets what was found on rows whose nominations have changed.
    fn follow(&mut self, snap: &Snapshot) {
        match snap.nominations_since(self.nominations) {
            Some(nodes) => {
                for row in nodes.iter().filter_map(|name| snap.nodes.row(*name)) {
                    if let Some(entry) = self.rows.get_mut(row as usize) {
                        *entry = None;
                    }
                }
            }
            None => self.rows.clear(),
        }
        self.nominations = snap.nominations_version();
        self.rows.resize_with(snap.nodes.len(), || None);
    }

    pub(super) fn get(&self, snap: &Snapshot, row: Row) -> Option<&Found> {
        let (version, found) = self.rows[row as usize].as_ref()?;
        (*version == snap.nodes.version(row)).then_some(found)
    }

    pub(super) fn insert(&mut self, snap: &Snapshot, row: Row, found: Found) {
        self.rows[row as usize] = Some((snap.nodes.version(row), found));
    }
}
