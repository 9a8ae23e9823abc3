//! The weight of each constraint, which follows the feasible set.

use super::rule::Place;
use crate::go_log::go_log;

/// How many feasible nodes are in each domain, and the weights made of the number of domains.
#[derive(Clone, Debug)]
pub(super) struct Weights {
    /// Per column and slot: feasible nodes that are scored.
    nodes: Vec<Vec<u32>>,
    /// Per column: slots that have any.
    domains: Vec<usize>,
    /// Feasible nodes that are scored: the size of the hostname key.
    scored: usize,
    /// Per constraint: the size its weight was made of, and the weight.
    of: Vec<(usize, f64)>,
}

impl Weights {
    pub(super) fn new(slots: &[usize]) -> Self {
        Weights {
            nodes: slots.iter().map(|n| vec![0; *n]).collect(),
            domains: vec![0; slots.len()],
            scored: 0,
            of: Vec::new(),
        }
    }

    /// A node, given by its slot of each column, came to or left the feasible set.
    pub(super) fn count(&mut self, slots: impl Iterator<Item = usize>, entered: bool) {
        for (column, slot) in slots.enumerate() {
            let nodes = &mut self.nodes[column][slot];
            if entered {
                *nodes += 1;
                self.domains[column] += usize::from(*nodes == 1);
            } else {
                debug_assert!(*nodes > 0, "a node left that had not entered");
                *nodes -= 1;
                self.domains[column] -= usize::from(*nodes == 0);
            }
        }
        match entered {
            true => self.scored += 1,
            false => self.scored -= 1,
        }
    }

    /// Brings the weights up to date; whether any changed.
    pub(super) fn settle(&mut self, places: &[Place]) -> bool {
        let mut changed = false;
        self.of.resize(places.len(), (usize::MAX, 0.0));
        for (place, (size, weight)) in places.iter().zip(&mut self.of) {
            let now = match place {
                Place::Column(column) => self.domains[*column],
                Place::Node(_) => self.scored,
            };
            if *size != now {
                (*size, *weight) = (now, go_log((now + 2) as f64));
                changed = true;
            }
        }
        changed
    }

    /// Of the constraint of this index.
    pub(super) fn of(&self, index: usize) -> f64 {
        self.of[index].1
    }
}
