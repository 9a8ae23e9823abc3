//! A group gets its places, or keeps none.

use super::amounts::Amounts;
use super::domains::{self, Domain};
use super::evaluated::Evaluated;
use super::search::{self, Class, Problem};
use super::shortage::Shortage;
use super::transaction::Transaction;
use super::within::schedule_within;
use super::{Group, GroupId, Places, Request, Role};
use crate::engine::{Engine, Outcome};
use crate::memos::Memos;
use crate::snapshot::{PodId, Row};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Larger groups are placed in the greedy order or not at all.
const MOST_SEARCHED: usize = 1024;

/// The member that first found no node, and why.
pub(super) type Refused = (PodId, Outcome);

impl Engine {
    /// Places what is missing from a group's minimum and keeps it, with all reservations. Members on
    /// nodes that lack others are not held back by those: what fits is kept, and the shortage told.
    pub fn place_group(&mut self, group: GroupId, attempt: u64) -> (Places, Option<Box<Shortage>>) {
        let request = self.request_of(group, attempt);
        self.place_gang(&request)
    }

    pub fn place_gang(&mut self, request: &Request) -> (Places, Option<Box<Shortage>>) {
        let mut tx = Transaction::default();
        match fill(self, request, &mut tx) {
            Ok(()) => (tx.commit(self), None),
            Err(shortage) if request.partial => {
                let all = all_rows(self, request);
                greedy(self, &mut tx, request, &all);
                (tx.commit(self), Some(shortage))
            }
            Err(shortage) => {
                tx.discard(self);
                (Places::new(), Some(shortage))
            }
        }
    }

    /// Says where the missing members would go; nothing is kept.
    pub fn try_group(&mut self, group: GroupId, attempt: u64) -> Result<Places, Box<Shortage>> {
        let request = self.request_of(group, attempt);
        let mut tx = Transaction::default();
        let found = fill(self, &request, &mut tx).map(|()| tx.places());
        tx.discard(self);
        found
    }

    pub fn request_of(&self, group: GroupId, attempt: u64) -> Request {
        let pods = &self.snap.pods;
        match self.snap.groups.get(group) {
            Some(known) => known.request(pods, attempt),
            None => Group::default().request(pods, attempt),
        }
    }
}

fn all_rows(engine: &Engine, request: &Request) -> Domain {
    let mut free = request.clone();
    if free.together.preferred {
        free.together = super::Together::default();
    }
    let mut domains = domains::candidates(&engine.snap, &free);
    domains.swap_remove(0)
}

/// Puts all that is needed on nodes; on failure nothing of it is left.
pub(super) fn fill(
    engine: &mut Engine,
    request: &Request,
    tx: &mut Transaction,
) -> Result<(), Box<Shortage>> {
    engine.snap.refresh();
    if !has_members(request) {
        return Err(Shortage::of_members(request));
    }
    let mut nearest: Option<Box<Shortage>> = None;
    for domain in domains::candidates(&engine.snap, request) {
        match fill_domain(engine, request, tx, &domain) {
            Ok(()) => return Ok(()),
            Err(short)
                if nearest
                    .as_ref()
                    .is_none_or(|n| short.placeable > n.placeable) =>
            {
                nearest = Some(short);
            }
            Err(_) => {}
        }
    }
    Err(nearest.unwrap_or_else(|| Shortage::of_members(request)))
}

fn has_members(request: &Request) -> bool {
    let of_role = |role: usize| {
        let own = request
            .members
            .iter()
            .filter(|(_, own)| *own as usize == role);
        own.count()
    };
    let mut roles = request.role_needs.iter().enumerate();
    request.members.len() >= request.need && roles.all(|(role, need)| of_role(role) >= *need)
}

fn fill_domain(
    engine: &mut Engine,
    request: &Request,
    tx: &mut Transaction,
    domain: &Domain,
) -> Result<(), Box<Shortage>> {
    let start = tx.len();
    let Some(refused) = greedy(engine, tx, request, domain) else {
        return Ok(());
    };
    let shortage = Shortage::new(engine, request, &refused, tx, domain);
    tx.undo_to(engine, start);
    // Members may have been nominated to nodes where they no longer fit together.
    let nominated = |pod: &PodId| engine.snap.pods[*pod].nominated.is_some();
    let own = request.members.iter().map(|(pod, _)| *pod);
    let own: Vec<PodId> = own.filter(nominated).collect();
    if !own.is_empty() {
        tx.lift(engine, own.into_iter());
        if greedy(engine, tx, request, domain).is_none() {
            return Ok(());
        }
        tx.undo_to(engine, start);
    }
    if request.need <= MOST_SEARCHED && arrange(engine, request, tx, domain) {
        return Ok(());
    }
    Err(shortage)
}

/// Places members in their order, each where it scores best; first the roles' minimums, then the rest.
/// Stops when no one else fits; returns who did not.
pub(super) fn greedy(
    engine: &mut Engine,
    tx: &mut Transaction,
    request: &Request,
    domain: &Domain,
) -> Option<Refused> {
    let start = tx.len();
    let mut done = vec![false; request.members.len()];
    let mut refused = None;
    let roles = request.role_needs.iter().enumerate();
    let mut stages: Vec<(Option<Role>, usize)> = roles
        .filter(|(_, need)| **need > 0)
        .map(|(role, need)| (Some(role as Role), *need))
        .collect();
    stages.push((None, request.need));
    for (role, quota) in stages {
        let wanted = match role {
            Some(_) => quota,
            None => quota.saturating_sub(tx.len() - start),
        };
        let stage = Stage {
            request,
            domain,
            role,
        };
        let missing = stage.run(engine, tx, &mut done, wanted);
        refused = refused.or(missing);
        if refused.is_some() && role.is_some() {
            return refused;
        }
    }
    (tx.len() - start < request.need)
        .then_some(refused)
        .flatten()
}

struct Stage<'a> {
    request: &'a Request,
    domain: &'a Domain,
    role: Option<Role>,
}

impl Stage<'_> {
    /// Places `wanted` members of the role. One that fails is tried again once others have been placed,
    /// which may attract it.
    fn run(
        &self,
        engine: &mut Engine,
        tx: &mut Transaction,
        done: &mut [bool],
        wanted: usize,
    ) -> Option<Refused> {
        let mut left = wanted;
        while left > 0 {
            let before = left;
            let mut refused = None;
            let mut hopeless: FxHashSet<usize> = FxHashSet::default();
            for (at, &(pod, role)) in self.request.members.iter().enumerate() {
                if left == 0 {
                    return None;
                }
                if done[at] || self.role.is_some_and(|wanted| wanted != role) {
                    continue;
                }
                let like = alike(engine, pod);
                if like.is_some_and(|like| hopeless.contains(&like)) {
                    continue;
                }
                match self.place(engine, tx, pod) {
                    Ok(()) => {
                        done[at] = true;
                        left -= 1;
                    }
                    Err(outcome) => {
                        hopeless.extend(like);
                        refused = refused.or(Some((pod, outcome)));
                    }
                }
            }
            if left == before {
                return refused;
            }
            if left > 0 && refused.is_none() {
                // Everybody of the role has a place.
                return None;
            }
        }
        None
    }

    fn place(&self, engine: &mut Engine, tx: &mut Transaction, pod: PodId) -> Result<(), Outcome> {
        let outcome = match self.elsewhere(engine, pod) {
            Some(placed) => placed,
            None => self.anywhere(engine, pod),
        };
        let Outcome::Placed { row, .. } = outcome else {
            return Err(outcome);
        };
        tx.place(engine, pod, row)
            .map_err(|(plugin, status)| Outcome::reserve_refused(plugin, &status))
    }
}

impl Stage<'_> {
    fn anywhere(&self, engine: &mut Engine, pod: PodId) -> Outcome {
        let attempt = self.request.attempt;
        if self.domain.whole() {
            return engine.schedule(pod, attempt);
        }
        let rows = self.domain.rows(&engine.snap);
        schedule_within(engine, pod, attempt, &rows)
    }

    /// A node other than those where the pod's binding failed.
    fn elsewhere(&self, engine: &mut Engine, pod: PodId) -> Option<Outcome> {
        let failed = self
            .request
            .avoid
            .iter()
            .filter(|(member, _)| *member == pod);
        let failed: Vec<Row> = failed
            .filter_map(|(_, node)| engine.snap.nodes.row(*node))
            .collect();
        if failed.is_empty() {
            return None;
        }
        let mut rows = self.domain.rows(&engine.snap).into_owned();
        rows.retain(|row| !failed.contains(row));
        let outcome = schedule_within(engine, pod, self.request.attempt, &rows);
        matches!(outcome, Outcome::Placed { .. }).then_some(outcome)
    }
}

/// Equal for pods that fail alike; `None` for one that has something of its own.
fn alike(engine: &Engine, pod: PodId) -> Option<usize> {
    let pod = &engine.snap.pods[pod];
    let common = Memos::shareable(pod) && pod.nominated.is_none();
    common.then(|| Arc::as_ptr(&pod.template).addr())
}

fn problem(engine: &Engine, request: &Request) -> Problem {
    let mut known: FxHashMap<(usize, Role), usize> = FxHashMap::default();
    let mut classes: Vec<Class> = Vec::new();
    for &(pod, role) in &request.members {
        let next = classes.len();
        let class = match alike(engine, pod) {
            Some(like) => *known.entry((like, role)).or_insert(next),
            None => next,
        };
        if class == next {
            classes.push(Class {
                members: Vec::new(),
                role,
            });
        }
        classes[class].members.push(pod);
    }
    Problem {
        classes,
        need: request.need,
        role_needs: request.role_needs.to_vec(),
    }
}

/// Searches for an arrangement where the greedy order failed.
fn arrange(engine: &mut Engine, request: &Request, tx: &mut Transaction, domain: &Domain) -> bool {
    let problem = problem(engine, request);
    let rows = domain.rows(&engine.snap);
    let by_amounts = Amounts::new(engine, &problem, &rows);
    if let Some(mut world) = by_amounts {
        // Members that are alike fill every node in any order: the greedy one showed all there is.
        let found = match problem.classes.len() {
            0 | 1 => None,
            _ => search::search(&mut world, &problem),
        };
        let Some(arrangement) = found else {
            return false;
        };
        let places = arrangement
            .iter()
            .map(|(class, at)| (*class, world.row(*at)));
        let places: Vec<(usize, Row)> = places.collect();
        if settle(engine, request, tx, &problem, &places) {
            return true;
        }
    }
    let mut world = Evaluated::new(engine, tx, &problem, &rows);
    search::search(&mut world, &problem).is_some()
}

/// Places an arrangement, each member judged by all filters.
fn settle(
    engine: &mut Engine,
    request: &Request,
    tx: &mut Transaction,
    problem: &Problem,
    places: &[(usize, Row)],
) -> bool {
    let start = tx.len();
    let mut used = vec![0; problem.classes.len()];
    for &(class, row) in places {
        let pod = problem.classes[class].members[used[class]];
        used[class] += 1;
        let judged = schedule_within(engine, pod, request.attempt, &[row]);
        let stands = matches!(judged, Outcome::Placed { .. });
        if !stands || tx.place(engine, pod, row).is_err() {
            tx.undo_to(engine, start);
            return false;
        }
    }
    true
}
