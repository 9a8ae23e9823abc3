//! Members that differ, where the greedy order found no way for all.

use super::amounts::Amounts;
use super::domains::Domain;
use super::evaluated::Evaluated;
use super::fruitless::ALL;
use super::problem::{Class, Problem, World};
use super::search::{self, Arrangement, Found};
use super::transaction::Transaction;
use super::within::schedule_within;
use super::{Kind, Request, Role};
use crate::engine::{Engine, Outcome};
use crate::memos::Memos;
use crate::snapshot::{PodId, Row};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Its template, and what it is to the caller's plugins.
pub(super) type Like = (usize, Option<Kind>);

/// Equal for pods that fail alike; `None` for one that has something of its own.
pub(super) fn alike(engine: &Engine, request: &Request, id: PodId) -> Option<Like> {
    let pod = &engine.snap.pods[id];
    let common = Memos::shareable(pod) && pod.nominated.is_none();
    common.then(|| (Arc::as_ptr(&pod.template).addr(), request.said.kind(id)))
}

fn problem(engine: &Engine, request: &Request) -> Problem {
    let mut known: FxHashMap<(Like, Role), usize> = FxHashMap::default();
    let mut classes: Vec<Class> = Vec::new();
    for &(pod, role) in &request.members {
        let next = classes.len();
        let class = match alike(engine, request, pod) {
            Some(like) => *known.entry((like, role)).or_insert(next),
            None => next,
        };
        if class == next {
            classes.push(Class {
                members: Vec::new(),
                role,
                kind: request.said.kind(pod),
            });
        }
        classes[class].members.push(pod);
    }
    Problem {
        classes,
        need: request.need,
        role_needs: request.role_needs.to_vec(),
        said: Arc::clone(&request.said),
    }
}

/// Searches for an arrangement where the greedy order failed.
pub(super) fn arrange(
    engine: &mut Engine,
    request: &Request,
    tx: &mut Transaction,
    domain: &Domain,
) -> bool {
    let problem = problem(engine, request);
    let rows = domain.rows(&engine.snap);
    if let Some(mut world) = Amounts::new(engine, &problem, &rows) {
        // Members that are alike fill every node in any order: the greedy one showed all there is.
        if problem.classes.len() <= 1 {
            return false;
        }
        let Some(arrangement) = by_amounts(engine, &mut world, &problem, &mut tx.budget) else {
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
    let mut budget = tx.budget;
    let mut world = Evaluated::new(engine, tx, &problem, &rows);
    let found = search::search(&mut world, &problem, &mut budget);
    tx.budget = budget;
    matches!(found, Found::Way(_))
}

/// Searches where amounts alone matter, unless it is known from before that there is nothing to find.
fn by_amounts(
    engine: &mut Engine,
    world: &mut Amounts,
    problem: &Problem,
    budget: &mut u64,
) -> Option<Arrangement> {
    // What the caller's plugins say is no part of the signature.
    let signature = problem.said.is_empty().then(|| world.signature(problem));
    let fruitless = &mut engine.snap.groups.fruitless;
    let given = *budget;
    match signature.and_then(|of| fruitless.spent_on(of)) {
        Some(ALL) => return None,
        Some(spent) if spent >= given => {
            *budget = 0;
            return None;
        }
        _ => {}
    }
    let spent = match search::search(world, problem, budget) {
        Found::Way(arrangement) => return Some(arrangement),
        Found::NoWay => ALL,
        Found::GaveUp => given,
    };
    signature.inspect(|of| fruitless.note(*of, spent));
    None
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
