//! NormalizeScore of the default plugins: each is a function of the raw score and the extremes over the
//! feasible nodes, which is what lets a single changed node be rescored.

/// Raw score of a node that a plugin leaves out of normalisation; its normalised score is 0.
pub const IGNORED: i64 = i64::MIN;

pub const MAX_SCORE: i64 = 100;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Normalize {
    /// Raw scores are 0–100 already.
    None,
    /// `helper.DefaultNormalizeScore`: 100·s/max; all unchanged if max is 0.
    Max,
    /// The same, reversed: 100 − 100·s/max; all 100 if max is 0.
    ReverseMax,
    /// InterPodAffinity: trunc(100·((s−min)/(max−min))) in `f64`; all 0 if max = min.
    Range,
    /// PodTopologySpread: 100·(max+min−s)/max; all 100 if max is 0.
    Spread,
}

/// Smallest and largest raw score over the feasible nodes that are not ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extremes {
    pub min: i64,
    pub max: i64,
}

impl Extremes {
    pub fn of(scores: impl IntoIterator<Item = i64>) -> Self {
        let none = Extremes {
            min: i64::MAX,
            max: i64::MIN,
        };
        scores
            .into_iter()
            .filter(|s| *s != IGNORED)
            .fold(none, |e, s| Extremes {
                min: e.min.min(s),
                max: e.max.max(s),
            })
    }
}

impl Normalize {
    pub fn apply(self, score: i64, extremes: Extremes) -> i64 {
        if score == IGNORED {
            return 0;
        }
        // Upstream's maxima start at zero for all but the range form.
        let max = extremes.max.max(0);
        match self {
            Normalize::None => score,
            Normalize::Max if max == 0 => score,
            Normalize::Max => (MAX_SCORE.wrapping_mul(score)) / max,
            Normalize::ReverseMax if max == 0 => MAX_SCORE,
            Normalize::ReverseMax => MAX_SCORE - MAX_SCORE.wrapping_mul(score) / max,
            Normalize::Range => {
                let spread = extremes.max.wrapping_sub(extremes.min);
                if spread <= 0 {
                    return 0;
                }
                let share = score.wrapping_sub(extremes.min) as f64 / spread as f64;
                (MAX_SCORE as f64 * share) as i64
            }
            Normalize::Spread if max == 0 => MAX_SCORE,
            Normalize::Spread => {
                let above = max.wrapping_add(extremes.min).wrapping_sub(score);
                MAX_SCORE.wrapping_mul(above) / max
            }
        }
    }
}
