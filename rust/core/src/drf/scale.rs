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
    pub(super) fn exact(&self, resource: u32, amount: i64) -> Ratio {
        let unit = &self.units[resource as usize];
        Ratio {
            numerator: amount as u128 * unit.numerator,
            denominator: unit.denominator,
        }
    }

    /// The same in 64.64, rounded down.
    pub(super) fn fixed(&self, resource: usize, amount: i64) -> u128 {
        self.units[resource].factor.times(amount as u128)
    }

    /// The resource of which `used` holds the largest share; of equals the first. None if all shares are zero.
    pub(super) fn dominant(&self, used: &[i64]) -> Option<Dominant> {
        let mut best = Dominant {
            resource: 0,
            guess: 0.0,
        };
        for (resource, (&amount, &unit)) in used.iter().zip(&self.approximate).enumerate() {
            let guess = amount as f64 * unit;
            if guess > best.guess {
                best = Dominant {
                    resource: resource as u32,
                    guess,
                };
            }
        }
        if best.guess == 0.0 {
            None
        } else {
            Some(self.settle(used, best))
        }
    }

    /// Compares exactly those that the guess cannot tell from the best.
    fn settle(&self, used: &[i64], guessed: Dominant) -> Dominant {
        let mut best = guessed;
        let near = guessed.guess * (1.0 - 1e-14);
        for (resource, (&amount, &unit)) in used.iter().zip(&self.approximate).enumerate() {
            let guess = amount as f64 * unit;
            let resource = resource as u32;
            if guess >= near && resource != best.resource {
                let order = self
                    .exact(resource, amount)
                    .compare(self.exact(best.resource, used[best.resource as usize]));
                if order.is_gt() || (order.is_eq() && resource < best.resource) {
                    best = Dominant { resource, guess };
                }
            }
        }
        best
    }
}
