//! 256-bit products: all that an exact comparison of two shares needs.

use std::cmp::Ordering;

const LOW: u128 = u64::MAX as u128;

/// A non-negative fraction. `denominator` is never zero.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ratio {
    pub numerator: u128,
    pub denominator: u128,
}

impl Ratio {
    pub(super) const ZERO: Self = Self {
        numerator: 0,
        denominator: 1,
    };

    pub(super) fn to_f64(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }

    /// Compares by cross-multiplication, without rounding for any two values.
    pub(super) fn compare(self, other: Self) -> Ordering {
        if self.denominator == other.denominator {
            return self.numerator.cmp(&other.numerator);
        }
        product(self.numerator, other.denominator).cmp(&product(other.numerator, self.denominator))
    }
}

/// `a * b` as (high 128 bits, low 128 bits), which compare as the product does.
fn product(a: u128, b: u128) -> (u128, u128) {
    let (a_high, a_low) = (a >> 64, a & LOW);
    let (b_high, b_low) = (b >> 64, b & LOW);
    let low = a_low * b_low;
    // Each term is at most (2^64-1)^2, so one carry fits beside it, and a second one does not overflow either.
    let middle = a_high * b_low + (low >> 64);
    let crossed = a_low * b_high + (middle & LOW);
    (
        a_high * b_high + (middle >> 64) + (crossed >> 64),
        (crossed << 64) | (low & LOW),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Long multiplication in 16-bit digits: slow, and unlike `product` in every step.
    fn schoolbook(a: u128, b: u128) -> (u128, u128) {
        let digit = |x: u128, i: usize| (x >> (16 * i)) & 0xffff;
        let mut sums = [0u128; 17];
        for i in 0..8 {
            for j in 0..8 {
                sums[i + j] += digit(a, i) * digit(b, j);
            }
        }
        for i in 0..16 {
            sums[i + 1] += sums[i] >> 16;
            sums[i] &= 0xffff;
        }
        let join = |from: usize| (0..8).fold(0, |acc, i| acc | (sums[from + i] << (16 * i)));
        (join(8), join(0))
    }

    fn any_width() -> impl Strategy<Value = u128> {
        (any::<u128>(), 0u32..128).prop_map(|(value, shift)| value >> shift)
    }

    proptest! {
        #[test]
        fn product_is_long_multiplication(a in any_width(), b in any_width()) {
            prop_assert_eq!(product(a, b), schoolbook(a, b));
        }

        #[test]
        fn comparison_survives_expansion(n in 0u128..1 << 100, d in 1u128..1 << 100, by in 1u128..1 << 27, step in 0u128..3) {
            let small = Ratio { numerator: n, denominator: d };
            let grown = Ratio { numerator: n * by + step, denominator: d * by };
            prop_assert_eq!(small.compare(grown), 0.cmp(&step));
            prop_assert_eq!(grown.compare(small), step.cmp(&0));
        }
    }

    #[test]
    fn extremes() {
        assert_eq!(product(u128::MAX, u128::MAX), (u128::MAX - 1, 1));
        assert_eq!(product(0, u128::MAX), (0, 0));
    }
}
