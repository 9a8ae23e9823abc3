use super::phase::Phase;
use super::volume::{BOUND_BY_CONTROLLER, class_name};
use crate::intern::{Interner, Symbol};
use crate::object::{self, OwnerReference};
use crate::quantity::Quantity;
use crate::selector::Selector;

/// On a claim: binding is complete; the annotation's value means nothing.
pub const BIND_COMPLETED: &str = "pv.kubernetes.io/bind-completed";
/// On a claim: the node for which its volume is to be provisioned.
pub const SELECTED_NODE: &str = "volume.kubernetes.io/selected-node";

/// A persistent volume claim.
#[derive(Debug, PartialEq)]
pub struct ClaimInfo {
    pub uid: Symbol,
    pub resource_version: Box<str>,
    /// Its class by the old annotation or the field; `None` where neither names one (an empty name is one).
    pub class: Option<Symbol>,
    /// `spec.storageClassName`, by which scores are grouped.
    pub field_class: Symbol,
    /// `spec.volumeName`.
    pub volume: Symbol,
    pub bind_completed: bool,
    pub bound_by_controller: bool,
    pub phase: Phase,
    pub deleting: bool,
    pub access_modes: Box<[Symbol]>,
    /// ReadWriteOncePod is among its modes.
    pub once_per_pod: bool,
    pub request: Quantity,
    /// Whether it asks for an amount at all.
    pub has_request: bool,
    /// `None` accepts every volume.
    pub selector: Option<Result<Selector, Box<str>>>,
    pub mode: Symbol,
    pub attributes_class: Symbol,
    /// By its own annotation; see [`super::View::selected_node`] for what is assumed.
    pub selected_node: Option<Symbol>,
    /// Whether it has any annotation.
    pub annotated: bool,
    /// Uid of the owner that controls it.
    pub controller: Option<Box<str>>,
}

impl ClaimInfo {
    pub(super) fn new(source: &object::PersistentVolumeClaim, interner: &mut Interner) -> Self {
        let (meta, spec) = (&source.metadata, &source.spec);
        let annotations = &meta.annotations;
        let field = spec.storage_class_name.as_deref();
        let class = class_name(meta, field).map(|class| interner.intern(class));
        let request = spec.resources.requests.get("storage");
        let selector = spec
            .selector
            .as_ref()
            .map(|selector| Selector::new(Some(selector), interner).map_err(Into::into));
        let selected = annotations.get(SELECTED_NODE);
        let selected_node = selected.map(|node| interner.intern(node));
        let controls = |owner: &&OwnerReference| owner.controller == Some(true);
        let controller = meta.owner_references.iter().find(controls);
        ClaimInfo {
            uid: interner.intern(&meta.uid),
            resource_version: meta.resource_version.as_str().into(),
            class,
            field_class: interner.intern(field.unwrap_or_default()),
            volume: interner.intern(&spec.volume_name),
            bind_completed: annotations.contains_key(BIND_COMPLETED),
            bound_by_controller: annotations.contains_key(BOUND_BY_CONTROLLER),
            phase: Phase::new(&source.status.phase),
            deleting: meta.deletion_timestamp.is_some(),
            access_modes: spec
                .access_modes
                .iter()
                .map(|m| interner.intern(m))
                .collect(),
            once_per_pod: spec.access_modes.iter().any(|m| m == "ReadWriteOncePod"),
            request: request.cloned().unwrap_or_default(),
            has_request: request.is_some(),
            selector,
            mode: interner.intern(spec.volume_mode.as_deref().unwrap_or("Filesystem")),
            attributes_class: interner.intern(
                spec.volume_attributes_class_name
                    .as_deref()
                    .unwrap_or_default(),
            ),
            selected_node,
            annotated: !annotations.is_empty(),
            controller: controller.map(|owner| owner.uid.as_str().into()),
        }
    }

    /// The class, empty where there is none.
    pub fn class_name(&self) -> Symbol {
        self.class.unwrap_or_default()
    }

    /// Whether a volume is named and binding complete.
    pub fn is_bound(&self) -> bool {
        self.volume != Symbol::EMPTY && self.bind_completed
    }
}
