//! What happened while entities were popped: events that reach them when they come back.

use super::{Bits, Entity};
use std::collections::BTreeMap;

/// Position of an entity that no event concerns any more.
pub(super) const SETTLED: u64 = u64::MAX;

#[derive(Debug)]
struct Noted {
    at: u64,
    event: Bits,
    /// To this one it is no news.
    except: Option<Entity>,
}

/// Events since the oldest entity in flight was popped.
#[derive(Debug, Default)]
pub(super) struct Flight {
    events: Vec<Noted>,
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

    pub(super) fn note(&mut self, event: Bits, except: Option<Entity>) {
        if !self.flying.is_empty() {
            self.events.push(Noted {
                at: self.now_at,
                event,
                except,
            });
        }
    }

    /// All events since a position that are news to an entity.
    pub(super) fn missed(&self, since: u64, to: Entity) -> Bits {
        let events = self.events.iter();
        let missed = events.filter(|noted| noted.at >= since && noted.except != Some(to));
        missed.fold(0, |set, noted| set | noted.event)
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
                let keep = self.events.partition_point(|noted| noted.at < *oldest);
                self.events.drain(..keep);
            }
        }
    }
}
