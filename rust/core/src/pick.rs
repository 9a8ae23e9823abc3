//! Which of the best nodes is taken.

use crate::snapshot::Row;

/// How one of several equally good nodes is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choose {
    /// Uniformly among the best, drawn from (seed, pod uid, attempt): what-if questions, slicing and
    /// batching cannot change it.
    Seeded(u64),
    /// kube-scheduler's: the root of Go's `heap.Init` over the feasible list.
    Upstream,
}

/// The index that `container/heap.Init` leaves at the root when `Less(i, j)` is `totals[i] > totals[j]`.
/// Sifting down prefers the left child unless the right one is strictly greater, and moves only what is
/// strictly smaller; so the winner of a subtree is its root if that is not below either child's winner.
pub fn heap_root(totals: &[i64]) -> Option<usize> {
    if totals.is_empty() {
        return None;
    }
    let mut winners: Vec<usize> = (0..totals.len()).collect();
    for i in (0..totals.len() / 2).rev() {
        let left = winners[2 * i + 1];
        let right = winners.get(2 * i + 2).copied();
        let child = match right {
            Some(right) if totals[right] > totals[left] => right,
            _ => left,
        };
        if totals[child] > totals[i] {
            winners[i] = child;
        }
    }
    Some(winners[0])
}

/// A 64-bit value for one attempt of one pod, well mixed (the finaliser of splitmix64 over FNV-1a).
pub fn draw(seed: u64, uid: &str, attempt: u64) -> u64 {
    let fnv = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = uid
        .as_bytes()
        .iter()
        .fold(0xcbf2_9ce4_8422_2325 ^ seed, fnv);
    let mut z = hash.wrapping_add(attempt.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// `draw` scaled to `0..count`, without modulo bias worth the name.
pub fn scaled(draw: u64, count: u64) -> u64 {
    ((u128::from(draw) * u128::from(count)) >> 64) as u64
}

/// Total of a row that cannot be picked.
pub const NEVER: i64 = i64::MIN;

const BLOCK: usize = 16;

/// Totals per row with, per subtree of blocks, the maximum and how many rows reach it; so a changed
/// total and a pick cost O(log n).
#[derive(Clone, Debug, Default)]
pub struct PickIndex {
    totals: Vec<i64>,
    /// Implicit binary tree, root at 1; the leaves are blocks of rows.
    nodes: Vec<Best>,
    leaves: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Best {
    total: i64,
    count: u32,
}

const NONE: Best = Best {
    total: NEVER,
    count: 0,
};

impl Best {
    fn or(self, other: Best) -> Best {
        match self.total.cmp(&other.total) {
            std::cmp::Ordering::Greater => self,
            std::cmp::Ordering::Less => other,
            std::cmp::Ordering::Equal => Best {
                total: self.total,
                count: self.count + other.count,
            },
        }
    }

    fn of(totals: &[i64]) -> Best {
        let total = totals.iter().copied().max().unwrap_or(NEVER);
        if total == NEVER {
            return NONE;
        }
        let count = totals.iter().map(|t| u32::from(*t == total)).sum();
        Best { total, count }
    }
}

impl PickIndex {
    /// Replaces all totals.
    pub fn rebuild(&mut self, fill: impl FnOnce(&mut Vec<i64>)) {
        fill(&mut self.totals);
        self.leaves = self.totals.len().div_ceil(BLOCK).next_power_of_two();
        self.nodes.clear();
        self.nodes.resize(2 * self.leaves, NONE);
        for (block, totals) in self.totals.chunks(BLOCK).enumerate() {
            self.nodes[self.leaves + block] = Best::of(totals);
        }
        for i in (1..self.leaves).rev() {
            self.nodes[i] = self.nodes[2 * i].or(self.nodes[2 * i + 1]);
        }
    }

    pub fn totals(&self) -> &[i64] {
        &self.totals
    }

    pub fn set(&mut self, row: Row, total: i64) {
        let row = row as usize;
        if self.totals[row] == total {
            return;
        }
        self.totals[row] = total;
        let block = row / BLOCK;
        let end = self.totals.len().min((block + 1) * BLOCK);
        let mut i = self.leaves + block;
        self.nodes[i] = Best::of(&self.totals[block * BLOCK..end]);
        while i > 1 {
            i /= 2;
            let best = self.nodes[2 * i].or(self.nodes[2 * i + 1]);
            if self.nodes[i] == best {
                return;
            }
            self.nodes[i] = best;
        }
    }

    /// The highest total and how many rows have it.
    pub fn best(&self) -> Option<(i64, u64)> {
        let root = self.nodes.get(1)?;
        (root.count > 0).then_some((root.total, u64::from(root.count)))
    }

    /// The `rank`-th (from 0, by row) of the rows that have the highest total.
    pub fn nth_best(&self, rank: u64) -> Option<Row> {
        let (total, count) = self.best()?;
        if rank >= count {
            return None;
        }
        let (mut i, mut rank) = (1, rank);
        while i < self.leaves {
            let left = self.nodes[2 * i];
            let within = if left.total == total {
                u64::from(left.count)
            } else {
                0
            };
            (i, rank) = if rank < within {
                (2 * i, rank)
            } else {
                (2 * i + 1, rank - within)
            };
        }
        let start = (i - self.leaves) * BLOCK;
        let block = self.totals[start..].iter().take(BLOCK).enumerate();
        let mut ties = block.filter(|(_, t)| **t == total);
        ties.nth(rank as usize)
            .map(|(offset, _)| (start + offset) as Row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The heap as Go writes it: swaps and all.
    fn heap_init_root(totals: &[i64]) -> Option<usize> {
        let mut heap: Vec<usize> = (0..totals.len()).collect();
        for start in (0..heap.len() / 2).rev() {
            let mut i = start;
            loop {
                let mut child = 2 * i + 1;
                if child >= heap.len() {
                    break;
                }
                if child + 1 < heap.len() && totals[heap[child + 1]] > totals[heap[child]] {
                    child += 1;
                }
                if totals[heap[child]] <= totals[heap[i]] {
                    break;
                }
                heap.swap(i, child);
                i = child;
            }
        }
        heap.first().copied()
    }

    proptest! {
        #[test]
        fn root_is_that_of_a_real_heap(totals in proptest::collection::vec(0i64..4, 0..80)) {
            prop_assert_eq!(heap_root(&totals), heap_init_root(&totals));
        }

        #[test]
        fn index_equals_a_scan(
            start in proptest::collection::vec(0i64..3, 1..200),
            changes in proptest::collection::vec((0usize..200, -1i64..4), 0..60),
        ) {
            let mut totals = start;
            let mut index = PickIndex::default();
            index.rebuild(|t| t.clone_from(&totals));
            for (at, total) in changes {
                let row = at % totals.len();
                totals[row] = if total < 0 { NEVER } else { total };
                index.set(row as Row, totals[row]);
                let best = totals.iter().copied().max().filter(|t| *t != NEVER);
                prop_assert_eq!(index.best().map(|(t, _)| t), best);
                let ties: Vec<_> = (0..totals.len()).filter(|r| Some(totals[*r]) == best).collect();
                let picked: Vec<_> = (0..ties.len() as u64 + 1).map_while(|k| index.nth_best(k)).collect();
                prop_assert_eq!(picked, ties.into_iter().map(|r| r as Row).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn first_maximum_is_not_the_rule() {
        assert_eq!(heap_root(&[1, 1, 2, 2]), Some(3));
    }
}
