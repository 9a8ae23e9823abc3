//! Selectors of Services and controllers, from which spread constraints by default are made.

use crate::intern::{Interner, Symbol};
use crate::object::{LabelSelector, Service, SetWorkload, StringMap};
use crate::selector::{Labels, Requirement, Selector};
use crate::template::{Owner, Template};
use rustc_hash::FxHashMap;

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

    /// Upstream's `helper.DefaultSelector`: all Services of the namespace that select the pod, merged,
    /// AND the selector of its controller. `None` if that has no requirement at all.
    pub fn default_selector(&self, pod: &Template, interner: &Interner) -> Option<Selector> {
        let mut requirements: Vec<Requirement> = Vec::new();
        for ((namespace, _), labels) in &self.services {
            let selects = |(key, value): (Symbol, Symbol)| pod.labels.get(key) == Some(value);
            if *namespace == pod.namespace && labels.iter().all(selects) {
                requirements.extend(labels.iter().map(|(k, v)| Requirement::equals(k, v)));
            }
        }
        let controller = pod.owner.and_then(|owner| {
            let kind = controller_kind(owner, interner)?;
            self.controllers.get(&(kind, (pod.namespace, owner.name)))
        });
        match controller {
            Some(Selector::All(more)) => {
                requirements.extend(more.iter().cloned());
                Self::merged(requirements)
            }
            // A controller without selector adds nothing, it does not forbid.
            Some(Selector::Nothing) | None => Self::merged(requirements),
        }
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
