//! The choice of a node for one member, among all nodes or some.

use crate::cycle::{self, Judged};
use crate::diagnosis::Diagnosis;
use crate::engine::{Engine, Outcome};
use crate::memo::Refusal;
use crate::pick::{NEVER, scaled};
use crate::profile::Profile;
use crate::snapshot::{PodId, Row};
use std::sync::Arc;

/// [`Engine::schedule`] where only `rows` (ascending) may be chosen.
pub(super) fn schedule_within(
    engine: &mut Engine,
    pod: PodId,
    attempt: u64,
    rows: &[Row],
) -> Outcome {
    engine.snap.refresh();
    let Some((index, profile)) = engine.profile_of(pod) else {
        return Outcome::Failed("no profile has the pod's scheduler name".into());
    };
    if let Some(refusal) = engine.without_nodes() {
        return refusal;
    }
    let nominated = engine.on_nominated_node(&profile, pod);
    if let Some(row) = nominated.filter(|row| rows.binary_search(row).is_ok()) {
        return placed(row, 1);
    }
    let remembered = engine
        .remembers(pod)
        .then(|| by_memo(engine, (index, &*profile), pod, attempt, rows));
    match remembered.flatten() {
        Some(outcome) => outcome,
        None => afresh(engine, &profile, pod, attempt, rows),
    }
}

fn placed(row: Row, feasible: usize) -> Outcome {
    Outcome::Placed {
        row,
        feasible,
        evaluated: feasible,
    }
}

/// `None`: the class cannot be judged by what is remembered.
fn by_memo(
    engine: &mut Engine,
    (index, profile): (usize, &Profile),
    pod: PodId,
    attempt: u64,
    rows: &[Row],
) -> Option<Outcome> {
    let tie = engine.draw(pod, attempt).unwrap_or(0);
    let Engine { snap, memos, .. } = engine;
    let memo = match memos.get(snap, (index, profile), &snap.pods[pod]) {
        Ok((memo, _)) => memo,
        Err(Refusal::Rejected(rejection)) => return Some(engine.rejected(&rejection)),
        Err(Refusal::Failed(_)) => return None,
    };
    if memo.must_be_afresh(&snap.pods[pod]) {
        return None;
    }
    let barred = memo.crowd(snap, pod);
    let open = |row: &Row| !memo.is_barred(&barred, *row);
    Some(match best(&memo.totals(), rows, open, tie) {
        Some((row, feasible)) => placed(row, feasible),
        None => Outcome::Unschedulable(memo.diagnosis(snap, pod, &barred)),
    })
}

/// One of the rows with the highest total, and how many can be picked at all.
fn best(
    totals: &[i64],
    rows: &[Row],
    open: impl Fn(&Row) -> bool,
    tie: u64,
) -> Option<(Row, usize)> {
    let total = |row: &Row| totals.get(*row as usize).copied().unwrap_or(NEVER);
    let open: Vec<Row> = rows
        .iter()
        .copied()
        .filter(|row| total(row) != NEVER && open(row))
        .collect();
    let highest = open.iter().map(total).max()?;
    let mut ties = open.iter().filter(|row| total(row) == highest);
    let count = ties.clone().count() as u64;
    let row = ties.nth(scaled(tie, count) as usize)?;
    Some((*row, open.len()))
}

fn afresh(
    engine: &mut Engine,
    profile: &Profile,
    pod: PodId,
    attempt: u64,
    rows: &[Row],
) -> Outcome {
    let judged = match Judged::new(&mut engine.snap, profile, pod) {
        Ok(judged) => judged,
        Err(rejection) => return engine.rejected(&rejection),
    };
    let mut feasible = judged.feasible(&engine.snap);
    feasible.retain(|row| rows.binary_search(row).is_ok());
    let refused = |diagnosis: Diagnosis| Outcome::Unschedulable(Arc::new(diagnosis));
    if feasible.is_empty() {
        return refused(judged.diagnosis(&engine.snap));
    }
    match cycle::rank(&engine.snap, profile, pod, &feasible) {
        Err(status) => Outcome::Failed(status.message()),
        Ok(ranking) => {
            let at = cycle::winner(&ranking.totals, &feasible, engine.draw(pod, attempt));
            placed(feasible[at.unwrap_or(0)], feasible.len())
        }
    }
}
