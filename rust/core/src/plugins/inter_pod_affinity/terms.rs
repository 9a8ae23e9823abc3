//! The incoming pod's side of affinity: its own terms, resolved, and what the terms of others see of it.

use crate::intern::Symbol;
use crate::selector::{Labels, Selector};
use crate::snapshot::Snapshot;
use crate::template::{AffinityTerm, Template};

/// A term of the incoming pod. As upstream, its namespace selector stands for the Namespace objects it
/// selects when the pod is looked at; the empty selector for every namespace, object or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Term {
    pub(super) key: Symbol,
    /// Ascending; `None` for all.
    namespaces: Option<Box<[Symbol]>>,
    selector: Selector,
}

impl Term {
    pub(super) fn new(source: &AffinityTerm, snap: &Snapshot) -> Self {
        let by_labels = &source.namespace_selector;
        let namespaces = (!by_labels.is_empty()).then(|| {
            let mut list = source.namespaces.to_vec();
            if *by_labels != Selector::Nothing {
                let all = snap.namespaces();
                let selected = all.filter(|(_, l)| by_labels.matches(l, &snap.interner));
                list.extend(selected.map(|(name, _)| name));
            }
            list.sort_unstable();
            list.dedup();
            list.into()
        });
        Term {
            key: source.topology_key,
            namespaces,
            selector: source.selector.clone(),
        }
    }

    pub(super) fn selects(&self, snap: &Snapshot, other: &Template) -> bool {
        self.selects_labels(snap, other.namespace, &other.labels)
    }

    pub(super) fn selects_labels(
        &self,
        snap: &Snapshot,
        namespace: Symbol,
        labels: &Labels,
    ) -> bool {
        let meant = |list: &[Symbol]| list.contains(&namespace);
        self.namespaces.as_deref().is_none_or(meant)
            && self.selector.matches(labels, &snap.interner)
    }
}

/// A pod as the affinity terms of others see it.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pod: Option<(Symbol, Labels)>,
    namespace_labels: Labels,
}

impl Seen {
    pub(super) fn new(snap: &Snapshot, template: &Template) -> Self {
        Seen {
            pod: snap.peers.seen(template),
            namespace_labels: snap.namespace_labels(template.namespace).clone(),
        }
    }

    /// Whether it is one that a term of a pod on a node selects.
    pub(super) fn by(&self, term: &AffinityTerm, snap: &Snapshot) -> bool {
        self.pod.as_ref().is_some_and(|(namespace, labels)| {
            term.matches(*namespace, &self.namespace_labels, labels, &snap.interner)
        })
    }

    /// Whether its namespace still has the labels it had.
    pub(super) fn holds(&self, snap: &Snapshot) -> bool {
        let unchanged = |(namespace, _): &(Symbol, Labels)| {
            *snap.namespace_labels(*namespace) == self.namespace_labels
        };
        self.pod.as_ref().is_none_or(unchanged)
    }
}
