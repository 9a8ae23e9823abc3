//! The memos of all classes, bounded in memory.

use crate::memo::{Memo, Refusal};
use crate::plugin::KeyWriter;
use crate::profile::Profile;
use crate::snapshot::{Pod, Snapshot};
use crate::template::Template;
use rustc_hash::FxHashMap;
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
    class: ClassId,
}

#[derive(Debug)]
pub struct Memos {
    budget: usize,
    size: usize,
    clock: u64,
    entries: FxHashMap<ClassId, Entry>,
    classes: FxHashMap<KeyWriter, ClassId>,
    /// Class by profile and address of the template, which is kept so that its address cannot be reused.
    by_template: FxHashMap<(usize, usize), (Arc<Template>, ClassId)>,
    /// Where the snapshot's key epoch stood when `by_template` was begun.
    epoch: u64,
}

impl Memos {
    pub fn new(budget: usize) -> Self {
        Memos {
            budget,
            size: 0,
            clock: 0,
            entries: FxHashMap::default(),
            classes: FxHashMap::default(),
            by_template: FxHashMap::default(),
            epoch: 0,
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
        pod.pin.is_none() && pod.claims.is_empty() && pod.node_name == crate::intern::Symbol::EMPTY
    }

    /// The memo of a shareable pod's class, up to date.
    pub fn get(
        &mut self,
        snap: &Snapshot,
        profile: (usize, &Profile),
        pod: &Pod,
    ) -> Result<&mut Memo, Refusal> {
        let class = self.class(snap, profile, pod);
        self.clock += 1;
        let mut entry = match self.entries.remove(&class) {
            Some(mut entry) => {
                self.size -= entry.size;
                entry.memo.catch_up(snap, profile.1, pod)?;
                entry
            }
            None => {
                let memo = Memo::build(snap, profile.1, pod)?;
                Entry {
                    memo,
                    size: 0,
                    used: 0,
                    class,
                }
            }
        };
        entry.size = entry.memo.size();
        entry.used = self.clock;
        self.make_room(entry.size);
        self.size += entry.size;
        Ok(&mut self
            .entries
            .entry(class)
            .insert_entry(entry)
            .into_mut()
            .memo)
    }

    fn make_room(&mut self, size: usize) {
        while self.size + size > self.budget {
            let Some(oldest) = self
                .entries
                .values()
                .min_by_key(|e| e.used)
                .map(|e| e.class)
            else {
                return;
            };
            if let Some(entry) = self.entries.remove(&oldest) {
                self.size -= entry.size;
            }
        }
    }

    fn class(&mut self, snap: &Snapshot, profile: (usize, &Profile), pod: &Pod) -> ClassId {
        if self.epoch != snap.key_epoch() {
            self.by_template.clear();
            self.epoch = snap.key_epoch();
        }
        let address = (profile.0, Arc::as_ptr(&pod.template).addr());
        if let Some((_, class)) = self.by_template.get(&address) {
            return *class;
        }
        let key = class_key(snap, profile, pod);
        let next = self.classes.len() as ClassId;
        let class = *self.classes.entry(key).or_insert(next);
        if self.by_template.len() >= TEMPLATES {
            self.by_template.clear();
        }
        self.by_template
            .insert(address, (Arc::clone(&pod.template), class));
        class
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
