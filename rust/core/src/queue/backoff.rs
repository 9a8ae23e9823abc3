//! How long an entity rests after a failure.

use super::Nanos;

pub(super) const SECOND: Nanos = 1_000_000_000;

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
    /// How long it rests after the `count`-th failure in a row.
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

pub(super) fn floor_second(time: Nanos) -> Nanos {
    time.div_euclid(SECOND) * SECOND
}
