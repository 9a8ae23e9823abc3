//! DefaultPreemption: which pods to evict so that a pod fits.

mod dry_run;
mod known;
mod victims;

pub(crate) use known::{DryRuns, Known};
pub use victims::{Candidate, sort_by_importance, split_by_budgets};

use crate::diagnosis::Diagnosis;
use crate::filtering::{Filters, Rejection};
use crate::profile::{PreemptionArgs, Profile};
use crate::snapshot::{PodId, Row, Snapshot};
use crate::status::{Code, Status};
use std::collections::BTreeMap;

/// What PostFilter found.
#[derive(Clone, Debug)]
pub enum Preemption {
    /// Evict these pods, the most important first, and wait for the node.
    Nominate {
        row: Row,
        victims: Vec<PodId>,
        violations: usize,
        message: String,
    },
    /// Nothing can be done; an earlier nomination is void.
    Helpless { message: String },
    /// Nothing is done now; an earlier nomination stands.
    Ineligible { message: String },
    /// PostFilter itself failed; an earlier nomination stands.
    Failed { message: String },
}

impl Preemption {
    /// What a FailedScheduling text says of it, after the reasons of the nodes.
    pub fn text(&self) -> String {
        match self {
            Preemption::Helpless { message } if message.is_empty() => String::new(),
            Preemption::Nominate { message, .. }
            | Preemption::Helpless { message }
            | Preemption::Ineligible { message } => format!("preemption: {message}"),
            // An error is shown as it is, without the name of the plugin.
            Preemption::Failed { message } => message.clone(),
        }
    }
}

/// Everything preemption reads of the failed cycle.
#[derive(Clone, Copy, Debug)]
pub struct Failed<'a> {
    pub filters: &'a Filters,
    /// Code of each row; `Success` where the row is no node.
    pub codes: &'a [Code],
    /// Drawn once per attempt: where the dry run starts.
    pub draw: u64,
}

pub fn preempt(
    snap: &mut Snapshot,
    args: PreemptionArgs,
    pod: PodId,
    failed: Failed<'_>,
) -> Preemption {
    preempt_knowing(snap, args, pod, failed, None)
}

/// The same where earlier dry runs for pods of the same class may be `known`.
pub(crate) fn preempt_knowing(
    snap: &mut Snapshot,
    args: PreemptionArgs,
    pod: PodId,
    failed: Failed<'_>,
    known: Option<&mut Known>,
) -> Preemption {
    let (rows, wanted) = match plan(snap, args, pod, failed.codes, failed.draw) {
        Ok(plan) => plan,
        Err(ineligible) => return ineligible,
    };
    match dry_run::best(snap, (pod, failed.filters), &rows, wanted, known) {
        Ok(best) => nominate(snap, best),
        Err(statuses) => hopeless(snap, || statuses.iter().map(|status| &**status)),
    }
}

/// The nodes to try, in order from a drawn start, and how many candidates are enough.
pub fn plan(
    snap: &Snapshot,
    args: PreemptionArgs,
    pod: PodId,
    codes: &[Code],
    draw: u64,
) -> Result<(Vec<Row>, usize), Preemption> {
    if let Some(message) = ineligible(snap, pod, codes) {
        return Err(Preemption::Ineligible {
            message: message.into(),
        });
    }
    let rows = snap.order.rows().iter().copied();
    let mut potential: Vec<Row> = rows
        .filter(|row| codes[*row as usize] == Code::Unschedulable)
        .collect();
    let count = potential.len();
    let share = count as i64 * i64::from(args.min_candidate_nodes_percentage) / 100;
    let wanted = share
        .max(i64::from(args.min_candidate_nodes_absolute))
        .min(count as i64);
    if count > 0 {
        potential.rotate_left(crate::pick::scaled(draw, count as u64) as usize);
    }
    Ok((potential, usize::try_from(wanted).unwrap_or(0)))
}

/// Takes the best candidate, or says why there is none.
pub fn conclude(snap: &Snapshot, candidates: Vec<Candidate>, statuses: &[Status]) -> Preemption {
    // `min_by_key` keeps the first of equals.
    let best = candidates.into_iter().min_by_key(|c| c.rank(snap));
    match best {
        Some(best) => nominate(snap, best),
        None => hopeless(snap, || statuses.iter()),
    }
}

fn nominate(snap: &Snapshot, best: Candidate) -> Preemption {
    let node = snap.interner.text(snap.nodes.name(best.row));
    let message = format!(
        "found a potential placement for pod on node {node}, preempting {} victims",
        best.victims.len()
    );
    Preemption::Nominate {
        row: best.row,
        victims: best.victims,
        violations: best.violations,
        message,
    }
}

fn hopeless<'a, S>(snap: &Snapshot, statuses: impl Fn() -> S) -> Preemption
where
    S: Iterator<Item = &'a Status>,
{
    match statuses().find(|s| s.code == Code::Error) {
        Some(status) => Preemption::Failed {
            message: status.message(),
        },
        None => Preemption::Helpless {
            message: helpless(snap.nodes.count(), statuses()),
        },
    }
}

/// After a PreFilter rejection: no node has a status of its own, so eviction is not helpful anywhere.
/// `None`: no PostFilter plugin has anything to say.
pub fn after_rejection(
    snap: &Snapshot,
    profile: &Profile,
    pod: PodId,
    rejection: &Rejection,
) -> Option<Preemption> {
    let early = rejection.status.code == Code::UnschedulableAndUnresolvable;
    if early && profile.before_devices.contains(&rejection.plugin) {
        return Some(Preemption::Failed {
            message: "not found".into(),
        });
    }
    profile.preemption?;
    let codes = vec![rejection.status.code; snap.nodes.len()];
    Some(match ineligible(snap, pod, &codes) {
        Some(message) => Preemption::Ineligible {
            message: message.into(),
        },
        None => Preemption::Helpless {
            message: helpless(snap.nodes.count(), [].into_iter()),
        },
    })
}

fn ineligible(snap: &Snapshot, id: PodId, codes: &[Code]) -> Option<&'static str> {
    let pod = &snap.pods[id];
    if !pod.template.may_preempt {
        return Some("not eligible due to preemptionPolicy=Never.");
    }
    let row = snap.nodes.row(pod.nominated?)?;
    if codes[row as usize] == Code::UnschedulableAndUnresolvable {
        return None;
    }
    let leaving = |victim: &PodId| {
        let victim = &snap.pods[*victim];
        victim.terminating && victim.preempted && victim.template.priority < pod.template.priority
    };
    let waits = snap.nodes.pods[row as usize].iter().any(leaving);
    waits.then_some("not eligible due to a terminating pod on the nominated node.")
}

fn helpless<'a>(nodes: usize, statuses: impl Iterator<Item = &'a Status>) -> String {
    let mut counts = BTreeMap::new();
    let mut tried = 0;
    for status in statuses {
        tried += 1;
        for reason in &status.reasons {
            *counts.entry(reason.clone()).or_insert(0) += 1;
        }
    }
    if tried < nodes {
        let reason = "Preemption is not helpful for scheduling".into();
        *counts.entry(reason).or_insert(0) += nodes - tried;
    }
    let reasons = counts.into_iter().collect();
    Diagnosis {
        nodes,
        reasons,
        ..Diagnosis::default()
    }
    .message("")
}
