//! What an event means to pods that a plugin rejected: kube-scheduler's queueing hints.
//!
//! Semantics: the `isSchedulableAfter…` functions of `k8s.io/kubernetes/pkg/scheduler/framework/plugins` at
//! v1.37.2. A hint that says no must be right: the pod stays parked.

use crate::engine::Engine;
use crate::intern::Symbol;
use crate::profile::Profile;
use crate::queue::{Alike, Bits, Entity, Nanos};
use crate::resources::ResourceId;
use crate::snapshot::{NodeInfo, Pod, PodId, Snapshot};
use crate::told::{Spared, spares};
use std::sync::Arc;

/// What a node said of itself at some time.
#[derive(Clone, Debug)]
pub struct NodeFacts {
    pub name: Symbol,
    pub info: NodeInfo,
    /// By resource; missing ones are 0.
    pub allocatable: Vec<i64>,
    pub allowed_pods: i64,
}

impl NodeFacts {
    pub fn allocatable(&self, id: ResourceId) -> i64 {
        self.allocatable.get(id.0 as usize).copied().unwrap_or(0)
    }
}

/// What happened, as far as plugins look into it.
#[derive(Clone, Copy, Debug)]
pub enum Happening<'a> {
    /// A node came (no `before`), changed, or went (no `after`).
    Node {
        before: Option<&'a NodeFacts>,
        after: Option<&'a NodeFacts>,
    },
    /// A claim came or changed.
    Claim { namespace: Symbol, name: Symbol },
    /// A volume was detached from some node.
    Detached,
}

impl<'a> Happening<'a> {
    /// A node that came (no facts before) or changed, as it was and as it is; `None` for all else.
    pub fn standing_node(&self) -> Option<(Option<&'a NodeFacts>, &'a NodeFacts)> {
        match *self {
            Happening::Node { before, after } => Some((before, after?)),
            Happening::Claim { .. } | Happening::Detached => None,
        }
    }
}

/// The same as the caller tells it; the engine knows the node by itself.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// The node that was set or removed last.
    pub node: bool,
    pub claim: Option<(String, String)>,
    pub detached: bool,
    /// Plugins, as bits, to which the event means nothing, whatever the pod.
    pub deaf: Bits,
}

impl Pod {
    /// Whether the pod uses a claim; of those made for it only where `ephemeral`.
    pub(crate) fn uses(&self, namespace: Symbol, name: Symbol, ephemeral: bool) -> bool {
        let claims = || self.claims.iter().filter(|c| ephemeral || !c.ephemeral);
        self.template.namespace == namespace && claims().any(|claim| claim.name == name)
    }
}

impl Engine {
    /// Tells the queue of something that happened to no pod on a node.
    pub fn queue_event(&mut self, event: Bits, now: Nanos, spared: &Spared, told: &Told) -> usize {
        if !self.queue.awaits(event) {
            return 0;
        }
        let change = self.snap.node_change.take();
        let (before, after) = match &change {
            Some(change) if told.node => {
                let after = change.row.map(|row| self.snap.nodes.facts(row));
                (change.before.as_ref(), after)
            }
            _ => (None, None),
        };
        let symbol = |text: &String| self.snap.interner.get(text).unwrap_or(Symbol::EMPTY);
        let happening = match &told.claim {
            Some((namespace, name)) => Some(Happening::Claim {
                namespace: symbol(namespace),
                name: symbol(name),
            }),
            None if told.detached => Some(Happening::Detached),
            None if before.is_some() || after.is_some() => Some(Happening::Node {
                before,
                after: after.as_ref(),
            }),
            None => None,
        };
        let parts = (&self.snap, &*self.profiles, &*self.plugin_bits);
        let known = (&self.snap, &self.concerns);
        self.queue.event(event, now, |bit, parked| {
            told.deaf >> bit & 1 == 0
                && !spares(spared, known, bit, parked)
                && happening
                    .as_ref()
                    .is_none_or(|what| helps(parts, what, bit, parked))
        })
    }

    /// Notes what hints can tell an entity by, before it is parked or when it has changed.
    pub fn tell_alike(&mut self, entity: Entity) {
        let alike = self.alike(entity);
        self.queue.set_alike(entity, alike);
    }

    fn alike(&self, entity: Entity) -> Alike {
        let known = entity
            .pod()
            .and_then(|id| Some((id, self.snap.pods.get(id)?)));
        match known {
            Some((id, pod)) if pod.claims.is_empty() && self.snap.tenants.is_none() => Alike {
                // Templates are shared, and kept by the pods that have them.
                template: Arc::as_ptr(&pod.template) as usize,
                kind: self.kind(id),
                pin: pod.pin,
                alone: None,
            },
            _ => Alike::alone(entity),
        }
    }
}

/// What is needed to find a native plugin: the snapshot, the profiles, and the plugins of the bits.
pub(crate) type Parts<'a> = (&'a Snapshot, &'a [Arc<Profile>], &'a [Box<str>]);

fn helps(parts: Parts<'_>, what: &Happening<'_>, bit: u32, parked: Entity) -> bool {
    let (snap, ..) = parts;
    let Some(pod) = parked.pod().map(|id: PodId| &snap.pods[id]) else {
        return true;
    };
    native(parts, bit, pod).is_none_or(|plugin| plugin.helped_by(snap, pod, what))
}

/// The plugin of a bit as the pod's profile has it; `None` if it is not native.
pub(crate) fn native<'a>(
    (_, profiles, names): Parts<'a>,
    bit: u32,
    pod: &Pod,
) -> Option<&'a Arc<dyn crate::plugin::Plugin>> {
    let name = names.get(bit as usize)?;
    let own = |p: &&Arc<Profile>| p.scheduler_name == pod.template.scheduler_name;
    let mut profiles = profiles.iter().filter(own);
    profiles.find_map(|p| p.pre_filter.iter().find(|plugin| plugin.name() == &**name))
}
