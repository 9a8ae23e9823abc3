//! Deltas of storage objects, and the indexes that follow from them.

use super::reach::{Reach, Tables};
use super::{ClaimInfo, ClaimKey, Slot, Table, Volume, Volumes};
use crate::intern::Symbol;
use crate::object;
use crate::snapshot::nodes::Nodes;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Ordering;
use std::sync::Arc;

/// One copy of each reach: volumes of a zone share theirs.
pub(super) fn share(reaches: &mut FxHashSet<Arc<Reach>>) -> impl FnMut(Reach) -> Arc<Reach> + '_ {
    |reach| match reaches.get(&reach) {
        Some(known) => Arc::clone(known),
        None => {
            let reach = Arc::new(reach);
            reaches.insert(Arc::clone(&reach));
            reach
        }
    }
}

/// Takes `slot` off the list of `key`.
pub(super) fn take<K: Eq + std::hash::Hash, S: PartialEq>(
    lists: &mut FxHashMap<K, Vec<S>>,
    key: &K,
    slot: S,
) {
    if let Some(list) = lists.get_mut(key) {
        list.retain(|other| *other != slot);
        if list.is_empty() {
            lists.remove(key);
        }
    }
}

impl Volumes {
    /// An object equal to what is known is no change: what is assumed of it stays. Any other one comes
    /// from the API after the assumption and replaces it.
    pub(in crate::snapshot) fn set_volume(
        &mut self,
        source: &object::PersistentVolume,
        tables: &mut Tables<'_>,
    ) {
        let volume = Volume::new(source, &mut share(&mut self.reaches), tables);
        let name = volume.name;
        if self.volumes.find(name) == Some(&volume) {
            return;
        }
        self.withdraw_volume(name);
        let slot = self.volumes.set(name, volume);
        self.list(slot);
        self.volume_changed(name, tables.nodes);
        self.settle_around_volume(name);
    }

    pub(in crate::snapshot) fn remove_volume(&mut self, name: Symbol, nodes: &Nodes) {
        self.withdraw_volume(name);
        let seen = self.volumes.slot(name).map(|slot| self.volumes.seen(slot));
        if let Some(seen) = seen {
            self.unsettled_volumes.remove(&seen);
        }
        self.volumes.remove(name);
        self.volume_changed(name, nodes);
        self.settle_around_volume(name);
    }

    /// Takes a volume off the indexes and forgets what is assumed of it.
    fn withdraw_volume(&mut self, name: Symbol) {
        if let Some(slot) = self.volumes.slot(name) {
            self.unlist(slot);
            self.assumptions.volumes.forget(&slot);
        }
    }

    /// Pods are counted anew where they use the volume or an attachment names it.
    fn volume_changed(&mut self, name: Symbol, nodes: &Nodes) {
        for key in self.naming.get(&name).cloned().unwrap_or_default() {
            self.recount_users(key);
        }
        for slot in self.attachments_by.get(&name).cloned().unwrap_or_default() {
            if let Some(attachment) = self.attachments.get(slot) {
                self.recount_node(attachment.node, nodes);
            }
        }
    }

    pub(in crate::snapshot) fn set_claim(
        &mut self,
        source: &object::PersistentVolumeClaim,
        tables: &mut Tables<'_>,
    ) {
        let namespace = tables.interner.intern(&source.metadata.namespace);
        let key = (namespace, tables.interner.intern(&source.metadata.name));
        let claim = ClaimInfo::new(source, tables.interner);
        if self.claims.find(key) == Some(&claim) {
            return;
        }
        self.withdraw_claim(key);
        if claim.volume != Symbol::EMPTY {
            self.naming.entry(claim.volume).or_default().push(key);
        }
        self.claims.set(key, claim);
        self.recount_users(key);
        self.settle_around_claim(key);
    }

    pub(in crate::snapshot) fn remove_claim(&mut self, key: ClaimKey) {
        self.withdraw_claim(key);
        if let Some(slot) = self.claims.slot(key) {
            self.unsettled_claims.remove(&self.claims.seen(slot));
        }
        self.claims.remove(key);
        self.recount_users(key);
        self.settle_around_claim(key);
    }

    fn withdraw_claim(&mut self, key: ClaimKey) {
        self.assumptions.claims.forget(&key);
        if let Some(before) = self.claims.find(key) {
            take(&mut self.naming, &before.volume, key);
        }
    }
}

impl Table<Symbol, Volume> {
    /// Whether one volume comes before the other on the list of free ones.
    pub(super) fn smaller(&self, one: Slot, other: Slot) -> bool {
        let (Some(a), Some(b)) = (self.get(one), self.get(other)) else {
            return false;
        };
        let order = a.capacity.cmp(&b.capacity);
        order.then_with(|| self.seen(one).cmp(&self.seen(other))) == Ordering::Less
    }
}
