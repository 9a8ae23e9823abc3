//! The memos of all classes, bounded in memory.

use crate::classes::{ClassId, Classes};
use crate::intern::Symbol;
use crate::memo::{Memo, Refusal, Scratch};
use crate::profile::Profile;
use crate::snapshot::{Pod, Snapshot};

/// Bytes that memos may take before the least recently used go.
pub const DEFAULT_BUDGET: usize = 1 << 30;

/// Classes that are known at once; beyond that all starts afresh.
const CLASSES: usize = 1 << 13;

/// Pods between two looks for memos and classes that are of no use any more.
const ROUND: u64 = 1 << 10;

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
    /// Per class; boxed because most classes have none.
    entries: Vec<Option<Box<Entry>>>,
    classes: Classes,
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
            classes: Classes::default(),
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
        self.clock += 1;
        if self.clock.is_multiple_of(ROUND) {
            self.let_go_of_outdated(snap);
        }
        if self.classes.len() >= CLASSES {
            *self = Memos::new(self.budget);
        }
        let now = snap.changes.now();
        let (class, seen) = self.classes.of(snap, profile, pod);
        let missed = self.classes.missed(class, now);
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

    fn let_go(&mut self, class: ClassId) {
        let entry = self.entries.get_mut(class as usize);
        if let Some(gone) = entry.and_then(Option::take) {
            self.size -= gone.size;
        }
    }

    /// Drops the memos that would be built anew when their class comes next, since too much has changed,
    /// and forgets the classes that would then be as good as new.
    pub fn let_go_of_outdated(&mut self, snap: &Snapshot) {
        let (entries, size) = (&mut self.entries, &mut self.size);
        let most = Memo::most_patience(snap.nodes.len());
        self.classes.forget(snap.changes.now(), |class, missed| {
            let Some(entry) = entries.get_mut(class as usize) else {
                return missed > most;
            };
            if let Some(gone) = entry.take_if(|kept| missed > kept.memo.patience()) {
                *size -= gone.size;
            }
            entry.is_none() && missed > most
        });
        // Its class may be among those, and its number be another's soon.
        self.passing = None;
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
        self.entries[class as usize] = Some(Box::new(Entry { memo, size, used }));
    }

    /// Lets the least recently used go until a quarter of the budget is free, so that this is rare.
    fn evict(&mut self) {
        let by_age =
            |(class, entry): (usize, &Option<Box<Entry>>)| Some((entry.as_ref()?.used, class));
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
}
