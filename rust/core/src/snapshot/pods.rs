//! All pods the snapshot knows, on nodes or not.

use super::nodes::Row;
use super::peers::PeerId;
use super::told::TableId;
use crate::drf::Tenant;
use crate::intern::Symbol;
use crate::template::{Claim, Template};
use std::sync::Arc;

/// Handle of a pod. Handles of removed pods are reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PodId(pub u32);

/// What is a pod's own; the rest is its template.
#[derive(Clone, Debug)]
pub struct Pod {
    pub template: Arc<Template>,
    pub peer: PeerId,
    pub name: Box<str>,
    pub uid: Box<str>,
    /// The node whose name `metadata.name In [...]` pins the pod to.
    pub pin: Option<Symbol>,
    /// spec.nodeName, also where no such node exists.
    pub node_name: Symbol,
    /// The row the pod is on: bound, or assumed there.
    pub row: Option<Row>,
    /// The node it waits for after a preemption: by its status, or by the scheduler's own decision.
    pub nominated: Option<Symbol>,
    /// Whether its status said so.
    pub(super) said_nominated: bool,
    /// Whether its place is kept from pods of any priority, the system-critical ones aside.
    pub(crate) kept: bool,
    pub claims: Box<[Claim]>,
    /// status.startTime in nanoseconds since 1970.
    pub start_time: Option<i64>,
    pub terminating: bool,
    /// Terminating with condition DisruptionTarget, reason PreemptionByScheduler.
    pub preempted: bool,
    /// Whose it is, where there are tenants.
    pub tenant: Option<Tenant>,
    /// Whether its request is in the tenant's books.
    pub(super) charged: bool,
    /// The table of the caller's answers that its cycle goes by; only while that cycle runs.
    pub told: Option<TableId>,
}

impl Pod {
    /// Another pod that says the same, apart from name and uid.
    pub(super) fn like(&self, name: &str, uid: &str) -> Pod {
        Pod {
            template: Arc::clone(&self.template),
            name: name.into(),
            uid: uid.into(),
            claims: self.claims.clone(),
            ..*self
        }
    }
}

/// Slots by handle.
#[derive(Debug, Default)]
pub struct Pods {
    slots: Vec<Option<Pod>>,
    free: Vec<PodId>,
}

impl Pods {
    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    pub(super) fn insert(&mut self, pod: Pod) -> PodId {
        if let Some(id) = self.free.pop() {
            self.slots[id.0 as usize] = Some(pod);
            return id;
        }
        self.slots.push(Some(pod));
        PodId(u32::try_from(self.slots.len() - 1).expect("fewer than 2^32 pods"))
    }

    pub(super) fn remove(&mut self, id: PodId) -> Option<Pod> {
        let pod = self.slots.get_mut(id.0 as usize)?.take()?;
        self.free.push(id);
        Some(pod)
    }

    pub fn get(&self, id: PodId) -> Option<&Pod> {
        self.slots.get(id.0 as usize)?.as_ref()
    }

    pub(super) fn get_mut(&mut self, id: PodId) -> Option<&mut Pod> {
        self.slots.get_mut(id.0 as usize)?.as_mut()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Pod> {
        self.slots.iter_mut().flatten()
    }

    pub fn iter(&self) -> impl Iterator<Item = (PodId, &Pod)> {
        let slots = self.slots.iter().enumerate();
        slots.filter_map(|(i, pod)| Some((PodId(i as u32), pod.as_ref()?)))
    }
}

impl std::ops::Index<PodId> for Pods {
    type Output = Pod;

    /// Panics on a handle that was removed: the caller broke the contract.
    fn index(&self, id: PodId) -> &Pod {
        self.get(id).expect("the handle of a pod that exists")
    }
}
