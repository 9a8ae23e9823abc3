//! Moves between the pools, and the events and times that cause them.

use super::backoff::{SECOND, floor_second};
use super::lanes::lane_of;
use super::{Bits, Entity, Entry, Nanos, Pool, Queue};

impl Queue {
    /// Whether something parked, or in flight, was rejected by a plugin that registered `event`.
    pub fn awaits(&self, event: Bits) -> bool {
        !self.flight.is_empty() || self.parked.keys().any(|by| self.helped_by(*by, event) != 0)
    }

    /// Something happened; what it can help leaves the unschedulable pool. `hint(plugin bit, entity)`
    /// says whether it really may help one that this plugin rejected; it is asked about one of all that are
    /// alike. Returns how many moved.
    pub fn event(
        &mut self,
        event: Bits,
        now: Nanos,
        hint: impl FnMut(u32, Entity) -> bool,
    ) -> usize {
        self.event_but((None, None), event, now, hint)
    }

    /// The same; it is no news to `except`, nor to a group whose own doing it is while that is in flight.
    pub fn event_but(
        &mut self,
        (except, doer): (Option<Entity>, Option<Entity>),
        event: Bits,
        now: Nanos,
        mut hint: impl FnMut(u32, Entity) -> bool,
    ) -> usize {
        self.flight.note(event, doer);
        let mut woken = Vec::new();
        for (by, groups) in &self.parked {
            let plugins = self.helped_by(*by, event);
            if plugins == 0 {
                continue;
            }
            for entities in groups.values() {
                let Some(&one) = entities.first() else {
                    continue;
                };
                if bits(plugins).any(|plugin| hint(plugin, one)) {
                    let others = entities.iter().copied();
                    woken.extend(others.filter(|entity| Some(*entity) != except));
                }
            }
        }
        // In the order in which they would be tried, not that of handles.
        woken.sort_by_key(|entity| self.entries.get(entity).map(|e| e.rank(self.by)));
        for &entity in &woken {
            let pending = self.entries.get(&entity).map_or(0, |e| e.pending_by);
            self.leave_pool(entity);
            self.wake(entity, now, self.helped_by(pending, event) != 0);
        }
        woken.len()
    }

    /// What one of these plugins rejected leaves the unschedulable pool, whatever it registered.
    pub fn wake_rejected(&mut self, plugins: Bits, now: Nanos) {
        let rejected = self.parked.iter().filter(|(by, _)| **by & plugins != 0);
        let sets = rejected.flat_map(|(_, groups)| groups.values());
        let woken: Vec<Entity> = sets.flatten().copied().collect();
        for entity in woken {
            self.leave_pool(entity);
            self.wake(entity, now, false);
        }
    }

    /// Moves one that is parked or in backoff regardless of events.
    pub fn activate_now(&mut self, entity: impl Into<Entity>) {
        let entity = entity.into();
        let wakes = |e: &Entry| matches!(e.pool, Pool::Unschedulable | Pool::Backoff);
        if self.entries.get(&entity).is_some_and(wakes) {
            self.leave_pool(entity);
            self.activate(entity);
        }
    }

    /// A PreEnqueue plugin holds it: it waits in the gated pool until [`Queue::release`]. What had been popped
    /// for an attempt has not had it.
    pub fn hold(&mut self, entity: impl Into<Entity>) {
        let entity = entity.into();
        self.leave_pool(entity);
        if let Some(entry) = self.entries.get_mut(&entity) {
            entry.attempts -= u32::from(entry.pool == Pool::InFlight);
            entry.pool = Pool::Gated;
            entry.ticket.gated = true;
        }
    }

    /// Nothing holds it any more: it is tried as soon as its backoff is over, with its old place in line.
    pub fn release(&mut self, entity: impl Into<Entity>, now: Nanos) {
        let entity = entity.into();
        let Some(entry) = self.entries.get_mut(&entity) else {
            return;
        };
        if entry.pool != Pool::Gated {
            return;
        }
        entry.ticket.gated = false;
        let untried = entry.attempts == 0;
        self.wake(entity, now, untried);
    }

    fn wake(&mut self, entity: Entity, now: Nanos, at_once: bool) {
        let resting = !at_once && self.expiry(entity) >= floor_second(now);
        if resting {
            self.rest(entity);
        } else {
            self.activate(entity);
        }
    }

    /// Those of `plugins` that registered the event.
    pub(super) fn helped_by(&self, plugins: Bits, event: Bits) -> Bits {
        let registered = |plugin: &u32| {
            self.registered
                .get(*plugin as usize)
                .is_none_or(|events| events & event != 0)
        };
        bits(plugins)
            .filter(registered)
            .fold(0, |set, plugin| set | 1 << plugin)
    }

    /// Moves what has its backoff behind it, and what was parked for longer than `max_parked`.
    pub fn flush(&mut self, now: Nanos, max_parked: Nanos) {
        for errors in [false, true] {
            let set = if errors {
                &mut self.error_backoff
            } else {
                &mut self.backoff
            };
            let ended: Vec<Entity> = set
                .iter()
                .take_while(|(expiry, _, _)| *expiry < floor_second(now))
                .map(|(_, _, entity)| *entity)
                .collect();
            for entity in ended {
                self.leave_pool(entity);
                self.activate(entity);
            }
        }
        let old = |(since, _): &&(Nanos, Entity)| now - since > max_parked;
        let stale = self.parked_since.iter().take_while(old);
        let mut stale: Vec<Entity> = stale.map(|(_, entity)| *entity).collect();
        stale.sort_by_key(|entity| self.entries.get(entity).map(|e| e.rank(self.by)));
        for entity in stale {
            self.leave_pool(entity);
            self.wake(entity, now, false);
        }
    }

    /// When the next backoff ends.
    pub fn next_retry(&self) -> Option<Nanos> {
        let resting = self
            .backoff
            .first()
            .into_iter()
            .chain(self.error_backoff.first());
        // A backoff is over in the first whole second after its expiry.
        resting.map(|(expiry, _, _)| expiry + SECOND).min()
    }

    /// When one comes back by itself: after its backoff, or after being parked for `max_parked`.
    pub fn next_due(&self, max_parked: Nanos) -> Option<Nanos> {
        let oldest = self.parked_since.first();
        let parked = oldest.map(|(since, _)| since + max_parked + 1);
        self.next_retry().into_iter().chain(parked).min()
    }

    fn expiry(&self, entity: Entity) -> Nanos {
        let entry = &self.entries[&entity];
        let count = if entry.errors > 0 {
            entry.errors
        } else {
            entry.unschedulable
        };
        floor_second(entry.ticket.since + self.backoff_settings.duration(count))
    }

    pub(super) fn activate(&mut self, entity: Entity) {
        let by = self.by;
        let entry = self.entries.get_mut(&entity).expect("a known entity");
        entry.pool = Pool::Active;
        self.active
            .push(lane_of(by, entry.ticket.lane), entry.rank(by), entity);
    }

    pub(super) fn rest(&mut self, entity: Entity) {
        let (by, expiry) = (self.by, self.expiry(entity));
        let entry = self.entries.get_mut(&entity).expect("a known entity");
        entry.pool = Pool::Backoff;
        entry.expiry = expiry;
        let key = (expiry, entry.rank(by), entity);
        let failed = entry.rejected_by | entry.pending_by == 0;
        if failed {
            self.error_backoff.insert(key)
        } else {
            self.backoff.insert(key)
        };
    }

    pub(super) fn park(&mut self, entity: Entity) {
        let entry = self.entries.get_mut(&entity).expect("a known entity");
        entry.pool = Pool::Unschedulable;
        self.parked
            .entry(entry.rejected_by | entry.pending_by)
            .or_default()
            .entry(entry.alike)
            .or_default()
            .insert(entity);
        self.parked_since.insert((entry.ticket.since, entity));
    }

    /// What is parked because this plugin rejected it, and waits for the event.
    pub fn parked_by(&self, plugin: u32, event: Bits) -> impl Iterator<Item = Entity> {
        let own = 1 << plugin;
        let waiting = self.helped_by(own, event) != 0;
        let groups = self
            .parked
            .iter()
            .filter(move |(by, _)| waiting && **by & own != 0);
        let sets = groups.flat_map(|(_, groups)| groups.values());
        sets.flat_map(|entities| entities.iter().copied())
    }

    pub(super) fn leave_pool(&mut self, entity: Entity) {
        let Some(entry) = self.entries.get(&entity) else {
            return;
        };
        match entry.pool {
            // The heap's entry no longer matches once the pool differs.
            Pool::Active => self.active.touch(lane_of(self.by, entry.ticket.lane)),
            Pool::Gated => {}
            Pool::Backoff => {
                let key = (entry.expiry, entry.rank(self.by), entity);
                if !self.backoff.remove(&key) {
                    self.error_backoff.remove(&key);
                }
            }
            Pool::Unschedulable => {
                let (key, alike) = (entry.rejected_by | entry.pending_by, entry.alike);
                self.parked_since.remove(&(entry.ticket.since, entity));
                if let Some(groups) = self.parked.get_mut(&key) {
                    if let Some(set) = groups.get_mut(&alike) {
                        set.remove(&entity);
                        if set.is_empty() {
                            groups.remove(&alike);
                        }
                    }
                    if groups.is_empty() {
                        self.parked.remove(&key);
                    }
                }
            }
            Pool::InFlight => self.flight.land(entry.popped),
        }
    }
}

/// Positions of the bits that are set, ascending.
fn bits(set: Bits) -> impl Iterator<Item = u32> {
    (0..Bits::BITS).filter(move |bit| set >> bit & 1 == 1)
}
