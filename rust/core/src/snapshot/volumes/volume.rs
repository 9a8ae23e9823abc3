use super::claim::ClaimInfo;
use super::driver::CsiNode;
use super::phase::{Phase, Reclaim};
use super::reach::{Reach, Tables};
use super::zone::{self, Zone};
use crate::csi::{self, InTree};
use crate::intern::Symbol;
use crate::object::{self, ObjectMeta};
use crate::quantity::Quantity;
use crate::selector::Labels;
use crate::snapshot::ClaimKey;
use std::sync::Arc;

pub(super) const BETA_CLASS: &str = "volume.beta.kubernetes.io/storage-class";
/// On volumes and claims: the binding was made by a controller, not by the user.
pub const BOUND_BY_CONTROLLER: &str = "pv.kubernetes.io/bound-by-controller";
/// On a volume: the provisioner that made it.
pub const PROVISIONED_BY: &str = "pv.kubernetes.io/provisioned-by";

/// A persistent volume.
#[derive(Debug, PartialEq)]
pub struct Volume {
    pub name: Symbol,
    pub resource_version: Box<str>,
    /// The class it is found by: the old annotation, else the field.
    pub class: Symbol,
    /// `spec.storageClassName`, by which scores are grouped.
    pub field_class: Symbol,
    pub labels: Labels,
    pub capacity: Quantity,
    pub kind: VolumeKind,
    /// Whom it is bound or promised to.
    pub claim: Option<ClaimRef>,
    pub phase: Phase,
    pub reclaim: Reclaim,
    pub deleting: bool,
    pub bound_by_controller: bool,
    pub provisioned: bool,
    pub reach: Arc<Reach>,
    pub source: Source,
    pub zones: Box<[Zone]>,
}

/// What a volume is like, besides its size: few kinds go with many volumes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumeKind {
    pub access_modes: Box<[Symbol]>,
    pub mode: Symbol,
    pub attributes_class: Symbol,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClaimRef {
    pub claim: ClaimKey,
    /// Empty where a user promised the volume to a claim that may not exist yet.
    pub uid: Symbol,
}

impl ClaimRef {
    /// Whether it means the claim of this key and uid.
    pub fn is(self, key: ClaimKey, uid: Symbol) -> bool {
        self.claim == key && (self.uid == Symbol::EMPTY || self.uid == uid)
    }
}

#[derive(Debug, PartialEq)]
pub enum Source {
    Csi {
        driver: Symbol,
        handle: Symbol,
    },
    /// Of a plugin that the scheduler takes for migrated.
    InTree {
        plugin: InTree,
        driver: Symbol,
        /// Its translation, or why there is none.
        handle: Result<Symbol, Box<str>>,
        /// Where the translated volume can be used.
        reach: Arc<Reach>,
    },
    Other,
}

impl Source {
    /// Driver and handle by which NodeVolumeLimits counts the volume on a node. In-tree volumes count
    /// only where the node has a CSINode.
    pub fn counted(&self, has_csi_node: bool) -> Option<(Symbol, Symbol)> {
        let named = |driver: Symbol, handle: Symbol| {
            (driver != Symbol::EMPTY && handle != Symbol::EMPTY).then_some((driver, handle))
        };
        match self {
            Source::Csi { driver, handle } => named(*driver, *handle),
            Source::InTree {
                driver,
                handle: Ok(handle),
                ..
            } if has_csi_node => named(*driver, *handle),
            _ => None,
        }
    }
}

/// `annotation` wins over `field` where both name a storage class.
pub(super) fn class_name<'a>(meta: &'a ObjectMeta, field: Option<&'a str>) -> Option<&'a str> {
    let annotation = meta.annotations.get(BETA_CLASS);
    annotation.map(String::as_str).or(field)
}

impl Volume {
    pub(super) fn new(
        source: &object::PersistentVolume,
        share: &mut impl FnMut(Reach) -> Arc<Reach>,
        tables: &mut Tables<'_>,
    ) -> Self {
        let (meta, spec) = (&source.metadata, &source.spec);
        let affinity = spec
            .node_affinity
            .as_ref()
            .and_then(|a| a.required.as_ref());
        let reach = share(Reach::of_affinity(affinity, tables));
        let volume_source = Source::new(source, share, tables);
        let interner = &mut *tables.interner;
        let class = class_name(meta, Some(&spec.storage_class_name)).unwrap_or_default();
        Volume {
            name: interner.intern(&meta.name),
            resource_version: meta.resource_version.as_str().into(),
            class: interner.intern(class),
            field_class: interner.intern(&spec.storage_class_name),
            labels: Labels::new(&meta.labels, interner),
            capacity: spec.capacity.get("storage").cloned().unwrap_or_default(),
            kind: VolumeKind {
                access_modes: spec
                    .access_modes
                    .iter()
                    .map(|m| interner.intern(m))
                    .collect(),
                mode: interner.intern(spec.volume_mode.as_deref().unwrap_or("Filesystem")),
                attributes_class: interner.intern(
                    spec.volume_attributes_class_name
                        .as_deref()
                        .unwrap_or_default(),
                ),
            },
            claim: spec.claim_ref.as_ref().map(|claim| ClaimRef {
                claim: (
                    interner.intern(&claim.namespace),
                    interner.intern(&claim.name),
                ),
                uid: interner.intern(&claim.uid),
            }),
            phase: Phase::new(&source.status.phase),
            reclaim: Reclaim::new(&spec.persistent_volume_reclaim_policy),
            deleting: meta.deletion_timestamp.is_some(),
            bound_by_controller: meta.annotations.contains_key(BOUND_BY_CONTROLLER),
            provisioned: meta.annotations.contains_key(PROVISIONED_BY),
            reach,
            source: volume_source,
            zones: zone::of(&meta.labels, interner),
        }
    }

    /// Whether the volume is big enough and of the right kind for a claim, wherever it is.
    pub fn suits(&self, claim: &ClaimInfo) -> bool {
        self.capacity >= claim.request && self.kind.suits(claim) && !self.deleting
    }

    /// From where the volume can be used, as a node with this CSINode sees it.
    pub fn reach_on(&self, csi_node: Option<&CsiNode>) -> Result<&Reach, String> {
        match &self.source {
            Source::InTree {
                plugin,
                handle,
                reach,
                ..
            } if csi_node.is_some_and(|node| node.has_migrated(*plugin)) => match handle {
                Ok(_) => Ok(reach),
                Err(message) => Err(format!("could not translate pv: {message}")),
            },
            _ => Ok(&self.reach),
        }
    }
}

impl VolumeKind {
    pub fn suits(&self, claim: &ClaimInfo) -> bool {
        self.mode == claim.mode && self.attributes_class == claim.attributes_class
    }

    pub fn has_modes(&self, wanted: &[Symbol]) -> bool {
        wanted.iter().all(|mode| self.access_modes.contains(mode))
    }
}

impl Source {
    fn new(
        source: &object::PersistentVolume,
        share: &mut impl FnMut(Reach) -> Arc<Reach>,
        tables: &mut Tables<'_>,
    ) -> Self {
        if let Some(csi) = &source.spec.csi {
            return Source::Csi {
                driver: tables.interner.intern(&csi.driver),
                handle: tables.interner.intern(&csi.volume_handle),
            };
        }
        let Some((plugin, handle)) = csi::of_volume(source) else {
            return Source::Other;
        };
        let affinity = csi::translated_affinity(plugin, source);
        Source::InTree {
            plugin,
            driver: tables.interner.intern(plugin.driver()),
            handle: handle
                .map(|handle| tables.interner.intern(&handle))
                .map_err(Into::into),
            reach: share(Reach::of_affinity(affinity.as_ref(), tables)),
        }
    }
}
