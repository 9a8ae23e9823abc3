//! Trying node after node until there are enough to choose from.

use super::known::Known;
use super::victims::{Candidate, Found, Rank, victims_on};
use crate::filtering::Filters;
use crate::snapshot::{PodId, Row, Snapshot};
use crate::status::Status;
use crate::trial::Trial;
use std::sync::Arc;

/// Dry runs of one pod.
struct Runs<'a> {
    snap: &'a mut Snapshot,
    filters: &'a Filters,
    trial: Trial,
    pod: PodId,
    /// The row the pod itself is nominated to, which is other than it is for its likes.
    own: Option<Row>,
    known: Option<&'a mut Known>,
    /// What is not remembered.
    fresh: Vec<Candidate>,
}

/// Tries `rows` until `wanted` candidates are found, one of which violates no budget, and takes the best.
/// An error has the statuses of all nodes tried.
pub(super) fn best(
    snap: &mut Snapshot,
    (pod, filters): (PodId, &Filters),
    rows: &[Row],
    wanted: usize,
    known: Option<&mut Known>,
) -> Result<Candidate, Vec<Arc<Status>>> {
    let own = snap.pods[pod]
        .nominated
        .and_then(|name| snap.nodes.row(name));
    let mut runs = Runs {
        trial: Trial::new(snap, filters, pod),
        snap,
        filters,
        pod,
        own,
        known,
        fresh: Vec::new(),
    };
    let (mut clean, mut violating, mut statuses) = (Vec::new(), Vec::new(), Vec::new());
    for &row in rows {
        match runs.run(row) {
            Ok((rank, 0)) => clean.push((rank, row)),
            Ok((rank, _)) => violating.push((rank, row)),
            Err(status) => {
                statuses.push(status);
                continue;
            }
        }
        if !clean.is_empty() && clean.len() + violating.len() >= wanted {
            break;
        }
    }
    // `min_by_key` keeps the first of equals.
    let all = clean.into_iter().chain(violating);
    match all.min_by_key(|(rank, _)| *rank) {
        Some((_, row)) => Ok(runs.end(row)),
        None => Err(statuses),
    }
}

impl Runs<'_> {
    /// How the candidate on a row compares, and how many budgets it violates.
    fn run(&mut self, row: Row) -> Result<(Rank, usize), Arc<Status>> {
        if self.known.is_none() || self.own == Some(row) {
            let (rank, candidate) = self.dry_run(row)?;
            let violations = candidate.violations;
            self.fresh.push(candidate);
            return Ok((rank, violations));
        }
        let known = self.known.as_ref();
        if let Some(found) = known.and_then(|known| known.get(self.snap, row)) {
            return brief(found);
        }
        let found = self.dry_run(row);
        let brief = brief(&found);
        if let Some(known) = &mut self.known {
            known.insert(self.snap, row, found);
        }
        brief
    }

    fn dry_run(&mut self, row: Row) -> Found {
        let found = victims_on(self.snap, &mut self.trial, self.pod, row);
        self.trial.restart(self.snap, self.filters);
        found
    }

    /// The candidate on a row that was run.
    fn end(self, row: Row) -> Candidate {
        self.trial.end(self.snap);
        let fresh = self.fresh.into_iter().find(|c| c.row == row);
        let remembered = || Some(self.known?.get(self.snap, row)?.as_ref().ok()?.1.clone());
        fresh
            .or_else(remembered)
            .expect("a candidate that was found")
    }
}

fn brief(found: &Found) -> Result<(Rank, usize), Arc<Status>> {
    let found = found.as_ref().map_err(Arc::clone);
    found.map(|(rank, candidate)| (*rank, candidate.violations))
}
