//! Kubernetes quantities, exact and with the overflow behaviour of apimachinery v0.37.2.
//!
//! A quantity has two forms, and which one it takes is visible in its answers: a fast one (an `i64`
//! mantissa times a power of ten) whose scaled value is mostly 0 when it does not fit in 64 bits (`1E` of
//! cpu is 0 milli), and an unbounded decimal whose scaled value wraps (5Ei + 5Ei is negative). Scheduling
//! reads both, so both are reproduced.
//!
//! The decimal form needs an unbounded integer: only binary suffixes are capped at 2^63-1, a decimal
//! string of forty digits is legal, and its low 64 bits are what upstream counts. `i128` would not do.
mod amount;
mod parse;
mod text;
mod wire;

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use self::amount::{Amount, Dec, Fast};
pub use self::parse::ParseQuantityError;

/// Powers of ten that the API counts in.
pub mod scale {
    /// 10^-9, the finest step of a quantity.
    pub const NANO: i32 = -9;
    /// 10^-3, what cpu is counted in.
    pub const MILLI: i32 = -3;
    /// 10^0.
    pub const ONE: i32 = 0;
}

/// How a quantity was written, and will be written again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Format {
    /// `12e6`
    DecimalExponent,
    /// `12Mi`
    BinarySi,
    /// `12M`
    #[default]
    DecimalSi,
}

/// A fixed-point number as the API server reads, adds, compares and prints it.
///
/// Equality, order and hash are those of the number, whatever the notation.
#[derive(Clone, Debug)]
pub struct Quantity {
    amount: Amount,
    format: Format,
    /// The text it was parsed from, where upstream prints that instead of the canonical form.
    text: Option<Box<str>>,
}

impl Default for Quantity {
    fn default() -> Self {
        Self::new(0, Format::DecimalSi)
    }
}

impl Quantity {
    /// An integer in the given format.
    #[must_use]
    pub fn new(value: i64, format: Format) -> Self {
        Self::scaled(value, scale::ONE, format)
    }

    /// `value` thousandths in the given format.
    #[must_use]
    pub fn from_milli(value: i64, format: Format) -> Self {
        Self::scaled(value, scale::MILLI, format)
    }

    fn scaled(value: i64, scale: i32, format: Format) -> Self {
        Self {
            amount: Amount::Fast(Fast { value, scale }),
            format,
            text: None,
        }
    }

    /// Parses any notation of the API.
    ///
    /// # Errors
    /// Upstream's three, with their texts; see [`ParseQuantityError`].
    pub fn parse(text: &str) -> Result<Self, ParseQuantityError> {
        parse::parse(text)
    }

    /// The notation it will be written in.
    #[must_use]
    pub fn format(&self) -> Format {
        self.format
    }

    /// `Quantity.Value`: the number rounded up to an integer, with upstream's overflow.
    #[must_use]
    pub fn value(&self) -> i64 {
        self.amount.scaled_value(scale::ONE)
    }

    /// `Quantity.MilliValue`: thousandths rounded up, with upstream's overflow.
    #[must_use]
    pub fn milli_value(&self) -> i64 {
        self.amount.scaled_value(scale::MILLI)
    }

    /// `Quantity.ScaledValue`: the number in units of 10^`scale`, rounded up, with upstream's overflow.
    #[must_use]
    pub fn scaled_value(&self, scale: i32) -> i64 {
        self.amount.scaled_value(scale)
    }

    /// `Quantity.AsInt64`: the number, if it is in the fast form and an integer that fits.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        match &self.amount {
            Amount::Fast(fast) => fast.as_i64(),
            Amount::Dec(_) => None,
        }
    }

    /// Whether the number is zero.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.sign() == Ordering::Equal
    }

    /// The number compared with zero.
    #[must_use]
    pub fn sign(&self) -> Ordering {
        self.amount.sign()
    }

    /// Whether the number has no fractional part.
    #[must_use]
    pub fn is_integer(&self) -> bool {
        self.amount.clone().round_up(scale::ONE)
    }

    /// Whether [`Self::scaled_value`] is the number rounded up, and not what overflow left of it.
    #[must_use]
    pub fn fits(&self, scale: i32) -> bool {
        self.amount.fits(scale)
    }

    /// The nearest double, for ratios and reports.
    #[must_use]
    pub fn to_f64(&self) -> f64 {
        self.amount.to_f64()
    }

    /// Adds in place. A zero takes the format of what is added.
    pub fn add(&mut self, other: &Self) {
        self.text = None;
        if self.is_zero() {
            self.format = other.format;
        }
        self.amount.add(&other.amount);
    }

    /// Subtracts in place. A zero takes the format of what is subtracted.
    pub fn sub(&mut self, other: &Self) {
        let mut negative = other.clone();
        negative.neg();
        self.add(&negative);
    }

    /// Takes `floor` where that is more. As upstream's comparison leaves it, what is taken is in the decimal
    /// form if either was, and so overflows as that does.
    pub fn raise(&mut self, floor: &Self) {
        if *self >= *floor {
            return;
        }
        let decimal = self.amount.is_decimal();
        *self = floor.clone();
        if decimal {
            self.amount.make_decimal();
        }
    }

    /// Changes the sign in place.
    pub fn neg(&mut self) {
        self.text = None;
        self.amount.neg();
    }

    /// `Quantity.RoundUp`: rounds away from zero to a multiple of 10^`scale`; false if that lost digits.
    pub fn round_up(&mut self, scale: i32) -> bool {
        // Upstream forgets the parsed text where it computes, even if nothing changes.
        if !matches!(&self.amount, Amount::Fast(fast) if fast.scale >= scale) {
            self.text = None;
        }
        self.amount.round_up(scale)
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Quantity {}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        self.amount.cmp(&other.amount)
    }
}

impl Hash for Quantity {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Dec { unscaled, scale } = self.amount.reduced();
        unscaled.hash(state);
        scale.hash(state);
    }
}

impl std::str::FromStr for Quantity {
    type Err = ParseQuantityError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}
