//! The memos of all classes, bounded in memory.

use crate::intern::Symbol;
use crate::memo::{Memo, Refusal, Scratch};
use crate::plugin::KeyWriter;
use crate::profile::Profile;
use crate::snapshot::{Generation, Pod, Snapshot, TableId};
use crate::template::Template;
use rustc_hash::FxHashMap;
use std::hash::Hash;
use std::sync::Arc;

/// Bytes that memos may take before the least recently used go.
pub const DEFAULT_BUDGET: usize = 1 << 30;

/// Templates whose class is remembered; beyond that the table starts afresh.
const TEMPLATES: usize = 1 << 11;

/// Classes that have a number; beyond that all starts afresh.
const CLASSES: usize = 1 << 13;

/// Pods between two looks for memos that are of no use any more.
const ROUND: u64 = 1 << 10;

type ClassId = u32;

type Address = (usize, usize, Option<TableId>);

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
    /// Per class.
    entries: Vec<Option<Entry>>,
    classes: FxHashMap<KeyWriter, ClassId>,
    /// Class by profile, address of the template, which is kept so that its address cannot be reused, and
    /// the table of what the caller's plugins say.
    by_template: FxHashMap<Address, (Arc<Template>, ClassId)>,
    /// The snapshot's key epoch in which `by_template` is true.
    epoch: u64,
    /// Per class: how far the snapshot had come when it was last asked for.
    asked: Vec<Generation>,
    /// A memo that is not worth keeping: the next such class takes over its buffers.
    passing: Option<(ClassId, Memo)>,
    scratch: Scratch,
}

impl Memos {
    pub fn new(budget: usize) -> Self {
        Memos {
            budget,
            size: 0,
            clock: 0,
            entries: Vec::new(),
            classes: FxHashMap::default(),
            by_template: FxHashMap::default(),
            epoch: 0,
            asked: Vec::new(),
            passing: None,
            scratch: Scratch::default(),
        }
    }

    /// How many classes are remembered.
    pub fn len(&self) -> usize {
        self.entries.iter().flatten().count()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether a pod's results can be shared: it has nothing of its own that plugins read.
    pub fn shareable(pod: &Pod) -> bool {
        pod.pin.is_none() && pod.claims.is_empty() && pod.node_name == Symbol::EMPTY
    }

    /// The memo of a shareable pod's class, up to date, and buffers for its use. A memo is kept where the
    /// class comes again before so much has changed that a fresh evaluation costs less than catching up:
    /// where every pod is another class, nothing is worth keeping.
    pub fn get(
        &mut self,
        snap: &Snapshot,
        profile: (usize, &Profile),
        pod: &Pod,
    ) -> Result<(&mut Memo, &mut Scratch), Refusal> {
        let (class, seen) = self.class(snap, profile, pod);
        self.clock += 1;
        if self.clock.is_multiple_of(ROUND) {
            self.let_go_of_outdated(snap.changes.now());
        }
        let missed = self.missed(class, snap.changes.now());
        let kept = self.entries.get(class as usize).and_then(Option::as_ref);
        if kept.is_some_and(|entry| missed <= entry.memo.patience()) {
            return self.kept(class, snap, profile.1, pod);
        }
        self.let_go(class);
        let memo = self.passing.take();
        let passed = memo.as_ref().is_some_and(|(known, _)| *known == class);
        let mut memo = memo.map(|(_, memo)| memo).unwrap_or_default();
        if !passed {
            memo.rebuild(snap, profile.1, pod, &mut self.scratch)?;
        }
        if seen && missed <= memo.patience() {
            memo.ensure_index(&mut self.scratch);
            self.keep(class, memo);
            return self.kept(class, snap, profile.1, pod);
        }
        if passed {
            memo.catch_up(snap, profile.1, pod, &mut self.scratch)?;
        }
        let passing = self.passing.insert((class, memo));
        Ok((&mut passing.1, &mut self.scratch))
    }

    /// How many changes there were since the class was last asked for.
    fn missed(&mut self, class: ClassId, now: Generation) -> usize {
        let len = self.asked.len().max(class as usize + 1);
        self.asked.resize(len, 0);
        let before = std::mem::replace(&mut self.asked[class as usize], now);
        usize::try_from(now.saturating_sub(before)).unwrap_or(usize::MAX)
    }

    fn let_go(&mut self, class: ClassId) {
        let entry = self.entries.get_mut(class as usize);
        if let Some(gone) = entry.and_then(Option::take) {
            self.size -= gone.size;
        }
    }

    /// Drops the memos that would be built anew when their class comes next, since too much has changed.
    fn let_go_of_outdated(&mut self, now: Generation) {
        for (entry, &asked) in self.entries.iter_mut().zip(&self.asked) {
            let missed = usize::try_from(now.saturating_sub(asked)).unwrap_or(usize::MAX);
            if let Some(gone) = entry.take_if(|kept| missed > kept.memo.patience()) {
                self.size -= gone.size;
            }
        }
    }

    /// A memo that is kept, caught up.
    fn kept(
        &mut self,
        class: ClassId,
        snap: &Snapshot,
        profile: &Profile,
        pod: &Pod,
    ) -> Result<(&mut Memo, &mut Scratch), Refusal> {
        let entry = &mut self.entries[class as usize];
        let known = entry.as_mut().map(|kept| &mut kept.memo);
        let caught_up = known.map(|memo| memo.catch_up(snap, profile, pod, &mut self.scratch));
        if let Some(Err(refusal)) = caught_up {
            self.size -= entry.take().map_or(0, |gone| gone.size);
            return Err(refusal);
        }
        let kept = entry.as_mut().expect("a class that is kept");
        kept.used = self.clock;
        let size = kept.memo.size();
        self.size = self.size + size - std::mem::replace(&mut kept.size, size);
        Ok((&mut kept.memo, &mut self.scratch))
    }

    fn keep(&mut self, class: ClassId, memo: Memo) {
        let size = memo.size();
        if self.size + size > self.budget {
            self.evict();
        }
        self.size += size;
        let used = self.clock;
        let len = self.entries.len().max(class as usize + 1);
        self.entries.resize_with(len, || None);
        self.entries[class as usize] = Some(Entry { memo, size, used });
    }

    /// Lets the least recently used go until a quarter of the budget is free, so that this is rare.
    fn evict(&mut self) {
        let by_age = |(class, entry): (usize, &Option<Entry>)| Some((entry.as_ref()?.used, class));
        let mut oldest: Vec<_> = self.entries.iter().enumerate().filter_map(by_age).collect();
        oldest.sort_unstable();
        for (_, class) in oldest {
            if self.size <= self.budget / 4 * 3 {
                return;
            }
            if let Some(entry) = self.entries[class].take() {
                self.size -= entry.size;
            }
        }
    }

    /// A pod's class, and whether a pod of it was seen before.
    fn class(&mut self, snap: &Snapshot, profile: (usize, &Profile), pod: &Pod) -> (ClassId, bool) {
        if self.epoch != snap.key_epoch() {
            self.epoch = snap.key_epoch();
            self.by_template.clear();
        }
        let address = (profile.0, Arc::as_ptr(&pod.template).addr(), pod.told);
        if let Some((_, class)) = self.by_template.get(&address) {
            return (*class, true);
        }
        if self.classes.len() >= CLASSES {
            self.forget();
        } else if self.by_template.len() >= TEMPLATES {
            self.by_template.clear();
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
