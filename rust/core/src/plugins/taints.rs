//! Which taints a pod tolerates; shared by the plugins that ask.

use crate::intern::Symbol;
use crate::snapshot::{Effect, Snapshot, Taint};
use crate::template::{Toleration, TolerationOperator};

/// Symbols of the effect names, which tolerations carry as text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effects {
    no_schedule: Symbol,
    prefer_no_schedule: Symbol,
    no_execute: Symbol,
}

impl Effects {
    pub(crate) fn new(snap: &mut Snapshot) -> Self {
        Effects {
            no_schedule: snap.interner.intern(Effect::NoSchedule.text()),
            prefer_no_schedule: snap.interner.intern(Effect::PreferNoSchedule.text()),
            no_execute: snap.interner.intern(Effect::NoExecute.text()),
        }
    }

    /// Whether a toleration's effect (empty: any) covers `effect`.
    pub(crate) fn covers(&self, toleration: &Toleration, effect: Effect) -> bool {
        let symbol = match effect {
            Effect::NoSchedule => self.no_schedule,
            Effect::PreferNoSchedule => self.prefer_no_schedule,
            Effect::NoExecute => self.no_execute,
            Effect::Other => return toleration.effect == Symbol::EMPTY,
        };
        toleration.effect == Symbol::EMPTY || toleration.effect == symbol
    }
}

/// Upstream's `Toleration.ToleratesTaint`: an empty key means any key, whatever the operator.
pub(crate) fn tolerates(list: &[Toleration], taint: &Taint, effects: &Effects) -> bool {
    list.iter().any(|toleration| {
        effects.covers(toleration, taint.effect)
            && (toleration.key == Symbol::EMPTY || toleration.key == taint.key)
            && match toleration.operator {
                TolerationOperator::Equal => toleration.value == taint.value,
                TolerationOperator::Exists => true,
                TolerationOperator::Above(bound) => taint.number.is_some_and(|n| n > bound),
                TolerationOperator::Below(bound) => taint.number.is_some_and(|n| n < bound),
                TolerationOperator::Never => false,
            }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::template::decimal;

    fn tolerated(operator: TolerationOperator, value: &str) -> bool {
        let mut snap = Snapshot::default();
        let effects = Effects::new(&mut snap);
        let taint = Taint {
            key: snap.interner.intern("level"),
            value: snap.interner.intern(value),
            number: decimal(value),
            effect: Effect::NoSchedule,
        };
        let toleration = Toleration {
            key: taint.key,
            operator,
            value: Symbol::EMPTY,
            effect: Symbol::EMPTY,
        };
        tolerates(&[toleration], &taint, &effects)
    }

    #[test]
    fn numbers_are_compared_strictly() {
        for (value, above, below) in [
            ("6", true, false),
            ("5", false, false),
            ("4", false, true),
            ("-7", false, true),
            ("9223372036854775807", true, false),
            ("9223372036854775808", false, false),
            ("", false, false),
            ("06", false, false),
            ("+6", false, false),
            ("-0", false, false),
            ("6.5", false, false),
            ("six", false, false),
        ] {
            assert_eq!(
                tolerated(TolerationOperator::Above(5), value),
                above,
                "{value}"
            );
            assert_eq!(
                tolerated(TolerationOperator::Below(5), value),
                below,
                "{value}"
            );
        }
    }
}
