//! Quantity to text: apimachinery's canonical form.
use std::cmp::Ordering;
use std::fmt;

use num_bigint::{BigInt, Sign};

use super::amount::{Amount, Dec};
use super::{Format, Quantity, scale};

impl fmt::Display for Quantity {
    /// The text it was parsed from where upstream keeps that, else the canonical form: no fraction, the
    /// largest suffix that loses nothing.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(text) = &self.text {
            return out.write_str(text);
        }
        if self.is_zero() {
            return out.write_str("0");
        }
        if self.format == Format::BinarySi
            && let Some(number) = self.binary_integer()
        {
            let (mantissa, times) = remove_factors(number, 1024);
            return write!(out, "{mantissa}{}", binary_suffix(times));
        }
        let (mantissa, exponent) = self.amount.canonical();
        match self.format {
            Format::DecimalExponent if exponent == 0 => write!(out, "{mantissa}"),
            Format::DecimalExponent => write!(out, "{mantissa}e{exponent}"),
            Format::DecimalSi | Format::BinarySi => {
                write!(out, "{mantissa}{}", decimal_suffix(exponent))
            }
        }
    }
}

impl Quantity {
    /// The number, if binary suffixes suit it: an integer of at least 1024 in magnitude.
    fn binary_integer(&self) -> Option<BigInt> {
        let kibi = Quantity::new(1024, Format::BinarySi);
        let minus_kibi = Quantity::new(-1024, Format::BinarySi);
        if self.cmp(&kibi) == Ordering::Less && self.cmp(&minus_kibi) == Ordering::Greater {
            return None;
        }
        let (rounded, exact) = self.amount.to_dec().rounded(scale::ONE);
        exact.then_some(rounded.unscaled)
    }
}

impl Amount {
    /// Mantissa and exponent of ten, the exponent the largest multiple of three that loses nothing.
    fn canonical(&self) -> (BigInt, i32) {
        let Dec {
            mut unscaled,
            scale,
        } = self.reduced();
        let mut exponent = -scale;
        while exponent % 3 != 0 {
            unscaled *= 10;
            exponent -= 1;
        }
        (unscaled, exponent)
    }
}

fn remove_factors(mut number: BigInt, factor: i32) -> (BigInt, u32) {
    let mut times = 0;
    while number.sign() != Sign::NoSign && (&number % factor).sign() == Sign::NoSign {
        number /= factor;
        times += 1;
    }
    (number, times)
}

/// Nothing beyond the table: upstream prints a sum of 1024Ei as `1`.
fn binary_suffix(times: u32) -> &'static str {
    match times {
        1 => "Ki",
        2 => "Mi",
        3 => "Gi",
        4 => "Ti",
        5 => "Pi",
        6 => "Ei",
        _ => "",
    }
}

/// Nothing beyond the table: upstream prints `1000E` as `1`.
fn decimal_suffix(exponent: i32) -> &'static str {
    match exponent {
        -9 => "n",
        -6 => "u",
        -3 => "m",
        3 => "k",
        6 => "M",
        9 => "G",
        12 => "T",
        15 => "P",
        18 => "E",
        _ => "",
    }
}
