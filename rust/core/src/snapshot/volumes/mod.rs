//! Persistent volumes, claims, classes and what storage drivers say of nodes: compiled, indexed by what
//! scheduling asks, with the promises of Reserve laid over what the API says.

mod assumed;
mod attached;
mod bind;
mod claim;
mod driver;
mod phase;
mod reach;
mod reserve;
mod rows;
mod set;
mod set_driver;
mod settle;
mod shelf;
mod stray;
mod table;
mod view;
mod volume;
mod zone;

pub use assumed::{Assumptions, Binding, Held, Promises, Provision, Reservation};
pub use attached::{Attached, VolumeKey, collect};
pub use bind::{BindAction, all_bound, pre_bind};
pub use claim::{BIND_COMPLETED, ClaimInfo, SELECTED_NODE};
pub use driver::{Attachment, Capacity, Class, CsiNode, Driver, NodeDriver};
pub use phase::{Phase, Reclaim};
pub use reach::{Anchor, Reach, Test};
pub use reserve::Decision;
pub use settle::Holder;
pub use shelf::{Entry, Lookup, Place, Search, Shelf};
pub use table::{Slot, Table};
pub use view::View;
pub use volume::{BOUND_BY_CONTROLLER, ClaimRef, PROVISIONED_BY, Source, Volume, VolumeKind};
pub use zone::{LABELS as ZONE_LABELS, Zone};

pub(super) use reach::Tables;

use super::pods::Pod;
use super::{Row, Snapshot};
use crate::intern::Symbol;
use rows::RowVolumes;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Namespace and name.
pub type ClaimKey = (Symbol, Symbol);

#[derive(Debug, Default)]
pub struct Volumes {
    volumes: Table<Symbol, Volume>,
    claims: Table<ClaimKey, ClaimInfo>,
    classes: FxHashMap<Symbol, Class>,
    drivers: FxHashMap<Symbol, Driver>,
    csi_nodes: FxHashMap<Symbol, Arc<CsiNode>>,
    capacities: Table<ClaimKey, Capacity>,
    attachments: Table<Symbol, Attachment>,

    /// As the API says.
    index: view::Index,
    own: Vec<view::Own>,
    kinds: Vec<VolumeKind>,
    /// Claims by the volume that they name.
    naming: FxHashMap<Symbol, Vec<ClaimKey>>,
    /// Capacities by class, in the order seen.
    space: FxHashMap<Symbol, Shelf>,
    /// Attachments by node, and by volume.
    attachments_of: FxHashMap<Symbol, Vec<Slot>>,
    attachments_by: FxHashMap<Symbol, Vec<Slot>>,
    /// Rows of the pods that use a claim.
    users: FxHashMap<ClaimKey, rows::Users>,
    /// How many more direct uses of a claim than by pods on nodes kube-scheduler counts.
    strays: FxHashMap<ClaimKey, i64>,
    rows: Vec<RowVolumes>,
    reaches: FxHashSet<Arc<Reach>>,

    pub assumptions: Assumptions,
    /// Claims and volumes with which a volume controller is not done, by the order seen.
    unsettled_claims: BTreeMap<u64, ClaimKey>,
    unsettled_volumes: BTreeMap<u64, Slot>,
}

impl Volumes {
    pub fn volume(&self, slot: Slot) -> Option<&Volume> {
        self.volumes.get(slot)
    }

    pub fn volume_named(&self, name: Symbol) -> Option<&Volume> {
        self.volumes.find(name)
    }

    pub fn volume_slot(&self, name: Symbol) -> Option<Slot> {
        self.volumes.slot(name)
    }

    pub fn volumes(&self) -> impl Iterator<Item = (Slot, &Volume)> {
        self.volumes.iter()
    }

    pub fn claim(&self, key: ClaimKey) -> Option<&ClaimInfo> {
        self.claims.find(key)
    }

    pub fn class(&self, name: Symbol) -> Option<&Class> {
        self.classes.get(&name)
    }

    pub fn driver(&self, name: Symbol) -> Option<Driver> {
        self.drivers.get(&name).copied()
    }

    /// The CSINode of a node.
    pub fn csi_node(&self, row: Row) -> Option<&CsiNode> {
        self.rows.get(row as usize)?.csi_node.as_deref()
    }

    pub fn csi_node_named(&self, node: Symbol) -> Option<&CsiNode> {
        self.csi_nodes.get(&node).map(Arc::as_ref)
    }

    pub fn capacity(&self, slot: Slot) -> Option<&Capacity> {
        self.capacities.get(slot)
    }

    /// Space published for a class, in the order seen. Upstream takes the first that suffices, in the
    /// order of an informer's map; here it is the order in which the objects came.
    pub fn space(&self, class: Symbol) -> Option<&Shelf> {
        self.space.get(&class)
    }

    /// Whether one capacity was seen before another.
    pub fn seen_before(&self, one: Slot, other: Slot) -> bool {
        self.capacities.seen(one) < self.capacities.seen(other)
    }

    /// Volumes that the API says are bound or promised to a claim of this key, in the order seen.
    pub fn claimed_by(&self, key: ClaimKey) -> impl Iterator<Item = (Slot, &Volume)> {
        let slots = self.index.claimed_by(key).iter();
        slots.filter_map(|slot| Some((*slot, self.volumes.get(*slot)?)))
    }

    /// Available volumes of a class that nobody claims by what the API says, smallest first; equal ones in
    /// the order seen.
    pub fn free(&self, class: Symbol) -> impl Iterator<Item = (Slot, &Volume)> {
        let entries = self.index.shelf(class).map_or(&[][..], Shelf::all).iter();
        entries.filter_map(|entry| Some((entry.slot, self.volumes.get(entry.slot)?)))
    }

    /// Whether one volume comes before the other on a shelf.
    pub fn smaller(&self, one: Slot, other: Slot) -> bool {
        self.volumes.smaller(one, other)
    }

    /// What volumes are like that stand on shelves, by [`Entry::kind`].
    pub fn kinds(&self) -> &[VolumeKind] {
        &self.kinds
    }

    /// Whether any pod on a node uses the claim. Claims of ephemeral volumes do not count, as upstream.
    pub fn claim_in_use(&self, key: ClaimKey) -> bool {
        self.direct_uses(key) > 0
    }

    fn direct_uses(&self, key: ClaimKey) -> i64 {
        let stray = self.strays.get(&key).copied().unwrap_or_default();
        stray + self.users.get(&key).map_or(0, rows::Users::direct)
    }
}

impl ClaimInfo {
    /// Whether it was made for the pod's ephemeral volume.
    pub fn is_controlled_by(&self, pod: &Pod) -> bool {
        self.controller.as_deref() == Some(&*pod.uid)
    }
}

impl Snapshot {
    /// Why a claim does not serve as the pod's ephemeral volume.
    pub fn not_owner(&self, claim: ClaimKey, pod: &Pod) -> String {
        let text = |symbol| self.interner.text(symbol);
        let (namespace, name) = (text(claim.0), text(claim.1));
        let (pod_namespace, pod_name) = (text(pod.template.namespace), &*pod.name);
        format!(
            "PVC {namespace}/{name} was not created for pod {pod_namespace}/{pod_name} (pod is not owner)"
        )
    }
}
