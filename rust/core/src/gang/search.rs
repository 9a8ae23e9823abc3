//! Which member goes where, if the greedy order found no way: depth first, bounded.
//!
//! The class with the fewest nodes goes next, to the node that it leaves least of; nodes that are alike
//! are tried once, arrangements that are alike are looked at once. With [`BUDGET`] the search is exhaustive
//! for gangs of 8 on 6 nodes and for far larger ones where members or nodes are alike; beyond that a gang may be
//! called unplaceable though an arrangement exists.

use super::{Kind, Role, Said};
use crate::snapshot::{PodId, Row};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// Units of work for one transaction, whatever domains and victims it tries: one is a class judged on a node
/// by amounts alone.
pub(super) const BUDGET: u64 = 60_000_000;

/// Position of a node among those that are considered.
pub(super) type At = usize;

/// Members that are alike.
#[derive(Clone, Debug)]
pub(super) struct Class {
    pub(super) members: Vec<PodId>,
    pub(super) role: Role,
    /// What they are to the caller's plugins.
    pub(super) kind: Option<Kind>,
}

/// Who must be placed.
#[derive(Clone, Debug)]
pub(super) struct Problem {
    pub(super) classes: Vec<Class>,
    pub(super) need: usize,
    pub(super) role_needs: Vec<usize>,
    pub(super) said: Arc<Said>,
}

/// Nodes on which members can be tried.
pub(super) trait World {
    /// Writes the nodes that take one more of a class now; returns the units that this cost.
    fn open(&mut self, class: usize, out: &mut Vec<At>) -> u64;

    /// Returns false, and changes nothing, if the node refuses after all.
    fn place(&mut self, class: usize, at: At) -> bool;

    fn undo(&mut self);

    fn row(&self, at: At) -> Row;

    /// Equal for nodes that no member can tell apart while they are as they were at the start.
    fn kind(&self, at: At) -> u64;

    /// What one more of the class leaves of the node; the least is tried first.
    fn leaves(&self, class: usize, at: At) -> f64;

    /// Whether a node that refuses a class never takes it after more members are placed.
    fn monotone(&self) -> bool;
}

pub(super) type Arrangement = Vec<(usize, At)>;

/// Searches as long as the budget lasts, and takes what it has spent out of it.
pub(super) fn search<W: World>(
    world: &mut W,
    problem: &Problem,
    budget: &mut u64,
) -> Option<Arrangement> {
    let mut search = Search {
        left: problem.classes.iter().map(|c| c.members.len()).collect(),
        unmet: problem.role_needs.clone(),
        open: problem.need,
        path: Vec::new(),
        on: rustc_hash::FxHashMap::default(),
        rows: 0,
        seen: FxHashSet::default(),
        budget: *budget,
        world,
        problem,
    };
    let found = search.descend();
    *budget = search.budget;
    found.then_some(search.path)
}

struct Search<'a, W> {
    world: &'a mut W,
    problem: &'a Problem,
    /// Members of each class that are neither placed nor left out.
    left: Vec<usize>,
    /// What each role still needs, and how many members all together.
    unmet: Vec<usize>,
    open: usize,
    path: Arrangement,
    /// Sum of the classes placed on each node that has any.
    on: rustc_hash::FxHashMap<At, u64>,
    /// Sum over those nodes of what they are and hold.
    rows: u64,
    seen: FxHashSet<u64>,
    budget: u64,
}

/// A class that can go next and the nodes that differ.
struct Branch {
    class: usize,
    ats: Vec<At>,
}

impl<W: World> Search<'_, W> {
    fn descend(&mut self) -> bool {
        if self.open == 0 {
            return true;
        }
        if self.budget == 0 || !self.seen.insert(self.state()) {
            return false;
        }
        if self.world.monotone() {
            self.descend_by_one()
        } else {
            self.descend_by_any()
        }
    }

    /// A node lost to a class stays lost, so one class can be settled before the others.
    fn descend_by_one(&mut self) -> bool {
        let kept = self.left.clone();
        let mut next: Option<Branch> = None;
        for class in 0..self.left.len() {
            if self.left[class] == 0 {
                continue;
            }
            let ats = self.open_to(class);
            if ats.is_empty() {
                self.left[class] = 0;
            } else if next.as_ref().is_none_or(|n| ats.len() < n.ats.len()) {
                next = Some(Branch { class, ats });
            }
        }
        let found = self.enough() && next.is_some_and(|branch| self.branch_or_leave_out(branch));
        if !found {
            self.left = kept;
        }
        found
    }

    fn branch_or_leave_out(&mut self, branch: Branch) -> bool {
        let class = branch.class;
        if self.branch(branch) {
            return true;
        }
        self.left[class] -= 1;
        let found = self.enough() && self.descend();
        if !found {
            self.left[class] += 1;
        }
        found
    }

    /// A member may open a node to another (affinity, spread), so the order matters too.
    fn descend_by_any(&mut self) -> bool {
        let classes: Vec<usize> = (0..self.left.len()).filter(|c| self.left[*c] > 0).collect();
        let branches = classes.into_iter().map(|class| Branch {
            ats: self.open_to(class),
            class,
        });
        let mut branches: Vec<Branch> = branches.collect();
        branches.sort_by_key(|branch| branch.ats.len());
        branches.into_iter().any(|branch| self.branch(branch))
    }

    fn branch(&mut self, branch: Branch) -> bool {
        branch
            .ats
            .into_iter()
            .any(|at| self.try_at(branch.class, at))
    }

    fn try_at(&mut self, class: usize, at: At) -> bool {
        if self.budget == 0 || !self.world.place(class, at) {
            return false;
        }
        let (role, rows) = (self.problem.classes[class].role as usize, self.rows);
        let met = self.unmet.get(role).is_some_and(|unmet| *unmet > 0);
        if met {
            self.unmet[role] -= 1;
        }
        self.left[class] -= 1;
        self.open -= 1;
        self.path.push((class, at));
        self.put(class, at, true);
        if self.descend() {
            return true;
        }
        self.put(class, at, false);
        debug_assert_eq!(rows, self.rows, "undone exactly");
        self.path.pop();
        self.open += 1;
        self.left[class] += 1;
        if met {
            self.unmet[role] += 1;
        }
        self.world.undo();
        false
    }

    /// Whether those that are left could be enough.
    fn enough(&self) -> bool {
        let of_role = |role: usize| -> usize {
            let classes = self.problem.classes.iter().zip(&self.left);
            let own = classes.filter(|(class, _)| class.role as usize == role);
            own.map(|(_, left)| *left).sum()
        };
        let roles = self.unmet.iter().enumerate();
        self.left.iter().sum::<usize>() >= self.open
            && roles
                .into_iter()
                .all(|(role, unmet)| of_role(role) >= *unmet)
    }

    /// The different nodes that take one more of a class, the one it leaves least of first.
    fn open_to(&mut self, class: usize) -> Vec<At> {
        let role = self.problem.classes[class].role as usize;
        let free = self.open - self.unmet.iter().sum::<usize>().min(self.open);
        if self.unmet.get(role).is_none_or(|unmet| *unmet == 0) && free == 0 {
            return Vec::new();
        }
        let mut ats = Vec::new();
        let cost = self.world.open(class, &mut ats);
        self.budget = self.budget.saturating_sub(cost);
        self.leave_out(class, &mut ats);
        let mut kinds = FxHashSet::default();
        ats.retain(|at| kinds.insert(self.holds(*at)));
        let mut keyed: Vec<(f64, At)> = ats
            .into_iter()
            .map(|at| (self.world.leaves(class, at), at))
            .collect();
        keyed.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        keyed.into_iter().map(|(_, at)| at).collect()
    }

    /// Drops the nodes where the caller's plugins want no more of a class.
    fn leave_out(&self, class: usize, ats: &mut Vec<At>) {
        let Some(kind) = self.problem.classes[class].kind else {
            return;
        };
        let kind_of = |(class, _): &(usize, At)| self.problem.classes[*class].kind;
        ats.retain(|at| {
            let there = || {
                let there = self.path.iter().filter(|(_, other)| other == at);
                there.filter_map(kind_of)
            };
            let row = self.world.row(*at);
            self.problem.said.allows(kind, row, there)
        });
    }

    /// What a node is, to the caller's plugins too.
    fn kind(&self, at: At) -> u64 {
        let said = self.problem.said.traits(self.world.row(at));
        said.fold(self.world.kind(at), mix)
    }

    /// What a node is and holds.
    fn holds(&self, at: At) -> u64 {
        mix(self.kind(at), self.on.get(&at).copied().unwrap_or(0))
    }

    fn put(&mut self, class: usize, at: At, added: bool) {
        let one = mix(0x5bd1, class as u64);
        let before = self.on.get(&at).copied().unwrap_or(0);
        let after = if added {
            before.wrapping_add(one)
        } else {
            before.wrapping_sub(one)
        };
        for (sum, added) in [(before, false), (after, true)] {
            if sum != 0 {
                let part = mix(self.kind(at), sum);
                self.rows = if added {
                    self.rows.wrapping_add(part)
                } else {
                    self.rows.wrapping_sub(part)
                };
            }
        }
        if after == 0 {
            self.on.remove(&at);
        } else {
            self.on.insert(at, after);
        }
    }

    fn state(&self) -> u64 {
        self.left
            .iter()
            .fold(self.rows, |state, left| mix(state, *left as u64))
    }
}

/// The finaliser of splitmix64 over both.
pub(super) fn mix(a: u64, b: u64) -> u64 {
    let mut z = a
        .rotate_left(23)
        .wrapping_add(b)
        .wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
