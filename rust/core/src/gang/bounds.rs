//! What shows by sums that members have no room together, so that nothing need be tried.

use super::problem::At;

/// A set of nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Nodes(Vec<u64>);

impl Nodes {
    pub(super) fn none(len: usize) -> Self {
        Nodes(vec![0; len.div_ceil(64)])
    }

    pub(super) fn contains(&self, at: At) -> bool {
        self.0[at / 64] >> (at % 64) & 1 == 1
    }

    pub(super) fn insert(&mut self, at: At) {
        self.0[at / 64] |= 1 << (at % 64);
    }

    pub(super) fn remove(&mut self, at: At) {
        self.0[at / 64] &= !(1 << (at % 64));
    }

    pub(super) fn clear(&mut self) {
        self.0.fill(0);
    }

    /// Makes it all of `len` nodes.
    pub(super) fn fill(&mut self, len: usize) {
        for (index, word) in self.0.iter_mut().enumerate() {
            let within = (len - index * 64).min(64);
            *word = u64::MAX >> (64 - within);
        }
    }

    pub(super) fn extend(&mut self, other: &Nodes) {
        for (word, more) in self.0.iter_mut().zip(&other.0) {
            *word |= more;
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = At> + '_ {
        let words = self.0.iter().enumerate();
        words.flat_map(|(index, word)| {
            let mut word = *word;
            std::iter::from_fn(move || {
                let bit = (word != 0).then(|| word.trailing_zeros() as usize)?;
                word &= word - 1;
                Some(index * 64 + bit)
            })
        })
    }
}

/// What members take at least, of each resource and last as one of a node's pods.
#[derive(Debug)]
pub(super) struct Least {
    /// By resource, then by class.
    amounts: Vec<Vec<i64>>,
    /// By resource, the classes that take some, the one that takes most first.
    largest: Vec<Vec<usize>>,
}

/// Nodes that are left, as far as sums go.
pub(super) trait Left {
    /// What is free of a resource.
    fn free(&self, resource: usize, at: At) -> i64;

    /// How many pods more a node may have.
    fn slots(&self, at: At) -> i64;

    /// Nodes that take one more of a class.
    fn open(&self, class: usize) -> &Nodes;
}

impl Least {
    /// `amounts` are by resource, then by class.
    pub(super) fn new(amounts: Vec<Vec<i64>>) -> Self {
        let largest = |of: &Vec<i64>| {
            let mut classes: Vec<usize> = (0..of.len()).filter(|class| of[*class] > 0).collect();
            classes.sort_by_key(|class| std::cmp::Reverse(of[*class]));
            classes
        };
        let largest = amounts.iter().map(largest).collect();
        Least { amounts, largest }
    }

    /// Whether `need` of the members that are `left`, by class, take more than there is. Counts its work.
    ///
    /// For every resource and amount: nodes that are open to members which take at least so much have, each by
    /// itself, room for so many such amounts; there must be as many of those as must be placed of them.
    /// `seats` are nodes for this to use.
    pub(super) fn exceeds(
        &self,
        nodes: &impl Left,
        left: &[usize],
        need: usize,
        (seats, work): (&mut Nodes, &mut u64),
    ) -> bool {
        let all: usize = left.iter().sum();
        for (resource, largest) in self.largest.iter().enumerate() {
            let amounts = &self.amounts[resource];
            seats.clear();
            let mut among = 0;
            for (index, &class) in largest.iter().enumerate() {
                if left[class] == 0 {
                    continue;
                }
                among += left[class];
                seats.extend(nodes.open(class));
                let amount = amounts[class];
                let next = largest[index + 1..].iter().find(|class| left[**class] > 0);
                if next.is_some_and(|next| amounts[*next] == amount) {
                    continue;
                }
                let must = need.saturating_sub(all - among);
                if must == 0 {
                    continue;
                }
                *work += 4;
                let mut room = 0_usize;
                for at in seats.iter() {
                    let fit = (nodes.free(resource, at) / amount).min(nodes.slots(at));
                    room = room.saturating_add(usize::try_from(fit).unwrap_or(0));
                    *work += 1;
                    if room >= must {
                        break;
                    }
                }
                if room < must {
                    return true;
                }
            }
            if self.sum_exceeds(resource, nodes, (left, need, all), seats) {
                return true;
            }
        }
        false
    }

    /// Whether the smallest of those that are left take more together than is free on nodes open to any.
    fn sum_exceeds(
        &self,
        resource: usize,
        nodes: &impl Left,
        (left, need, all): (&[usize], usize, usize),
        seats: &Nodes,
    ) -> bool {
        let amounts = &self.amounts[resource];
        // Those that take nothing are the smallest.
        let asking = |class: &&usize| left[**class] > 0;
        let takers: usize = self.largest[resource]
            .iter()
            .map(|class| left[*class])
            .sum();
        let mut wanted = need.saturating_sub(all - takers);
        let mut sum = 0_i128;
        for &class in self.largest[resource].iter().rev().filter(asking) {
            let count = wanted.min(left[class]);
            sum += i128::from(amounts[class]) * count as i128;
            wanted -= count;
        }
        if sum == 0 {
            return false;
        }
        let free = seats
            .iter()
            .map(|at| i128::from(nodes.free(resource, at).max(0)));
        let mut total = 0_i128;
        for free in free {
            total += free;
            if total >= sum {
                return false;
            }
        }
        true
    }
}
