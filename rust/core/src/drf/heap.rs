//! An indexed heap of handles: insert, update and remove anywhere in O(log n).
//!
//! Eight children per node: a third of the levels of a binary heap. The guesses of the eight fill one cache
//! line and are compared without branches; only those too close to tell are looked up.

use super::key::UNDECIDED;

/// What the heap holds of a member: enough to decide most comparisons without looking it up.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub guess: u64,
    pub time: i64,
    pub band: i32,
    pub node: u32,
}

/// Where a member sits that is in no heap.
pub(super) const ABSENT: u32 = u32::MAX;

const ARITY: usize = 8;

/// The children of one place. Empty slots have the node `ABSENT` and a guess that is far from all others.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Group {
    guesses: [u64; ARITY],
    times: [i64; ARITY],
    nodes: [u32; ARITY],
    bands: [i32; ARITY],
}

const EMPTY: Group = Group {
    guesses: [u64::MAX; ARITY],
    times: [0; ARITY],
    nodes: [ABSENT; ARITY],
    bands: [0; ARITY],
};

impl Group {
    fn get(&self, slot: usize) -> Entry {
        Entry {
            guess: self.guesses[slot],
            time: self.times[slot],
            band: self.bands[slot],
            node: self.nodes[slot],
        }
    }

    fn set(&mut self, slot: usize, entry: Entry) {
        self.guesses[slot] = entry.guess;
        self.times[slot] = entry.time;
        self.bands[slot] = entry.band;
        self.nodes[slot] = entry.node;
    }

    /// The slot of the least guess, unless another is too close to tell.
    fn clearly_least(&self) -> Option<usize> {
        let (mut slot, mut least) = (0, self.guesses[0]);
        for (at, &guess) in self.guesses.iter().enumerate() {
            slot = if guess < least { at } else { slot };
            least = least.min(guess);
        }
        let close = self
            .guesses
            .iter()
            .filter(|&&guess| guess - least <= UNDECIDED)
            .count();
        (close == 1).then_some(slot)
    }
}

/// A tree in an array: the root is the last of group 0, the children of place k are group k + 1.
#[derive(Debug, Default)]
pub(super) struct Entries {
    groups: Vec<Group>,
    len: usize,
    /// Members of different bands have been in the heap since it was last empty.
    banded: bool,
}

impl Entries {
    pub(super) fn first(&self) -> Option<u32> {
        (self.len > 0).then(|| self.groups[0].nodes[ARITY - 1])
    }

    fn get(&self, place: usize) -> Entry {
        let at = place + ARITY - 1;
        self.groups[at / ARITY].get(at % ARITY)
    }

    fn set(&mut self, place: usize, entry: Entry) {
        let at = place + ARITY - 1;
        self.groups[at / ARITY].set(at % ARITY, entry);
    }

    fn push(&mut self, entry: Entry) {
        if self.len + ARITY > self.groups.len() * ARITY {
            self.groups.push(EMPTY);
        }
        self.len += 1;
        self.set(self.len - 1, entry);
    }

    fn pop(&mut self) -> Option<Entry> {
        let last = self.len.checked_sub(1)?;
        let entry = self.get(last);
        self.set(last, EMPTY.get(0));
        self.len = last;
        Some(entry)
    }

    /// Notes the band of an entry that comes in.
    fn note_band(&mut self, band: i32) {
        self.banded = self.len > 0 && (self.banded || self.get(0).band != band);
    }
}

/// A heap and the places of its members (shared by all heaps: a node is in at most one).
pub(super) struct Heap<'a, Before> {
    pub entries: &'a mut Entries,
    pub places: &'a mut [u32],
    /// Strict total order: the first argument is served before the second.
    pub before: Before,
}

impl<Before: Fn(&Entry, &Entry) -> bool> Heap<'_, Before> {
    /// Inserts the member, or moves it to where its new key belongs.
    pub(super) fn put(&mut self, entry: Entry) {
        let place = self.places[entry.node as usize];
        self.entries.note_band(entry.band);
        if place == ABSENT {
            self.entries.push(entry);
            self.up(self.entries.len - 1, entry);
        } else {
            self.settle(place as usize, entry);
        }
    }

    /// Takes the member out, if it is in.
    pub(super) fn remove(&mut self, node: u32) {
        let place = std::mem::replace(&mut self.places[node as usize], ABSENT);
        if place != ABSENT
            && let Some(last) = self.entries.pop()
            && last.node != node
        {
            self.settle(place as usize, last);
        }
    }

    /// Replaces all members. Their places, and those of former members, must be `ABSENT`.
    pub(super) fn replace(&mut self, members: Vec<Entry>) {
        *self.entries = Entries::default();
        for entry in members {
            self.places[entry.node as usize] = self.entries.len as u32;
            self.entries.note_band(entry.band);
            self.entries.push(entry);
        }
        for place in (0..self.entries.len.div_ceil(ARITY)).rev() {
            self.down(place, self.entries.get(place));
        }
    }

    fn settle(&mut self, place: usize, entry: Entry) {
        if place > 0 && (self.before)(&entry, &self.entries.get((place - 1) / ARITY)) {
            self.up(place, entry);
        } else {
            self.down(place, entry);
        }
    }

    fn up(&mut self, mut place: usize, entry: Entry) {
        while place > 0 {
            let parent = (place - 1) / ARITY;
            let above = self.entries.get(parent);
            if !(self.before)(&entry, &above) {
                break;
            }
            self.set(place, above);
            place = parent;
        }
        self.set(place, entry);
    }

    fn down(&mut self, mut place: usize, entry: Entry) {
        while place * ARITY + 1 < self.entries.len {
            let group = &self.entries.groups[place + 1];
            let slot = self.first_of(group);
            let child = group.get(slot);
            if !(self.before)(&child, &entry) {
                break;
            }
            self.set(place, child);
            place = place * ARITY + 1 + slot;
        }
        self.set(place, entry);
    }

    fn first_of(&self, group: &Group) -> usize {
        if !self.entries.banded
            && let Some(slot) = group.clearly_least()
        {
            return slot;
        }
        let filled = (0..ARITY).filter(|&slot| group.nodes[slot] != ABSENT);
        let first = |a, b| {
            if (self.before)(&group.get(b), &group.get(a)) {
                b
            } else {
                a
            }
        };
        filled.reduce(first).unwrap_or(0)
    }

    fn set(&mut self, place: usize, entry: Entry) {
        self.entries.set(place, entry);
        self.places[entry.node as usize] = place as u32;
    }
}
