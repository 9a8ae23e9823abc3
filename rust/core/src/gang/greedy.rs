//! Members one after the other, each where it scores best.

use super::arrange::{Like, alike};
use super::domains::Domain;
use super::transaction::Transaction;
use super::within::schedule_within;
use super::{Request, Role};
use crate::engine::{Engine, Outcome};
use crate::snapshot::{PodId, Row};
use rustc_hash::FxHashSet;
use std::borrow::Cow;

/// The member that first found no node, and why.
pub(super) type Refused = (PodId, Outcome);

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
            let mut hopeless: FxHashSet<Like> = FxHashSet::default();
            for (at, &(pod, role)) in self.request.members.iter().enumerate() {
                if left == 0 {
                    return None;
                }
                if done[at] || self.role.is_some_and(|wanted| wanted != role) {
                    continue;
                }
                let like = alike(engine, self.request, pod);
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
        let outcome = match self.elsewhere(engine, tx, pod) {
            Some(placed) => placed,
            None => self.anywhere(engine, tx, pod),
        };
        let Outcome::Placed { row, .. } = outcome else {
            return Err(outcome);
        };
        tx.place(engine, pod, row)
            .map_err(|(plugin, status)| Outcome::reserve_refused(plugin, &status))
    }
}

impl Stage<'_> {
    fn anywhere(&self, engine: &mut Engine, tx: &Transaction, pod: PodId) -> Outcome {
        let attempt = self.request.attempt;
        if self.domain.whole() && self.request.said.kind(pod).is_none() {
            return engine.schedule(pod, attempt);
        }
        let rows = self.rows(engine, tx, pod);
        schedule_within(engine, pod, attempt, &rows)
    }

    /// The nodes of the domain that the caller's plugins leave to the pod beside those placed so far.
    fn rows(&self, engine: &Engine, tx: &Transaction, pod: PodId) -> Cow<'_, [Row]> {
        let said = &self.request.said;
        let rows = self.domain.rows(&engine.snap);
        let Some(kind) = said.kind(pod) else {
            return rows;
        };
        let mut rows = rows.into_owned();
        rows.retain(|row| said.allows(kind, *row, || tx.on(*row).filter_map(|pod| said.kind(pod))));
        Cow::Owned(rows)
    }

    /// A node other than those where the pod's binding failed.
    fn elsewhere(&self, engine: &mut Engine, tx: &Transaction, pod: PodId) -> Option<Outcome> {
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
        let mut rows = self.rows(engine, tx, pod).into_owned();
        rows.retain(|row| !failed.contains(row));
        let outcome = schedule_within(engine, pod, self.request.attempt, &rows);
        matches!(outcome, Outcome::Placed { .. }).then_some(outcome)
    }
}
