//! The two forms of a number and the arithmetic between them.
use std::cmp::Ordering;

use num_bigint::{BigInt, Sign};

/// `value` × 10^`scale`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fast {
    pub(super) value: i64,
    pub(super) scale: i32,
}

/// `unscaled` × 10^-`scale` (the opposite sign of [`Fast`]'s scale, as in upstream's decimal library).
#[derive(Clone, Debug)]
pub(super) struct Dec {
    pub(super) unscaled: BigInt,
    pub(super) scale: i32,
}

#[derive(Clone, Debug)]
pub(super) enum Amount {
    Fast(Fast),
    // Boxed: almost every quantity is fast, and a class holds many.
    Dec(Box<Dec>),
}

/// `base` × 10^`places`, or nothing if it does not fit.
fn scale_up(base: i64, places: i32) -> Option<i64> {
    if base == 0 || places <= 0 {
        return Some(base);
    }
    let factor = 10_i64.checked_pow(u32::try_from(places).ok()?)?;
    base.checked_mul(factor)
}

/// `base` / 10^`places` rounded away from zero, and whether that was exact.
fn scale_down(base: i64, places: i32) -> (i64, bool) {
    let Some(divisor) = u32::try_from(places)
        .ok()
        .and_then(|n| 10_i64.checked_pow(n))
    else {
        return (base.signum(), base == 0);
    };
    let (quotient, remainder) = (base / divisor, base % divisor);
    (quotient + remainder.signum(), remainder == 0)
}

pub(super) fn pow10(places: i32) -> BigInt {
    BigInt::from(10).pow(places.unsigned_abs())
}

/// The low 64 bits in two's complement: what Go's `big.Int.Int64` answers for any size.
fn low_bits(number: &BigInt) -> i64 {
    let low = number.iter_u64_digits().next().unwrap_or(0).cast_signed();
    if number.sign() == Sign::Minus {
        low.wrapping_neg()
    } else {
        low
    }
}

/// Go's `int64(math.Pow10(n))` on amd64, where an out-of-range conversion gives the smallest integer.
fn float_pow10(places: i32) -> i64 {
    u32::try_from(places)
        .ok()
        .and_then(|n| 10_i64.checked_pow(n))
        .unwrap_or(i64::MIN)
}

impl Fast {
    pub(super) fn as_i64(self) -> Option<i64> {
        if self.scale < 0 {
            return None;
        }
        scale_up(self.value, self.scale)
    }

    /// What is left where the number does not fit, since callers upstream drop the flag that says so: the
    /// wrapped product for the powers that upstream multiplies by in one step, 0 for the others.
    fn scaled_value(self, scale: i32) -> i64 {
        if self.scale < scale {
            return scale_down(self.value, scale.wrapping_sub(self.scale)).0;
        }
        let places = self.scale.wrapping_sub(scale);
        scale_up(self.value, places).unwrap_or_else(|| match places {
            1 | 2 | 3 | 6 | 9 if self.value != i64::MIN => {
                self.value.wrapping_mul(float_pow10(places))
            }
            _ => 0,
        })
    }

    fn checked_add(self, other: Self) -> Option<Self> {
        if other.value == 0 {
            return Some(self);
        }
        if self.value == 0 {
            return Some(other);
        }
        let scale = self.scale.min(other.scale);
        let left = scale_up(self.value, self.scale - scale)?;
        let right = scale_up(other.value, other.scale - scale)?;
        Some(Self {
            value: left.checked_add(right)?,
            scale,
        })
    }

    fn to_dec(self) -> Dec {
        Dec {
            unscaled: self.value.into(),
            scale: self.scale.wrapping_neg(),
        }
    }
}

impl Dec {
    /// The same number with `scale` decimal places, which must not be fewer than it has.
    fn rescaled(&self, scale: i32) -> BigInt {
        &self.unscaled * pow10(scale - self.scale)
    }

    fn add(&self, other: &Self) -> Self {
        let scale = self.scale.max(other.scale);
        Self {
            unscaled: self.rescaled(scale) + other.rescaled(scale),
            scale,
        }
    }

    fn cmp(&self, other: &Self) -> Ordering {
        let scale = self.scale.max(other.scale);
        self.rescaled(scale).cmp(&other.rescaled(scale))
    }

    /// Exactly `places` decimal places, rounded away from zero; whether that was exact.
    pub(super) fn rounded(&self, places: i32) -> (Self, bool) {
        if self.scale <= places {
            let unscaled = self.rescaled(places);
            return (
                Self {
                    unscaled,
                    scale: places,
                },
                true,
            );
        }
        let divisor = pow10(self.scale - places);
        let (quotient, remainder) = (&self.unscaled / &divisor, &self.unscaled % &divisor);
        let step = match remainder.sign() {
            Sign::Plus => 1,
            Sign::Minus => -1,
            Sign::NoSign => 0,
        };
        let unscaled = quotient + step;
        (
            Self {
                unscaled,
                scale: places,
            },
            step == 0,
        )
    }

    /// Upstream's `scaledValue`. Two oddities are kept: scaling up multiplies by a converted double, and
    /// a negative number that does not divide is rounded towards zero and then one further up.
    fn scaled_value(&self, scale: i32) -> i64 {
        let places = self.scale.wrapping_add(scale);
        if places == 0 {
            return low_bits(&self.unscaled);
        }
        if places < 0 {
            return low_bits(&self.unscaled).wrapping_mul(float_pow10(places.wrapping_neg()));
        }
        if places < 19 && self.unscaled < BigInt::from(i64::MAX) {
            let (number, divisor) = (low_bits(&self.unscaled), float_pow10(places));
            return number / divisor + i64::from(number % divisor != 0);
        }
        let divisor = pow10(places);
        let remainder = &self.unscaled % &divisor;
        let floor_step = i64::from(remainder.sign() == Sign::Minus);
        let quotient = &self.unscaled / &divisor - floor_step;
        low_bits(&quotient).wrapping_add(i64::from(remainder.sign() != Sign::NoSign))
    }

    /// The same number with all factors of ten moved into the scale.
    fn reduced(mut self) -> Self {
        if self.unscaled.sign() == Sign::NoSign {
            return Self {
                unscaled: self.unscaled,
                scale: 0,
            };
        }
        let ten = BigInt::from(10);
        while (&self.unscaled % &ten).sign() == Sign::NoSign {
            self.unscaled /= &ten;
            self.scale -= 1;
        }
        self
    }
}

impl Amount {
    pub(super) fn to_dec(&self) -> Dec {
        match self {
            Self::Fast(fast) => fast.to_dec(),
            Self::Dec(dec) => (**dec).clone(),
        }
    }

    pub(super) fn is_decimal(&self) -> bool {
        matches!(self, Self::Dec(_))
    }

    pub(super) fn make_decimal(&mut self) {
        *self = Self::Dec(Box::new(self.to_dec()));
    }

    pub(super) fn reduced(&self) -> Dec {
        self.to_dec().reduced()
    }

    pub(super) fn sign(&self) -> Ordering {
        match self {
            Self::Fast(fast) => fast.value.cmp(&0),
            Self::Dec(dec) => dec.unscaled.cmp(&BigInt::ZERO),
        }
    }

    pub(super) fn scaled_value(&self, scale: i32) -> i64 {
        match self {
            Self::Fast(fast) => fast.scaled_value(scale),
            Self::Dec(dec) => dec.scaled_value(scale),
        }
    }

    /// Whether the number, rounded away from zero to a multiple of 10^`scale`, fits in 64 bits.
    pub(super) fn fits(&self, scale: i32) -> bool {
        match self {
            Self::Fast(fast) if fast.scale <= scale => true,
            Self::Fast(fast) => scale_up(fast.value, fast.scale - scale).is_some(),
            Self::Dec(dec) => i64::try_from(dec.rounded(-scale).0.unscaled).is_ok(),
        }
    }

    pub(super) fn add(&mut self, other: &Self) {
        if let (Self::Fast(left), Self::Fast(right)) = (&self, other)
            && let Some(sum) = left.checked_add(*right)
        {
            *self = Self::Fast(sum);
            return;
        }
        *self = Self::Dec(Box::new(self.to_dec().add(&other.to_dec())));
    }

    pub(super) fn neg(&mut self) {
        match self {
            Self::Fast(fast) => fast.value = fast.value.wrapping_neg(),
            Self::Dec(dec) => dec.unscaled = -std::mem::take(&mut dec.unscaled),
        }
    }

    pub(super) fn cmp(&self, other: &Self) -> Ordering {
        if let (Self::Fast(left), Self::Fast(right)) = (self, other) {
            let scale = left.scale.min(right.scale);
            let scaled = |fast: &Fast| scale_up(fast.value, fast.scale - scale);
            if let (Some(left), Some(right)) = (scaled(left), scaled(right)) {
                return left.cmp(&right);
            }
        }
        let signs = self.sign().cmp(&other.sign());
        signs.then_with(|| self.to_dec().cmp(&other.to_dec()))
    }

    pub(super) fn round_up(&mut self, scale: i32) -> bool {
        match self {
            Self::Fast(fast) if fast.scale >= scale => true,
            Self::Fast(fast) => {
                let (value, exact) = scale_down(fast.value, scale - fast.scale);
                *fast = Fast { value, scale };
                exact
            }
            Self::Dec(dec) => {
                let (rounded, exact) = dec.rounded(-scale);
                **dec = rounded;
                exact
            }
        }
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "the nearest double is what is asked for"
    )]
    pub(super) fn to_f64(&self) -> f64 {
        let (base, exponent) = match self {
            Self::Fast(fast) => (fast.value as f64, fast.scale),
            Self::Dec(dec) => (
                dec.unscaled.to_string().parse().unwrap_or(f64::NAN),
                dec.scale.wrapping_neg(),
            ),
        };
        if exponent == 0 {
            return base;
        }
        base * 10_f64.powi(exponent)
    }
}
