//! Balance of two resources over many nodes. A score is 50 + (50 + with − without) / 2, where each of the
//! two is the floor of 100 − 50·|f0 − f1| for the fractions used with and without the pod.

use super::super::lanes::{float, floor, integer, is_exact, nearest};
use super::score::LEVEL;
use multiversion::multiversion;

/// One resource over a run of rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lanes<'a> {
    pub(super) allocatable: &'a [i64],
    /// Percent of the node that one unit is; NaN where only exact division decides.
    pub(super) percent: &'a [f64],
    pub(super) used: &'a [i64],
    pub(super) request: i64,
}

impl Lanes<'_> {
    fn cut(self, len: usize) -> Self {
        Lanes {
            allocatable: &self.allocatable[..len],
            percent: &self.percent[..len],
            used: &self.used[..len],
            request: self.request,
        }
    }
}

/// A lane that [`approximate`] cannot decide.
pub(super) const UNKNOWN: i64 = i64::MIN;

/// Far more than what the percentages below and upstream's fractions can differ by (less than 2^-44).
const DOUBT: f64 = 1.0 / (1u64 << 40) as f64;

/// Scores by multiplying instead of dividing. Upstream's result is rounded several times before its
/// floor is taken, so a lane whose value is nearer than [`DOUBT`] to an integer stays [`UNKNOWN`].
/// False: some amount is out of bounds, and nothing was decided.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw", "x86_64+avx2"))]
pub(super) fn approximate(a: Lanes<'_>, b: Lanes<'_>, out: &mut [i64]) -> bool {
    let (a, b) = (a.cut(out.len()), b.cut(out.len()));
    let mut bits = 0;
    for (lane, score) in out.iter_mut().enumerate() {
        let (before_a, before_b) = (a.used[lane], b.used[lane]);
        let (after_a, after_b) = (
            before_a.wrapping_add(a.request),
            before_b.wrapping_add(b.request),
        );
        bits |= before_a | before_b | after_a | after_b;
        let share = |amount: i64, percent: f64| {
            let share = float(amount) * percent;
            if share > 100.0 { 100.0 } else { share }
        };
        let gap = |amount_a, amount_b| {
            0.5 * (share(amount_a, a.percent[lane]) - share(amount_b, b.percent[lane])).abs()
        };
        let floors = |gap: f64| {
            let least = nearest((99.5 - DOUBT) - gap);
            let most = nearest((99.5 + DOUBT) - gap);
            (most, least == most)
        };
        let (with, sure_with) = floors(gap(after_a, after_b));
        let (without, sure_without) = floors(gap(before_a, before_b));
        // An empty node has two fractions of exactly 0, so its value is exactly 100.
        let sure_without = sure_without || (before_a | before_b == 0 && without == 100.0);
        let known = 50 + (integer(50.0 + with - without) >> 1);
        *score = if sure_with & sure_without {
            known
        } else {
            UNKNOWN
        };
    }
    is_exact(bits)
}

/// Scores by dividing, step by step as upstream does. False as above.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw", "x86_64+avx2"))]
pub(super) fn exact(a: Lanes<'_>, b: Lanes<'_>, out: &mut [i64]) -> bool {
    let (a, b) = (a.cut(out.len()), b.cut(out.len()));
    let mut bits = 0;
    for (lane, score) in out.iter_mut().enumerate() {
        let (have_a, have_b) = (a.allocatable[lane], b.allocatable[lane]);
        let (before_a, before_b) = (a.used[lane], b.used[lane]);
        let (after_a, after_b) = (
            before_a.wrapping_add(a.request),
            before_b.wrapping_add(b.request),
        );
        bits |= have_a | have_b | before_a | before_b | after_a | after_b;
        let fraction = |amount, have| {
            let fraction = float(amount) / float(have);
            if fraction > 1.0 { 1.0 } else { fraction }
        };
        let evenness = |amount_a, amount_b| {
            let half = (fraction(amount_a, have_a) - fraction(amount_b, have_b)) / 2.0;
            floor((1.0 - half.abs()) * 100.0)
        };
        let gain = evenness(after_a, after_b) - evenness(before_a, before_b);
        let even = 50 + (integer(50.0 + gain) >> 1);
        *score = if have_a == 0 || have_b == 0 {
            LEVEL
        } else {
            even
        };
    }
    is_exact(bits)
}
