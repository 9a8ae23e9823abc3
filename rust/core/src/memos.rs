//! The memos of all classes, bounded in memory.

use crate::intern::Symbol;
use crate::memo::{Memo, Refusal};
use crate::plugin::KeyWriter;
use crate::profile::Profile;
use crate::snapshot::{Pod, Snapshot};
use crate::template::Template;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::hash::Hash;
use std::sync::Arc;

/// Bytes that memos may take before the least recently used go.
pub const DEFAULT_BUDGET: usize = 1 << 30;

/// Templates whose class is remembered; beyond that the table starts afresh.
const TEMPLATES: usize = 1 << 16;

type ClassId = u32;

#[derive(Debug)]
struct Entry {
    memo: Memo,
    size: usize,
    used: u64,
}

#[derive(Debug)]
pub struct Memos {
    budget: usize,
    size: usize,
    clock: u64,
    entries: FxHashMap<ClassId, Entry>,
    /// Classes by when they were last used.
    oldest: BTreeMap<u64, ClassId>,
    classes: FxHashMap<KeyWriter, ClassId>,
    /// Class by profile and address of the template, which is kept so that its address cannot be reused.
    by_template: FxHashMap<(usize, usize), (Arc<Template>, ClassId)>,
    /// The snapshot's key epoch in which `by_template` is true.
    epoch: u64,
    /// The memo of a class that was seen once: the next such class takes over its buffers.
    passing: Option<(ClassId, Memo)>,
}

impl Memos {
    pub fn new(budget: usize) -> Self {
        Memos {
            budget,
            size: 0,
            clock: 0,
            entries: FxHashMap::default(),
            oldest: BTreeMap::new(),
            classes: FxHashMap::default(),
            by_template: FxHashMap::default(),
            epoch: 0,
            passing: None,
        }
    }

    /// How many classes are remembered.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether a pod's results can be shared: it has nothing of its own that plugins read.
    pub fn shareable(pod: &Pod) -> bool {
        pod.pin.is_none() && pod.claims.is_empty() && pod.node_name == Symbol::EMPTY
    }

    /// The memo of a shareable pod's class, up to date. A class is kept from its second pod on: where
    /// every pod is another class, nothing is worth keeping.
    pub fn get(
        &mut self,
        snap: &Snapshot,
        profile: (usize, &Profile),
        pod: &Pod,
    ) -> Result<&mut Memo, Refusal> {
        let (class, seen) = self.class(snap, profile, pod);
        self.clock += 1;
        if let Some(mut entry) = self.take(class) {
            entry.memo.catch_up(snap, profile.1, pod)?;
            return Ok(self.keep(class, entry.memo));
        }
        let passing = self.passing.take();
        if let Some((known, mut memo)) = passing {
            if known == class {
                memo.catch_up(snap, profile.1, pod)?;
                return Ok(self.keep(class, memo));
            }
            if !seen {
                memo.rebuild(snap, profile.1, pod)?;
                return Ok(&mut self.passing.insert((class, memo)).1);
            }
        }
        let memo = Memo::build(snap, profile.1, pod)?;
        if seen {
            return Ok(self.keep(class, memo));
        }
        Ok(&mut self.passing.insert((class, memo)).1)
    }

    fn take(&mut self, class: ClassId) -> Option<Entry> {
        let entry = self.entries.remove(&class)?;
        self.oldest.remove(&entry.used);
        self.size -= entry.size;
        Some(entry)
    }

    fn keep(&mut self, class: ClassId, memo: Memo) -> &mut Memo {
        let (size, used) = (memo.size(), self.clock);
        while self.size + size > self.budget {
            let Some((_, oldest)) = self.oldest.pop_first() else {
                break;
            };
            if let Some(entry) = self.entries.remove(&oldest) {
                self.size -= entry.size;
            }
        }
        self.size += size;
        self.oldest.insert(used, class);
        let entry = Entry { memo, size, used };
        &mut self
            .entries
            .entry(class)
            .insert_entry(entry)
            .into_mut()
            .memo
    }

    /// A pod's class, and whether a pod of it was seen before.
    fn class(&mut self, snap: &Snapshot, profile: (usize, &Profile), pod: &Pod) -> (ClassId, bool) {
        if self.epoch != snap.key_epoch() {
            self.epoch = snap.key_epoch();
            self.by_template.clear();
        }
        let address = (profile.0, Arc::as_ptr(&pod.template).addr());
        if let Some((_, class)) = self.by_template.get(&address) {
            return (*class, true);
        }
        if self.by_template.len() >= TEMPLATES || self.classes.len() >= TEMPLATES {
            self.forget();
        }
        let key = class_key(snap, profile, pod);
        let next = self.classes.len() as ClassId;
        let class = *self.classes.entry(key).or_insert(next);
        self.by_template
            .insert(address, (Arc::clone(&pod.template), class));
        (class, class != next)
    }

    /// Numbers of classes start afresh, so what is known by them goes too.
    fn forget(&mut self) {
        *self = Memos {
            epoch: self.epoch,
            ..Memos::new(self.budget)
        };
    }
}

/// The keys of all plugins of a profile, one after the other.
fn class_key(snap: &Snapshot, (index, profile): (usize, &Profile), pod: &Pod) -> KeyWriter {
    let mut key = KeyWriter::default();
    index.hash(&mut key);
    let scoring = profile.score.iter().map(|(plugin, _)| plugin);
    for plugin in profile.pre_filter.iter().chain(scoring) {
        plugin.key(snap, pod, &mut key);
    }
    key
}
