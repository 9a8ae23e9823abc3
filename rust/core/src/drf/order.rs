//! The whole order, for people and for checks of the heap.

use super::node::ROOT;
use super::{FairShares, Tenant};

/// A waiting leaf, and whether anything below the node in question blocks it.
struct Waiting {
    leaf: u32,
    ready: bool,
}

impl FairShares {
    /// All leaves that wait, in the order of the rule as things are now, blocked ones in their place. The
    /// first that is not blocked (nor below a blocked node) is the one that `pick` returns. Sorts: O(n log n).
    pub fn order(&mut self) -> Vec<Tenant> {
        self.settle();
        let waiting = self.waiting_below(ROOT);
        waiting.iter().map(|waiting| Tenant(waiting.leaf)).collect()
    }

    /// The waiting leaves below `node` in order. A child queues with the head of its first ready leaf, or
    /// where all are blocked of its first.
    fn waiting_below(&self, node: u32) -> Vec<Waiting> {
        let children = self
            .nodes
            .inner(node)
            .map_or(&[][..], |inner| &inner.children);
        let mut ranked = Vec::new();
        for &child in children {
            let standing = &self.nodes.standings[child as usize];
            let mut below = match standing.inner {
                true => self.waiting_below(child),
                false if standing.waiting => vec![Waiting {
                    leaf: child,
                    ready: true,
                }],
                false => Vec::new(),
            };
            let Some(first) = below.iter().find(|waiting| waiting.ready).or(below.first()) else {
                continue;
            };
            let mut rank = standing.rank;
            rank.head = self.nodes.standings[first.leaf as usize].rank.head;
            for waiting in &mut below {
                waiting.ready &= !standing.blocked;
            }
            ranked.push((rank, child, below));
        }
        ranked.sort_by(|(a, x, _), (b, y, _)| {
            a.compare(b, &self.scales, || self.name_of(*x).cmp(self.name_of(*y)))
        });
        ranked.into_iter().flat_map(|(_, _, below)| below).collect()
    }
}
