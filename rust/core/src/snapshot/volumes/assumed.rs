//! What Reserve has promised and the API does not say yet. All of it can be given back exactly.

use super::table::Slot;
use super::volume::ClaimRef;
use crate::intern::Symbol;
use crate::snapshot::ClaimKey;
use crate::snapshot::pods::PodId;
use std::collections::BTreeMap;

/// Something assumed, and the reservations that rest on it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Held<T> {
    pub value: T,
    pub holders: Vec<PodId>,
    /// Whether a pod that was bound and is gone rested on it: then it stands until the API says something
    /// else, as upstream, which takes back only what it assumed for pods that it did not bind.
    pub kept: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Assumptions {
    /// Volumes promised to claims.
    pub volumes: BTreeMap<Slot, Held<ClaimRef>>,
    /// Claims for which volumes are to be provisioned, and the node.
    pub claims: BTreeMap<ClaimKey, Held<Symbol>>,
    /// By pod, the latest last: an overlay may move a pod that holds one already.
    pub(super) reservations: BTreeMap<PodId, Vec<Reservation>>,
}

/// What one pod needs bound before it can be bound itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Reservation {
    /// The node's name.
    pub node: Symbol,
    pub bindings: Vec<Binding>,
    pub provisions: Vec<Provision>,
}

/// A claim that gets a volume which exists.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Binding {
    pub volume: Slot,
    pub volume_name: Symbol,
    /// Of the volume as it was when it was chosen.
    pub resource_version: Box<str>,
    pub claim: ClaimKey,
    pub claim_uid: Symbol,
    /// Whether the volume did not say so itself, and was promised.
    pub held: bool,
}

/// A claim that gets a new volume.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Provision {
    pub claim: ClaimKey,
    pub claim_uid: Symbol,
    pub claim_version: Box<str>,
    /// Whether the claim did not name the node itself.
    pub held: bool,
}

impl<T> Held<T> {
    /// A promise, and the first pod that rests on it.
    pub(super) fn by(value: T, pod: PodId) -> Self {
        Held {
            value,
            holders: vec![pod],
            kept: false,
        }
    }

    /// Takes one holding of the pod away; whether nothing rests on it any more.
    fn release(&mut self, pod: PodId) -> bool {
        if let Some(at) = self.holders.iter().rposition(|holder| *holder == pod) {
            self.holders.remove(at);
        }
        self.holders.is_empty() && !self.kept
    }

    /// Takes all holdings of a pod away that leaves, and what it rested on behind.
    fn keep(&mut self, pod: PodId) {
        let before = self.holders.len();
        self.holders.retain(|holder| *holder != pod);
        self.kept |= self.holders.len() < before;
    }
}

impl Assumptions {
    /// The latest reservation of a pod.
    pub fn reservation(&self, pod: PodId) -> Option<&Reservation> {
        self.reservations.get(&pod)?.last()
    }

    /// Takes away a pod's latest reservation.
    pub(super) fn take(&mut self, pod: PodId) -> Option<Reservation> {
        let list = self.reservations.get_mut(&pod)?;
        let reservation = list.pop();
        if list.is_empty() {
            self.reservations.remove(&pod);
        }
        reservation
    }

    /// Whether giving back a pod's hold on a volume frees it of the promise.
    pub(super) fn release_volume(&mut self, volume: Slot, pod: PodId) -> bool {
        let held = self.volumes.get_mut(&volume);
        held.is_some_and(|held| held.release(pod))
    }

    /// A pod that was bound is gone: what was assumed for it stands, its handle may become another pod's.
    pub(super) fn keep(&mut self, pod: PodId) {
        for reservation in self.reservations.remove(&pod).unwrap_or_default() {
            for binding in reservation.bindings {
                if let Some(held) = self.volumes.get_mut(&binding.volume) {
                    held.keep(pod);
                }
            }
            for provision in reservation.provisions {
                if let Some(held) = self.claims.get_mut(&provision.claim) {
                    held.keep(pod);
                }
            }
        }
    }

    pub(super) fn release_claim(&mut self, claim: ClaimKey, pod: PodId) {
        let held = self.claims.get_mut(&claim);
        if held.is_some_and(|held| held.release(pod)) {
            self.claims.remove(&claim);
        }
    }
}
