//! What orders siblings: band, claim, weighted share, head pod, name.

use std::cmp::Ordering;

use super::fixed::{self, on_grid};
use super::scale::{Dominant, Scales};
use super::weight::Weight;
use super::wide::Ratio;

/// The pod (or gang) that a tenant would be served next with; it decides between equal shares.
///
/// `band` comes before shares, the greatest first: leave it 0 for plain DRF. `time` and `sequence` come
/// after them, the smallest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Head {
    pub band: i32,
    pub time: i64,
    pub sequence: u64,
}

/// Two guesses that differ by more units in the last place than this are in their true order: a guess is
/// the quotient of a share (right to 5 * 2^-53) and a weight (2^-53), rounded once more; that is less than
/// 8 units each.
const UNDECIDED: u64 = 20;

/// Set in the guess of a tenant of weight zero, so that it comes after every tenant with a claim.
const NO_CLAIM: u64 = 1 << 63;

/// A weighted share: exact, and as the bits of a floating-point guess, which order as the (non-negative) numbers do.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key {
    exact: Ratio,
    pub guess: u64,
}

impl Key {
    pub(super) const ZERO: Self = Self {
        exact: Ratio::ZERO,
        guess: 0,
    };

    /// The exact key of a leaf among leaves.
    pub(super) fn of_leaf(
        scales: &Scales,
        used: &[i64],
        dominant: Option<Dominant>,
        weight: Weight,
    ) -> Self {
        let Some(dominant) = dominant else {
            return Self {
                guess: claim(weight),
                ..Self::ZERO
            };
        };
        let exact = weighted(
            scales.exact(dominant.resource, used[dominant.resource as usize]),
            weight,
        );
        Self {
            exact,
            guess: guess(dominant.guess, weight),
        }
    }

    /// The key of a node among siblings that include inner nodes: a 64.64 share on the grid.
    pub(super) fn of_fixed(share: u128, weight: Weight) -> Self {
        let share = on_grid(share);
        let exact = weighted(
            Ratio {
                numerator: share,
                denominator: fixed::ONE,
            },
            weight,
        );
        Self {
            exact,
            guess: guess(share as f64 / fixed::ONE as f64, weight),
        }
    }

    /// The weighted share in floating point, for people.
    pub(super) fn to_f64(self) -> f64 {
        f64::from_bits(self.guess & !NO_CLAIM)
    }

    /// The order of two keys, where their guesses are enough to tell.
    pub(super) fn decided(a: u64, b: u64) -> Option<Ordering> {
        (a.abs_diff(b) > UNDECIDED).then(|| a.cmp(&b))
    }

    fn compare(&self, other: &Self) -> Ordering {
        Self::decided(self.guess, other.guess).unwrap_or_else(|| self.exact.compare(other.exact))
    }
}

/// `share / weight`, at most 127 bits over 127 bits (see `Scales`).
pub(super) fn weighted(share: Ratio, weight: Weight) -> Ratio {
    let weight = weight.divisor();
    Ratio {
        numerator: share.numerator * u128::from(weight.denominator()),
        denominator: share.denominator * u128::from(weight.numerator()),
    }
}

fn guess(share: f64, weight: Weight) -> u64 {
    (share / weight.divisor().to_f64()).to_bits() | claim(weight)
}

fn claim(weight: Weight) -> u64 {
    if weight.is_zero() { NO_CLAIM } else { 0 }
}

/// All that a comparison may need of a node, beside its name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rank {
    pub key: Key,
    pub head: Head,
}

impl Rank {
    /// A strict total order of nodes with different names.
    pub(super) fn compare(&self, other: &Self, names: impl FnOnce() -> Ordering) -> Ordering {
        (other.head.band.cmp(&self.head.band))
            .then_with(|| self.key.compare(&other.key))
            .then_with(|| self.head.time.cmp(&other.head.time))
            .then_with(|| self.head.sequence.cmp(&other.head.sequence))
            .then_with(names)
    }
}
