//! What orders siblings: band, claim, weighted share, head pod, name.

use std::cmp::Ordering;

use super::fixed::{GRID_ONE, on_grid};
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

/// The low bits of a guess say what it is a share of, where that makes it exact: see `tag`.
const TAG: u64 = 0xff;

/// No two different shares are equal as guesses, unless both have this tag.
const UNTAGGED: u64 = TAG;

/// The tag of nothing in use, whatever the weight.
const NOTHING: u64 = TAG - 1;

/// Two guesses that differ by more units in the last place than this are in their true order: a guess is
/// the quotient of a share (right to 5 * 2^-53) and a weight (2^-53), rounded once more, that is less than
/// 8 units off, and its tag replaces up to 255.
pub(super) const UNDECIDED: u64 = 2 * (8 + TAG);

/// Set in the guess of a tenant of weight zero, so that it comes after every tenant with a claim.
const NO_CLAIM: u64 = 1 << 63;

/// In place of a resource: the amount is a share on the grid.
const ON_GRID: u32 = u32::MAX;

/// A share: exact, as an amount of the dominant resource (or on the grid), and with the weight applied, as the
/// bits of a floating-point guess, which order as the (non-negative) numbers do.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key {
    pub guess: u64,
    amount: u64,
    resource: u32,
}

impl Key {
    pub(super) const ZERO: Self = Self {
        guess: NOTHING,
        amount: 0,
        resource: ON_GRID,
    };

    /// The key of a leaf among leaves.
    pub(super) fn of_leaf(dominant: Option<Dominant>, weight: Weight) -> Self {
        match dominant {
            None => Self {
                guess: NOTHING | claim(weight),
                ..Self::ZERO
            },
            Some(Dominant {
                resource,
                amount,
                guess,
            }) => Self {
                guess: weigh(guess, weight) & !TAG | tag(resource, amount, weight),
                amount: amount as u64,
                resource,
            },
        }
    }

    /// The key of a node among siblings that include inner nodes: a 64.64 share on the grid.
    pub(super) fn of_fixed(share: u128, weight: Weight) -> Self {
        let amount = on_grid(share);
        let guess = weigh(amount as f64 / GRID_ONE as f64, weight) | UNTAGGED;
        Self {
            guess,
            amount,
            resource: ON_GRID,
        }
    }

    /// The order of two guesses, where it is that of the shares.
    pub(super) fn decided(a: u64, b: u64) -> Option<Ordering> {
        let equal = a == b && a & TAG != UNTAGGED;
        (equal || a.abs_diff(b) > UNDECIDED).then(|| a.cmp(&b))
    }

    fn exact(&self, scales: &Scales) -> Ratio {
        if self.resource == ON_GRID {
            return Ratio {
                numerator: self.amount.into(),
                denominator: GRID_ONE.into(),
            };
        }
        scales.exact(self.resource, self.amount)
    }
}

/// Of one resource at weight 1, two amounts below 2^42 are equal or at least 2^-42 apart, of their size, and so
/// are the parts of their guesses above the tag: these are equal only if the amounts are.
fn tag(resource: u32, amount: i64, weight: Weight) -> u64 {
    let told_apart = weight == Weight::ONE && amount < 1 << 42;
    if told_apart {
        u64::from(resource).min(UNTAGGED)
    } else {
        UNTAGGED
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

fn weigh(share: f64, weight: Weight) -> u64 {
    (share / weight.divisor().to_f64()).to_bits() | claim(weight)
}

fn claim(weight: Weight) -> u64 {
    if weight.is_zero() { NO_CLAIM } else { 0 }
}

/// All that a comparison may need of a node, beside its name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rank {
    pub key: Key,
    pub weight: Weight,
    pub head: Head,
}

impl Rank {
    /// A strict total order of nodes with different names.
    pub(super) fn compare(
        &self,
        other: &Self,
        scales: &Scales,
        names: impl FnOnce() -> Ordering,
    ) -> Ordering {
        (other.head.band.cmp(&self.head.band))
            .then_with(|| self.compare_shares(other, scales))
            .then_with(|| self.head.time.cmp(&other.head.time))
            .then_with(|| self.head.sequence.cmp(&other.head.sequence))
            .then_with(names)
    }

    /// What orders siblings of one band.
    pub(super) fn weighted_share(&self, scales: &Scales) -> Ratio {
        weighted(self.key.exact(scales), self.weight)
    }

    fn compare_shares(&self, other: &Self, scales: &Scales) -> Ordering {
        let (a, b) = (&self.key, &other.key);
        if let Some(order) = Key::decided(a.guess, b.guess) {
            return order;
        }
        if a.resource == b.resource && self.weight == other.weight {
            return a.amount.cmp(&b.amount);
        }
        self.weighted_share(scales)
            .compare(other.weighted_share(scales))
    }
}
