//! An indexed heap of handles: insert, update and remove anywhere in O(log n).
//!
//! Four children per node: half the levels of a binary heap, and the four are neighbours in memory.

/// What the heap holds of a member: enough to decide most comparisons without looking it up.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub guess: u64,
    pub band: i32,
    pub node: u32,
}

/// Where a member sits that is in no heap.
pub(super) const ABSENT: u32 = u32::MAX;

const ARITY: usize = 4;

/// A heap and the places of its members (shared by all heaps: a node is in at most one).
pub(super) struct Heap<'a, Before> {
    pub entries: &'a mut Vec<Entry>,
    pub places: &'a mut [u32],
    /// Strict total order: the first argument is served before the second.
    pub before: Before,
}

impl<Before: Fn(&Entry, &Entry) -> bool> Heap<'_, Before> {
    /// Inserts the member, or moves it to where its new key belongs.
    pub(super) fn put(&mut self, entry: Entry) {
        let place = self.places[entry.node as usize];
        if place == ABSENT {
            self.entries.push(entry);
            self.up(self.entries.len() - 1, entry);
        } else {
            self.settle(place as usize, entry);
        }
    }

    /// Takes the member out, if it is in.
    pub(super) fn remove(&mut self, node: u32) {
        let place = self.places[node as usize];
        if place == ABSENT {
            return;
        }
        self.places[node as usize] = ABSENT;
        if let Some(last) = self.entries.pop()
            && last.node != node
        {
            self.settle(place as usize, last);
        }
    }

    /// Replaces all members. Their places, and those of former members, must be `ABSENT`.
    pub(super) fn replace(&mut self, members: Vec<Entry>) {
        *self.entries = members;
        for (place, entry) in self.entries.iter().enumerate() {
            self.places[entry.node as usize] = place as u32;
        }
        for place in (0..self.entries.len().div_ceil(ARITY)).rev() {
            self.down(place, self.entries[place]);
        }
    }

    fn settle(&mut self, place: usize, entry: Entry) {
        if place > 0 && (self.before)(&entry, &self.entries[(place - 1) / ARITY]) {
            self.up(place, entry);
        } else {
            self.down(place, entry);
        }
    }

    fn up(&mut self, mut place: usize, entry: Entry) {
        while place > 0 {
            let parent = (place - 1) / ARITY;
            if !(self.before)(&entry, &self.entries[parent]) {
                break;
            }
            self.set(place, self.entries[parent]);
            place = parent;
        }
        self.set(place, entry);
    }

    fn down(&mut self, mut place: usize, entry: Entry) {
        loop {
            let first = place * ARITY + 1;
            let Some(children) = self
                .entries
                .get(first..self.entries.len().min(first + ARITY))
            else {
                break;
            };
            let Some(offset) = self.first_of(children) else {
                break;
            };
            if !(self.before)(&children[offset], &entry) {
                break;
            }
            self.set(place, self.entries[first + offset]);
            place = first + offset;
        }
        self.set(place, entry);
    }

    fn first_of(&self, children: &[Entry]) -> Option<usize> {
        (0..children.len()).reduce(|best, i| {
            if (self.before)(&children[i], &children[best]) {
                i
            } else {
                best
            }
        })
    }

    fn set(&mut self, place: usize, entry: Entry) {
        self.entries[place] = entry;
        self.places[entry.node as usize] = place as u32;
    }
}
