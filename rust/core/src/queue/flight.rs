//! What happened while entities were popped: events that reach them when they come back.

use super::Bits;
use std::collections::BTreeMap;

/// Position of an entity that no event concerns any more.
pub(super) const SETTLED: u64 = u64::MAX;

/// Events since the oldest entity in flight was popped.
#[derive(Debug, Default)]
pub(super) struct Flight {
    /// With their position.
    events: Vec<(u64, Bits)>,
    now_at: u64,
    /// Entities in flight by the position at which they were popped.
    flying: BTreeMap<u64, u32>,
}

impl Flight {
    pub(super) fn is_empty(&self) -> bool {
        self.flying.is_empty()
    }

    /// One more entity is in flight; returns its position.
    pub(super) fn start(&mut self) -> u64 {
        *self.flying.entry(self.now_at).or_default() += 1;
        self.now_at
    }

    pub(super) fn note(&mut self, event: Bits) {
        if !self.flying.is_empty() {
            self.events.push((self.now_at, event));
        }
    }

    /// All events since a position.
    pub(super) fn missed(&self, since: u64) -> Bits {
        let missed = self.events.iter().filter(|(at, _)| *at >= since);
        missed.fold(0, |set, (_, event)| set | event)
    }

    /// An entity is no longer in flight: events from before the oldest one still flying are forgotten.
    pub(super) fn land(&mut self, popped: u64) {
        if popped == SETTLED {
            return;
        }
        if let Some(count) = self.flying.get_mut(&popped) {
            *count -= 1;
            if *count == 0 {
                self.flying.remove(&popped);
            }
        }
        self.now_at += 1;
        match self.flying.keys().next() {
            None => self.events.clear(),
            Some(oldest) => {
                let keep = self.events.partition_point(|(at, _)| at < oldest);
                self.events.drain(..keep);
            }
        }
    }
}
