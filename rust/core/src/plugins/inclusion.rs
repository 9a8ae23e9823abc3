//! Which nodes count for a spread constraint: its node inclusion policies.

use super::taints::{self, tolerates};
use crate::intern::Symbol;
use crate::snapshot::{Pod, Row, Snapshot};
use crate::template::{FieldRequirement, NodeTerms, SpreadConstraint, Toleration};
use std::hash::{Hash, Hasher};

/// The node passes the pod's node selector and required node affinity.
pub(super) const AFFINITY: u32 = 1;
/// All taints of the node that keep pods away are tolerated.
pub(super) const TAINTS: u32 = 2;

/// The facts about nodes that the policies of some constraints of one pod ask for. A policy that
/// accepts every node asks for nothing.
#[derive(Clone, Debug)]
pub(super) struct Inclusion {
    affinity: Option<(NodeTerms, Option<Symbol>)>,
    tolerations: Option<Box<[Toleration]>>,
    effects: taints::Effects,
}

impl Inclusion {
    pub(super) fn new(
        pod: &Pod,
        constraints: &[SpreadConstraint],
        effects: taints::Effects,
    ) -> Self {
        let template = &pod.template;
        let terms = &template.node_affinity;
        let restricts =
            terms.required.is_some() || terms.selector.as_ref().is_some_and(|s| !s.is_empty());
        let affinity = restricts && constraints.iter().any(|c| c.honor_affinity);
        let honors_taints = constraints.iter().any(|c| c.honor_taints);
        Inclusion {
            affinity: affinity.then(|| {
                let terms = NodeTerms {
                    selector: terms.selector.clone(),
                    required: terms.required.clone(),
                    preferred: None,
                    preferred_error: None,
                };
                let pin = pod.pin.filter(|_| is_pinned(&terms));
                (terms, pin)
            }),
            tolerations: honors_taints.then(|| template.tolerations.clone()),
            effects,
        }
    }

    /// [`AFFINITY`] and [`TAINTS`] of a row, set where nobody asks.
    pub(super) fn facts(&self, snap: &Snapshot, row: Row) -> u32 {
        let node = snap.nodes.info(row);
        let affinity = self.affinity.as_ref().is_none_or(|(terms, pin)| {
            terms.accepts(snap.nodes.name(row), &node.labels, *pin, &snap.interner)
        });
        let taints = self.tolerations.as_ref().is_none_or(|tolerations| {
            let mut repelling = node.taints.iter().filter(|t| t.effect.repels());
            repelling.all(|taint| tolerates(tolerations, taint, &self.effects))
        });
        (u32::from(affinity) * AFFINITY) | (u32::from(taints) * TAINTS)
    }

    /// The facts that must hold for a node to count.
    pub(super) fn needed(constraint: &SpreadConstraint) -> u32 {
        (u32::from(constraint.honor_affinity) * AFFINITY)
            | (u32::from(constraint.honor_taints) * TAINTS)
    }
}

/// What of the pod the facts depend on.
impl Hash for Inclusion {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.affinity.hash(state);
        self.tolerations.hash(state);
    }
}

fn is_pinned(terms: &NodeTerms) -> bool {
    let mut fields = terms.required.iter().flatten().flat_map(|t| &t.fields);
    fields.any(|field| *field == FieldRequirement::Pinned)
}
