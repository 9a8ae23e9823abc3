//! The cluster as one scheduling cycle sees it: columns over nodes, pods, and the objects plugins read.
//!
//! The snapshot is the only copy of the state. It changes by deltas from outside (`set_*`, `remove_*`),
//! by assumptions (`place`, `unplace`) and by overlays, which undo what they did.

mod arrivals;
mod budgets;
mod changes;
mod column;
mod examples;
mod images;
mod likeness;
mod nodes;
mod nominations;
mod order;
mod owners;
mod peers;
mod pods;
mod prototypes;
mod rehearsal;
mod settled;
mod tenants;
mod told;
mod topology;
pub mod volumes;
mod world;

pub use arrivals::PodParts;
pub use budgets::{Budget, Budgets};
pub use changes::{Change, ChangeLog, ChangeMark, Generation};
pub use column::Column;
pub use images::{Image, Images};
pub use nodes::{Effect, NodeInfo, Nodes, PERCENT_LIMIT, Row, Taint};
pub use order::Order;
pub use owners::{ControllerKind, Owners};
pub use peers::{Peer, PeerId, PeerKey, Peers};
pub use pods::{Pod, PodId, Pods};
pub(crate) use rehearsal::Books;
pub use settled::Own;
pub use tenants::Tenants;
pub use told::{Question, TableId, Tables};
pub use topology::{DomainId, Domains, NO_DOMAIN, Topology};
pub use volumes::{ClaimKey, Volumes};
pub use world::{Kind, WorldError};

use crate::gang::Groups;
use crate::hints::NodeFacts;
use crate::intern::{Interner, Symbol};
use crate::object;
use crate::queue::SYSTEM_CRITICAL;
use crate::resources::{CPU, MEMORY, ResourceId, ResourceNames};
use crate::selector::Labels;
use crate::template::Template;
use nominations::Nominations;
use order::ZoneKeys;
use prototypes::Prototypes;
use rustc_hash::{FxHashMap, FxHashSet};
use settled::Settled;
use std::sync::Arc;

#[derive(Debug)]
pub struct Snapshot {
    pub interner: Interner,
    pub resources: ResourceNames,
    pub nodes: Nodes,
    pub pods: Pods,
    pub peers: Peers,
    pub topology: Topology,
    pub order: Order,
    pub owners: Owners,
    pub volumes: Volumes,
    pub budgets: Budgets,
    pub images: Images,
    /// Which pods belong together.
    pub groups: Groups,
    pub changes: ChangeLog,
    /// What was done last to a node.
    pub node_change: Option<NodeChange>,
    /// Labels of Namespace objects; a namespace without object has none.
    namespaces: FxHashMap<Symbol, Labels>,
    /// What each row's images are taken for: the counts as they were when its node last changed, which is
    /// what kube-scheduler's cache makes of them. Empty unless that is wanted.
    frozen_images: Vec<Box<[(Symbol, i64, u32)]>>,
    frozen_at: Option<Generation>,
    /// Bound pods whose node does not exist (yet), by node name.
    waiting: FxHashMap<Symbol, Vec<PodId>>,
    nominations: Nominations,
    /// Books of the tenants, where the queue's order is fair.
    pub tenants: Option<Box<Tenants>>,
    /// What plugins of the caller's said of nodes.
    pub told: Tables,
    /// Pods that came before, by what they say apart from name and uid.
    prototypes: Prototypes,
    /// Pending pods as they were when they were added, for others that say the same.
    examples: Vec<Pod>,
    /// The same of pods on nodes.
    settled: Settled,
    templates: FxHashSet<Arc<Template>>,
    template_limit: usize,
    zone_keys: ZoneKeys,
}

impl Default for Snapshot {
    fn default() -> Self {
        let mut interner = Interner::default();
        let zone_keys = ZoneKeys::new(&mut interner);
        let mut snapshot = Snapshot {
            interner,
            resources: ResourceNames::default(),
            nodes: Nodes::default(),
            pods: Pods::default(),
            peers: Peers::default(),
            topology: Topology::default(),
            order: Order::default(),
            owners: Owners::default(),
            volumes: Volumes::default(),
            budgets: Budgets::default(),
            changes: ChangeLog::default(),
            node_change: None,
            namespaces: FxHashMap::default(),
            images: Images::default(),
            groups: Groups::default(),
            frozen_images: Vec::new(),
            frozen_at: None,
            waiting: FxHashMap::default(),
            nominations: Nominations::default(),
            tenants: None,
            told: Tables::default(),
            prototypes: Prototypes::default(),
            examples: Vec::new(),
            settled: Settled::default(),
            templates: FxHashSet::default(),
            template_limit: 1024,
            zone_keys,
        };
        for id in [CPU, MEMORY, crate::resources::EPHEMERAL_STORAGE] {
            snapshot.nodes.ensure_resource(id);
        }
        snapshot
    }
}

/// What was done to a node: set on a row, or removed.
#[derive(Clone, Debug)]
pub struct NodeChange {
    pub row: Option<Row>,
    /// What it said before; `None` if it is new.
    pub before: Option<NodeFacts>,
}

/// A pod's place on its node's list, so that taking it off can be undone exactly.
pub type Position = usize;

impl Snapshot {
    /// Adds a node or replaces what it says of itself; its pods stay.
    pub fn set_node(&mut self, node: &object::Node) -> Row {
        let name = self.interner.intern(&node.metadata.name);
        let info = NodeInfo::new(node, &mut self.interner);
        let (amounts, allowed) = nodes::allocatable(node, &mut self.resources);
        let known = self.nodes.row(name).is_some();
        let row = self.nodes.claim_row(name);
        if !known {
            self.volumes.node_added(row, name);
        }
        if known {
            let before = &self.nodes.info[row as usize];
            self.order
                .update(row, &before.labels, &info.labels, self.zone_keys);
        } else {
            self.order.add(row, &info.labels, self.zone_keys);
        }
        let (had, allowed_before) = self.nodes.amounts(row);
        let before = self.nodes.set_info(row, info);
        self.count_images(&before, row);
        self.node_change = Some(NodeChange {
            row: Some(row),
            before: known.then_some(NodeFacts {
                name,
                info: before,
                allocatable: had,
                allowed_pods: allowed_before,
            }),
        });
        self.nodes.set_allocatable(row, &amounts);
        self.nodes.allowed_pods.set(row, allowed);
        self.topology.update(row, &self.nodes);
        self.nodes.touch(row);
        self.capacity_changed();
        self.changes.push(Change::Node { row, noted: true });
        for pod in self.waiting.remove(&name).unwrap_or_default() {
            self.count_stray(pod, -1);
            self.place(pod, row);
        }
        row
    }

    /// Its pods stay known and go back on it should it return.
    pub fn remove_node(&mut self, name: &str) -> Option<Row> {
        let name = self.interner.get(name)?;
        let row = self.nodes.row(name)?;
        let pods = self.nodes.pods[row as usize].clone();
        for &pod in pods.iter().rev() {
            self.unplace(pod);
        }
        // An assumed pod is pending again: it may go elsewhere.
        let bound = |pod: &PodId| self.pods[*pod].node_name == name;
        let waiting: Vec<PodId> = pods.into_iter().filter(bound).collect();
        if !waiting.is_empty() {
            self.waiting.insert(name, waiting);
        }
        let (had, allowed) = self.nodes.amounts(row);
        let info = self.nodes.set_info(row, NodeInfo::default());
        self.order.remove(row, &info.labels, self.zone_keys);
        self.count_images(&info, row);
        self.node_change = Some(NodeChange {
            row: None,
            before: Some(NodeFacts {
                name,
                info,
                allocatable: had,
                allowed_pods: allowed,
            }),
        });
        self.nodes.release_row(row);
        self.volumes.node_removed(row);
        self.topology.update(row, &self.nodes);
        self.nodes.touch(row);
        self.capacity_changed();
        self.changes.push(Change::Node { row, noted: true });
        Some(row)
    }

    fn capacity_changed(&mut self) {
        if let Some(tenants) = &mut self.tenants {
            tenants.stale = true;
        }
    }

    /// Keeps the images in step after a node's list went from `before` to its present one.
    fn count_images(&mut self, before: &NodeInfo, row: Row) {
        let after = &self.nodes.info[row as usize].images;
        if before.images != *after || self.images.resized(row, after) {
            self.images.replace(row, &before.images, after);
            self.changes.push(Change::World);
        }
    }

    /// From now on image counts are those that kube-scheduler's cache has: frozen per node whenever the
    /// node or its pods change, so stale elsewhere.
    pub fn freeze_images(&mut self) {
        self.frozen_at = Some(0);
    }

    /// Name, size and number of nodes of each image on a row, as frozen; `None` if counts are exact.
    pub fn frozen_images(&self, row: Row) -> Option<&[(Symbol, i64, u32)]> {
        self.frozen_at?;
        self.frozen_images.get(row as usize).map(|list| &**list)
    }

    fn refreeze_images(&mut self) {
        let Some(since) = self.frozen_at else { return };
        let since = match crate::mutation::active("frozen images") {
            true => 0,
            false => since,
        };
        self.frozen_images.resize(self.nodes.len(), Box::default());
        let rows: Vec<Row> = match self.changes.since(since) {
            Some(changes) => {
                let unnoted =
                    |change: &&Change| matches!(change, Change::Node { noted: false, .. });
                let noted = changes.iter().filter(|change| !unnoted(change));
                noted.filter_map(Change::row).collect()
            }
            None => (0..self.nodes.len() as Row).collect(),
        };
        for row in rows {
            let images = self.nodes.info(row).images.iter();
            let state = |(name, _): &(Symbol, i64)| {
                let image = self.images.get(*name)?;
                Some((*name, image.size, image.rows().len() as u32))
            };
            self.frozen_images[row as usize] = images.filter_map(state).collect();
        }
        self.frozen_at = Some(self.changes.now());
    }

    pub fn namespace_labels(&self, namespace: Symbol) -> &Labels {
        static NONE: std::sync::LazyLock<Labels> = std::sync::LazyLock::new(Labels::default);
        self.namespaces.get(&namespace).unwrap_or(&NONE)
    }

    pub fn namespaces(&self) -> impl Iterator<Item = (Symbol, &Labels)> {
        self.namespaces.iter().map(|(name, labels)| (*name, labels))
    }

    /// Makes a label key available to [`Topology::domains`]; a profile does so for its default constraints.
    pub fn ensure_topology_key(&mut self, key: &str) -> Symbol {
        let key = self.interner.intern(key);
        self.topology.ensure(key, &self.nodes);
        key
    }

    /// Gives a resource its columns; a plugin does so for the resources of its arguments.
    pub fn ensure_resource(&mut self, name: &str) -> ResourceId {
        let id = self.resources.id(name);
        self.nodes.ensure_resource(id);
        id
    }

    /// Puts a pod on a node: bound there, or assumed by the scheduler.
    pub fn place(&mut self, id: PodId, row: Row) {
        let position = self.nodes.pods[row as usize].len();
        self.place_at(id, row, position);
    }

    /// Takes a pod off its node; returns where it stood.
    pub fn unplace(&mut self, id: PodId) -> Option<(Row, Position)> {
        let row = self.pods.get_mut(id)?.row.take()?;
        let list = &mut self.nodes.pods[row as usize];
        let position = list
            .iter()
            .position(|p| *p == id)
            .expect("a placed pod is on its node's list");
        // Upstream moves the last pod into the gap too; ties between victims can show it.
        list.swap_remove(position);
        self.account(id, row, false);
        Some((row, position))
    }

    /// The exact inverse of [`Snapshot::unplace`] when it is undone in reverse order.
    pub(crate) fn place_at(&mut self, id: PodId, row: Row, position: Position) {
        let list = &mut self.nodes.pods[row as usize];
        list.push(id);
        let last = list.len() - 1;
        list.swap(position, last);
        self.pods
            .get_mut(id)
            .expect("the handle of a pod that exists")
            .row = Some(row);
        self.account(id, row, true);
    }

    fn account(&mut self, id: PodId, row: Row, added: bool) {
        self.account_row(id, row, added);
        self.nodes.touch(row);
        self.book_usage(id, added);
        let pod = &self.pods[id];
        let (template, terminating) = (Arc::clone(&pod.template), pod.terminating);
        self.peers.count(pod.peer, terminating, row, added);
        self.changes.push(if added {
            Change::Placed {
                row,
                template,
                terminating,
            }
        } else {
            Change::Removed {
                row,
                template,
                terminating,
            }
        });
    }

    /// The row's own books, and what volumes know of its pods.
    fn account_row(&mut self, id: PodId, row: Row, added: bool) {
        let Snapshot {
            nodes,
            pods,
            volumes,
            ..
        } = self;
        let pod = &pods[id];
        let requests = &pod.template.requests;
        let sign = if added { 1i64 } else { -1 };
        let change = |value: i64, amount: i64| value.wrapping_add(amount.wrapping_mul(sign));
        for (resource, amount) in requests.held.iter() {
            nodes.requested[resource.0 as usize].update(row, |v| change(v, amount));
        }
        for (column, amount) in nodes.nonzero.iter_mut().zip(requests.held_nonzero) {
            column.update(row, |v| change(v, amount));
        }
        nodes.pod_count.update(row, |v| v + sign);
        volumes.pod_moved(id, pod, row, added);
        let ports = &pod.template.ports;
        if !ports.is_empty() {
            let used = &mut nodes.ports[row as usize];
            used.retain(|p| !ports.contains(p));
            if added {
                used.extend(ports);
            }
        }
    }

    /// The pod on a node is now bound there, not only assumed.
    pub fn confirm(&mut self, id: PodId) {
        let Some(row) = self.pods.get(id).and_then(|pod| pod.row) else {
            return;
        };
        let name = self.nodes.name(row);
        if let Some(pod) = self.pods.get_mut(id) {
            pod.node_name = name;
        }
    }

    /// Sets or clears the node a pending pod waits for after a preemption.
    pub fn nominate(&mut self, id: PodId, node: Option<Symbol>) {
        if let Some(pod) = self.pods.get_mut(id) {
            pod.nominated = node;
            pod.kept = false;
            self.nominations.set(id, node);
        }
    }

    /// Keeps the place of a nominated pod from pods of any priority, the system-critical ones aside.
    pub fn keep(&mut self, id: PodId) {
        if let Some(pod) = self.pods.get_mut(id) {
            pod.kept = pod.nominated.is_some();
        }
    }

    /// Whether a pod that is nominated somewhere keeps its place from pods of a priority.
    fn stands_before(other: &Pod, priority: i32) -> bool {
        let kept = other.kept && priority < SYSTEM_CRITICAL;
        other.row.is_none() && (kept || other.template.priority >= priority)
    }

    /// Pods nominated to a row that `pod` may not push aside: of at least its priority, and not itself.
    pub fn nominated_above(&self, row: Row, pod: PodId) -> Vec<PodId> {
        let priority = self.pods[pod].template.priority;
        let above = |id: &PodId| *id != pod && Self::stands_before(&self.pods[*id], priority);
        self.nominations
            .on(self.nodes.name(row))
            .iter()
            .copied()
            .filter(above)
            .collect()
    }

    /// Pods nominated to a row that `pod` pushes aside: of lower priority.
    pub fn nominated_below(&self, row: Row, pod: PodId) -> Vec<PodId> {
        let priority = self.pods[pod].template.priority;
        let below = |id: &PodId| *id != pod && self.pods[*id].template.priority < priority;
        let nominated = self.nominations.on(self.nodes.name(row)).iter().copied();
        nominated.filter(below).collect()
    }

    /// Whether any pod is nominated anywhere.
    pub fn has_nominations(&self) -> bool {
        !self.nominations.is_empty()
    }

    /// All pods nominated to a node.
    pub fn nominated_to(&self, node: Symbol) -> &[PodId] {
        self.nominations.on(node)
    }

    /// The priority that counts where a pod may become a victim: that of its group, if it is in one.
    pub fn importance(&self, pod: PodId) -> i32 {
        let group = self.groups.of(pod).and_then(|id| self.groups.get(id));
        group.map_or(self.pods[pod].template.priority, |group| group.priority)
    }

    /// Changes whenever a nomination does.
    pub fn nominations_version(&self) -> u64 {
        self.nominations.version()
    }

    /// The nodes whose nominations changed after a version; `None` if that is no longer known.
    pub fn nominations_since(&self, version: u64) -> Option<&[Symbol]> {
        self.nominations.since(version)
    }

    /// Rows with such pods, ascending.
    pub fn rows_nominated_above(&self, pod: PodId) -> Vec<Row> {
        let priority = self.pods[pod].template.priority;
        let above = |id: &PodId| *id != pod && Self::stands_before(&self.pods[*id], priority);
        let nodes = self
            .nominations
            .nodes()
            .filter(|n| self.nominations.on(*n).iter().any(above));
        let mut rows: Vec<Row> = nodes.filter_map(|name| self.nodes.row(name)).collect();
        rows.sort_unstable();
        rows
    }

    /// Undoes the record of changes that were themselves undone; see [`ChangeLog::mark`].
    pub fn rewind_changes(&mut self, mark: ChangeMark) {
        self.changes.rewind(mark);
    }

    /// Moves whenever a plugin's key of some pod may have changed without the pod.
    pub fn key_epoch(&self) -> u64 {
        if crate::mutation::active("key epoch") {
            return 0;
        }
        self.changes.worlds() + self.peers.epoch()
    }

    /// Must run before a cycle: brings the node order up to date.
    pub fn refresh(&mut self) {
        self.refresh_order();
        self.refreeze_images();
        self.changes.let_go(self.nodes.len());
    }
}
