//! Which member goes where, if the greedy order found no way: depth first, bounded.
//!
//! The class with the fewest nodes goes next, of several the largest, to the node that it leaves least of. Nodes
//! that are alike are tried once, arrangements that are alike are looked at once, and a state is left where
//! sums show that not all can have room. An order that leads nowhere for long is dropped for another, since an early
//! choice may be what is wrong; what was found fruitless stays known. With [`BUDGET`] the search is
//! exhaustive for gangs of 8 on 6 nodes and for far larger ones where members or nodes are alike; beyond that a
//! gang may be called unplaceable though an arrangement exists.

use super::problem::{At, Problem, World, mix};
use rustc_hash::{FxHashMap, FxHashSet};

/// Units of work for one transaction, whatever domains and victims it tries; a unit is some 25 ns.
pub const BUDGET: u64 = 16_000_000;

/// Orders that are tried, one after the other, before the first one has what is left of the budget.
const ORDERS: u64 = 60;

/// The order without noise in which the class with the fewest nodes goes first, of several the largest.
const NARROWEST: u64 = 1;

/// All of them together take half of the budget.
const PART: u64 = 2 * ORDERS;

/// Nodes that are so few for a class that it goes before all that have more.
const FEW: usize = 2;

/// How much later orders differ from the first one at most.
const NOISE: f64 = 1.0;

pub(super) type Arrangement = Vec<(usize, At)>;

/// What a search came to.
#[derive(Debug)]
pub(super) enum Found {
    Way(Arrangement),
    /// There is none.
    NoWay,
    /// None was found within the budget.
    GaveUp,
}

/// Searches as long as the budget lasts, and takes what it has spent out of it.
pub(super) fn search<W: World>(world: &mut W, problem: &Problem, budget: &mut u64) -> Found {
    let kind = |world: &W, at: At| {
        let said = problem.said.traits(world.row(at));
        said.fold(world.kind(at), mix)
    };
    let mut search = Search {
        left: problem.classes.iter().map(|c| c.members.len()).collect(),
        unmet: problem.role_needs.clone(),
        open: problem.need,
        path: Vec::new(),
        on: FxHashMap::default(),
        rows: 0,
        fruitless: FxHashSet::default(),
        budget: 0,
        round: 0,
        kinds: (0..world.len()).map(|at| kind(world, at)).collect(),
        world,
        problem,
    };
    let dive = 8 * (problem.need * problem.classes.len()) as u64;
    let part = (*budget / PART).max(dive);
    for round in 0..=ORDERS {
        let is_last = round == ORDERS;
        search.round = if is_last { NARROWEST } else { round };
        search.budget = if is_last { *budget } else { part.min(*budget) };
        *budget -= search.budget;
        let found = search.descend();
        *budget += search.budget;
        if found {
            return Found::Way(search.path);
        }
        if search.budget > 0 {
            return Found::NoWay;
        }
    }
    Found::GaveUp
}

struct Search<'a, W> {
    world: &'a mut W,
    problem: &'a Problem,
    /// What each node is, to the caller's plugins too.
    kinds: Vec<u64>,
    /// Members of each class that are neither placed nor left out.
    left: Vec<usize>,
    /// What each role still needs, and how many members all together.
    unmet: Vec<usize>,
    open: usize,
    path: Arrangement,
    /// Sum of the classes placed on each node that has any.
    on: FxHashMap<At, u64>,
    /// Sum over those nodes of what they are and hold.
    rows: u64,
    /// States that lead nowhere.
    fruitless: FxHashSet<u64>,
    budget: u64,
    round: u64,
}

impl<W: World> Search<'_, W> {
    fn descend(&mut self) -> bool {
        if self.open == 0 {
            return true;
        }
        let state = self.state();
        if self.budget == 0 || self.fruitless.contains(&state) {
            return false;
        }
        let found = if self.world.monotone() {
            self.descend_by_one()
        } else {
            self.descend_by_any()
        };
        if !found && self.budget > 0 {
            self.fruitless.insert(state);
        }
        found
    }

    /// A node lost to a class stays lost, so one class can be settled before the others.
    fn descend_by_one(&mut self) -> bool {
        let kept = self.left.clone();
        let next = self.narrowest();
        let found = self.enough()
            && !self.is_hopeless()
            && next.is_some_and(|class| self.branch_or_leave_out(class));
        if !found {
            self.left = kept;
        }
        found
    }

    /// The class that is hardest to place; leaves out those that fit nowhere any more.
    fn narrowest(&mut self) -> Option<usize> {
        let mut next: Option<(usize, f64, usize)> = None;
        for class in 0..self.left.len() {
            if self.left[class] == 0 {
                continue;
            }
            let count = match self.is_wanted(class) {
                true => self.world.count(class),
                false => 0,
            };
            if count == 0 {
                self.left[class] = 0;
                continue;
            }
            let size = self.world.size(class) * self.noise(class as u64);
            // The largest first unless a class is about to have no node, or else the one with the fewest nodes.
            let by_size = self.round.is_multiple_of(2);
            let count = if by_size { count.min(FEW) } else { count };
            let is_harder = |&(least, largest, _): &(usize, f64, usize)| {
                count < least || count == least && size > largest
            };
            if next.as_ref().is_none_or(is_harder) {
                next = Some((count, size, class));
            }
        }
        self.pay();
        next.map(|(.., class)| class)
    }

    fn branch_or_leave_out(&mut self, class: usize) -> bool {
        let ats = self.open_to(class);
        if ats.is_empty() {
            self.left[class] = 1;
        } else if self.branch(class, ats) {
            return true;
        }
        self.left[class] -= 1;
        // If it is left out nothing comes back to it, so the caller restores what is left.
        self.enough() && self.descend()
    }

    /// A member may open a node to another (affinity, spread), so the order matters too.
    fn descend_by_any(&mut self) -> bool {
        let mut classes: Vec<(usize, usize)> = Vec::new();
        for class in 0..self.left.len() {
            if self.left[class] > 0 {
                let count = self.world.count(class);
                if self.is_wanted(class) {
                    classes.push((count, class));
                }
            }
        }
        self.pay();
        classes.retain(|(count, _)| *count > 0);
        classes.sort_unstable();
        let branches: Vec<(usize, Vec<At>)> = classes
            .into_iter()
            .map(|(_, class)| (class, self.open_to(class)))
            .collect();
        if self.is_hopeless() {
            return false;
        }
        branches
            .into_iter()
            .any(|(class, ats)| self.branch(class, ats))
    }

    fn branch(&mut self, class: usize, ats: Vec<At>) -> bool {
        ats.into_iter().any(|at| self.try_at(class, at))
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

    fn pay(&mut self) {
        self.budget = self.budget.saturating_sub(self.world.spent());
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
                .all(|(role, unmet)| *unmet == 0 || of_role(role) >= *unmet)
    }

    fn is_hopeless(&mut self) -> bool {
        let hopeless = self.world.is_hopeless(&self.left, self.open);
        self.pay();
        hopeless
    }

    /// Whether one more of a class brings the minimums nearer.
    fn is_wanted(&self, class: usize) -> bool {
        let role = self.problem.classes[class].role as usize;
        let free = self.open - self.unmet.iter().sum::<usize>().min(self.open);
        free > 0 || self.unmet.get(role).is_some_and(|unmet| *unmet > 0)
    }

    /// The different nodes that take one more of a class, the one it leaves least of first.
    fn open_to(&mut self, class: usize) -> Vec<At> {
        let mut ats = Vec::new();
        self.world.open(class, &mut ats);
        self.budget = self.budget.saturating_sub(4 * ats.len() as u64);
        self.leave_out(class, &mut ats);
        let mut kinds = FxHashSet::default();
        ats.retain(|at| kinds.insert(self.holds(*at)));
        let noise = |at: At| self.noise(at as u64 + 0x1_0000);
        let mut keyed: Vec<(f64, At)> = ats
            .into_iter()
            .map(|at| (self.world.leaves(class, at) * noise(at), at))
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

    /// A factor by which this round's order differs from the first one's.
    fn noise(&self, of: u64) -> f64 {
        if self.round <= NARROWEST {
            return 1.0;
        }
        let drawn = mix(self.round, of) >> 11;
        let most = NOISE * (self.round % 5 + 1) as f64 / 5.0;
        1.0 + most * (drawn as f64 / (1u64 << 53) as f64 - 0.5)
    }

    /// What a node is and holds.
    fn holds(&self, at: At) -> u64 {
        mix(self.kinds[at], self.on.get(&at).copied().unwrap_or(0))
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
                let part = mix(self.kinds[at], sum);
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
