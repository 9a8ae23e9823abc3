//! Which of the best nodes is taken.

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
    }

    #[test]
    fn first_maximum_is_not_the_rule() {
        assert_eq!(heap_root(&[1, 1, 2, 2]), Some(3));
    }
}
