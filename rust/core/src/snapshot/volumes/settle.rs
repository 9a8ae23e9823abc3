//! With which claims and volumes a volume controller is not done, so that it finds its work without a
//! pass over all of them.

use super::{ClaimInfo, ClaimKey, Phase, Reclaim, Slot, Volume, Volumes};
use crate::intern::Symbol;

impl Volumes {
    /// Claims that are not bound, or no longer properly, in the order seen.
    pub fn unsettled_claims(&self) -> impl Iterator<Item = ClaimKey> + '_ {
        self.unsettled_claims.values().copied()
    }

    /// Volumes whose phase or claim does not fit the present state, in the order seen.
    pub fn unsettled_volumes(&self) -> impl Iterator<Item = Slot> + '_ {
        self.unsettled_volumes.values().copied()
    }

    /// A volume came, changed or went: so may have what its claims rest on.
    pub(super) fn settle_around_volume(&mut self, name: Symbol) {
        if let Some(slot) = self.volumes.slot(name) {
            self.settle_volume(slot);
        }
        for key in self.naming.get(&name).cloned().unwrap_or_default() {
            self.settle_claim(key);
        }
    }

    pub(super) fn settle_around_claim(&mut self, key: ClaimKey) {
        self.settle_claim(key);
        for slot in self.index.claimed_by(key).to_vec() {
            self.settle_volume(slot);
        }
    }

    fn settle_claim(&mut self, key: ClaimKey) {
        let Some(slot) = self.claims.slot(key) else {
            return;
        };
        let seen = self.claims.seen(slot);
        if self
            .claims
            .get(slot)
            .is_some_and(|claim| self.is_settled_claim(claim))
        {
            self.unsettled_claims.remove(&seen);
        } else {
            self.unsettled_claims.insert(seen, key);
        }
    }

    fn is_settled_claim(&self, claim: &ClaimInfo) -> bool {
        if !claim.bind_completed {
            return false;
        }
        let volume = self.volume_named(claim.volume);
        let held = volume.and_then(|volume| Some((volume, volume.claim?)));
        match (volume, held) {
            (Some(_), None) => false,
            (_, Some((volume, holder))) if holder.uid == claim.uid => {
                claim.phase == Phase::Bound && volume.phase == Phase::Bound
            }
            _ => claim.phase == Phase::Lost,
        }
    }

    fn settle_volume(&mut self, slot: Slot) {
        let seen = self.volumes.seen(slot);
        if self
            .volumes
            .get(slot)
            .is_some_and(|volume| self.is_settled_volume(volume))
        {
            self.unsettled_volumes.remove(&seen);
        } else {
            self.unsettled_volumes.insert(seen, slot);
        }
    }

    fn is_settled_volume(&self, volume: &Volume) -> bool {
        match self.holder(volume) {
            Holder::Nobody => volume.phase == Phase::Available,
            Holder::Gone => {
                matches!(volume.phase, Phase::Released | Phase::Failed)
                    && volume.reclaim == Reclaim::Retain
            }
            Holder::Claim(claim) if claim.volume == Symbol::EMPTY => true,
            Holder::Claim(claim) => claim.volume == volume.name && volume.phase == Phase::Bound,
        }
    }

    /// Who has a volume, by what the volume itself says.
    pub fn holder(&self, volume: &Volume) -> Holder<'_> {
        let Some(holder) = volume.claim else {
            return Holder::Nobody;
        };
        match self.claim(holder.claim) {
            Some(claim) if holder.uid == Symbol::EMPTY => {
                // Without uids a promise is told from a binding by the claim alone.
                if claim.uid == Symbol::EMPTY && claim.volume == volume.name {
                    Holder::Claim(claim)
                } else {
                    Holder::Nobody
                }
            }
            None if holder.uid == Symbol::EMPTY => Holder::Nobody,
            Some(claim) if claim.uid == holder.uid => Holder::Claim(claim),
            _ => Holder::Gone,
        }
    }
}

/// See [`Volumes::holder`].
#[derive(Clone, Copy, Debug)]
pub enum Holder<'a> {
    /// Nobody, or a claim to which a user promised it.
    Nobody,
    Claim(&'a ClaimInfo),
    /// A claim that is no more.
    Gone,
}
