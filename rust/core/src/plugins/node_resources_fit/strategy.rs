//! The three scoring strategies for one node: upstream's integer arithmetic as it is written there,
//! wrapping and truncating. The reference of the dense form.

use super::super::shape::Shape;
use crate::normalize::MAX_SCORE;

#[derive(Debug)]
pub(super) enum Strategy {
    /// The more is left, the better.
    Least,
    /// The less is left, the better.
    Most,
    /// A curve over the utilization.
    Ratio(Curve),
}

/// What a node has of one resource, and what is used of it once the pod is there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Usage {
    /// Not 0: upstream leaves such resources out.
    pub(super) allocatable: i64,
    pub(super) requested: i64,
    pub(super) weight: i64,
}

impl Strategy {
    pub(super) fn score(&self, usages: impl Iterator<Item = Usage>) -> i64 {
        let (mut sum, mut weights) = (0i64, 0i64);
        for usage in usages {
            let score = self.resource(usage);
            if score > 0 || !matches!(self, Strategy::Ratio(_)) {
                sum = sum.wrapping_add(score.wrapping_mul(usage.weight));
                weights = weights.wrapping_add(usage.weight);
            }
        }
        self.mean(sum, weights)
    }

    fn resource(&self, usage: Usage) -> i64 {
        let (requested, allocatable) = (usage.requested, usage.allocatable);
        let percent = |part: i64| part.wrapping_mul(MAX_SCORE).wrapping_div(allocatable);
        match self {
            Strategy::Least if requested > allocatable => 0,
            Strategy::Least => percent(allocatable.wrapping_sub(requested)),
            Strategy::Most => percent(requested.min(allocatable)),
            Strategy::Ratio(curve) if requested > allocatable => curve.shape.at(MAX_SCORE),
            Strategy::Ratio(curve) => curve.shape.at(percent(requested)),
        }
    }

    fn mean(&self, sum: i64, weights: i64) -> i64 {
        match self {
            _ if weights == 0 => 0,
            Strategy::Ratio(_) => (sum as f64 / weights as f64).round() as i64,
            _ => sum.wrapping_div(weights),
        }
    }
}

/// A score (0–100) by utilization in percent.
#[derive(Debug)]
pub(super) struct Curve {
    shape: Shape,
    /// The score of each whole percentage, filled up to a power of two.
    table: Box<[f64; 128]>,
}

impl Curve {
    pub(super) fn new(shape: Shape) -> Self {
        let table = std::array::from_fn(|percent| shape.at(percent as i64) as f64);
        Curve {
            shape,
            table: Box::new(table),
        }
    }

    pub(super) fn table(&self) -> &[f64; 128] {
        &self.table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_scores_of_a_ratio_carry_no_weight() {
        let line = Shape::new(vec![(0, 0), (100, 100)]).expect("points");
        let strategy = Strategy::Ratio(Curve::new(line));
        let usage = |allocatable, requested, weight| Usage {
            allocatable,
            requested,
            weight,
        };
        let all = [usage(1000, 0, 1), usage(1000, 500, 1), usage(1000, 800, 3)];
        // (50·1 + 80·3) / 4 = 72.5, rounded away from zero.
        assert_eq!(strategy.score(all.into_iter()), 73);
    }

    #[test]
    fn arithmetic_wraps_and_truncates() {
        let one = |strategy: Strategy, allocatable, requested| {
            strategy.score(
                [Usage {
                    allocatable,
                    requested,
                    weight: 1,
                }]
                .into_iter(),
            )
        };
        assert_eq!(
            one(Strategy::Least, -1, i64::MIN),
            i64::MAX.wrapping_mul(100).wrapping_neg()
        );
        assert_eq!(
            one(Strategy::Least, i64::MAX, 0),
            i64::MAX.wrapping_mul(100) / i64::MAX
        );
        assert_eq!(one(Strategy::Least, 1000, 1001), 0);
        assert_eq!(one(Strategy::Most, 1000, 2000), 100);
        assert_eq!(one(Strategy::Most, 1000, -7), 0);
        assert_eq!(one(Strategy::Most, 1000, -70), -7);
    }
}
