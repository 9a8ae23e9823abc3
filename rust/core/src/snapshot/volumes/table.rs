use rustc_hash::FxHashMap;
use std::hash::Hash;

/// Place of an object in its table. Places of removed objects are reused.
pub type Slot = u32;

/// Objects by key, by slot, and in the order in which they were first seen.
#[derive(Debug)]
pub struct Table<K, T> {
    slots: Vec<Option<Entry<T>>>,
    ids: FxHashMap<K, Slot>,
    free: Vec<Slot>,
    next: u64,
}

#[derive(Debug)]
struct Entry<T> {
    seen: u64,
    value: T,
}

impl<K, T> Default for Table<K, T> {
    fn default() -> Self {
        Table {
            slots: Vec::new(),
            ids: FxHashMap::default(),
            free: Vec::new(),
            next: 0,
        }
    }
}

impl<K: Eq + Hash + Copy, T> Table<K, T> {
    pub fn slot(&self, key: K) -> Option<Slot> {
        self.ids.get(&key).copied()
    }

    pub fn get(&self, slot: Slot) -> Option<&T> {
        let entry = self.slots.get(slot as usize)?.as_ref();
        entry.map(|entry| &entry.value)
    }

    pub fn find(&self, key: K) -> Option<&T> {
        self.get(self.slot(key)?)
    }

    /// When the object was first seen; only the order means something.
    pub fn seen(&self, slot: Slot) -> u64 {
        let entry = self.slots.get(slot as usize);
        entry.and_then(Option::as_ref).map_or(u64::MAX, |e| e.seen)
    }

    /// Adds an object or replaces the one of that key, which then keeps its place in the order.
    pub(super) fn set(&mut self, key: K, value: T) -> Slot {
        if let Some(slot) = self.slot(key) {
            if let Some(entry) = &mut self.slots[slot as usize] {
                entry.value = value;
            }
            return slot;
        }
        let entry = Some(Entry {
            seen: self.next,
            value,
        });
        self.next += 1;
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = entry;
                slot
            }
            None => {
                self.slots.push(entry);
                Slot::try_from(self.slots.len() - 1).expect("fewer than 2^32 objects")
            }
        };
        self.ids.insert(key, slot);
        slot
    }

    pub(super) fn remove(&mut self, key: K) -> Option<T> {
        let slot = self.ids.remove(&key)?;
        self.free.push(slot);
        self.slots[slot as usize].take().map(|entry| entry.value)
    }

    pub fn len(&self) -> usize {
        self.ids.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = (Slot, &T)> {
        let slots = self.slots.iter().enumerate();
        slots.filter_map(|(slot, entry)| Some((slot as Slot, &entry.as_ref()?.value)))
    }
}
