//! 64.64 fixed point for the inner nodes of the tree, and the factors that scale it.
//!
//! Sums are kept in fixed point because adding and removing the same term leaves no trace. Factors are
//! kept with 64 significant bits, so their error is relative (< 2^-62) whatever their size.

/// One, in 64.64 fixed point.
pub(super) const ONE: u128 = 1 << 64;

/// Largest value of one term: 2^19. Shares beyond half a million times the capacity count as that, so that a
/// sum over any number of nodes (handles have 32 bits) stays below 2^128, and a share on the grid below 2^64.
pub(super) const CLAMP: u128 = 1 << 83;

const GRID: u32 = 20;

/// Rounds to the nearest multiple of 2^-44, and counts those.
///
/// Two inner nodes whose shares are equal in exact arithmetic differ by the rounding of their terms (a few
/// units of 2^-64 per child); on the grid they are equal again, and the tie goes to the older pod.
pub(super) fn on_grid(value: u128) -> u64 {
    ((value.min(CLAMP) + (1 << (GRID - 1))) >> GRID) as u64
}

/// One, on the grid.
pub(super) const GRID_ONE: u64 = (ONE >> GRID) as u64;

/// `mantissa * 2^exponent`; the top bit of the mantissa is set unless the value is zero.
#[derive(Debug, Clone, Copy)]
pub(super) struct Factor {
    mantissa: u64,
    exponent: i32,
}

impl Factor {
    pub(super) const ZERO: Self = Self {
        mantissa: 0,
        exponent: 0,
    };

    /// `numerator / denominator`, with a relative error below 2^-62. The denominator must not be zero.
    pub(super) fn of(numerator: u128, denominator: u128) -> Self {
        if numerator == 0 {
            return Self::ZERO;
        }
        let up = numerator.leading_zeros();
        let down = denominator.leading_zeros();
        let divisor = (denominator << down) >> 64;
        let quotient = (numerator << up) / divisor; // between 2^63 and 2^65
        let spare = 64 - quotient.leading_zeros().min(64);
        Self {
            mantissa: (quotient >> spare) as u64,
            exponent: down as i32 - 64 - up as i32 + spare as i32,
        }
    }

    /// The same factor, for going from whole numbers to 64.64.
    pub(super) fn to_fixed(self) -> Self {
        Self {
            exponent: self.exponent + 64,
            ..self
        }
    }

    /// `value * self`, rounded down and clamped.
    pub(super) fn times(self, value: u128) -> u128 {
        let mantissa = u128::from(self.mantissa);
        let low = (value & u128::from(u64::MAX)) * mantissa;
        let high = (value >> 64) * mantissa + (low >> 64);
        let low = low & u128::from(u64::MAX);
        let product = match -self.exponent {
            // The mantissa has its top bit set: at such exponents anything but zero is beyond the clamp.
            right if right <= -64 => {
                if high | low == 0 {
                    0
                } else {
                    CLAMP
                }
            }
            right if right < 64 => {
                let left = (64 - right) as u32; // 1..=127
                if high.leading_zeros() < left {
                    CLAMP
                } else {
                    (high << left) | shift(low, right)
                }
            }
            right if right < 192 => high >> (right - 64),
            _ => 0,
        };
        product.min(CLAMP)
    }
}

/// `low` shifted right by `right`, or left where that is negative; the caller has made room.
fn shift(low: u128, right: i32) -> u128 {
    if right >= 0 {
        low >> right
    } else {
        low << -right
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn factors_are_right_to_62_bits(n in 1u128.., d in 1u128.., value in 0u128..1 << 60, cut in (0u32..128, 0u32..128)) {
            let (n, d) = ((n >> cut.0).max(1), (d >> cut.1).max(1));
            let got = Factor::of(n, d).times(value);
            let want = (n as f64) / (d as f64) * value as f64;
            if want < 9e24 {
                prop_assert!((got as f64 - want).abs() <= want * 1e-15 + 1.0, "{got} {want}");
            } else {
                prop_assert!(got as f64 >= 8.9e24);
            }
        }

        #[test]
        fn exact_where_a_power_of_two(value in 0u128..1 << 90, by in 0u32..40) {
            prop_assert_eq!(Factor::of(1, 1 << by).times(value), (value >> by).min(CLAMP));
            prop_assert_eq!(Factor::of(1 << by, 1).times(value), (value << by).min(CLAMP));
        }

        #[test]
        fn sixty_four_significant_bits(n in 1u128..1 << 64, d in 1u128..1 << 64) {
            // (n/d * 2^90) against integer division, which is exact.
            let want = (n << 60) / d;
            let got = Factor::of(n, d).times(1 << 60);
            if want < CLAMP {
                prop_assert!(got.abs_diff(want) <= (want >> 62) + 1, "{got} {want}");
            }
        }
    }

    #[test]
    fn grid_rounds_to_nearest() {
        assert_eq!(on_grid(ONE / 3 + 5), on_grid(ONE / 3 - 5));
        assert_eq!(on_grid(ONE / 2 - 9), GRID_ONE / 2);
        assert_eq!(on_grid(u128::MAX), 1 << 63);
    }
}
