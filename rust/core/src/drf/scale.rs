//! From amounts to shares: capacities and resource weights, prepared for comparison.

use super::fixed::Factor;
use super::weight::Weight;
use super::wide::Ratio;

/// One unit of a resource as a share: `weight / capacity`.
#[derive(Debug, Clone, Copy)]
struct Unit {
    numerator: u128,
    denominator: u128,
    factor: Factor,
}

/// The shares that one unit of each resource is worth.
///
/// # Widths
/// A share is `used * p / (capacity * q)` with `p/q` the resource's weight, and the ordering key divides it
/// by the tenant's weight `n/d`. Amounts have 63 bits, the four weight terms 32 each, so the key is a
/// fraction of `used * p * d` (63+32+32 = 127 bits) and `capacity * q * n` (127 bits), and comparing two
/// keys multiplies a numerator with a denominator: 254 bits. Nothing that these types admit can exceed it.
#[derive(Debug, Default)]
pub(super) struct Scales {
    units: Vec<Unit>,
    /// `weight / capacity` in floating point: three roundings, so right to 3 * 2^-53. Zero where the resource counts for nothing.
    approximate: Vec<f64>,
}

/// The resource that decides a share, and a floating-point guess at that share.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dominant {
    pub resource: u32,
    /// Of the resource; never negative.
    pub amount: i64,
    /// Right to 5 * 2^-53: two more roundings.
    pub guess: f64,
}

impl Scales {
    pub(super) fn new(capacity: &[i64], weights: &[Weight]) -> Self {
        let mut scales = Self::default();
        for (&capacity, &weight) in capacity.iter().zip(weights) {
            let counts = capacity > 0 && !weight.is_zero();
            let numerator = if counts {
                u128::from(weight.numerator())
            } else {
                0
            };
            let denominator = capacity.max(1) as u128 * u128::from(weight.denominator());
            scales.units.push(Unit {
                numerator,
                denominator,
                factor: Factor::of(numerator, denominator).to_fixed(),
            });
            scales.approximate.push(if counts {
                weight.to_f64() / capacity as f64
            } else {
                0.0
            });
        }
        scales
    }

    /// The share of `amount` of a resource, exact.
    pub(super) fn exact(&self, resource: u32, amount: u64) -> Ratio {
        let unit = &self.units[resource as usize];
        Ratio {
            numerator: u128::from(amount) * unit.numerator,
            denominator: unit.denominator,
        }
    }

    /// The dominant share, exact.
    pub(super) fn share(&self, dominant: Option<Dominant>) -> Ratio {
        dominant.map_or(Ratio::ZERO, |d| self.exact(d.resource, d.amount as u64))
    }

    /// The same in 64.64, rounded down.
    pub(super) fn fixed(&self, resource: usize, amount: i64) -> u128 {
        self.units[resource].factor.times(amount as u128)
    }

    /// The resource of which `used` holds the largest share; of equals the first. None if all shares are zero.
    pub(super) fn dominant(&self, used: &[i64]) -> Option<Dominant> {
        let (mut resource, mut guess, mut second) = (0, 0.0, 0.0);
        for (at, (&amount, &unit)) in used.iter().zip(&self.approximate).enumerate() {
            let share = amount as f64 * unit;
            if share > guess {
                (resource, guess, second) = (at, share, guess);
            } else if share > second {
                second = share;
            }
        }
        let near = guess * (1.0 - 1e-14);
        if guess == 0.0 {
            return None;
        }
        if second >= near {
            resource = self.largest(used, near);
            guess = used[resource] as f64 * self.approximate[resource];
        }
        Some(Dominant {
            resource: resource as u32,
            amount: used[resource],
            guess,
        })
    }

    /// The exactly largest share of those whose guess is at least `near`.
    fn largest(&self, used: &[i64], near: f64) -> usize {
        let exact = |at: usize| self.exact(at as u32, used[at] as u64);
        let close = (0..used.len()).filter(|&at| used[at] as f64 * self.approximate[at] >= near);
        let larger = |best, at| {
            if exact(at).compare(exact(best)).is_gt() {
                at
            } else {
                best
            }
        };
        close.reduce(larger).unwrap_or(0)
    }
}
