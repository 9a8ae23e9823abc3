//! The scheduling queue: which pod is tried next, and when a rejected pod comes back.
//!
//! Every pod that is known to the queue is in exactly one pool. The queue has no clock; times are
//! nanoseconds that the caller passes in. Events and plugins are bits: a plugin registers the events
//! that can help a pod it rejected.

use crate::snapshot::PodId;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

pub type Nanos = i64;

/// A set of events, or of plugins.
pub type Bits = u64;

const SECOND: Nanos = 1_000_000_000;

/// Position of a pod that no event concerns any more.
const SETTLED: u64 = u64::MAX;

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

/// Backoff settings: 1, 2, 4, 8, 10, 10 … seconds by default.
#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    pub initial: Nanos,
    pub max: Nanos,
}

impl Default for Backoff {
    fn default() -> Self {
        Backoff {
            initial: SECOND,
            max: 10 * SECOND,
        }
    }
}

impl Backoff {
    /// How long a pod rests after its `count`-th failure in a row.
    pub fn duration(self, count: u32) -> Nanos {
        if count == 0 || self.max <= 0 {
            return 0;
        }
        let doublings = count - 1;
        if doublings >= 62 || self.initial > self.max >> doublings {
            self.max
        } else {
            self.initial << doublings
        }
    }
}

/// Highest priority first, then the one that has waited longest, then the one that came first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    priority: Reverse<i32>,
    since: Nanos,
    order: u64,
}

#[derive(Clone, Debug)]
struct Entry {
    pool: Pool,
    priority: i32,
    /// When it was last added to the queue.
    since: Nanos,
    /// Breaks ties in the order of arrival.
    order: u64,
    attempts: u32,
    unschedulable: u32,
    errors: u32,
    /// Plugins that rejected it last.
    rejected_by: Bits,
    /// Plugins that said that progress was made.
    pending_by: Bits,
    /// Position in the event log when it was popped.
    popped: u64,
    /// When its backoff ends, while it is in that pool.
    expiry: Nanos,
}

/// Why a pod goes back.
#[derive(Clone, Copy, Debug)]
pub struct Return {
    /// Empty: an error, nobody is to blame.
    pub rejected_by: Bits,
    pub pending_by: Bits,
}

#[derive(Debug, Default)]
pub struct Queue {
    entries: FxHashMap<PodId, Entry>,
    active: BinaryHeap<Reverse<(Rank, PodId)>>,
    /// By expiry, then by rank. Pods that failed with an error are kept apart: they are never popped early.
    backoff: BTreeSet<(Nanos, Rank, PodId)>,
    error_backoff: BTreeSet<(Nanos, Rank, PodId)>,
    /// Parked pods by the plugins that rejected them.
    parked: BTreeMap<Bits, BTreeSet<PodId>>,
    /// Per plugin bit, the events it registered.
    registered: Vec<Bits>,
    /// Events while pods are in flight, with their position.
    events: Vec<(u64, Bits)>,
    now_at: u64,
    in_flight: BTreeMap<u64, u32>,
    arrivals: u64,
    backoff_settings: Backoff,
}

/// Numbers of pods by pool.
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

    /// Events that can help pods rejected by the plugin of this bit.
    pub fn register(&mut self, plugin: u32, events: Bits) {
        let plugin = plugin as usize;
        if self.registered.len() <= plugin {
            // A plugin that registers nothing is woken by everything.
            self.registered.resize(plugin + 1, Bits::MAX);
        }
        self.registered[plugin] = events;
    }

    pub fn pool(&self, pod: PodId) -> Option<Pool> {
        self.entries.get(&pod).map(|e| e.pool)
    }

    pub fn attempts(&self, pod: PodId) -> u32 {
        self.entries.get(&pod).map_or(0, |e| e.attempts)
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

    /// A new pending pod. `since` orders it among pods of its priority (its age).
    pub fn add(&mut self, pod: PodId, priority: i32, since: Nanos, gated: bool) {
        self.arrivals += 1;
        let entry = Entry {
            pool: Pool::Gated,
            priority,
            since,
            order: self.arrivals,
            attempts: 0,
            unschedulable: 0,
            errors: 0,
            rejected_by: 0,
            pending_by: 0,
            popped: 0,
            expiry: 0,
        };
        self.entries.insert(pod, entry);
        if !gated {
            self.activate(pod);
        }
    }

    /// A pod's priority or gates changed. A pod in flight or parked stays where it is.
    pub fn update(&mut self, pod: PodId, priority: i32, gated: bool) {
        let Some(entry) = self.entries.get(&pod) else {
            return;
        };
        let pool = entry.pool;
        if entry.priority != priority && pool != Pool::InFlight {
            self.leave_pool(pod);
            let entry = self.entries.get_mut(&pod).expect("a known pod");
            entry.priority = priority;
            match pool {
                Pool::Active => self.activate(pod),
                Pool::Backoff => self.rest(pod),
                Pool::Unschedulable => self.park(pod),
                Pool::Gated | Pool::InFlight => {}
            }
        }
        match (pool, gated) {
            (Pool::Gated, false) => self.activate(pod),
            (Pool::Active, true) => {
                self.leave_pool(pod);
                self.entries.get_mut(&pod).expect("a known pod").pool = Pool::Gated;
            }
            _ => {}
        }
    }

    /// The pod is bound, deleted, or no longer this scheduler's.
    pub fn remove(&mut self, pod: PodId) {
        self.leave_pool(pod);
        self.entries.remove(&pod);
    }

    /// The next pod to try; when none is active, the one whose backoff ends first.
    pub fn pop(&mut self) -> Option<PodId> {
        let pod = self
            .pop_active()
            .or_else(|| self.backoff.first().map(|(_, _, pod)| *pod))?;
        self.leave_pool(pod);
        let now_at = self.now_at;
        let entry = self.entries.get_mut(&pod).expect("a queued pod");
        entry.pool = Pool::InFlight;
        entry.attempts += 1;
        entry.popped = now_at;
        *self.in_flight.entry(now_at).or_default() += 1;
        Some(pod)
    }

    fn pop_active(&mut self) -> Option<PodId> {
        while let Some(Reverse((rank, pod))) = self.active.pop() {
            // An entry that does not match any more was left behind by a change.
            let live = self.entries.get(&pod).filter(|e| e.pool == Pool::Active);
            if live.is_some_and(|e| e.rank() == rank) {
                return Some(pod);
            }
        }
        None
    }

    /// The popped pod has a node and no longer waits for anybody: events from now on mean nothing to it,
    /// should its binding fail.
    pub fn settle(&mut self, pod: PodId) {
        let Some(entry) = self.entries.get_mut(&pod) else {
            return;
        };
        if entry.pool == Pool::InFlight && entry.popped != SETTLED {
            let popped = std::mem::replace(&mut entry.popped, SETTLED);
            self.land(popped);
        }
    }

    /// The popped pod was not scheduled. Events that arrived meanwhile count.
    pub fn put_back(&mut self, pod: PodId, now: Nanos, why: Return) {
        let Some(entry) = self.entries.get(&pod).filter(|e| e.pool == Pool::InFlight) else {
            return;
        };
        let since = entry.popped;
        let missed = self
            .events
            .iter()
            .filter(|(at, _)| *at >= since)
            .fold(0, |m, (_, e)| m | e);
        self.leave_pool(pod);
        let entry = self.entries.get_mut(&pod).expect("a known pod");
        entry.since = now;
        entry.rejected_by = why.rejected_by;
        entry.pending_by = why.pending_by;
        if why.rejected_by | why.pending_by == 0 {
            entry.errors += 1;
            self.rest(pod);
            return;
        }
        entry.unschedulable += 1;
        entry.errors = 0;
        if self.helped_by(why.pending_by, missed) != 0 {
            self.activate(pod);
        } else if self.helped_by(why.rejected_by, missed) != 0 {
            self.rest(pod);
        } else {
            self.park(pod);
        }
    }

    /// Whether some parked pod, or one in flight, was rejected by a plugin that registered `event`.
    pub fn awaits(&self, event: Bits) -> bool {
        !self.in_flight.is_empty() || self.parked.keys().any(|by| self.helped_by(*by, event) != 0)
    }

    /// Something happened; pods that it can help leave the unschedulable pool. `hint(plugin bit, pod)`
    /// says whether it really may help a pod that this plugin rejected. Returns how many pods moved.
    pub fn event(
        &mut self,
        event: Bits,
        now: Nanos,
        mut hint: impl FnMut(u32, PodId) -> bool,
    ) -> usize {
        if !self.in_flight.is_empty() {
            self.events.push((self.now_at, event));
        }
        let mut woken = Vec::new();
        for (by, pods) in &self.parked {
            let plugins = self.helped_by(*by, event);
            if plugins == 0 {
                continue;
            }
            for &pod in pods {
                let mut helping = bits(plugins).filter(|plugin| hint(*plugin, pod));
                if helping.next().is_some() {
                    woken.push(pod);
                }
            }
        }
        // In the order in which they would be tried, not that of handles.
        woken.sort_by_key(|pod| self.entries.get(pod).map(Entry::rank));
        for &pod in &woken {
            let pending = self.entries.get(&pod).map_or(0, |e| e.pending_by);
            self.leave_pool(pod);
            self.wake(pod, now, self.helped_by(pending, event) != 0);
        }
        woken.len()
    }

    /// Moves one parked pod regardless of events.
    pub fn activate_now(&mut self, pod: PodId) {
        let wakes = |e: &Entry| matches!(e.pool, Pool::Unschedulable | Pool::Backoff);
        if self.entries.get(&pod).is_some_and(wakes) {
            self.leave_pool(pod);
            self.activate(pod);
        }
    }

    fn wake(&mut self, pod: PodId, now: Nanos, at_once: bool) {
        let resting = !at_once && self.expiry(pod) >= floor_second(now);
        if resting {
            self.rest(pod);
        } else {
            self.activate(pod);
        }
    }

    /// Those of `plugins` that registered the event.
    fn helped_by(&self, plugins: Bits, event: Bits) -> Bits {
        let registered = |plugin: &u32| {
            self.registered
                .get(*plugin as usize)
                .is_none_or(|events| events & event != 0)
        };
        bits(plugins)
            .filter(registered)
            .fold(0, |set, plugin| set | 1 << plugin)
    }

    /// Moves pods whose backoff is over, and pods that were parked for longer than `max_parked`.
    pub fn flush(&mut self, now: Nanos, max_parked: Nanos) {
        for list in [false, true] {
            let set = if list {
                &mut self.error_backoff
            } else {
                &mut self.backoff
            };
            let ended: Vec<PodId> = set
                .iter()
                .take_while(|(expiry, _, _)| *expiry < floor_second(now))
                .map(|(_, _, pod)| *pod)
                .collect();
            for pod in ended {
                self.leave_pool(pod);
                self.activate(pod);
            }
        }
        let old = |pod: &PodId| {
            self.entries
                .get(pod)
                .is_some_and(|e| now - e.since > max_parked)
        };
        let stale: Vec<PodId> = self
            .parked
            .values()
            .flatten()
            .copied()
            .filter(old)
            .collect();
        for pod in stale {
            self.leave_pool(pod);
            self.wake(pod, now, false);
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

    /// When a pod comes back by itself: after its backoff, or after being parked for `max_parked`.
    pub fn next_due(&self, max_parked: Nanos) -> Option<Nanos> {
        let parked = self.parked.values().flatten();
        let parked = parked
            .filter_map(|p| self.entries.get(p))
            .map(|e| e.since + max_parked + 1);
        self.next_retry().into_iter().chain(parked.min()).min()
    }

    fn expiry(&self, pod: PodId) -> Nanos {
        let entry = &self.entries[&pod];
        let count = if entry.errors > 0 {
            entry.errors
        } else {
            entry.unschedulable
        };
        floor_second(entry.since + self.backoff_settings.duration(count))
    }

    fn activate(&mut self, pod: PodId) {
        let entry = self.entries.get_mut(&pod).expect("a known pod");
        entry.pool = Pool::Active;
        let rank = entry.rank();
        self.active.push(Reverse((rank, pod)));
    }

    fn rest(&mut self, pod: PodId) {
        let expiry = self.expiry(pod);
        let entry = self.entries.get_mut(&pod).expect("a known pod");
        entry.pool = Pool::Backoff;
        entry.expiry = expiry;
        let key = (expiry, entry.rank(), pod);
        let failed = entry.rejected_by | entry.pending_by == 0;
        if failed {
            self.error_backoff.insert(key)
        } else {
            self.backoff.insert(key)
        };
    }

    fn park(&mut self, pod: PodId) {
        let entry = self.entries.get_mut(&pod).expect("a known pod");
        entry.pool = Pool::Unschedulable;
        self.parked
            .entry(entry.rejected_by | entry.pending_by)
            .or_default()
            .insert(pod);
    }

    fn leave_pool(&mut self, pod: PodId) {
        let Some(entry) = self.entries.get(&pod) else {
            return;
        };
        match entry.pool {
            // The heap's entry no longer matches once the pool differs.
            Pool::Active | Pool::Gated => {}
            Pool::Backoff => {
                let key = (entry.expiry, entry.rank(), pod);
                if !self.backoff.remove(&key) {
                    self.error_backoff.remove(&key);
                }
            }
            Pool::Unschedulable => {
                let key = entry.rejected_by | entry.pending_by;
                if let Some(set) = self.parked.get_mut(&key) {
                    set.remove(&pod);
                    if set.is_empty() {
                        self.parked.remove(&key);
                    }
                }
            }
            Pool::InFlight if entry.popped == SETTLED => {}
            Pool::InFlight => self.land(entry.popped),
        }
    }

    /// A pod is no longer in flight: events from before the oldest one still flying are forgotten.
    fn land(&mut self, popped: u64) {
        if let Some(count) = self.in_flight.get_mut(&popped) {
            *count -= 1;
            if *count == 0 {
                self.in_flight.remove(&popped);
            }
        }
        self.now_at += 1;
        match self.in_flight.keys().next() {
            None => self.events.clear(),
            Some(oldest) => {
                let keep = self.events.partition_point(|(at, _)| at < oldest);
                self.events.drain(..keep);
            }
        }
    }
}

impl Entry {
    fn rank(&self) -> Rank {
        Rank {
            priority: Reverse(self.priority),
            since: self.since,
            order: self.order,
        }
    }
}

/// Positions of the bits that are set, ascending.
fn bits(set: Bits) -> impl Iterator<Item = u32> {
    (0..Bits::BITS).filter(move |bit| set >> bit & 1 == 1)
}

fn floor_second(time: Nanos) -> Nanos {
    time.div_euclid(SECOND) * SECOND
}
