//! Deltas of classes and of what drivers say, and the indexes that follow from them.

use super::reach::Tables;
use super::set::{share, take};
use super::{Attachment, Capacity, ClaimKey, Class, CsiNode, Driver, Entry, Volumes};
use crate::intern::Symbol;
use crate::object;
use crate::snapshot::nodes::Nodes;
use std::sync::Arc;

impl Volumes {
    pub(in crate::snapshot) fn set_class(
        &mut self,
        source: &object::StorageClass,
        tables: &mut Tables<'_>,
    ) {
        let class = Class::new(source, &mut share(&mut self.reaches), tables);
        let name = tables.interner.intern(&source.metadata.name);
        self.classes.insert(name, class);
        self.recount_all();
    }

    pub(in crate::snapshot) fn remove_class(&mut self, name: Symbol) {
        self.classes.remove(&name);
        self.recount_all();
    }

    pub(in crate::snapshot) fn set_driver(
        &mut self,
        source: &object::CsiDriver,
        tables: &mut Tables<'_>,
    ) {
        let name = tables.interner.intern(&source.metadata.name);
        self.drivers.insert(name, Driver::new(source));
    }

    pub(in crate::snapshot) fn remove_driver(&mut self, name: Symbol) {
        self.drivers.remove(&name);
    }

    pub(in crate::snapshot) fn set_csi_node(
        &mut self,
        source: &object::CsiNode,
        tables: &mut Tables<'_>,
    ) {
        let name = tables.interner.intern(&source.metadata.name);
        let node = CsiNode::new(source, tables.interner);
        self.csi_nodes.insert(name, Arc::new(node));
        self.csi_node_changed(name, tables.nodes);
    }

    pub(in crate::snapshot) fn remove_csi_node(&mut self, name: Symbol, nodes: &Nodes) {
        self.csi_nodes.remove(&name);
        self.csi_node_changed(name, nodes);
    }

    fn csi_node_changed(&mut self, name: Symbol, nodes: &Nodes) {
        if let Some(row) = nodes.row(name) {
            self.node_added(row, name);
        }
    }

    pub(in crate::snapshot) fn set_capacity(
        &mut self,
        source: &object::CsiStorageCapacity,
        tables: &mut Tables<'_>,
    ) {
        let namespace = tables.interner.intern(&source.metadata.namespace);
        let key = (namespace, tables.interner.intern(&source.metadata.name));
        let capacity = Capacity::new(source, &mut share(&mut self.reaches), tables);
        self.withdraw_capacity(key);
        let slot = self.capacities.set(key, capacity);
        if let Some(capacity) = self.capacities.get(slot) {
            let entry = Entry::new(slot, 0, capacity.largest);
            let seen = self.capacities.seen(slot);
            let before = |other| self.capacities.seen(other) < seen;
            let shelf = self.space.entry(capacity.class).or_default();
            shelf.insert(entry, &capacity.reach, before);
        }
    }

    pub(in crate::snapshot) fn remove_capacity(&mut self, key: ClaimKey) {
        self.withdraw_capacity(key);
        self.capacities.remove(key);
    }

    fn withdraw_capacity(&mut self, key: ClaimKey) {
        let known = (self.capacities.slot(key), self.capacities.find(key));
        if let (Some(slot), Some(before)) = known
            && let Some(shelf) = self.space.get_mut(&before.class)
        {
            shelf.remove(slot, &before.reach);
        }
    }

    pub(in crate::snapshot) fn set_attachment(
        &mut self,
        source: &object::VolumeAttachment,
        tables: &mut Tables<'_>,
    ) {
        let name = tables.interner.intern(&source.metadata.name);
        let attachment = Attachment::new(source, tables.interner);
        self.withdraw_attachment(name, tables.nodes);
        let (node, volume) = (attachment.node, attachment.volume);
        let slot = self.attachments.set(name, attachment);
        self.attachments_of.entry(node).or_default().push(slot);
        if let Some(volume) = volume {
            self.attachments_by.entry(volume).or_default().push(slot);
        }
        self.recount_node(node, tables.nodes);
    }

    pub(in crate::snapshot) fn remove_attachment(&mut self, name: Symbol, nodes: &Nodes) {
        self.withdraw_attachment(name, nodes);
        self.attachments.remove(name);
    }

    fn withdraw_attachment(&mut self, name: Symbol, nodes: &Nodes) {
        let known = (self.attachments.slot(name), self.attachments.find(name));
        if let (Some(slot), Some(before)) = known {
            let (node, volume) = (before.node, before.volume);
            take(&mut self.attachments_of, &node, slot);
            if let Some(volume) = volume {
                take(&mut self.attachments_by, &volume, slot);
            }
            self.recount_node(node, nodes);
        }
    }

    pub(super) fn recount_node(&mut self, node: Symbol, nodes: &Nodes) {
        if let Some(row) = nodes.row(node) {
            self.recount(row);
        }
    }
}
