//! Persistent volumes, claims and what storage drivers say of nodes.

use super::pods::Pod;
use crate::intern::Symbol;
use crate::object;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Namespace and name.
pub type ClaimKey = (Symbol, Symbol);

#[derive(Debug, Default)]
pub struct Volumes {
    /// In the order they came.
    pub volumes: Vec<(Symbol, Arc<object::PersistentVolume>)>,
    pub claims: FxHashMap<ClaimKey, Arc<object::PersistentVolumeClaim>>,
    pub classes: FxHashMap<Symbol, Arc<object::StorageClass>>,
    pub csi_nodes: FxHashMap<Symbol, Arc<object::CsiNode>>,
    pub drivers: FxHashMap<Symbol, Arc<object::CsiDriver>>,
    pub capacities: Vec<Arc<object::CsiStorageCapacity>>,
    pub attachments: Vec<Arc<object::VolumeAttachment>>,
    /// How many pods on nodes use a claim.
    claim_users: FxHashMap<ClaimKey, u32>,
}

impl Volumes {
    pub(super) fn set_volume(&mut self, name: Symbol, volume: Arc<object::PersistentVolume>) {
        match self.volumes.iter_mut().find(|(n, _)| *n == name) {
            Some((_, known)) => *known = volume,
            None => self.volumes.push((name, volume)),
        }
    }

    pub(super) fn set_capacity(&mut self, capacity: Arc<object::CsiStorageCapacity>) {
        self.remove_capacity(&capacity.metadata.namespace, &capacity.metadata.name);
        self.capacities.push(capacity);
    }

    pub(super) fn remove_capacity(&mut self, namespace: &str, name: &str) {
        self.capacities
            .retain(|c| c.metadata.namespace != namespace || c.metadata.name != name);
    }

    pub(super) fn set_attachment(&mut self, attachment: Arc<object::VolumeAttachment>) {
        self.attachments
            .retain(|a| a.metadata.name != attachment.metadata.name);
        self.attachments.push(attachment);
    }

    pub(super) fn pod_placed(&mut self, pod: &Pod) {
        for claim in &pod.claims {
            *self
                .claim_users
                .entry((pod.template.namespace, claim.name))
                .or_default() += 1;
        }
    }

    pub(super) fn pod_removed(&mut self, pod: &Pod) {
        for claim in &pod.claims {
            let key = (pod.template.namespace, claim.name);
            if let Some(users) = self.claim_users.get_mut(&key) {
                *users -= 1;
                if *users == 0 {
                    self.claim_users.remove(&key);
                }
            }
        }
    }

    /// Whether any pod on a node uses the claim.
    pub fn claim_in_use(&self, key: ClaimKey) -> bool {
        self.claim_users.contains_key(&key)
    }
}
