//! The scheduling queue: who is tried next, and when a rejected one comes back. Band → lane → entity.
//!
//! An entity is a pod or a group. With PrioritySort there is one lane; with DRF one per tenant, and the tenant
//! whose turn it is comes from the fair shares ([`crate::drf`]), which the caller passes to [`Queue::pop`].
//! Every entity that is known to the queue is in exactly one pool. The queue has no clock; times are
//! nanoseconds that the caller passes in. Events and plugins are bits: a plugin registers the events
//! that can help what it rejected.
//!
//! # Groups
//!
//! `Entity::group(n)` is a handle with the top bit set; `n` is the caller's number for the group. All
//! operations take either kind (`impl Into<Entity>`, a `PodId` is one):
//!
//! * [`Queue::add`] with a [`Ticket`]: priority, since, created, lane (the tenant's handle), `completing`
//!   for members that a running group misses, `gated`, and the request of the whole group;
//! * [`Queue::pop`] makes it in flight; [`Queue::put_back`] returns it (parked with the plugins that rejected
//!   it, in backoff after an error, or active again where an event came meanwhile); [`Queue::settle`] says
//!   that no event concerns it any more; [`Queue::remove`] takes it out from any pool;
//! * [`Queue::update`] changes priority and gate, [`Queue::amend`] also lane, `completing` and request;
//! * [`Queue::activate_now`] moves it to the active pool regardless of events; [`Queue::event`] wakes it like
//!   a pod, `hint` is asked with its handle.
//!
//! The members of a group are not in the queue themselves; a pod can be in it besides (a surplus member).

mod backoff;
mod entity;
mod flight;
mod lanes;
mod pick;
mod pools;
mod wire;

pub use backoff::Backoff;
pub use entity::{Alike, Entity, Order, SYSTEM_CRITICAL, Ticket};

use crate::resources::Amounts;
use entity::Rank;
use flight::{Flight, SETTLED};
use lanes::Lanes;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub type Nanos = i64;

/// A set of events, or of plugins.
pub type Bits = u64;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pool {
    /// Ready to be tried.
    Active,
    /// Waits for its backoff to end.
    Backoff,
    /// Waits for an event that can help.
    Unschedulable,
    /// Held back by a PreEnqueue plugin.
    Gated,
    /// Popped, and neither bound nor back yet.
    InFlight,
}

#[derive(Clone, Debug)]
struct Entry {
    pool: Pool,
    ticket: Ticket,
    /// Breaks ties in the order of arrival.
    order: u64,
    attempts: u32,
    unschedulable: u32,
    errors: u32,
    /// Plugins that rejected it last.
    rejected_by: Bits,
    alike: Alike,
    /// Plugins that said that progress was made.
    pending_by: Bits,
    /// Position in the event log when it was popped.
    popped: u64,
    /// When its backoff ends, while it is in that pool.
    expiry: Nanos,
}

/// Why an entity goes back.
#[derive(Clone, Copy, Debug)]
pub struct Return {
    /// Empty: an error, nobody is to blame.
    pub rejected_by: Bits,
    pub pending_by: Bits,
}

#[derive(Debug, Default)]
pub struct Queue {
    by: Order,
    /// Tenants that come before others whatever their shares, by lane; 0 where unset.
    standings: FxHashMap<u32, i32>,
    entries: FxHashMap<Entity, Entry>,
    active: Lanes,
    /// By expiry, then by rank. Those that failed with an error are kept apart: they are never popped early.
    backoff: BTreeSet<(Nanos, Rank, Entity)>,
    error_backoff: BTreeSet<(Nanos, Rank, Entity)>,
    /// What is parked, by the plugins that rejected it and by what hints can tell it by.
    parked: BTreeMap<Bits, BTreeMap<Alike, BTreeSet<Entity>>>,
    /// The same by the time since when.
    parked_since: BTreeSet<(Nanos, Entity)>,
    /// Per plugin bit, the events it registered.
    registered: Vec<Bits>,
    flight: Flight,
    arrivals: u64,
    backoff_settings: Backoff,
}

/// Numbers of entities by pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub active: usize,
    pub backoff: usize,
    pub unschedulable: usize,
    pub gated: usize,
    pub in_flight: usize,
}

impl Queue {
    pub fn new(backoff: Backoff) -> Self {
        Queue {
            backoff_settings: backoff,
            ..Queue::default()
        }
    }

    /// Events that can help what the plugin of this bit rejected.
    pub fn register(&mut self, plugin: u32, events: Bits) {
        let plugin = plugin as usize;
        if self.registered.len() <= plugin {
            // A plugin that registers nothing is woken by everything.
            self.registered.resize(plugin + 1, Bits::MAX);
        }
        self.registered[plugin] = events;
    }

    pub fn pool(&self, entity: impl Into<Entity>) -> Option<Pool> {
        self.entries.get(&entity.into()).map(|e| e.pool)
    }

    pub fn attempts(&self, entity: impl Into<Entity>) -> u32 {
        self.entries.get(&entity.into()).map_or(0, |e| e.attempts)
    }

    /// With what it is in the queue.
    pub fn ticket(&self, entity: impl Into<Entity>) -> Option<&Ticket> {
        self.entries.get(&entity.into()).map(|e| &e.ticket)
    }

    /// What a group asks for together; `None` for pods.
    pub fn request(&self, entity: impl Into<Entity>) -> Option<&Arc<Amounts>> {
        self.ticket(entity)?.request.as_ref()
    }

    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for entry in self.entries.values() {
            match entry.pool {
                Pool::Active => counts.active += 1,
                Pool::Backoff => counts.backoff += 1,
                Pool::Unschedulable => counts.unschedulable += 1,
                Pool::Gated => counts.gated += 1,
                Pool::InFlight => counts.in_flight += 1,
            }
        }
        counts
    }

    /// All entities that the queue knows, in no particular order, with their pool and lane.
    pub fn entities(&self) -> impl Iterator<Item = (Entity, Pool, u32)> {
        let entries = self.entries.iter();
        entries.map(|(entity, entry)| (*entity, entry.pool, entry.ticket.lane))
    }

    /// A new pending entity; one that is known already starts afresh.
    pub fn add(&mut self, entity: impl Into<Entity>, ticket: Ticket) {
        let entity = entity.into();
        self.leave_pool(entity);
        self.arrivals += 1;
        let gated = ticket.gated;
        let entry = Entry {
            pool: Pool::Gated,
            ticket,
            order: self.arrivals,
            attempts: 0,
            unschedulable: 0,
            errors: 0,
            rejected_by: 0,
            alike: Alike::alone(entity),
            pending_by: 0,
            popped: 0,
            expiry: 0,
        };
        self.entries.insert(entity, entry);
        if !gated {
            self.activate(entity);
        }
    }

    /// Its priority or gates changed. What is in flight or parked stays where it is.
    pub fn update(&mut self, entity: impl Into<Entity>, priority: i32, gated: bool) {
        let entity = entity.into();
        self.amend(entity, |ticket| {
            ticket.priority = priority;
            ticket.gated = gated;
        });
    }

    /// Says where it stands in the caller's order.
    pub fn set_place(&mut self, entity: impl Into<Entity>, place: u64) {
        self.amend(entity, |ticket| ticket.place = place);
    }

    /// Says what hints can tell it by; until then it is like no other.
    pub fn set_alike(&mut self, entity: impl Into<Entity>, alike: Alike) {
        let entity = entity.into();
        let Some(entry) = self.entries.get(&entity).filter(|e| e.alike != alike) else {
            return;
        };
        let is_parked = entry.pool == Pool::Unschedulable;
        if is_parked {
            self.leave_pool(entity);
        }
        self.entries.get_mut(&entity).expect("a known entity").alike = alike;
        if is_parked {
            self.park(entity);
        }
    }

    /// Changes the ticket. What is in flight or parked stays where it is; `since` and `created` must not change.
    pub fn amend(&mut self, entity: impl Into<Entity>, change: impl FnOnce(&mut Ticket)) {
        let entity = entity.into();
        let Some(entry) = self.entries.get(&entity) else {
            return;
        };
        let (pool, before) = (entry.pool, entry.ticket.clone());
        let mut ticket = before.clone();
        change(&mut ticket);
        let gated = ticket.gated;
        let of = |t: &Ticket| (t.priority, t.lane, t.completing, t.place);
        let moved = of(&ticket) != of(&before);
        if moved && pool != Pool::InFlight {
            self.leave_pool(entity);
        }
        self.entries
            .get_mut(&entity)
            .expect("a known entity")
            .ticket = ticket;
        if moved {
            match pool {
                Pool::Active => self.activate(entity),
                Pool::Backoff => self.rest(entity),
                Pool::Unschedulable => self.park(entity),
                Pool::Gated | Pool::InFlight => {}
            }
        }
        match (pool, gated) {
            (Pool::Gated, false) => self.activate(entity),
            (Pool::Active, true) => {
                self.leave_pool(entity);
                self.entries.get_mut(&entity).expect("a known entity").pool = Pool::Gated;
            }
            _ => {}
        }
    }

    /// It is bound, deleted, or no longer this scheduler's.
    pub fn remove(&mut self, entity: impl Into<Entity>) {
        let entity = entity.into();
        self.leave_pool(entity);
        self.entries.remove(&entity);
    }

    /// It has a node and no longer waits for anybody: events from now on mean nothing to it,
    /// should its binding fail.
    pub fn settle(&mut self, entity: impl Into<Entity>) {
        if let Some(entry) = self.entries.get_mut(&entity.into())
            && entry.pool == Pool::InFlight
        {
            let popped = std::mem::replace(&mut entry.popped, SETTLED);
            self.flight.land(popped);
        }
    }

    /// It was popped and not scheduled. Events that arrived meanwhile count.
    pub fn put_back(&mut self, entity: impl Into<Entity>, now: Nanos, why: Return) {
        let entity = entity.into();
        let entry = self.entries.get(&entity);
        let Some(entry) = entry.filter(|e| e.pool == Pool::InFlight) else {
            return;
        };
        let missed = self.flight.missed(entry.popped, entity);
        self.leave_pool(entity);
        let entry = self.entries.get_mut(&entity).expect("a known entity");
        entry.ticket.since = now;
        entry.rejected_by = why.rejected_by;
        entry.pending_by = why.pending_by;
        if why.rejected_by | why.pending_by == 0 {
            entry.errors += 1;
            self.rest(entity);
            return;
        }
        entry.unschedulable += 1;
        entry.errors = 0;
        if self.helped_by(why.pending_by, missed) != 0 {
            self.activate(entity);
        } else if self.helped_by(why.rejected_by, missed) != 0 {
            self.rest(entity);
        } else {
            self.park(entity);
        }
    }

    /// Has an entity that waits rest as after an error: what came of its last attempt has failed since.
    pub fn rest_after_error(&mut self, entity: impl Into<Entity>, now: Nanos) {
        let entity = entity.into();
        let waits = [Pool::Active, Pool::Backoff, Pool::Unschedulable];
        if !self.pool(entity).is_some_and(|pool| waits.contains(&pool)) {
            return;
        }
        self.leave_pool(entity);
        let entry = self.entries.get_mut(&entity).expect("a known entity");
        entry.ticket.since = now;
        entry.rejected_by = 0;
        entry.pending_by = 0;
        entry.errors += 1;
        self.rest(entity);
    }
}

impl Entry {
    fn rank(&self, by: Order) -> Rank {
        Rank::new(by, &self.ticket, self.order)
    }
}
