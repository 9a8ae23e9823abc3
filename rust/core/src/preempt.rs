//! DefaultPreemption: which pods to evict so that a pod fits.

use crate::diagnosis::Diagnosis;
use crate::filtering::{Filters, Rejection};
use crate::profile::{PreemptionArgs, Profile};
use crate::snapshot::{PodId, Row, Snapshot};
use crate::status::{Code, Status};
use crate::trial::Trial;
use std::cmp::Reverse;
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

#[derive(Clone, Debug)]
struct Candidate {
    row: Row,
    victims: Vec<PodId>,
    violations: usize,
}

pub fn preempt(
    snap: &mut Snapshot,
    args: PreemptionArgs,
    pod: PodId,
    failed: Failed<'_>,
) -> Preemption {
    if let Some(message) = ineligible(snap, pod, failed.codes) {
        return Preemption::Ineligible {
            message: message.into(),
        };
    }
    let rows = snap.order.rows().iter().copied();
    let potential: Vec<Row> = rows
        .filter(|row| failed.codes[*row as usize] == Code::Unschedulable)
        .collect();
    let (candidates, statuses) = dry_run(snap, args, pod, failed, &potential);
    if candidates.is_empty() {
        if let Some(status) = statuses.iter().find(|s| s.code == Code::Error) {
            return Preemption::Failed {
                message: status.message(),
            };
        }
        return Preemption::Helpless {
            message: helpless(snap.nodes.count(), &statuses),
        };
    }
    let best = best(snap, candidates);
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
            message: helpless(snap.nodes.count(), &[]),
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

/// Tries nodes from a drawn start until enough candidates are found, one of which violates no budget.
fn dry_run(
    snap: &mut Snapshot,
    args: PreemptionArgs,
    pod: PodId,
    failed: Failed<'_>,
    potential: &[Row],
) -> (Vec<Candidate>, Vec<Status>) {
    let count = potential.len();
    let share = count as i64 * i64::from(args.min_candidate_nodes_percentage) / 100;
    let wanted = share
        .max(i64::from(args.min_candidate_nodes_absolute))
        .min(count as i64);
    let offset = crate::pick::scaled(failed.draw, count as u64) as usize;
    let (mut clean, mut violating, mut statuses) = (Vec::new(), Vec::new(), Vec::new());
    let mut trial = Trial::new(snap, failed.filters, pod);
    for i in 0..count {
        let row = potential[(offset + i) % count];
        let found = victims_on(snap, &mut trial, pod, row);
        trial.restart(snap, failed.filters);
        match found {
            Ok(candidate) if candidate.violations == 0 => clean.push(candidate),
            Ok(candidate) => violating.push(candidate),
            Err(status) => {
                statuses.push(status);
                continue;
            }
        }
        if !clean.is_empty() && (clean.len() + violating.len()) as i64 >= wanted {
            break;
        }
    }
    trial.end(snap);
    clean.extend(violating);
    (clean, statuses)
}

/// The fewest pods, by importance, that must leave a node. What the trial did is left to be undone.
fn victims_on(
    snap: &mut Snapshot,
    trial: &mut Trial,
    pod: PodId,
    row: Row,
) -> Result<Candidate, Status> {
    let priority = snap.pods[pod].template.priority;
    let on_node = snap.nodes.pods[row as usize].iter().copied();
    let mut victims: Vec<PodId> = on_node
        .filter(|id| snap.pods[*id].template.priority < priority)
        .collect();
    if victims.is_empty() {
        return Err(Status::unresolvable(
            "No preemption victims found for incoming pod",
        ));
    }
    for &victim in &victims {
        trial.remove(snap, victim);
    }
    trial
        .judge(snap, row)
        .map_err(|refused| Status::clone(&refused.status))?;
    sort_by_importance(snap, &mut victims);
    let (violating, others) = split_by_budgets(snap, &victims);
    let both = !violating.is_empty() && !others.is_empty();
    let mut evicted = Vec::new();
    let mut violations = 0;
    for (list, counts) in [(violating, true), (others, false)] {
        for victim in list {
            trial.add(snap, victim, row);
            if trial.judge(snap, row).is_err() {
                trial.remove(snap, victim);
                evicted.push(victim);
                violations += usize::from(counts);
            }
        }
    }
    if evicted.is_empty() {
        let node = snap.interner.text(snap.nodes.name(row));
        return Err(Status::error(format!(
            "expected at least one victim pod on node \"{node}\""
        )));
    }
    if both {
        sort_by_importance(snap, &mut evicted);
    }
    Ok(Candidate {
        row,
        victims: evicted,
        violations,
    })
}

/// Higher priority first, then the longer running; a pod without start time counts as started just now.
fn sort_by_importance(snap: &Snapshot, pods: &mut [PodId]) {
    pods.sort_by_key(|id| {
        let pod = &snap.pods[*id];
        (
            Reverse(pod.template.priority),
            pod.start_time.unwrap_or(i64::MAX),
        )
    });
}

/// Pods whose eviction would take some budget below zero, and the others; each in the given order. A
/// pod is checked against the budgets in list order and no further than the first it exhausts.
fn split_by_budgets(snap: &Snapshot, pods: &[PodId]) -> (Vec<PodId>, Vec<PodId>) {
    let mut allowed: Vec<i32> = snap.budgets.iter().map(|b| b.disruptions_allowed).collect();
    pods.iter().partition(|id| {
        let pod = &snap.pods[**id];
        let labels = &pod.template.labels;
        for (budget, left) in snap.budgets.iter().zip(&mut allowed) {
            let concerns = budget.namespace == pod.template.namespace
                && !labels.is_empty()
                && !budget.selector.is_empty()
                && budget.selector.matches(labels, &snap.interner)
                && !budget.disrupted_pods.contains(&pod.name);
            if concerns {
                *left -= 1;
                if *left < 0 {
                    return true;
                }
            }
        }
        false
    })
}

/// Upstream's five criteria; a remaining tie goes to the candidate found first.
fn best(snap: &Snapshot, candidates: Vec<Candidate>) -> Candidate {
    let priority = |id: &PodId| i64::from(snap.pods[*id].template.priority);
    let rank = |c: &Candidate| {
        let highest = priority(&c.victims[0]);
        // Shifted so that every priority counts as non-negative.
        let sum: i64 = c.victims.iter().map(|v| priority(v) + (1 << 31)).sum();
        let most_important = c.victims.iter().filter(|v| priority(v) == highest);
        let starts = most_important.map(|v| snap.pods[*v].start_time.unwrap_or(i64::MAX));
        let earliest = starts.min().unwrap_or(i64::MAX);
        let violations = match crate::mutation::active("DefaultPreemption") {
            true => 0,
            false => c.violations,
        };
        (violations, highest, sum, c.victims.len(), Reverse(earliest))
    };
    // `min_by_key` keeps the first of equals.
    candidates
        .into_iter()
        .min_by_key(rank)
        .expect("at least one candidate")
}

fn helpless(nodes: usize, statuses: &[Status]) -> String {
    let mut counts = BTreeMap::new();
    for reason in statuses.iter().flat_map(|s| &s.reasons) {
        *counts.entry(reason.clone()).or_insert(0) += 1;
    }
    if statuses.len() < nodes {
        let reason = "Preemption is not helpful for scheduling".into();
        *counts.entry(reason).or_insert(0) += nodes - statuses.len();
    }
    let reasons = counts.into_iter().collect();
    Diagnosis {
        nodes,
        reasons,
        ..Diagnosis::default()
    }
    .message("")
}
