use super::DrfError;

/// A weight as an exact fraction of two 32-bit numbers, in lowest terms.
///
/// *Unset* is 1. *Zero* is not a very small weight: a tenant of weight zero has no claim and comes after
/// every tenant with one; a resource of weight zero is no part of any share. *Unlimited* is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Weight {
    numerator: u32,
    denominator: u32,
}

impl Weight {
    pub const ONE: Self = Self {
        numerator: 1,
        denominator: 1,
    };
    pub const ZERO: Self = Self {
        numerator: 0,
        denominator: 1,
    };

    /// The weight `numerator / denominator`.
    ///
    /// # Errors
    /// A zero denominator, or a fraction whose lowest terms do not fit 32 bits.
    pub fn new(numerator: u64, denominator: u64) -> Result<Self, DrfError> {
        if denominator == 0 {
            return Err(DrfError::InfiniteWeight(numerator, denominator));
        }
        let divisor = greatest_common_divisor(numerator, denominator);
        let wide = |_| DrfError::WideWeight(numerator, denominator);
        Ok(Self {
            numerator: u32::try_from(numerator / divisor).map_err(wide)?,
            denominator: u32::try_from(denominator / divisor).map_err(wide)?,
        })
    }

    pub fn numerator(self) -> u32 {
        self.numerator
    }

    pub fn denominator(self) -> u32 {
        self.denominator
    }

    pub fn is_zero(self) -> bool {
        self.numerator == 0
    }

    /// What divides a share: the weight itself, or 1 among the tenants that have no claim.
    pub(super) fn divisor(self) -> Self {
        if self.is_zero() { Self::ONE } else { self }
    }

    pub(super) fn to_f64(self) -> f64 {
        f64::from(self.numerator) / f64::from(self.denominator)
    }
}

impl Default for Weight {
    fn default() -> Self {
        Self::ONE
    }
}

fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
