//! Which pods must leave one node, and how one such choice compares with another.

use crate::snapshot::{PodId, Row, Snapshot};
use crate::status::Status;
use crate::trial::Trial;
use std::cmp::Reverse;
use std::sync::Arc;

/// A node on which the pod would fit, and who would have to leave it, the most important first.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub row: Row,
    pub victims: Vec<PodId>,
    pub violations: usize,
}

/// Upstream's five criteria, the lesser the better: violated budgets, highest priority, sum of
/// priorities, number of victims, and the later start of the earliest of the most important.
pub(super) type Rank = (usize, i64, i64, usize, Reverse<i64>);

/// What a dry run on one node found.
pub(super) type Found = Result<(Rank, Candidate), Arc<Status>>;

impl Candidate {
    pub(super) fn rank(&self, snap: &Snapshot) -> Rank {
        let priority = |id: &PodId| i64::from(snap.pods[*id].template.priority);
        let highest = priority(&self.victims[0]);
        // Shifted so that every priority counts as non-negative.
        let sum: i64 = self.victims.iter().map(|v| priority(v) + (1 << 31)).sum();
        let most_important = self.victims.iter().filter(|v| priority(v) == highest);
        let starts = most_important.map(|v| snap.pods[*v].start_time.unwrap_or(i64::MAX));
        let earliest = starts.min().unwrap_or(i64::MAX);
        let violations = match crate::mutation::active("DefaultPreemption") {
            true => 0,
            false => self.violations,
        };
        let count = self.victims.len();
        (violations, highest, sum, count, Reverse(earliest))
    }
}

/// The fewest pods, by importance, that must leave a node. What the trial did is left to be undone.
pub(super) fn victims_on(snap: &mut Snapshot, trial: &mut Trial, pod: PodId, row: Row) -> Found {
    let priority = snap.pods[pod].template.priority;
    let on_node = snap.nodes.pods[row as usize].iter().copied();
    let mut victims: Vec<PodId> = on_node
        .filter(|id| snap.importance(*id) < priority)
        .collect();
    if victims.is_empty() {
        let status = Status::unresolvable("No preemption victims found for incoming pod");
        return Err(Arc::new(status));
    }
    for &victim in &victims {
        trial.remove(snap, victim);
    }
    trial.judge(snap, row).map_err(|refused| refused.status)?;
    sort_by_importance(snap, &mut victims);
    let (violating, others) = split_by_budgets(snap, &victims);
    let both = !violating.is_empty() && !others.is_empty();
    let mut evicted = Vec::new();
    let mut violations = 0;
    for (list, counts) in [(violating, true), (others, false)] {
        for victim in list {
            trial.add(snap, victim, row);
            if !trial.passes(snap, row) {
                trial.remove(snap, victim);
                evicted.push(victim);
                violations += usize::from(counts);
            }
        }
    }
    if evicted.is_empty() {
        let node = snap.interner.text(snap.nodes.name(row));
        return Err(Arc::new(Status::error(format!(
            "expected at least one victim pod on node \"{node}\""
        ))));
    }
    let alone = evicted.len();
    complete_gangs(snap, &mut evicted);
    if both || evicted.len() > alone {
        sort_by_importance(snap, &mut evicted);
    }
    let candidate = Candidate {
        row,
        victims: evicted,
        violations,
    };
    Ok((candidate.rank(snap), candidate))
}

/// A gang that loses more than its surplus leaves as a whole, wherever its members are.
fn complete_gangs(snap: &Snapshot, evicted: &mut Vec<PodId>) {
    if snap.groups.is_empty() {
        return;
    }
    let mut groups: Vec<_> = evicted
        .iter()
        .filter_map(|pod| snap.groups.of(*pod))
        .collect();
    groups.sort_unstable();
    groups.dedup();
    for group in groups.into_iter().filter_map(|id| snap.groups.get(id)) {
        let followers = group.followers(&snap.pods, evicted);
        evicted.extend(followers.into_iter().map(|(pod, _)| pod));
    }
}

/// Higher priority first, then the longer running; a pod without start time counts as started just now.
pub fn sort_by_importance(snap: &Snapshot, pods: &mut [PodId]) {
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
pub fn split_by_budgets(snap: &Snapshot, pods: &[PodId]) -> (Vec<PodId>, Vec<PodId>) {
    let mut allowed: Vec<i32> = snap.budgets.iter().map(|b| b.disruptions_allowed).collect();
    if allowed.is_empty() {
        return (Vec::new(), pods.to_vec());
    }
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
