//! Text to quantity: the grammar, the fast path and the rounding of apimachinery's `ParseQuantity`.
use num_bigint::{BigInt, Sign};

use super::amount::{Amount, Dec, Fast, pow10};
use super::{Format, Quantity, scale};

/// Why a text is no quantity; the texts are upstream's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseQuantityError {
    /// Not a number followed by letters and digits.
    #[error(
        "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
    )]
    Format,
    /// No digits where digits are needed, or more than [`MAX_EXPONENT`] of them.
    #[error("unable to parse numeric part of quantity")]
    Numeric,
    /// A suffix that does not exist.
    #[error("unable to parse quantity's suffix")]
    Suffix,
}

/// Decimal digits that an int64 always holds.
const FAST_DIGITS: i32 = 18;

/// Largest decimal exponent read. Upstream has no bound and would compute with gigabytes of digits;
/// no cluster has 10^4096 of anything.
pub(super) const MAX_EXPONENT: i32 = 4096;

struct Pieces<'a> {
    positive: bool,
    /// Sign and digits, everything before the suffix.
    value: &'a str,
    /// Digits before the point without leading zeros, never empty.
    whole: &'a str,
    fraction: &'a str,
    suffix: &'a str,
}

fn run(text: &str, accept: fn(u8) -> bool) -> usize {
    text.bytes().take_while(|byte| accept(*byte)).count()
}

fn is_digit(byte: u8) -> bool {
    byte.is_ascii_digit()
}

fn is_suffix_letter(byte: u8) -> bool {
    b"eEinumkKMGTP".contains(&byte)
}

/// Splits as upstream's scanner does: more is let through than its regular expression says (`-` and
/// `.` are zero), and that is kept.
fn split(text: &str) -> Result<Pieces<'_>, ParseQuantityError> {
    let sign = usize::from(text.starts_with(['-', '+']));
    let positive = !text.starts_with('-');
    let zeros = run(&text[sign..], |byte| byte == b'0');
    let digits = &text[sign + zeros..];
    if digits.is_empty() {
        return Ok(Pieces {
            positive,
            value: "0",
            whole: "0",
            fraction: "",
            suffix: "",
        });
    }
    let (whole, rest) = digits.split_at(run(digits, is_digit));
    let (fraction, rest) = match rest.strip_prefix('.') {
        Some(rest) => rest.split_at(run(rest, is_digit)),
        None => ("", rest),
    };
    let letters = run(rest, is_suffix_letter);
    let signs = usize::from(rest[letters..].starts_with(['-', '+']));
    let digits = run(&rest[letters + signs..], is_digit);
    if letters + signs + digits != rest.len() {
        return Err(ParseQuantityError::Format);
    }
    let whole = if whole.is_empty() { "0" } else { whole };
    let value = &text[..text.len() - rest.len()];
    Ok(Pieces {
        positive,
        value,
        whole,
        fraction,
        suffix: rest,
    })
}

enum Suffix {
    /// A power of ten, and the notation it was written in.
    Ten(i32, Format),
    /// A power of two.
    Two(u32),
}

fn interpret(suffix: &str) -> Option<Suffix> {
    let decimal = |exponent| Some(Suffix::Ten(exponent, Format::DecimalSi));
    match suffix {
        "n" => decimal(-9),
        "u" => decimal(-6),
        "m" => decimal(-3),
        "" => decimal(0),
        "k" => decimal(3),
        "M" => decimal(6),
        "G" => decimal(9),
        "T" => decimal(12),
        "P" => decimal(15),
        "E" => decimal(18),
        "Ki" => Some(Suffix::Two(10)),
        "Mi" => Some(Suffix::Two(20)),
        "Gi" => Some(Suffix::Two(30)),
        "Ti" => Some(Suffix::Two(40)),
        "Pi" => Some(Suffix::Two(50)),
        "Ei" => Some(Suffix::Two(60)),
        _ => {
            let exponent: i64 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
            #[expect(
                clippy::cast_possible_truncation,
                reason = "upstream truncates: 1e4294967296 is 1"
            )]
            Some(Suffix::Ten(exponent as i32, Format::DecimalExponent))
        }
    }
}

pub(super) fn parse(text: &str) -> Result<Quantity, ParseQuantityError> {
    if text.is_empty() {
        return Err(ParseQuantityError::Format);
    }
    let pieces = split(text)?;
    let suffix = interpret(pieces.suffix).ok_or(ParseQuantityError::Suffix)?;
    if matches!(suffix, Suffix::Ten(exponent, _) if exponent > MAX_EXPONENT) {
        return Err(ParseQuantityError::Numeric);
    }
    match fast(&pieces, &suffix) {
        Some(fast) => Ok(keep_text(text, &pieces, fast, &suffix)),
        None => slow(&pieces, &suffix),
    }
}

fn format_of(suffix: &Suffix) -> Format {
    match suffix {
        Suffix::Ten(_, format) => *format,
        Suffix::Two(_) => Format::BinarySi,
    }
}

/// The number as an `i64` and a power of ten, where upstream's estimate of digits says it fits.
fn fast(pieces: &Pieces<'_>, suffix: &Suffix) -> Option<Fast> {
    let whole = i32::try_from(pieces.whole.len()).ok()?;
    let fraction = i32::try_from(pieces.fraction.len()).ok()?;
    let (factor, exponent, spare) = match suffix {
        Suffix::Ten(exponent, _) => (
            1,
            *exponent,
            FAST_DIGITS.checked_sub(whole.checked_add(fraction)?)?,
        ),
        // 2^10 has about three decimal digits.
        Suffix::Two(bits) if fraction == 0 => {
            let digits = i32::try_from(bits * 3 / 10).ok()?;
            (1_i64 << bits, 0, 14_i32.checked_sub(whole)? - digits)
        }
        Suffix::Two(_) => return None,
    };
    let scale = exponent.wrapping_sub(fraction);
    if spare < 0 || scale < scale::NANO {
        return None;
    }
    let digits = pieces.whole.bytes().chain(pieces.fraction.bytes());
    let mantissa = digits.fold(0_i64, |sum, digit| sum * 10 + i64::from(digit - b'0'));
    let value = mantissa.checked_mul(factor)?;
    Some(Fast {
        value: if pieces.positive { value } else { -value },
        scale,
    })
}

/// Upstream prints a text that looks canonical to it as it came, and `+0.100` does look so.
fn keep_text(text: &str, pieces: &Pieces<'_>, fast: Fast, suffix: &Suffix) -> Quantity {
    let looks_canonical = match suffix {
        Suffix::Two(bits) => (fast.value >> bits) & 7 != 0,
        Suffix::Ten(..) => {
            let first = pieces.whole.starts_with('0');
            let all_zero = [pieces.whole, pieces.fraction].concat();
            fast.scale % 3 == 0 && !first && !all_zero.ends_with("000")
        }
    };
    let mut quantity = Quantity {
        amount: Amount::Fast(fast),
        format: format_of(suffix),
        text: None,
    };
    // Only these can differ from the canonical form; the others are not worth printing to find out.
    let suspicious = text
        .bytes()
        .any(|byte| matches!(byte, b'.' | b'+' | b'e' | b'E'))
        || text.trim_start_matches('-').starts_with('0');
    if looks_canonical && suspicious && quantity.to_string() != text {
        quantity.text = Some(text.into());
    }
    quantity
}

fn decimal(value: &str) -> Option<Dec> {
    let digits: String = value.chars().filter(|char| *char != '.').collect();
    let fraction = value
        .split_once('.')
        .map_or(0, |(_, fraction)| fraction.len());
    // A sign alone, or nothing, is no number.
    digits.bytes().any(is_digit).then_some(())?;
    let unscaled: BigInt = digits.parse().ok()?;
    Some(Dec {
        unscaled,
        scale: i32::try_from(fraction).ok()?,
    })
}

fn slow(pieces: &Pieces<'_>, suffix: &Suffix) -> Result<Quantity, ParseQuantityError> {
    let mut number = decimal(pieces.value).ok_or(ParseQuantityError::Numeric)?;
    match suffix {
        Suffix::Ten(exponent, _) => number.scale = number.scale.saturating_sub(*exponent),
        Suffix::Two(bits) => number.unscaled <<= bits,
    }
    let negative = number.unscaled.sign() == Sign::Minus;
    if number.unscaled.sign() == Sign::NoSign {
        number.scale = number.scale.min(MAX_EXPONENT);
    } else {
        number = round_to_nano(number);
    }
    let mut format = format_of(suffix);
    if format == Format::BinarySi {
        let one = pow10(number.scale);
        let magnitude = BigInt::from(number.unscaled.magnitude().clone());
        if magnitude > &one * i64::MAX {
            let cap = if negative { -i64::MAX } else { i64::MAX };
            number = Dec {
                unscaled: cap.into(),
                scale: 0,
            };
        } else if magnitude < one && magnitude.sign() == Sign::Plus {
            format = Format::DecimalSi;
        }
    }
    Ok(Quantity {
        amount: Amount::Dec(Box::new(number)),
        format,
        text: None,
    })
}

/// What is asked for is never rounded to nothing: the smallest answer is one nano.
fn round_to_nano(number: Dec) -> Dec {
    let digits = number.unscaled.magnitude().bits() / 3 + 1;
    let beyond = i64::from(number.scale) - i64::from(-scale::NANO);
    if beyond > i64::try_from(digits).unwrap_or(i64::MAX) {
        let unscaled = if number.unscaled.sign() == Sign::Minus {
            -1
        } else {
            1
        };
        return Dec {
            unscaled: unscaled.into(),
            scale: -scale::NANO,
        };
    }
    number.rounded(-scale::NANO).0
}
