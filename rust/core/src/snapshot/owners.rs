//! Selectors of Services and controllers, from which spread constraints by default are made.

use crate::intern::{Interner, Symbol};
use crate::object::{LabelSelector, Service, SetWorkload, StringMap};
use crate::selector::{Labels, Requirement, Selector};
use crate::template::{Owner, Template};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Kind of a controller whose selector counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ControllerKind {
    ReplicationController,
    ReplicaSet,
    StatefulSet,
}

type Key = (Symbol, Symbol);

#[derive(Debug, Default)]
pub struct Owners {
    /// Namespace and name to the selector map; Services without a selector are not kept.
    services: FxHashMap<Key, Labels>,
    controllers: FxHashMap<(ControllerKind, Key), Selector>,
}

impl Owners {
    pub(super) fn set_service(&mut self, service: &Service, interner: &mut Interner) {
        let key = key(
            &service.metadata.namespace,
            &service.metadata.name,
            interner,
        );
        let labels = Labels::new(&service.spec.selector, interner);
        if labels.is_empty() {
            self.services.remove(&key);
        } else {
            self.services.insert(key, labels);
        }
    }

    pub(super) fn remove_service(&mut self, namespace: &str, name: &str, interner: &mut Interner) {
        self.services.remove(&key(namespace, name, interner));
    }

    pub(super) fn set_controller(
        &mut self,
        kind: ControllerKind,
        set: &SetWorkload,
        interner: &mut Interner,
    ) -> Result<(), String> {
        let key = key(&set.metadata.namespace, &set.metadata.name, interner);
        let selector = Selector::new(set.spec.selector.as_ref(), interner)?;
        self.controllers.insert((kind, key), selector);
        Ok(())
    }

    pub(super) fn remove_controller(
        &mut self,
        kind: ControllerKind,
        namespace: &str,
        name: &str,
        interner: &mut Interner,
    ) {
        self.controllers
            .remove(&(kind, key(namespace, name, interner)));
    }

    /// Whether no pod has spread constraints by default.
    pub fn is_empty(&self) -> bool {
        self.services.is_empty() && self.controllers.is_empty()
    }

    /// Upstream's `helper.DefaultSelector`: all Services of the namespace that select the pod, merged,
    /// AND the selector of its controller. `None` if that has no requirement at all.
    pub fn default_selector(&self, pod: &Template, interner: &Interner) -> Option<Selector> {
        // One map of labels: where two say different things of a key, the later wins, as upstream.
        let mut merged: BTreeMap<Symbol, Symbol> = BTreeMap::new();
        for ((namespace, _), labels) in &self.services {
            let selects = |(key, value): (Symbol, Symbol)| pod.labels.get(key) == Some(value);
            if *namespace == pod.namespace && labels.iter().all(selects) {
                merged.extend(labels.iter());
            }
        }
        let owner = pod
            .owner
            .and_then(|owner| Some((controller_kind(owner, interner)?, owner.name)));
        let controller = owner.and_then(|(kind, name)| {
            let selector = self.controllers.get(&(kind, (pod.namespace, name)))?;
            // A controller without selector adds nothing, it does not forbid.
            let Selector::All(requirements) = selector else {
                return None;
            };
            Some((kind, requirements))
        });
        let mut more: &[Requirement] = &[];
        match controller {
            Some((ControllerKind::ReplicationController, equalities)) => {
                merged.extend(equalities.iter().map(|r| (r.key, r.values[0])));
            }
            Some((_, requirements)) => more = requirements,
            None => {}
        }
        let equalities = merged
            .into_iter()
            .map(|(key, value)| Requirement::equals(key, value));
        Self::merged(equalities.chain(more.iter().cloned()).collect())
    }

    /// In one order whatever the order of the Services, so that equal selectors compare equal.
    fn merged(mut requirements: Vec<Requirement>) -> Option<Selector> {
        requirements.sort_by(|a, b| (a.key, &a.values).cmp(&(b.key, &b.values)));
        requirements.dedup();
        (!requirements.is_empty()).then(|| Selector::All(requirements.into()))
    }
}

fn controller_kind(owner: Owner, interner: &Interner) -> Option<ControllerKind> {
    match (interner.text(owner.api_version), interner.text(owner.kind)) {
        ("v1", "ReplicationController") => Some(ControllerKind::ReplicationController),
        ("apps/v1", "ReplicaSet") => Some(ControllerKind::ReplicaSet),
        ("apps/v1", "StatefulSet") => Some(ControllerKind::StatefulSet),
        _ => None,
    }
}

fn key(namespace: &str, name: &str, interner: &mut Interner) -> Key {
    (interner.intern(namespace), interner.intern(name))
}

/// A ReplicationController's plain map in the form of the other controllers.
pub(super) fn map_selector(map: &StringMap) -> Option<LabelSelector> {
    (!map.is_empty()).then(|| LabelSelector {
        match_labels: map.clone(),
        ..Default::default()
    })
}
