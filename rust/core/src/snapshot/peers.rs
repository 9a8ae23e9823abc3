//! What other pods can see of a pod (namespace, labels, affinity terms), interned, with the number of
//! such pods on each node. Spread and inter-pod affinity count over these groups instead of over pods.

use super::nodes::Row;
use crate::intern::Symbol;
use crate::selector::{Labels, Selector};
use crate::template::{PodTerms, Template};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PeerId(pub u32);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PeerKey {
    pub namespace: Symbol,
    pub labels: Labels,
    pub terms: PodTerms,
}

#[derive(Clone, Debug)]
pub struct Peer {
    pub key: PeerKey,
    /// Pods on nodes, without the terminating ones; no entry is zero.
    pub active: FxHashMap<Row, u32>,
    pub terminating: FxHashMap<Row, u32>,
    /// Pods that refer to this group, on a node or not.
    users: u32,
}

/// Every group that some pod belongs to.
#[derive(Debug, Default)]
pub struct Peers {
    ids: FxHashMap<PeerKey, PeerId>,
    list: Vec<Peer>,
    free: Vec<PeerId>,
    /// Those that have affinity terms.
    vocal: BTreeSet<PeerId>,
    sight: Sight,
}

/// What the affinity terms of all pods that were ever known can see of a pod. It only grows: what could
/// be told apart once stays apart, and a pod with rare labels that comes and goes re-keys nobody.
#[derive(Debug, Default)]
struct Sight {
    label_keys: FxHashSet<Symbol>,
    namespaces: FxHashSet<Symbol>,
    /// Some term selects namespaces by their labels.
    any_namespace: bool,
    epoch: u64,
}

impl Sight {
    fn learn(&mut self, terms: &PodTerms) {
        for term in terms.all() {
            let mut new = false;
            for key in term.selector.keys() {
                new |= self.label_keys.insert(key);
            }
            for namespace in &term.namespaces {
                new |= self.namespaces.insert(*namespace);
            }
            let any = term.namespace_selector != Selector::Nothing;
            new |= any && !self.any_namespace;
            self.any_namespace |= any;
            self.epoch += u64::from(new);
        }
    }
}

impl Peers {
    pub(super) fn join(&mut self, template: &Template) -> PeerId {
        let key = PeerKey {
            namespace: template.namespace,
            labels: template.labels.clone(),
            terms: template.affinity.clone(),
        };
        if let Some(&id) = self.ids.get(&key) {
            self.list[id.0 as usize].users += 1;
            return id;
        }
        let peer = Peer {
            key: key.clone(),
            active: FxHashMap::default(),
            terminating: FxHashMap::default(),
            users: 1,
        };
        self.sight.learn(&key.terms);
        let id = match self.free.pop() {
            Some(id) => {
                self.list[id.0 as usize] = peer;
                id
            }
            None => {
                self.list.push(peer);
                PeerId(u32::try_from(self.list.len() - 1).expect("fewer than 2^32 groups"))
            }
        };
        if !key.terms.is_empty() {
            self.vocal.insert(id);
        }
        self.ids.insert(key, id);
        id
    }

    /// One more user of a group that has some.
    pub(super) fn join_again(&mut self, id: PeerId) {
        self.list[id.0 as usize].users += 1;
    }

    /// The pod no longer exists; it must have been taken off its node before.
    pub(super) fn leave(&mut self, id: PeerId) {
        let peer = &mut self.list[id.0 as usize];
        peer.users -= 1;
        if peer.users == 0 {
            self.ids.remove(&peer.key);
            self.vocal.remove(&id);
            self.free.push(id);
        }
    }

    pub(super) fn count(&mut self, id: PeerId, terminating: bool, row: Row, added: bool) {
        let peer = &mut self.list[id.0 as usize];
        let counts = if terminating {
            &mut peer.terminating
        } else {
            &mut peer.active
        };
        if added {
            *counts.entry(row).or_default() += 1;
        } else if let Some(count) = counts.get_mut(&row) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&row);
            }
        }
    }

    /// The namespace and those labels of a pod that some other pod's affinity term can see; `None` if no
    /// term reaches its namespace.
    pub fn seen(&self, template: &Template) -> Option<(Symbol, Labels)> {
        let reached =
            self.sight.any_namespace || self.sight.namespaces.contains(&template.namespace);
        let labels = || {
            template
                .labels
                .project(|key| self.sight.label_keys.contains(&key))
        };
        reached.then(|| (template.namespace, labels()))
    }

    /// Grows whenever [`Peers::seen`] may answer differently.
    pub(super) fn epoch(&self) -> u64 {
        self.sight.epoch
    }

    pub fn get(&self, id: PeerId) -> &Peer {
        &self.list[id.0 as usize]
    }

    /// Groups with at least one pod on a node.
    pub fn placed(&self) -> impl Iterator<Item = (PeerId, &Peer)> {
        let all = self
            .list
            .iter()
            .enumerate()
            .map(|(i, peer)| (PeerId(i as u32), peer));
        all.filter(|(_, peer)| peer.users > 0 && peer.is_placed())
    }

    /// Those of them whose pods have affinity terms.
    pub fn vocal(&self) -> impl Iterator<Item = (PeerId, &Peer)> {
        let all = self.vocal.iter().map(|id| (*id, self.get(*id)));
        all.filter(|(_, peer)| peer.is_placed())
    }

    /// Those that can matter to a pod: all, if it has terms of its own.
    pub fn met_by(&self, has_terms: bool) -> Box<dyn Iterator<Item = (PeerId, &Peer)> + '_> {
        match has_terms {
            true => Box::new(self.placed()),
            false => Box::new(self.vocal()),
        }
    }
}

impl Peer {
    fn is_placed(&self) -> bool {
        !(self.active.is_empty() && self.terminating.is_empty())
    }

    /// All pods by row, the terminating ones included.
    pub fn all(&self) -> impl Iterator<Item = (Row, u32)> + '_ {
        self.active
            .iter()
            .chain(&self.terminating)
            .map(|(row, count)| (*row, *count))
    }
}
