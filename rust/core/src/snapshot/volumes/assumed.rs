//! What Reserve has promised and the API does not say yet. All of it can be given back exactly.
//!
//! Each profile of kube-scheduler has a VolumeBinding plugin of its own, which remembers only what it has
//! promised itself: to pods of another profile the volume is free until the API says otherwise. Two pods
//! may be promised one volume that way; the API refuses the second write, and that pod starts again.

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

/// Promises about objects of one kind, each with the scheduler name of the profile that made it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Promises<K, T>(BTreeMap<K, BTreeMap<Symbol, Held<T>>>);

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Assumptions {
    /// Volumes promised to claims.
    pub volumes: Promises<Slot, ClaimRef>,
    /// Claims for which volumes are to be provisioned, and the node.
    pub claims: Promises<ClaimKey, Symbol>,
    /// By pod, the latest last: an overlay may move a pod that holds one already.
    pub(super) reservations: BTreeMap<PodId, Vec<Reservation>>,
}

/// What one pod needs bound before it can be bound itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Reservation {
    /// Scheduler name of the pod's profile.
    pub profile: Symbol,
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

impl<K, T> Default for Promises<K, T> {
    fn default() -> Self {
        Promises(BTreeMap::new())
    }
}

impl<K: Ord, T> Promises<K, T> {
    /// What a profile has promised.
    pub fn get(&self, key: &K, profile: Symbol) -> Option<&Held<T>> {
        self.0.get(key)?.get(&profile)
    }

    /// How many there are, of all profiles.
    pub fn len(&self) -> usize {
        self.0.values().map(BTreeMap::len).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Lets a pod rest on a promise of its profile; true if this makes the promise.
    pub(super) fn hold(&mut self, key: K, profile: Symbol, value: T, pod: PodId) -> bool {
        let of_key = self.0.entry(key).or_default();
        let is_new = !of_key.contains_key(&profile);
        let held = of_key.entry(profile).or_insert(Held {
            value,
            holders: Vec::new(),
            kept: false,
        });
        held.holders.push(pod);
        is_new
    }

    /// Takes one holding of a pod away, and with the last one the promise, which is returned.
    pub(super) fn release(&mut self, key: &K, profile: Symbol, pod: PodId) -> Option<T> {
        let of_key = self.0.get_mut(key)?;
        if !of_key.get_mut(&profile)?.release(pod) {
            return None;
        }
        let gone = of_key.remove(&profile);
        if of_key.is_empty() {
            self.0.remove(key);
        }
        gone.map(|held| held.value)
    }

    /// See [`Held::keep`].
    fn keep(&mut self, key: &K, profile: Symbol, pod: PodId) {
        let of_key = self.0.get_mut(key);
        if let Some(held) = of_key.and_then(|of_key| of_key.get_mut(&profile)) {
            held.keep(pod);
        }
    }

    /// Drops what all profiles have promised: the API says something new.
    pub(super) fn forget(&mut self, key: &K) {
        self.0.remove(key);
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

    /// A pod that was bound is gone: what was assumed for it stands, its handle may become another pod's.
    pub(super) fn keep(&mut self, pod: PodId) {
        for reservation in self.reservations.remove(&pod).unwrap_or_default() {
            let profile = reservation.profile;
            for binding in reservation.bindings {
                self.volumes.keep(&binding.volume, profile, pod);
            }
            for provision in reservation.provisions {
                self.claims.keep(&provision.claim, profile, pod);
            }
        }
    }
}
