//! Storage classes and what CSI drivers say of themselves and of nodes.

use super::reach::{Reach, Tables};
use crate::csi::InTree;
use crate::intern::{Interner, Symbol};
use crate::object;
use std::sync::Arc;

/// The provisioner of classes whose volumes are made by hand.
const NO_PROVISIONER: &str = "kubernetes.io/no-provisioner";
/// On a CSINode: in-tree plugins whose volumes the node knows by their drivers only.
const MIGRATED_PLUGINS: &str = "storage.alpha.kubernetes.io/migrated-plugins";

#[derive(Debug, PartialEq)]
pub struct Class {
    pub provisioner: Symbol,
    /// Volumes can be made on demand.
    pub provisions: bool,
    /// Claims wait until a pod uses them. `None`: the binding mode is not set.
    pub waits: Option<bool>,
    /// Where volumes may be made.
    pub reach: Arc<Reach>,
    /// The allowed topologies as they stand, for the volumes to be made.
    pub topologies: Box<[object::TopologySelectorTerm]>,
    pub reclaim_policy: Box<str>,
    pub mount_options: Box<[String]>,
    in_tree: Option<(InTree, Symbol)>,
}

impl Class {
    pub(super) fn new(
        source: &object::StorageClass,
        share: &mut impl FnMut(Reach) -> Arc<Reach>,
        tables: &mut Tables<'_>,
    ) -> Self {
        let provisioner = source.provisioner.as_str();
        let in_tree = InTree::by_name(provisioner);
        let mode = source.volume_binding_mode.as_deref();
        Class {
            provisioner: tables.interner.intern(provisioner),
            provisions: !matches!(provisioner, "" | NO_PROVISIONER),
            waits: mode.map(|mode| mode == "WaitForFirstConsumer"),
            reach: share(Reach::of_topologies(&source.allowed_topologies, tables)),
            topologies: source.allowed_topologies.clone().into(),
            reclaim_policy: match source.reclaim_policy.as_str() {
                "" => "Delete".into(),
                policy => policy.into(),
            },
            mount_options: source.mount_options.clone().into(),
            in_tree: in_tree.map(|plugin| (plugin, tables.interner.intern(plugin.driver()))),
        }
    }

    /// The driver under which NodeVolumeLimits counts volumes yet to be made.
    pub fn counted(&self, has_csi_node: bool) -> Option<Symbol> {
        match self.in_tree {
            None => (self.provisioner != Symbol::EMPTY).then_some(self.provisioner),
            Some((plugin, driver)) => (has_csi_node && plugin.is_migrated()).then_some(driver),
        }
    }

    /// The driver that makes the volumes.
    pub fn driver(&self) -> Symbol {
        self.in_tree.map_or(self.provisioner, |(_, driver)| driver)
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Driver {
    /// It publishes how much space is left, and volumes must fit.
    pub storage_capacity: bool,
    /// Pods with its volumes must not go to nodes that lack it.
    pub required: bool,
}

impl Driver {
    pub(super) fn new(source: &object::CsiDriver) -> Self {
        Driver {
            storage_capacity: source.spec.storage_capacity == Some(true),
            required: source.spec.prevent_pod_scheduling_if_missing == Some(true),
        }
    }
}

/// A node's CSINode.
#[derive(Debug, Default, PartialEq)]
pub struct CsiNode {
    pub drivers: Box<[NodeDriver]>,
    migrated: Box<[InTree]>,
}

#[derive(Debug, PartialEq)]
pub struct NodeDriver {
    pub name: Symbol,
    /// How many volumes may be attached; `None` means any number.
    pub limit: Option<i32>,
    pub topology_keys: Box<[Symbol]>,
}

impl CsiNode {
    pub(super) fn new(source: &object::CsiNode, interner: &mut Interner) -> Self {
        let mut driver = |d: &object::CsiNodeDriver| NodeDriver {
            name: interner.intern(&d.name),
            limit: d.allocatable.count,
            topology_keys: d.topology_keys.iter().map(|k| interner.intern(k)).collect(),
        };
        let migrated = source.metadata.annotations.get(MIGRATED_PLUGINS);
        let migrated = migrated.map_or("", String::as_str).split(',');
        CsiNode {
            drivers: source.spec.drivers.iter().map(&mut driver).collect(),
            migrated: migrated.filter_map(InTree::by_name).collect(),
        }
    }

    /// Where several entries have one name, the last limit counts.
    pub fn limit(&self, driver: Symbol) -> Option<i32> {
        let mut named = self.drivers.iter().rev().filter(|d| d.name == driver);
        named.find_map(|d| d.limit)
    }

    pub fn has_limits(&self) -> bool {
        self.drivers.iter().any(|d| d.limit.is_some())
    }

    pub fn driver(&self, name: Symbol) -> Option<&NodeDriver> {
        self.drivers.iter().find(|d| d.name == name)
    }

    /// Whether volumes of the plugin are taken for volumes of its driver on this node.
    pub fn has_migrated(&self, plugin: InTree) -> bool {
        self.migrated.contains(&plugin)
    }
}

/// A CSIStorageCapacity: space of one class that some nodes can use.
#[derive(Debug, PartialEq)]
pub struct Capacity {
    pub class: Symbol,
    /// The biggest volume that can be made, bytes.
    pub largest: Option<i64>,
    /// Bytes left.
    pub left: i64,
    pub reach: Arc<Reach>,
}

impl Capacity {
    pub(super) fn new(
        source: &object::CsiStorageCapacity,
        share: &mut impl FnMut(Reach) -> Arc<Reach>,
        tables: &mut Tables<'_>,
    ) -> Self {
        let left = source.capacity.as_ref();
        let largest = source.maximum_volume_size.as_ref().or(left);
        Capacity {
            class: tables.interner.intern(&source.storage_class_name),
            largest: largest.map(|q| q.value()),
            left: left.map_or(0, |q| q.value()),
            reach: share(Reach::of_selector(source.node_topology.as_ref(), tables)),
        }
    }
}

/// A VolumeAttachment as far as it is counted.
#[derive(Debug, PartialEq)]
pub struct Attachment {
    pub node: Symbol,
    pub attacher: Symbol,
    pub volume: Option<Symbol>,
}

impl Attachment {
    pub(super) fn new(source: &object::VolumeAttachment, interner: &mut Interner) -> Self {
        let spec = &source.spec;
        let volume = spec.source.persistent_volume_name.as_deref();
        Attachment {
            node: interner.intern(&spec.node_name),
            attacher: interner.intern(&spec.attacher),
            volume: volume.map(|name| interner.intern(name)),
        }
    }
}
