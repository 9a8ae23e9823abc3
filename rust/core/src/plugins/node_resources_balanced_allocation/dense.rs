//! Balance of two resources over many nodes. A score is 50 + (50 + with − without) / 2, where each of the
//! two is the floor of 100 − 50·|f0 − f1| for the fractions used with and without the pod.

use super::super::lanes::{float, floor, integer, is_exact};
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

/// Far more than what the percentages below and upstream's fractions can differ by (less than 2^-44).
const DOUBT: f64 = 1.0 / (1u64 << 40) as f64;

/// Adding it rounds to the nearest even integer: numbers of its size are two apart.
const EVEN: f64 = 1.5 * (1u64 << 53) as f64;

/// What a run's approximation left to decide.
#[derive(Clone, Copy, Debug)]
pub(super) struct Doubts {
    /// Some amount is out of bounds; nothing was decided.
    pub(super) all: bool,
    /// Some lane has a negative score: it is in doubt.
    pub(super) some: bool,
}

/// Scores by multiplying instead of dividing. Upstream's result is rounded several times before its
/// floor is taken, so a lane whose value is nearer than [`DOUBT`] to an integer is left in doubt.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw", "x86_64+avx2"))]
pub(super) fn approximate(a: Lanes<'_>, b: Lanes<'_>, out: &mut [i64]) -> Doubts {
    let (a, b) = (a.cut(out.len()), b.cut(out.len()));
    let (mut bits, mut doubts) = (0, 0);
    for (lane, score) in out.iter_mut().enumerate() {
        let (before_a, before_b) = (a.used[lane], b.used[lane]);
        let (after_a, after_b) = (
            before_a.wrapping_add(a.request),
            before_b.wrapping_add(b.request),
        );
        let before = before_a | before_b;
        bits |= before | after_a | after_b;
        let share = |amount: i64, percent: f64| {
            let share = float(amount) * percent;
            if share > 100.0 { 100.0 } else { share }
        };
        // Twice the floor of a value somewhat above and somewhat below, each plus EVEN.
        let floors = |amount_a, amount_b| {
            let gap = (share(amount_a, a.percent[lane]) - share(amount_b, b.percent[lane])).abs();
            (
                ((199.0 + DOUBT) - gap) + EVEN,
                ((199.0 - DOUBT) - gap) + EVEN,
            )
        };
        let (with, below) = floors(after_a, after_b);
        let mut doubt = if with == below { 0 } else { DOUBTFUL };
        let (without, below) = floors(before_a, before_b);
        // An empty node has two fractions of exactly 0, so its value is exactly 100.
        let sure = if before == 0 { 0 } else { DOUBTFUL };
        doubt |= if without == below { 0 } else { sure };
        let gain = with - without + (100.0 + EVEN);
        // The unit in the last place is 2, so the low bits hold 50 + with − without.
        *score = (50 + ((gain.to_bits() & 127) >> 1) as i64) | doubt;
        doubts |= doubt;
    }
    Doubts {
        all: !is_exact(bits),
        some: doubts != 0,
    }
}

const DOUBTFUL: i64 = i64::MIN;

/// Scores by dividing, step by step as upstream does. False: some amount is out of bounds, and nothing was
/// decided.
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
