//! Quantities against a table computed with apimachinery v0.37.2, and against their own laws.
use std::cmp::Ordering;

use podium_core::quantity::{Format, Quantity};
use proptest::prelude::*;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(untagged)]
enum Row {
    Refused {
        text: String,
        error: String,
    },
    Parsed {
        text: String,
        string: String,
        value: i64,
        milli: i64,
        rounded: String,
        rounded_milli: i64,
    },
    Pair {
        a: String,
        b: String,
        cmp: i32,
        sum: String,
        sum_value: i64,
        sum_milli: i64,
        difference: String,
        difference_value: i64,
        difference_milli: i64,
    },
}

fn parse(text: &str) -> Quantity {
    Quantity::parse(text).unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

fn answers(quantity: &Quantity) -> (String, i64, i64) {
    (
        quantity.to_string(),
        quantity.value(),
        quantity.milli_value(),
    )
}

fn check(row: Row) {
    match row {
        Row::Refused { text, error } => {
            let refusal = Quantity::parse(&text).expect_err(&text);
            assert_eq!(refusal.to_string(), error, "{text:?}");
        }
        Row::Parsed {
            text,
            string,
            value,
            milli,
            rounded,
            rounded_milli,
        } => {
            let mut quantity = parse(&text);
            assert_eq!(answers(&quantity), (string, value, milli), "{text:?}");
            quantity.round_up(-3);
            let got = (quantity.to_string(), quantity.milli_value());
            assert_eq!(got, (rounded, rounded_milli), "{text:?} rounded");
        }
        Row::Pair {
            a,
            b,
            cmp,
            sum,
            sum_value,
            sum_milli,
            difference,
            difference_value,
            difference_milli,
        } => {
            let (left, right) = (parse(&a), parse(&b));
            assert_eq!(left.cmp(&right), cmp.cmp(&0), "{a:?} <> {b:?}");
            let mut total = left.clone();
            total.add(&right);
            assert_eq!(
                answers(&total),
                (sum, sum_value, sum_milli),
                "{a:?} + {b:?}"
            );
            let mut rest = left;
            rest.sub(&right);
            let expected = (difference, difference_value, difference_milli);
            assert_eq!(answers(&rest), expected, "{a:?} - {b:?}");
        }
    }
}

#[test]
fn answers_as_apimachinery() {
    let table = include_str!("data/quantities.jsonl");
    let mut rows = 0;
    for line in table.lines() {
        check(serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}")));
        rows += 1;
    }
    assert!(rows > 4000, "the table has only {rows} rows");
}

#[test]
fn json_accepts_strings_numbers_and_null() {
    for (json, text) in [
        (r#""1500m""#, "1500m"),
        (r#"" 2Gi ""#, "2Gi"),
        ("3", "3"),
        ("0.1", "100m"),
        ("null", "0"),
        ("18446744073709551615", "18446744073709551615"),
    ] {
        let quantity: Quantity = serde_json::from_str(json).expect(json);
        assert_eq!(quantity.to_string(), text);
        assert_eq!(
            serde_json::to_string(&quantity).expect(text),
            format!("{text:?}")
        );
    }
    let error = serde_json::from_str::<Quantity>(r#""1GB""#).expect_err("no such suffix");
    assert!(
        error
            .to_string()
            .contains("quantities must match the regular expression")
    );
    assert!(serde_json::from_str::<Quantity>("true").is_err());
}

#[test]
fn absurd_exponents_are_refused_or_rounded_not_computed() {
    assert!(Quantity::parse("1e2147483647").is_err());
    assert_eq!(parse("1e-2147483648").to_string(), "1e-9");
    assert_eq!(parse("-3e-2000000000").to_string(), "-1e-9");
    let mut zero = parse("0e-2147483648");
    zero.add(&parse("1.5Gi"));
    assert_eq!(zero.to_string(), "1536Mi");
    let mut huge = parse("1e4096");
    huge.add(&parse("1n"));
    assert_eq!(huge.cmp(&parse("1e4096")), Ordering::Greater);
}

#[test]
fn exactness_says_when_an_answer_is_an_overflow() {
    assert!(!parse("1E").fits(-3));
    assert!(parse("1E").fits(0));
    let mut sum = parse("5Ei");
    sum.add(&parse("5Ei"));
    assert!(!sum.fits(0));
    assert!(sum.value() < 0);
}

fn notation() -> impl Strategy<Value = String> {
    let suffix = prop::sample::select(vec![
        "", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e3",
        "E-2", "e12",
    ]);
    ("[+-]?[0-9]{1,22}(\\.[0-9]{0,12})?", suffix).prop_map(|(number, suffix)| number + suffix)
}

proptest! {
    #[test]
    fn parsing_never_panics(text in "\\PC{0,12}|[-+0-9.eEinumkKMGTP]{0,24}") {
        if let Ok(quantity) = Quantity::parse(&text) {
            let _ = (quantity.value(), quantity.milli_value(), quantity.to_string(), quantity.to_f64());
        }
    }

    #[test]
    fn canonical_text_is_a_fixed_point(text in notation()) {
        let mut quantity = parse(&text);
        // Clears the remembered spelling, so that what is printed is canonical.
        quantity.neg();
        quantity.neg();
        let printed = quantity.to_string();
        // Beyond exa upstream drops the suffix; the number is then another one.
        if quantity.fits(0) && printed.len() < 18 {
            let again = parse(&printed);
            prop_assert_eq!(again.to_string(), printed);
            prop_assert_eq!(again, quantity);
        }
    }

    #[test]
    fn adding_and_subtracting_undo_each_other(a in notation(), b in notation()) {
        let (left, right) = (parse(&a), parse(&b));
        let mut sum = left.clone();
        sum.add(&right);
        let mut swapped = right.clone();
        swapped.add(&left);
        prop_assert_eq!(&sum, &swapped);
        sum.sub(&right);
        prop_assert_eq!(sum, left);
    }

    #[test]
    fn order_agrees_with_subtraction_and_hash_with_equality(a in notation(), b in notation()) {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let hash = |quantity: &Quantity| {
            let mut hasher = DefaultHasher::new();
            quantity.hash(&mut hasher);
            hasher.finish()
        };
        let (left, right) = (parse(&a), parse(&b));
        let mut difference = left.clone();
        difference.sub(&right);
        prop_assert_eq!(left.cmp(&right), difference.sign());
        let mut same = difference;
        same.add(&right);
        prop_assert_eq!(hash(&same), hash(&left));
    }

    #[test]
    fn integers_of_sixty_three_bits_come_back(value in 0..=i64::MAX) {
        let quantity = parse(&value.to_string());
        prop_assert_eq!(quantity.value(), value);
        prop_assert_eq!(&quantity, &Quantity::new(value, Format::DecimalSi));
        prop_assert!(quantity.is_integer());
    }

    #[test]
    fn rounding_up_never_loses(text in notation(), scale in -9_i32..4) {
        let exact = parse(&text);
        let mut rounded = exact.clone();
        let lossless = rounded.round_up(scale);
        prop_assert_eq!(lossless, rounded == exact);
        if exact.sign() == Ordering::Less {
            prop_assert!(rounded <= exact);
        } else {
            prop_assert!(rounded >= exact);
        }
    }
}
