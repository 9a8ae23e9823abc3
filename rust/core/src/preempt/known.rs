//! What dry runs found, remembered per class of pods and row for as long as the row stays as it is.

use super::victims::Found;
use crate::filtering::Filters;
use crate::memos::Memos;
use crate::profile::Profile;
use crate::snapshot::{Pod, Row, Snapshot};
use crate::template::Template;
use rustc_hash::FxHashMap;
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

/// Invariant: an entry whose stamps are those of its row equals a dry run made now, for any pod of the
/// class that is not itself nominated to the row.
#[derive(Debug)]
pub(crate) struct Known {
    profile: usize,
    template: Arc<Template>,
    rows: FxHashMap<Row, (Stamps, Found)>,
}

/// Version of the row and of the nominations to its node.
type Stamps = (u64, u64);

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
        let class = match self.classes.iter().position(same) {
            Some(at) => self.classes.remove(at),
            None => {
                if self.classes.len() >= CLASSES {
                    self.classes.remove(0);
                }
                Known {
                    profile: index,
                    template: Arc::clone(&pod.template),
                    rows: FxHashMap::default(),
                }
            }
        };
        self.classes.push(class);
        self.classes.last_mut()
    }
}

impl Known {
    pub(super) fn get(&self, snap: &Snapshot, row: Row) -> Option<&Found> {
        let (stamps, found) = self.rows.get(&row)?;
        (*stamps == Known::stamps(snap, row)).then_some(found)
    }

    pub(super) fn insert(&mut self, snap: &Snapshot, row: Row, found: Found) {
        self.rows.insert(row, (Known::stamps(snap, row), found));
    }

    fn stamps(snap: &Snapshot, row: Row) -> Stamps {
        (snap.nodes.version(row), snap.nominations_stamp(row))
    }
}
