//! What claims look for on the shelves of their classes.

use super::claims::Wanted;
use crate::snapshot::Snapshot;
use crate::snapshot::volumes::{Entry, Reach, Search, Slot};

/// A free volume for a claim; `taken` are those that other claims of the pod get.
pub(super) struct VolumeSearch<'a> {
    pub(super) snap: &'a Snapshot,
    pub(super) wanted: &'a Wanted,
    pub(super) taken: &'a [(usize, Slot)],
}

impl Search for VolumeSearch<'_> {
    fn suits(&self, entry: &Entry) -> bool {
        let volume = || self.snap.volumes.volume(entry.slot);
        let is_big = || match (entry.size, self.wanted.size) {
            (Some(size), Some(request)) => size >= request,
            _ => volume().is_some_and(|volume| volume.capacity >= self.wanted.request),
        };
        let is_selected = || match &self.wanted.selector {
            None => true,
            Some(selector) => {
                volume().is_some_and(|volume| selector.matches(&volume.labels, &self.snap.interner))
            }
        };
        let kind = self.wanted.kinds.get(entry.kind as usize);
        kind == Some(&true) && is_big() && is_selected()
    }

    fn is_free(&self, slot: Slot) -> bool {
        self.taken.iter().all(|(_, taken)| *taken != slot)
    }

    fn reach(&self, slot: Slot) -> Option<&Reach> {
        self.snap.volumes.volume(slot).map(|volume| &*volume.reach)
    }

    fn before(&self, one: Slot, other: Slot) -> bool {
        self.snap.volumes.smaller(one, other)
    }
}

/// Space for a volume of `size` bytes.
pub(super) struct SpaceSearch<'a> {
    pub(super) snap: &'a Snapshot,
    pub(super) size: i64,
}

impl Search for SpaceSearch<'_> {
    fn suits(&self, entry: &Entry) -> bool {
        entry.size.is_some_and(|largest| largest >= self.size)
    }

    fn reach(&self, slot: Slot) -> Option<&Reach> {
        self.snap
            .volumes
            .capacity(slot)
            .map(|capacity| &*capacity.reach)
    }

    fn before(&self, one: Slot, other: Slot) -> bool {
        self.snap.volumes.seen_before(one, other)
    }
}
