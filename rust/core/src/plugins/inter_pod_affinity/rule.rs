//! What the required terms of and about the incoming pod are, besides the pods on nodes.

use super::terms::{Seen, Term};
use crate::intern::Symbol;
use crate::plugins::partition::Partition;
use crate::selector::Labels;
use crate::snapshot::Snapshot;
use crate::template::{AffinityTerm, PodTerms, Template};

/// Why a pod is counted in a domain.
#[derive(Clone, Copy, Debug)]
pub(super) enum Which {
    /// All affinity terms of the incoming pod select it; once per term.
    Affinity,
    /// An anti-affinity term of the incoming pod selects it.
    Anti,
    /// An anti-affinity term of its own selects the incoming pod.
    Existing,
}

#[derive(Debug)]
pub(super) struct Rule {
    affinity: Vec<Term>,
    anti: Vec<Term>,
    sources: PodTerms,
    /// The affinity terms select the incoming pod itself.
    pub(super) own: bool,
    seen: Seen,
    pub(super) partition: Partition,
    /// The column of each term.
    pub(super) affinity_columns: Vec<usize>,
    pub(super) anti_columns: Vec<usize>,
}

fn resolve(terms: &[AffinityTerm], snap: &Snapshot) -> Vec<Term> {
    terms.iter().map(|t| Term::new(t, snap)).collect()
}

impl Rule {
    /// `None` if neither the pod nor any pod on a node has such terms.
    pub(super) fn new(snap: &Snapshot, template: &Template) -> Option<Self> {
        let terms = &template.affinity;
        let affinity = resolve(&terms.required, snap);
        let anti = resolve(&terms.required_anti, snap);
        let seen = Seen::new(snap, template);
        let mut keys: Vec<Symbol> = Vec::new();
        let mut column = |key: Symbol| {
            keys.iter().position(|k| *k == key).unwrap_or_else(|| {
                keys.push(key);
                keys.len() - 1
            })
        };
        let affinity_columns = affinity.iter().map(|t| column(t.key)).collect();
        let anti_columns = anti.iter().map(|t| column(t.key)).collect();
        for (_, peer) in snap.peers.vocal() {
            for term in &peer.key.terms.required_anti {
                if seen.by(term, snap) {
                    column(term.topology_key);
                }
            }
        }
        if keys.is_empty() {
            return None;
        }
        Some(Rule {
            affinity_columns,
            anti_columns,
            own: affinity.iter().all(|t| t.selects(snap, template)),
            sources: PodTerms {
                required: terms.required.clone(),
                required_anti: terms.required_anti.clone(),
                ..PodTerms::default()
            },
            affinity,
            anti,
            seen,
            partition: Partition::new(snap, &keys, |_| 0),
        })
    }

    /// Whether it is still what it would be made to, after something besides nodes and pods changed.
    pub(super) fn holds(&self, snap: &Snapshot) -> bool {
        self.seen.holds(snap)
            && self.affinity == resolve(&self.sources.required, snap)
            && self.anti == resolve(&self.sources.required_anti, snap)
    }

    pub(super) fn has_terms(&self) -> bool {
        !self.affinity.is_empty() || !self.anti.is_empty()
    }

    pub(super) fn column(&self, key: Symbol) -> Option<usize> {
        self.partition.keys().iter().position(|k| *k == key)
    }

    /// Calls `add` for each count, and the key of its domain, that a pod on a node adds to.
    pub(super) fn each(
        &self,
        snap: &Snapshot,
        (namespace, labels, terms): (Symbol, &Labels, &PodTerms),
        mut add: impl FnMut(Which, Symbol),
    ) {
        for term in &terms.required_anti {
            if self.seen.by(term, snap) {
                add(Which::Existing, term.topology_key);
            }
        }
        let selected = |term: &Term| term.selects_labels(snap, namespace, labels);
        if !self.affinity.is_empty() && self.affinity.iter().all(selected) {
            for term in &self.affinity {
                add(Which::Affinity, term.key);
            }
        }
        for term in self.anti.iter().filter(|t| selected(t)) {
            add(Which::Anti, term.key);
        }
    }
}
