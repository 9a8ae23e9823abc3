//! The classes of pods: pods of one class have equal results on any snapshot. Bounded in memory.

use crate::plugin::{KeyWriter, Plugin};
use crate::profile::Profile;
use crate::snapshot::{Generation, Pod, Snapshot, TableId};
use crate::template::{Rest, Template};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;
use std::sync::{Arc, Weak};

/// Templates whose class is remembered; beyond that the table starts afresh.
const TEMPLATES: usize = 1 << 11;

pub(crate) type ClassId = u32;

type Address = (usize, usize, Option<TableId>);

#[derive(Debug, Default)]
pub(crate) struct Classes {
    known: FxHashMap<Box<[u8]>, ClassId>,
    /// Class by profile, address of the template, which a weak reference keeps from being reused, and the
    /// table of what the caller's plugins say.
    by_template: FxHashMap<Address, (Weak<Template>, ClassId)>,
    /// The same by what templates share, for pods of which no plugin reads labels.
    by_rest: FxHashMap<Address, (Weak<Rest>, ClassId)>,
    /// The snapshot's key epoch in which both are true.
    epoch: u64,
    /// Per class: how far the snapshot had come when it was last asked for.
    asked: Vec<Generation>,
    /// Numbers of classes that were forgotten.
    free: Vec<ClassId>,
}

impl Classes {
    pub(crate) fn len(&self) -> usize {
        self.known.len()
    }

    /// A pod's class, and whether a pod of it was seen before.
    pub(crate) fn of(
        &mut self,
        snap: &Snapshot,
        profile: (usize, &Profile),
        pod: &Pod,
    ) -> (ClassId, bool) {
        if self.epoch != snap.key_epoch() {
            self.epoch = snap.key_epoch();
            self.by_template.clear();
            self.by_rest.clear();
        }
        let address = (profile.0, Arc::as_ptr(&pod.template).addr(), pod.told);
        if let Some((_, class)) = self.by_template.get(&address) {
            return (*class, true);
        }
        if self.by_template.len() >= TEMPLATES {
            self.by_template.clear();
            self.by_rest.clear();
        }
        let rest = pod.template.rest();
        let shared = (profile.0, Arc::as_ptr(rest).addr(), pod.told);
        let known = self.by_rest.get(&shared).map(|(_, class)| *class);
        let reads_labels = || plugins(profile.1).any(|plugin| plugin.reads_labels(snap, pod));
        let (class, seen) = match known {
            Some(class) => (class, true),
            None => {
                let found = self.by_key(key(snap, profile, pod));
                if !reads_labels() {
                    self.by_rest.insert(shared, (Arc::downgrade(rest), found.0));
                }
                found
            }
        };
        let known = (Arc::downgrade(&pod.template), class);
        self.by_template.insert(address, known);
        (class, seen)
    }

    fn by_key(&mut self, key: Box<[u8]>) -> (ClassId, bool) {
        match self.known.entry(key) {
            Entry::Occupied(known) => (*known.get(), true),
            Entry::Vacant(new) => {
                let next = self.free.pop().unwrap_or(self.asked.len() as ClassId);
                if next as usize == self.asked.len() {
                    self.asked.push(0);
                }
                (*new.insert(next), false)
            }
        }
    }

    /// How many changes there were since the class was last asked for.
    pub(crate) fn missed(&mut self, class: ClassId, now: Generation) -> usize {
        let before = std::mem::replace(&mut self.asked[class as usize], now);
        distance(before, now)
    }

    /// Forgets the classes for which `useless` says so, given how many changes they have missed.
    pub(crate) fn forget(
        &mut self,
        now: Generation,
        mut useless: impl FnMut(ClassId, usize) -> bool,
    ) {
        let Classes {
            known, asked, free, ..
        } = self;
        let had = free.len();
        known.retain(|_, class| {
            let gone = useless(*class, distance(asked[*class as usize], now));
            if gone {
                free.push(*class);
            }
            !gone
        });
        let mut gone = free[had..].to_vec();
        gone.sort_unstable();
        let stays = |class: &ClassId| gone.binary_search(class).is_err();
        self.by_template.retain(|_, (_, class)| stays(class));
        self.by_rest.retain(|_, (_, class)| stays(class));
    }
}

fn distance(before: Generation, now: Generation) -> usize {
    usize::try_from(now.saturating_sub(before)).unwrap_or(usize::MAX)
}

/// The keys of all plugins of a profile, one after the other.
fn key(snap: &Snapshot, (index, profile): (usize, &Profile), pod: &Pod) -> Box<[u8]> {
    let mut key = KeyWriter::default();
    index.hash(&mut key);
    for plugin in plugins(profile) {
        plugin.key(snap, pod, &mut key);
    }
    key.0.into()
}

/// Those that write the key.
fn plugins(profile: &Profile) -> impl Iterator<Item = &dyn Plugin> {
    let scoring = profile.score.iter().map(|(plugin, _)| plugin);
    profile
        .pre_filter
        .iter()
        .chain(scoring)
        .map(|plugin| &**plugin)
}
