//! The active entities: one heap, or one per tenant below the tenants' heap.
//!
//! Heaps keep entries that were left behind by a change; `live` tells them from the real ones. A tenant whose
//! lane changed is noted, and its head is told to the shares before the next pick.

use super::Nanos;
use super::entity::{Entity, Order, Rank};
use crate::drf::{FairShares, Head, Tenant};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

type Heap = BinaryHeap<Reverse<(Rank, Entity)>>;

/// Band, time and order of a lane's first entity: what the shares know of it.
type Shown = Option<(i32, Nanos, u64)>;

#[derive(Debug, Default)]
pub(super) struct Lanes {
    heaps: Vec<Heap>,
    shown: Vec<Shown>,
    /// Lanes that may have another head than the shares know of.
    changed: Vec<u32>,
    is_changed: Vec<bool>,
}

impl Lanes {
    pub(super) fn push(&mut self, lane: u32, rank: Rank, entity: Entity) {
        self.reach(lane);
        self.heaps[lane as usize].push(Reverse((rank, entity)));
        self.touch(lane);
    }

    /// The lane may have lost its first entity.
    pub(super) fn touch(&mut self, lane: u32) {
        self.reach(lane);
        if !std::mem::replace(&mut self.is_changed[lane as usize], true) {
            self.changed.push(lane);
        }
    }

    fn reach(&mut self, lane: u32) {
        let lanes = lane as usize + 1;
        if self.heaps.len() < lanes {
            self.heaps.resize_with(lanes, Heap::default);
            self.shown.resize(lanes, None);
            self.is_changed.resize(lanes, false);
        }
    }

    /// Takes the first live entity of the only lane.
    pub(super) fn pop(&mut self, live: impl Fn(u32, Rank, Entity) -> bool) -> Option<Entity> {
        let heap = self.heaps.first_mut()?;
        while let Some(Reverse((rank, entity))) = heap.pop() {
            if live(ONLY, rank, entity) {
                return Some(entity);
            }
        }
        None
    }

    /// Takes the first entity of the tenant that goes next, after [`Lanes::show`].
    pub(super) fn pop_fair(&mut self, shares: &mut FairShares) -> Option<Entity> {
        let lane = shares.pick()?.0;
        let Reverse((_, entity)) = self.heaps.get_mut(lane as usize)?.pop()?;
        self.touch(lane);
        Some(entity)
    }

    /// Tells the shares of the heads that changed.
    pub(super) fn show(
        &mut self,
        shares: &mut FairShares,
        live: impl Fn(u32, Rank, Entity) -> bool,
        band: impl Fn(Entity) -> i32,
    ) {
        for lane in std::mem::take(&mut self.changed) {
            let at = lane as usize;
            self.is_changed[at] = false;
            let heap = &mut self.heaps[at];
            while let Some(Reverse((rank, entity))) = heap.peek().copied()
                && !live(lane, rank, entity)
            {
                heap.pop();
            }
            let head = heap.peek().copied();
            let shown = head.map(|Reverse((rank, entity))| (band(entity), rank.time, rank.order));
            if shown == self.shown[at] {
                continue;
            }
            self.shown[at] = shown;
            let tenant = Tenant(lane);
            let told = match shown {
                None => shares.clear_head(tenant),
                Some((band, time, sequence)) => shares.set_head(
                    tenant,
                    Head {
                        band,
                        time,
                        sequence,
                    },
                ),
            };
            debug_assert!(told.is_ok(), "a lane is the handle of a leaf: {told:?}");
        }
    }

    pub(super) fn clear(&mut self) {
        *self = Lanes::default();
    }
}

/// One lane.
pub(super) const ONLY: u32 = 0;

pub(super) fn lane_of(order: Order, lane: u32) -> u32 {
    if order.is_fair() { lane } else { ONLY }
}
