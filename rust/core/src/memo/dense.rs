//! Passes over all rows, in forms that vectorise: plain loops, since a closure would have the features of
//! its function and the adapter that calls it would not, which keeps it from being inlined.

use crate::filtering::{FEASIBLE, NO_NODE, Verdict};
use crate::normalize::MAX_SCORE;
use crate::pick::NEVER;
use crate::snapshot::Row;
use crate::status::Code;
use multiversion::multiversion;

/// Verdicts before any filter: a row that is no node is rejected from the start.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw", "x86_64+avx2"))]
pub(super) fn start(live: &[bool], verdicts: &mut Vec<Verdict>, codes: &mut Vec<Code>) {
    verdicts.clear();
    verdicts.resize(live.len(), NO_NODE);
    codes.clear();
    codes.resize(live.len(), Code::Skip);
    for ((live, verdict), code) in live.iter().zip(verdicts.iter_mut()).zip(codes.iter_mut()) {
        *verdict = if *live { FEASIBLE } else { NO_NODE };
        *code = if *live { Code::Success } else { Code::Skip };
    }
}

/// How many rows are rejected.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw", "x86_64+avx2"))]
pub(super) fn rejected(codes: &[Code]) -> usize {
    let mut rejected = 0;
    // Sums of so few fit a byte, which keeps all lanes of a vector busy.
    for run in codes.chunks(128) {
        let mut count = 0u8;
        for code in run {
            count += u8::from(*code != Code::Success);
        }
        rejected += usize::from(count);
    }
    rejected
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
    let mut feasible = 0;
    for run in verdicts.chunks(128) {
        let mut count = 0u8;
        for verdict in run {
            count += u8::from(*verdict == FEASIBLE);
        }
        feasible += usize::from(count);
    }
    feasible
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

/// Whether all scores are from 0 to 100.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw", "x86_64+avx2"))]
pub(super) fn are_scores(scores: &[i64]) -> bool {
    let mut signs = 0;
    for score in scores {
        signs |= score | MAX_SCORE.wrapping_sub(*score);
    }
    signs >= 0
}

/// Whether all scores are the same.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw", "x86_64+avx2"))]
pub(super) fn is_even(scores: &[i64]) -> bool {
    let first = if scores.is_empty() { 0 } else { scores[0] };
    let mut bits = 0;
    for score in scores {
        bits |= score ^ first;
    }
    bits == 0
}

/// Makes `NEVER` of the totals of rejected rows.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw", "x86_64+avx2"))]
pub(super) fn bar(totals: &mut [i64], verdicts: &[Verdict]) {
    for (total, verdict) in totals.iter_mut().zip(verdicts) {
        *total = if *verdict == FEASIBLE { *total } else { NEVER };
    }
}

/// The highest of the totals of rows that no filter rejects.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw", "x86_64+avx2"))]
pub(super) fn highest(totals: &[i64], verdicts: &[Verdict]) -> i64 {
    let mut best = NEVER;
    for (total, verdict) in totals.iter().zip(verdicts) {
        let total = if *verdict == FEASIBLE { *total } else { NEVER };
        best = if total > best { total } else { best };
    }
    best
}

/// How many rows that no filter rejects have this total.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw", "x86_64+avx2"))]
pub(super) fn count_with(totals: &[i64], verdicts: &[Verdict], wanted: i64) -> u64 {
    let mut count = 0;
    for (total, verdict) in totals.iter().zip(verdicts) {
        count += u64::from(*total == wanted) & u64::from(*verdict == FEASIBLE);
    }
    count
}

/// The `rank`-th of them.
pub(super) fn nth_with(
    totals: &[i64],
    verdicts: &[Verdict],
    wanted: i64,
    mut rank: u64,
) -> Option<Row> {
    const RUN: usize = 64;
    for (run, (totals, verdicts)) in totals.chunks(RUN).zip(verdicts.chunks(RUN)).enumerate() {
        let count = count_with(totals, verdicts, wanted);
        if rank < count {
            let rows = totals.iter().zip(verdicts).enumerate();
            let mut rows = rows.filter(|(_, (t, v))| **t == wanted && **v == FEASIBLE);
            let found = rows.nth(usize::try_from(rank).ok()?);
            return found.map(|(at, _)| (run * RUN + at) as Row);
        }
        rank -= count;
    }
    None
}
