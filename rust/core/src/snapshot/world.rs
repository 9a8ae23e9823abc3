//! Deltas of the objects that are neither nodes nor pods.

use super::volumes::Tables;
use super::{Change, ControllerKind, Snapshot, owners};
use crate::object::{
    Namespace, ObjectMeta, PodDisruptionBudget, SelectorSpec, Service, SetWorkload,
};
use crate::selector::Labels;
use serde::Deserialize;
use thiserror::Error;

/// Kinds of objects, besides nodes and pods, that some plugin reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Namespace,
    Service,
    ReplicationController,
    ReplicaSet,
    StatefulSet,
    PodDisruptionBudget,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    CsiNode,
    CsiDriver,
    CsiStorageCapacity,
    VolumeAttachment,
}

/// API kind → [`Kind`].
const KINDS: [(&str, Kind); 13] = [
    ("Namespace", Kind::Namespace),
    ("Service", Kind::Service),
    ("ReplicationController", Kind::ReplicationController),
    ("ReplicaSet", Kind::ReplicaSet),
    ("StatefulSet", Kind::StatefulSet),
    ("PodDisruptionBudget", Kind::PodDisruptionBudget),
    ("PersistentVolume", Kind::PersistentVolume),
    ("PersistentVolumeClaim", Kind::PersistentVolumeClaim),
    ("StorageClass", Kind::StorageClass),
    ("CSINode", Kind::CsiNode),
    ("CSIDriver", Kind::CsiDriver),
    ("CSIStorageCapacity", Kind::CsiStorageCapacity),
    ("VolumeAttachment", Kind::VolumeAttachment),
];

impl Kind {
    pub fn new(name: &str) -> Option<Kind> {
        KINDS
            .iter()
            .find(|(kind, _)| *kind == name)
            .map(|(_, kind)| *kind)
    }

    /// How far a change of such an object reaches.
    fn change(self) -> Change {
        match self {
            Kind::Namespace
            | Kind::Service
            | Kind::ReplicationController
            | Kind::ReplicaSet
            | Kind::StatefulSet
            | Kind::PodDisruptionBudget => Change::World,
            Kind::PersistentVolume
            | Kind::PersistentVolumeClaim
            | Kind::StorageClass
            | Kind::CsiNode
            | Kind::CsiDriver
            | Kind::CsiStorageCapacity
            | Kind::VolumeAttachment => Change::Storage,
        }
    }
}

#[derive(Debug, Error)]
pub enum WorldError {
    #[error("{kind:?}: {source}")]
    Json {
        kind: Kind,
        source: serde_json::Error,
    },
    #[error("{kind:?} {namespace}/{name}: invalid selector: {message}")]
    Selector {
        kind: Kind,
        namespace: String,
        name: String,
        message: String,
    },
}

impl Snapshot {
    /// Adds or replaces an object given as JSON.
    pub fn set(&mut self, kind: Kind, json: &[u8]) -> Result<(), WorldError> {
        match kind {
            Kind::Namespace => self.set_namespace(&parse(kind, json)?),
            Kind::Service => {
                self.owners
                    .set_service(&parse::<Service>(kind, json)?, &mut self.interner);
            }
            Kind::ReplicationController => {
                let source: Service = parse(kind, json)?;
                let selector = owners::map_selector(&source.spec.selector);
                let set = SetWorkload {
                    metadata: source.metadata,
                    spec: SelectorSpec { selector },
                };
                self.set_controller(kind, ControllerKind::ReplicationController, &set)?;
            }
            Kind::ReplicaSet => {
                self.set_controller(kind, ControllerKind::ReplicaSet, &parse(kind, json)?)?;
            }
            Kind::StatefulSet => {
                self.set_controller(kind, ControllerKind::StatefulSet, &parse(kind, json)?)?;
            }
            Kind::PodDisruptionBudget => {
                let source: PodDisruptionBudget = parse(kind, json)?;
                let set = self.budgets.set(&source, &mut self.interner);
                set.map_err(|message| invalid(kind, &source.metadata, message))?;
            }
            _ => self.set_storage(kind, json)?,
        }
        self.changes.push(kind.change());
        Ok(())
    }

    fn set_namespace(&mut self, source: &Namespace) {
        let name = self.interner.intern(&source.metadata.name);
        let labels = Labels::new(&source.metadata.labels, &mut self.interner);
        self.namespaces.insert(name, labels);
    }

    fn set_controller(
        &mut self,
        kind: Kind,
        controller: ControllerKind,
        set: &SetWorkload,
    ) -> Result<(), WorldError> {
        let result = self
            .owners
            .set_controller(controller, set, &mut self.interner);
        result.map_err(|message| invalid(kind, &set.metadata, message))
    }

    fn set_storage(&mut self, kind: Kind, json: &[u8]) -> Result<(), WorldError> {
        let mut tables = Tables {
            interner: &mut self.interner,
            topology: &mut self.topology,
            nodes: &self.nodes,
        };
        let (volumes, tables) = (&mut self.volumes, &mut tables);
        match kind {
            Kind::PersistentVolume => volumes.set_volume(&parse(kind, json)?, tables),
            Kind::PersistentVolumeClaim => volumes.set_claim(&parse(kind, json)?, tables),
            Kind::StorageClass => volumes.set_class(&parse(kind, json)?, tables),
            Kind::CsiNode => volumes.set_csi_node(&parse(kind, json)?, tables),
            Kind::CsiDriver => volumes.set_driver(&parse(kind, json)?, tables),
            Kind::CsiStorageCapacity => volumes.set_capacity(&parse(kind, json)?, tables),
            Kind::VolumeAttachment => volumes.set_attachment(&parse(kind, json)?, tables),
            _ => unreachable!("every other kind is handled by `set`"),
        }
        Ok(())
    }

    /// Forgets an object; one that is not known is no error.
    pub fn remove(&mut self, kind: Kind, namespace: &str, name: &str) {
        let interner = &mut self.interner;
        let (ns, symbol) = (interner.intern(namespace), interner.intern(name));
        match kind {
            Kind::Namespace => drop(self.namespaces.remove(&symbol)),
            Kind::Service => self.owners.remove_service(namespace, name, interner),
            Kind::ReplicationController => {
                let kind = ControllerKind::ReplicationController;
                self.owners
                    .remove_controller(kind, namespace, name, interner);
            }
            Kind::ReplicaSet => {
                self.owners.remove_controller(
                    ControllerKind::ReplicaSet,
                    namespace,
                    name,
                    interner,
                );
            }
            Kind::StatefulSet => {
                self.owners.remove_controller(
                    ControllerKind::StatefulSet,
                    namespace,
                    name,
                    interner,
                );
            }
            Kind::PodDisruptionBudget => self.budgets.remove(ns, symbol),
            Kind::PersistentVolume => self.volumes.remove_volume(symbol, &self.nodes),
            Kind::PersistentVolumeClaim => self.volumes.remove_claim((ns, symbol)),
            Kind::StorageClass => self.volumes.remove_class(symbol),
            Kind::CsiNode => self.volumes.remove_csi_node(symbol, &self.nodes),
            Kind::CsiDriver => self.volumes.remove_driver(symbol),
            Kind::CsiStorageCapacity => self.volumes.remove_capacity((ns, symbol)),
            Kind::VolumeAttachment => self.volumes.remove_attachment(symbol, &self.nodes),
        }
        self.changes.push(kind.change());
    }
}

fn parse<'a, T: Deserialize<'a>>(kind: Kind, json: &'a [u8]) -> Result<T, WorldError> {
    serde_json::from_slice(json).map_err(|source| WorldError::Json { kind, source })
}

fn invalid(kind: Kind, meta: &ObjectMeta, message: String) -> WorldError {
    let (namespace, name) = (meta.namespace.clone(), meta.name.clone());
    WorldError::Selector {
        kind,
        namespace,
        name,
        message,
    }
}
