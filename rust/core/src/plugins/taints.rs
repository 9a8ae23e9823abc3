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
                TolerationOperator::Never => false,
            }
    })
}
