//! PodDisruptionBudgets, as preemption reads them.

use crate::intern::{Interner, Symbol};
use crate::object::PodDisruptionBudget;
use crate::selector::Selector;

#[derive(Clone, Debug)]
pub struct Budget {
    pub namespace: Symbol,
    pub name: Symbol,
    pub selector: Selector,
    pub disruptions_allowed: i32,
    /// Names of pods whose disruption was granted already.
    pub disrupted_pods: Box<[Box<str>]>,
}

/// In the order they came; upstream's order is a map's.
#[derive(Debug, Default)]
pub struct Budgets(Vec<Budget>);

impl Budgets {
    pub(super) fn set(
        &mut self,
        source: &PodDisruptionBudget,
        interner: &mut Interner,
    ) -> Result<(), String> {
        let budget = Budget {
            namespace: interner.intern(&source.metadata.namespace),
            name: interner.intern(&source.metadata.name),
            selector: Selector::new(source.spec.selector.as_ref(), interner)?,
            disruptions_allowed: source.status.disruptions_allowed,
            disrupted_pods: source
                .status
                .disrupted_pods
                .keys()
                .map(|n| n.as_str().into())
                .collect(),
        };
        match self.position(budget.namespace, budget.name) {
            Some(index) => self.0[index] = budget,
            None => self.0.push(budget),
        }
        Ok(())
    }

    pub(super) fn remove(&mut self, namespace: Symbol, name: Symbol) {
        if let Some(index) = self.position(namespace, name) {
            self.0.remove(index);
        }
    }

    fn position(&self, namespace: Symbol, name: Symbol) -> Option<usize> {
        self.0
            .iter()
            .position(|b| b.namespace == namespace && b.name == name)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Budget> {
        self.0.iter()
    }
}
