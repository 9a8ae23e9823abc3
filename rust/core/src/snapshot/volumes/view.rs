//! Volumes by who has them, as the API says and as each profile sees it with its own promises.

use super::assumed::Assumptions;
use super::set::take;
use super::{ClaimKey, ClaimRef, Entry, Phase, Shelf, Slot, Table, Volume, Volumes};
use crate::intern::Symbol;
use rustc_hash::FxHashMap;

#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    /// Available volumes that nobody claims, by class, smallest first, then in the order seen.
    free: FxHashMap<Symbol, Shelf>,
    /// Volumes by the claim they are bound or promised to, in the order seen.
    claimed: FxHashMap<ClaimKey, Vec<Slot>>,
}

/// The index of a profile that has promised something; all others see what the API says.
#[derive(Debug)]
pub(super) struct Own {
    profile: Symbol,
    index: Index,
}

/// What pods of one profile see.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    volumes: &'a Volumes,
    profile: Symbol,
    index: &'a Index,
}

impl Index {
    /// Puts a volume where `claim`, if it is bound or promised to one, makes it belong.
    fn list(&mut self, table: &Table<Symbol, Volume>, entry: Entry, claim: Option<ClaimRef>) {
        let slot = entry.slot;
        let Some(volume) = table.get(slot) else {
            return;
        };
        if let Some(claim) = claim {
            let seen = table.seen(slot);
            let list = self.claimed.entry(claim.claim).or_default();
            let at = list.partition_point(|other| table.seen(*other) < seen);
            list.insert(at, slot);
        } else if volume.phase == Phase::Available && !volume.deleting {
            let shelf = self.free.entry(volume.class).or_default();
            shelf.insert(entry, &volume.reach, |other| table.smaller(other, slot));
        }
    }

    fn unlist(&mut self, table: &Table<Symbol, Volume>, slot: Slot, claim: Option<ClaimRef>) {
        if let Some(claim) = claim {
            take(&mut self.claimed, &claim.claim, slot);
        } else if let Some(volume) = table.get(slot)
            && let Some(shelf) = self.free.get_mut(&volume.class)
        {
            shelf.remove(slot, &volume.reach);
        }
    }

    pub(super) fn claimed_by(&self, key: ClaimKey) -> &[Slot] {
        self.claimed.get(&key).map_or(&[], Vec::as_slice)
    }

    pub(super) fn shelf(&self, class: Symbol) -> Option<&Shelf> {
        self.free.get(&class)
    }
}

/// The claim that a volume is bound or promised to, in the eyes of a profile.
fn claim_of(assumptions: &Assumptions, volume: &Volume, at: (Slot, Symbol)) -> Option<ClaimRef> {
    match assumptions.volumes.get(&at.0, at.1) {
        Some(held) => Some(held.value),
        None => volume.claim,
    }
}

impl Volumes {
    /// What pods of a profile, given by its scheduler name, see.
    pub fn view(&self, profile: Symbol) -> View<'_> {
        let own = self.own.iter().find(|own| own.profile == profile);
        View {
            volumes: self,
            profile,
            index: own.map_or(&self.index, |own| &own.index),
        }
    }

    /// Puts a volume on the indexes where it belongs.
    pub(super) fn list(&mut self, slot: Slot) {
        let Some(entry) = self.entry(slot) else {
            return;
        };
        let Some(volume) = self.volumes.get(slot) else {
            return;
        };
        self.index.list(&self.volumes, entry, volume.claim);
        for own in &mut self.own {
            let claim = claim_of(&self.assumptions, volume, (slot, own.profile));
            own.index.list(&self.volumes, entry, claim);
        }
    }

    /// Takes a volume off the indexes.
    pub(super) fn unlist(&mut self, slot: Slot) {
        let Some(volume) = self.volumes.get(slot) else {
            return;
        };
        self.index.unlist(&self.volumes, slot, volume.claim);
        for own in &mut self.own {
            let claim = claim_of(&self.assumptions, volume, (slot, own.profile));
            own.index.unlist(&self.volumes, slot, claim);
        }
    }

    /// Moves a volume on a profile's index from where a promise, or none, had put it to where another,
    /// or none, does.
    pub(super) fn relist(
        &mut self,
        profile: Symbol,
        slot: Slot,
        (before, after): (Option<ClaimRef>, Option<ClaimRef>),
    ) {
        let Some(entry) = self.entry(slot) else {
            return;
        };
        let Some(volume) = self.volumes.get(slot) else {
            return;
        };
        let known = self.own.iter().position(|own| own.profile == profile);
        let at = known.unwrap_or_else(|| {
            let index = self.index.clone();
            self.own.push(Own { profile, index });
            self.own.len() - 1
        });
        let index = &mut self.own[at].index;
        index.unlist(&self.volumes, slot, before.or(volume.claim));
        index.list(&self.volumes, entry, after.or(volume.claim));
    }

    /// How a volume stands on a shelf.
    fn entry(&mut self, slot: Slot) -> Option<Entry> {
        let volume = self.volumes.get(slot)?;
        let kind = self.kinds.iter().position(|kind| *kind == volume.kind);
        let kind = kind.unwrap_or_else(|| {
            self.kinds.push(volume.kind.clone());
            self.kinds.len() - 1
        });
        Some(Entry::new(slot, kind as u32, volume.capacity.as_i64()))
    }
}

impl<'a> View<'a> {
    /// The claim that a volume is bound or promised to.
    pub fn claim_of(&self, slot: Slot) -> Option<ClaimRef> {
        let volume = self.volumes.volume(slot)?;
        claim_of(&self.volumes.assumptions, volume, (slot, self.profile))
    }

    /// The node for which a claim's volume is to be provisioned, by Reserve or by the claim itself.
    pub fn selected_node(&self, key: ClaimKey) -> Option<Symbol> {
        match self.volumes.assumptions.claims.get(&key, self.profile) {
            Some(held) => Some(held.value),
            None => self.volumes.claim(key)?.selected_node,
        }
    }

    /// Volumes bound or promised to a claim of this key, in the order seen.
    pub fn claimed_by(&self, key: ClaimKey) -> impl Iterator<Item = (Slot, &'a Volume)> + use<'a> {
        let volumes = self.volumes;
        let slots = self.index.claimed_by(key).iter();
        slots.filter_map(|slot| Some((*slot, volumes.volume(*slot)?)))
    }

    /// Available volumes of a class that nobody claims, smallest first; equal ones in the order seen
    /// (upstream: in the order of an informer's map).
    pub fn shelf(&self, class: Symbol) -> Option<&'a Shelf> {
        self.index.shelf(class)
    }

    /// The same, one by one.
    pub fn free(&self, class: Symbol) -> impl Iterator<Item = (Slot, &'a Volume)> + use<'a> {
        let volumes = self.volumes;
        let entries = self.shelf(class).map_or(&[][..], Shelf::all).iter();
        entries.filter_map(|entry| Some((entry.slot, volumes.volume(entry.slot)?)))
    }
}
