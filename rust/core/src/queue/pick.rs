//! The order, and the next entity by it.

use super::entity::Rank;
use super::lanes::lane_of;
use super::{Entity, Entry, Order, Pool, Queue};
use crate::drf::FairShares;
use rustc_hash::FxHashMap;

impl Queue {
    pub fn order(&self) -> Order {
        self.by
    }

    /// Chooses the order, with new lanes: `lane` says an entity's, and `standings` which come before others.
    /// The shares know of no head yet. Backoff, parking and attempts stay as they are.
    pub fn set_order(
        &mut self,
        by: Order,
        standings: FxHashMap<u32, i32>,
        lane: impl Fn(Entity, u32) -> u32,
    ) {
        let rest = [&mut self.backoff, &mut self.error_backoff];
        let resting: [Vec<Entity>; 2] =
            rest.map(|set| std::mem::take(set).into_iter().map(|key| key.2).collect());
        self.active.clear();
        self.by = by;
        self.standings = standings;
        for (&entity, entry) in &mut self.entries {
            entry.ticket.lane = lane(entity, entry.ticket.lane);
            if entry.pool == Pool::Active {
                let rank = entry.rank(self.by);
                let lane = lane_of(self.by, entry.ticket.lane);
                self.active.push(lane, rank, entity);
            }
        }
        for entity in resting.into_iter().flatten() {
            self.rest(entity);
        }
    }

    /// The next to try; when none is active, from those in backoff. `shares` are the tenants', needed where
    /// the order is fair.
    pub fn pop(&mut self, shares: Option<&mut FairShares>) -> Option<Entity> {
        let entity = match shares {
            Some(shares) if self.by.is_fair() => self.next_fair(shares)?,
            _ => self.next_by_priority()?,
        };
        self.leave_pool(entity);
        let popped = self.flight.start();
        let entry = self.entries.get_mut(&entity).expect("a queued entity");
        entry.pool = Pool::InFlight;
        entry.attempts += 1;
        entry.popped = popped;
        Some(entity)
    }

    fn next_by_priority(&mut self) -> Option<Entity> {
        let Queue {
            active,
            entries,
            by,
            ..
        } = self;
        let active = active.pop(|lane, rank, entity| is_live(entries, *by, lane, (rank, entity)));
        active.or_else(|| self.backoff.first().map(|(_, _, entity)| *entity))
    }

    fn next_fair(&mut self, shares: &mut FairShares) -> Option<Entity> {
        if let Some(entity) = self.pick(shares) {
            return Some(entity);
        }
        // Shares decide among those in backoff too, so they all become active.
        let resting: Vec<Entity> = self.backoff.iter().map(|key| key.2).collect();
        for entity in resting {
            self.leave_pool(entity);
            self.activate(entity);
        }
        self.pick(shares)
    }

    fn pick(&mut self, shares: &mut FairShares) -> Option<Entity> {
        self.show_heads(shares);
        self.active.pop_fair(shares)
    }

    /// Tells the shares which tenant waits with which entity, as [`Queue::pop`] does before it picks.
    pub fn show_heads(&mut self, shares: &mut FairShares) {
        let Queue {
            active,
            entries,
            by,
            standings,
            ..
        } = self;
        if !by.is_fair() {
            return;
        }
        let live = |lane, rank, entity| is_live(entries, *by, lane, (rank, entity));
        active.show(shares, live, |entity| {
            let ticket = &entries[&entity].ticket;
            let standing = standings.get(&ticket.lane).copied().unwrap_or(0);
            by.band(ticket, standing)
        });
    }
}

/// Whether a lane's entry stands for an entity that is still active there with that rank.
fn is_live(
    entries: &FxHashMap<Entity, Entry>,
    by: Order,
    lane: u32,
    (rank, entity): (Rank, Entity),
) -> bool {
    let active = entries.get(&entity).filter(|e| e.pool == Pool::Active);
    active.is_some_and(|e| lane_of(by, e.ticket.lane) == lane && e.rank(by) == rank)
}
