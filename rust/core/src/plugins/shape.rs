/// A function in linear pieces between points, constant beyond them, by upstream's integer arithmetic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shape(Box<[(i64, i64)]>);

impl Shape {
    /// `points` are argument and value, by ascending argument; there must be at least one.
    pub(super) fn new(points: Vec<(i64, i64)>) -> Option<Self> {
        (!points.is_empty()).then(|| Shape(points.into()))
    }

    pub(super) fn at(&self, argument: i64) -> i64 {
        let after = self.0.iter().position(|(x, _)| argument <= *x);
        match after {
            Some(0) => self.0[0].1,
            Some(at) => {
                let ((x0, y0), (x1, y1)) = (self.0[at - 1], self.0[at]);
                y0 + (y1 - y0) * (argument - x0) / (x1 - x0)
            }
            None => self.0[self.0.len() - 1].1,
        }
    }
}
