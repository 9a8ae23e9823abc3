/// The fewest pods of any eligible domain, and how many domains have so few.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Minimum {
    pub(super) value: i64,
    ties: usize,
}

impl Minimum {
    /// Without any domain: upstream's starting value.
    const NONE: Minimum = Minimum {
        value: i32::MAX as i64,
        ties: 0,
    };

    pub(super) fn of(counts: &[i64], eligible: &[bool]) -> Self {
        let eligible = counts.iter().zip(eligible).filter(|(_, e)| **e);
        eligible.fold(Minimum::NONE, |min, (count, _)| min.with(*count))
    }

    fn with(self, count: i64) -> Self {
        match count.cmp(&self.value) {
            std::cmp::Ordering::Less => Minimum {
                value: count,
                ties: 1,
            },
            std::cmp::Ordering::Equal => Minimum {
                ties: self.ties + 1,
                ..self
            },
            std::cmp::Ordering::Greater => self,
        }
    }

    /// After one eligible domain's count went one up or down from `before` to `counts[at]`; whether it moved.
    pub(super) fn follow(
        &mut self,
        counts: &[i64],
        eligible: &[bool],
        (at, before): (usize, i64),
    ) -> bool {
        let (old, count) = (self.value, counts[at]);
        if count <= old {
            *self = self.with(count);
        } else if before == old {
            self.ties -= 1;
            if self.ties == 0 {
                *self = Minimum::of(counts, eligible);
            }
        }
        self.value != old
    }
}
