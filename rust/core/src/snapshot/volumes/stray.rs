//! Claims of pods on nodes that do not exist, as kube-scheduler's snapshot counts them.

use super::Volumes;
use crate::snapshot::Snapshot;
use crate::snapshot::changes::Change;
use crate::snapshot::pods::{Pod, PodId};

impl Volumes {
    /// Counts the claims that a pod names itself; false if it names none.
    fn count_stray(&mut self, pod: &Pod, amount: i64) -> bool {
        let mut any = false;
        for claim in pod.claims.iter().filter(|claim| !claim.ephemeral) {
            let key = (pod.template.namespace, claim.name);
            let count = self.strays.entry(key).or_default();
            *count += amount;
            if *count == 0 {
                self.strays.remove(&key);
            }
            any = true;
        }
        any
    }

    fn has_negative_count(&self) -> bool {
        let negative = |key| self.direct_uses(key) < 0;
        self.strays.keys().copied().any(negative)
    }
}

/// kube-scheduler counts the uses of claims anew only when it rebuilds its list of nodes, and then on listed
/// nodes alone; in between it adds and subtracts what pods do on any node, existing or not. The difference to
/// the pods that are on nodes here is what is kept: a pod that comes to a node that does not exist counts
/// until the next rebuild, and one that is back with its node does not before it.
impl Snapshot {
    /// A pod has begun (1) or ended (-1) to wait for its node, or has come with it (-1).
    pub(in crate::snapshot) fn count_stray(&mut self, id: PodId, amount: i64) {
        if self.volumes.count_stray(&self.pods[id], amount) {
            self.changes.push(Change::Storage);
        }
    }

    /// Brings node order and counts up to date. A count below zero makes upstream rebuild as well.
    pub(in crate::snapshot) fn refresh_order(&mut self) {
        let negative = self.volumes.has_negative_count();
        let rebuilt = self.order.refresh(&self.nodes, negative);
        if rebuilt && !self.volumes.strays.is_empty() {
            self.volumes.strays.clear();
            self.changes.push(Change::Storage);
        }
    }
}
