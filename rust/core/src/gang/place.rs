//! A group gets its places, or keeps none.

use super::arrange::arrange;
use super::domains::{self, Domain};
use super::failures::Failures;
use super::greedy::greedy;
use super::shortage::Shortage;
use super::transaction::Transaction;
use super::{Group, GroupId, Places, Request, Said};
use crate::engine::Engine;
use crate::snapshot::PodId;
use std::sync::Arc;

/// Larger groups are placed in the greedy order or not at all.
const MOST_SEARCHED: usize = 1024;

/// Said where it is not certain that there is no way.
const GAVE_UP: &str = " The search for another arrangement was given up.";

impl Engine {
    /// Places what is missing from a group's minimum and keeps it, with all reservations. Members on
    /// nodes that lack others are not held back by those: what fits is kept, and the shortage told.
    pub fn place_group(&mut self, group: GroupId, attempt: u64) -> (Places, Option<Box<Shortage>>) {
        let request = self.request_of(group, attempt);
        let (places, shortage) = self.place_gang(&request);
        let gave_up = shortage.as_ref().is_some_and(|shortage| shortage.gave_up);
        self.snap.groups.note_search(group, gave_up);
        (places, shortage)
    }

    pub fn place_gang(&mut self, request: &Request) -> (Places, Option<Box<Shortage>>) {
        let mut tx = Transaction::new(request.budget);
        match fill(self, request, &mut tx) {
            Ok(()) => (tx.commit(self), None),
            Err(shortage) if request.partial => {
                if let Some(all) = all_rows(self, request) {
                    greedy(self, &mut tx, request, &all);
                }
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
        self.arrange_group(group, attempt, &Arc::default())
    }

    /// The same where plugins of the caller's have a say; the caller asks them again about these places.
    pub fn arrange_group(
        &mut self,
        group: GroupId,
        attempt: u64,
        said: &Arc<Said>,
    ) -> Result<Places, Box<Shortage>> {
        let mut request = self.request_of(group, attempt);
        request.said = Arc::clone(said);
        let mut tx = Transaction::new(request.budget);
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

/// The nodes among which some members may go though others have no place; `None` where there is no domain.
fn all_rows(engine: &Engine, request: &Request) -> Option<Domain> {
    let mut free = request.clone();
    if free.together.preferred {
        free.together = super::Together::default();
    }
    let mut tried = domains::candidates(&engine.snap, &free).tried.into_iter();
    tried.next()
}

/// Puts all that is needed on nodes; on failure nothing of it is left, and it is told what came nearest.
pub(super) fn fill(
    engine: &mut Engine,
    request: &Request,
    tx: &mut Transaction,
) -> Result<(), Box<Shortage>> {
    engine.snap.refresh();
    if !has_members(request) {
        return Err(Shortage::of_members(request));
    }
    let candidates = domains::candidates(&engine.snap, request);
    let mut failures = Failures::new(candidates.domains);
    for domain in &candidates.tried {
        if fill_domain(engine, request, tx, domain, Some(&mut failures)) {
            return Ok(());
        }
    }
    for domain in candidates.nearest(&engine.snap, request) {
        let start = tx.len();
        if let Some(refused) = greedy(engine, tx, request, &domain) {
            failures.hear(engine, request, &refused, tx, &domain);
        }
        tx.undo_to(engine, start);
    }
    let mut shortage = failures.end(engine, request);
    shortage.gave_up = tx.budget == 0;
    if shortage.gave_up && !shortage.failed {
        shortage.message.push_str(GAVE_UP);
    }
    Err(shortage)
}

/// The same where nobody wants to know why there is no room.
pub(super) fn fits(engine: &mut Engine, request: &Request, tx: &mut Transaction) -> bool {
    engine.snap.refresh();
    has_members(request)
        && domains::candidates(&engine.snap, request)
            .tried
            .iter()
            .any(|domain| fill_domain(engine, request, tx, domain, None))
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
    failures: Option<&mut Failures>,
) -> bool {
    let start = tx.len();
    let Some(refused) = greedy(engine, tx, request, domain) else {
        return true;
    };
    if let Some(failures) = failures {
        failures.hear(engine, request, &refused, tx, domain);
    }
    tx.undo_to(engine, start);
    // Members may have been nominated to nodes where they no longer fit together.
    let nominated = |pod: &PodId| engine.snap.pods[*pod].nominated.is_some();
    let own = request.members.iter().map(|(pod, _)| *pod);
    let own: Vec<PodId> = own.filter(nominated).collect();
    if !own.is_empty() {
        tx.lift(engine, own.into_iter());
        if greedy(engine, tx, request, domain).is_none() {
            return true;
        }
        tx.undo_to(engine, start);
    }
    request.need <= MOST_SEARCHED && arrange(engine, request, tx, domain)
}
