//! Reserve and Unreserve: promises laid over what the API says, and taken back exactly.
//!
//! Upstream forgets what it assumes of a volume as soon as any pod that rests on it is unreserved. Here
//! it stands until the last of them is: otherwise undoing one pod would undo part of another's.

use super::assumed::Reservation;
use super::{Binding, ClaimKey, ClaimRef, Provision, Slot, Volumes};
use crate::intern::Symbol;
use crate::snapshot::{Change, PodId, Row, Snapshot};

/// How the unbound claims of a pod get volumes on one node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decision {
    /// Volumes that exist, and the claims that get them.
    pub bindings: Vec<(Slot, ClaimKey)>,
    /// Claims whose volumes are to be made.
    pub provisions: Vec<ClaimKey>,
}

impl Snapshot {
    /// Keeps a decision until [`Snapshot::unreserve_volumes`].
    pub fn reserve_volumes(&mut self, pod: PodId, row: Row, decision: &Decision) {
        let node = self.nodes.name(row);
        let profile = self.pods[pod].template.scheduler_name;
        let mut reservation = Reservation {
            profile,
            node,
            ..Reservation::default()
        };
        for (slot, key) in &decision.bindings {
            reservation
                .bindings
                .extend(self.volumes.promise_volume(*slot, *key, (profile, pod)));
        }
        for key in &decision.provisions {
            reservation
                .provisions
                .extend(self.volumes.select_node(*key, node, (profile, pod)));
        }
        if reservation.holds_anything() {
            self.changes.push(Change::Storage);
        }
        let reservations = &mut self.volumes.assumptions.reservations;
        reservations.entry(pod).or_default().push(reservation);
    }

    /// Takes back the pod's latest reservation; does nothing if it has none.
    pub fn unreserve_volumes(&mut self, pod: PodId) {
        let Some(reservation) = self.volumes.assumptions.take(pod) else {
            return;
        };
        let profile = reservation.profile;
        for binding in reservation.bindings.iter().rev().filter(|b| b.held) {
            self.volumes.release_volume(binding.volume, (profile, pod));
        }
        for provision in reservation.provisions.iter().rev().filter(|p| p.held) {
            let claims = &mut self.volumes.assumptions.claims;
            claims.release(&provision.claim, profile, pod);
        }
        if reservation.holds_anything() {
            self.changes.push(Change::Storage);
        }
    }

    /// The pod is gone, and its handle may become another pod's. What was assumed for it goes along if it
    /// was not bound.
    pub(in crate::snapshot) fn forget_reservations(&mut self, pod: PodId, bound: bool) {
        if bound {
            self.volumes.assumptions.keep(pod);
            return;
        }
        while self.volumes.assumptions.reservation(pod).is_some() {
            self.unreserve_volumes(pod);
        }
    }
}

impl Reservation {
    fn holds_anything(&self) -> bool {
        self.bindings.iter().any(|b| b.held) || self.provisions.iter().any(|p| p.held)
    }
}

impl Volumes {
    fn promise_volume(
        &mut self,
        slot: Slot,
        key: ClaimKey,
        (profile, pod): (Symbol, PodId),
    ) -> Option<Binding> {
        let (volume, claim) = (self.volumes.get(slot)?, self.claims.find(key)?);
        let value = ClaimRef {
            claim: key,
            uid: claim.uid,
        };
        let binding = Binding {
            volume: slot,
            volume_name: volume.name,
            resource_version: volume.resource_version.clone(),
            claim: key,
            claim_uid: claim.uid,
            held: volume.claim != Some(value),
        };
        if binding.held && self.assumptions.volumes.hold(slot, profile, value, pod) {
            self.relist(profile, slot, (None, Some(value)));
        }
        Some(binding)
    }

    fn select_node(
        &mut self,
        key: ClaimKey,
        node: Symbol,
        (profile, pod): (Symbol, PodId),
    ) -> Option<Provision> {
        let claim = self.claims.find(key)?;
        let provision = Provision {
            claim: key,
            claim_uid: claim.uid,
            claim_version: claim.resource_version.clone(),
            held: claim.selected_node != Some(node),
        };
        if provision.held {
            self.assumptions.claims.hold(key, profile, node, pod);
        }
        Some(provision)
    }

    fn release_volume(&mut self, slot: Slot, (profile, pod): (Symbol, PodId)) {
        let released = self.assumptions.volumes.release(&slot, profile, pod);
        if released.is_some() {
            self.relist(profile, slot, (released, None));
        }
    }
}
