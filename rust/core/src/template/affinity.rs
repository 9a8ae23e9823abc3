use crate::intern::{Interner, Symbol};
use crate::object::{self, Pod};
use crate::selector::{Labels, Selector};

/// A pod's inter-pod affinity terms, compiled.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PodTerms {
    pub required: Box<[AffinityTerm]>,
    pub required_anti: Box<[AffinityTerm]>,
    pub preferred: Box<[WeightedTerm]>,
    pub preferred_anti: Box<[WeightedTerm]>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AffinityTerm {
    /// Listed namespaces; the pod's own where neither list nor selector is given.
    pub namespaces: Box<[Symbol]>,
    pub namespace_selector: Selector,
    pub selector: Selector,
    pub topology_key: Symbol,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WeightedTerm {
    pub weight: i32,
    pub term: AffinityTerm,
}

pub(super) type Invalid = Option<(&'static str, Box<str>)>;

impl PodTerms {
    pub(super) fn new(pod: &Pod, interner: &mut Interner, invalid: &mut Invalid) -> Self {
        let Some(affinity) = &pod.spec.affinity else {
            return PodTerms::default();
        };
        let own = interner.intern(&pod.metadata.namespace);
        let mut compile =
            |source: &object::PodAffinityTerm| AffinityTerm::new(source, own, interner, invalid);
        let mut list = |side: &Option<object::PodAffinity>| {
            let Some(side) = side else {
                return Default::default();
            };
            let required: Box<[_]> = side.required.iter().map(&mut compile).collect();
            let weighted = side.preferred.iter().map(|w| WeightedTerm {
                weight: w.weight,
                term: compile(&w.pod_affinity_term),
            });
            (required, weighted.collect::<Box<[_]>>())
        };
        let (required, preferred) = list(&affinity.pod_affinity);
        let (required_anti, preferred_anti) = list(&affinity.pod_anti_affinity);
        PodTerms {
            required,
            required_anti,
            preferred,
            preferred_anti,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.required.is_empty()
            && self.required_anti.is_empty()
            && self.preferred.is_empty()
            && self.preferred_anti.is_empty()
    }

    /// Every term, whatever its kind.
    pub fn all(&self) -> impl Iterator<Item = &AffinityTerm> {
        let preferred = self
            .preferred
            .iter()
            .chain(&self.preferred_anti)
            .map(|w| &w.term);
        self.required
            .iter()
            .chain(&self.required_anti)
            .chain(preferred)
    }
}

impl AffinityTerm {
    fn new(
        source: &object::PodAffinityTerm,
        own: Symbol,
        interner: &mut Interner,
        invalid: &mut Invalid,
    ) -> Self {
        let mut selector = |source: Option<&object::LabelSelector>| {
            Selector::new(source, interner).unwrap_or_else(|message| {
                invalid.get_or_insert(("InterPodAffinity", message.into()));
                Selector::Nothing
            })
        };
        let labels = selector(source.label_selector.as_ref());
        let namespace_selector = selector(source.namespace_selector.as_ref());
        let mut namespaces: Vec<_> = source
            .namespaces
            .iter()
            .map(|n| interner.intern(n))
            .collect();
        if namespaces.is_empty() && source.namespace_selector.is_none() {
            namespaces.push(own);
        }
        namespaces.sort_unstable();
        AffinityTerm {
            namespaces: namespaces.into(),
            namespace_selector,
            selector: labels,
            topology_key: interner.intern(&source.topology_key),
        }
    }

    /// Whether a pod of `namespace` (whose Namespace object has `namespace_labels`) with `labels` is meant.
    pub fn matches(
        &self,
        namespace: Symbol,
        namespace_labels: &Labels,
        labels: &Labels,
        interner: &Interner,
    ) -> bool {
        let meant = self.namespaces.contains(&namespace)
            || self.namespace_selector.matches(namespace_labels, interner);
        meant && self.selector.matches(labels, interner)
    }
}
