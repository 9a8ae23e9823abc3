//! Passes over all rows, in forms that vectorise.

use crate::filtering::{FEASIBLE, NO_NODE, Verdict};
use crate::pick::NEVER;
use crate::snapshot::Row;
use crate::status::Code;
use multiversion::multiversion;

/// Verdicts before any filter: a row that is no node is rejected from the start.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw", "x86_64+avx2"))]
pub(super) fn start(live: &[bool], verdicts: &mut Vec<Verdict>, codes: &mut Vec<Code>) {
    verdicts.clear();
    verdicts.extend(
        live.iter()
            .map(|live| if *live { FEASIBLE } else { NO_NODE }),
    );
    codes.clear();
    codes.extend(
        live.iter()
            .map(|live| if *live { Code::Success } else { Code::Skip }),
    );
}

/// How many rows are rejected.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw", "x86_64+avx2"))]
pub(super) fn rejected(codes: &[Code]) -> usize {
    let count = |codes: &[Code]| {
        codes
            .iter()
            .map(|c| u8::from(*c != Code::Success))
            .sum::<u8>()
    };
    // Sums of so few fit a byte, which keeps all lanes of a vector busy.
    codes
        .chunks(128)
        .map(|codes| usize::from(count(codes)))
        .sum()
}

/// Blames part `index` for rows that no part before it rejected.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw", "x86_64+avx2"))]
pub(super) fn blame(index: Verdict, codes: &[Code], verdicts: &mut [Verdict]) {
    for (verdict, code) in verdicts.iter_mut().zip(codes) {
        let first = *verdict == FEASIBLE && *code != Code::Success;
        *verdict = if first { index } else { *verdict };
    }
}

/// How many rows no filter rejects.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw", "x86_64+avx2"))]
pub(super) fn feasible(verdicts: &[Verdict]) -> usize {
    let count = |rows: &[Verdict]| rows.iter().map(|v| u8::from(*v == FEASIBLE)).sum::<u8>();
    verdicts
        .chunks(128)
        .map(|rows| usize::from(count(rows)))
        .sum()
}

/// Adds weighted scores to sums.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw", "x86_64+avx2"))]
pub(super) fn add_weighted(sums: &mut [i64], scores: &[i64], weight: i64) {
    if weight == 1 {
        for (sum, score) in sums.iter_mut().zip(scores) {
            *sum = sum.wrapping_add(*score);
        }
        return;
    }
    for (sum, score) in sums.iter_mut().zip(scores) {
        *sum = sum.wrapping_add(score.wrapping_mul(weight));
    }
}

/// Whether all scores are the same.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw", "x86_64+avx2"))]
pub(super) fn is_even(scores: &[i64]) -> bool {
    let first = scores.first().copied().unwrap_or(0);
    scores.iter().fold(0, |bits, score| bits | (score ^ first)) == 0
}

/// Makes `NEVER` of the totals of rejected rows.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw", "x86_64+avx2"))]
pub(super) fn bar(totals: &mut [i64], verdicts: &[Verdict]) {
    for (total, verdict) in totals.iter_mut().zip(verdicts) {
        *total = if *verdict == FEASIBLE { *total } else { NEVER };
    }
}

/// The highest total, and how many rows have it.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw", "x86_64+avx2"))]
pub(super) fn highest(totals: &[i64]) -> (i64, u64) {
    let best = totals.iter().fold(
        NEVER,
        |best, total| if *total > best { *total } else { best },
    );
    let count = totals.iter().map(|total| u64::from(*total == best)).sum();
    (best, count)
}

/// The `rank`-th row that has this total.
pub(super) fn nth_with(totals: &[i64], wanted: i64, mut rank: u64) -> Option<Row> {
    const RUN: usize = 64;
    for (run, totals) in totals.chunks(RUN).enumerate() {
        let count = totals.iter().map(|total| u64::from(*total == wanted)).sum();
        if rank < count {
            let mut rows = totals.iter().enumerate().filter(|(_, t)| **t == wanted);
            let found = rows.nth(usize::try_from(rank).ok()?);
            return found.map(|(at, _)| (run * RUN + at) as Row);
        }
        rank -= count;
    }
    None
}
