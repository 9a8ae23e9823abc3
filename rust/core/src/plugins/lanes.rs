//! Rows in runs of equal columns, and integer arithmetic in the floating-point forms that vectorise.
//!
//! Every form here is exact on the domain its comment names. Callers check the domain by OR-ing the bits
//! of all operands of a run and fall back to plain integer arithmetic outside it.

use crate::plugin::Rows;
use crate::snapshot::Row;

/// Rows that a kernel takes at a time: few enough that all columns of a run stay in the nearest cache.
pub(super) const LANES: usize = 256;

/// Lists up to this long are judged row by row; gathering them first would cost more.
pub(super) const SHORT: usize = 12;

/// A few rows.
#[derive(Clone, Copy, Debug)]
pub(super) enum Run<'a> {
    /// Consecutive rows from the first.
    Span(usize, usize),
    List(&'a [Row]),
}

impl<'a> Run<'a> {
    /// The run's part of a column: itself where it is consecutive, else gathered into `buffer`.
    pub(super) fn of<'b, T: Copy>(self, column: &'b [T], buffer: &'b mut Vec<T>) -> &'b [T] {
        match self {
            Run::Span(first, len) => &column[first..first + len],
            Run::List(rows) => {
                buffer.clear();
                buffer.extend(rows.iter().map(|row| column[*row as usize]));
                buffer
            }
        }
    }

    /// The row of a lane.
    pub(super) fn row(self, lane: usize) -> Row {
        match self {
            Run::Span(first, _) => (first + lane) as Row,
            Run::List(rows) => rows[lane],
        }
    }
}

/// Calls `visit` for each run of at most `lanes` of the rows with its part of `out`.
pub(super) fn each_run<T>(
    rows: Rows<'_>,
    lanes: usize,
    out: &mut [T],
    mut visit: impl FnMut(Run<'_>, &mut [T]),
) {
    match rows {
        Rows::All(len) => {
            for (index, out) in out[..len].chunks_mut(lanes).enumerate() {
                visit(Run::Span(index * lanes, out.len()), out);
            }
        }
        Rows::List(list) => {
            for (rows, out) in list.chunks(lanes).zip(out.chunks_mut(lanes)) {
                visit(Run::List(rows), out);
            }
        }
    }
}

/// Whether all numbers whose bits were OR-ed are in `0..2^52`, where [`float`] is exact.
pub(super) fn is_exact(bits: i64) -> bool {
    bits as u64 >> 52 == 0
}

const TWO_52: f64 = (1u64 << 52) as f64;

/// Adding it rounds a number of at most 2^51 in magnitude to the nearest integer, which then stands in
/// the low bits.
const ROUNDER: f64 = 1.5 * TWO_52;

/// `x` as a floating-point number; exact for `0 <= x < 2^52`. (Without AVX-512 there is no instruction
/// for lanes of i64.)
#[inline(always)]
pub(super) fn float(x: i64) -> f64 {
    f64::from_bits(x as u64 | TWO_52.to_bits()) - TWO_52
}

/// The nearest integer, ties to even, as a floating-point number; for `|y| <= 2^51`.
#[inline(always)]
pub(super) fn nearest(y: f64) -> f64 {
    (y + ROUNDER) - ROUNDER
}

/// The nearest integer, ties to even; for `|y| <= 2^51`.
#[inline(always)]
pub(super) fn integer(y: f64) -> i64 {
    (y + ROUNDER).to_bits().wrapping_sub(ROUNDER.to_bits()) as i64
}

/// The largest integer not above `y`; for `0 <= y <= 2^51`. (`f64::floor` is a call without SSE4.1.)
#[inline(always)]
pub(super) fn floor(y: f64) -> f64 {
    let near = nearest(y);
    if near > y { near - 1.0 } else { near }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn forms_are_exact(x in 0i64..1 << 52, y in 0.0..1e12f64) {
            prop_assert_eq!(float(x), x as f64);
            prop_assert_eq!(floor(y), y.floor());
            prop_assert_eq!(nearest(y), y.round_ties_even());
            prop_assert_eq!(integer(y), y.round_ties_even() as i64);
            prop_assert_eq!(integer(-y), (-y).round_ties_even() as i64);
        }
    }

    #[test]
    fn runs_cover_the_rows_once() {
        let column: Vec<u32> = (0..1000).collect();
        for len in [0, 1, 255, 256, 257, 1000] {
            let list: Vec<Row> = (0..len as Row).rev().collect();
            for rows in [Rows::All(len), Rows::List(&list)] {
                let mut out = vec![0; len];
                let mut buffer = Vec::new();
                each_run(rows, LANES, &mut out, |run, out| {
                    out.copy_from_slice(run.of(&column, &mut buffer));
                    let last = out.len() - 1;
                    assert_eq!(run.row(last), out[last]);
                });
                let mut expected = vec![0; len];
                rows.each(&mut expected, |row, cell| *cell = row);
                assert_eq!(out, expected);
            }
        }
    }
}
