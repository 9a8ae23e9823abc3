//! Pods of lower priority leave so that a whole group fits.

use super::sparing::{Unit, Victims, make_room, units_of};
use super::{GroupId, Request, Said};
use crate::engine::Engine;
use crate::preempt::{sort_by_importance, split_by_budgets};
use crate::snapshot::{PodId, Snapshot};
use rustc_hash::FxHashSet;
use std::cmp::Reverse;
use std::sync::Arc;

/// What a disruption budget means to a victim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RespectBudgets {
    /// Violated only where nothing else helps, as kube-scheduler does.
    Rank,
    /// Never violated.
    Always,
}

#[derive(Clone, Debug)]
pub enum GangPreemption {
    Nominate(Victims),
    /// Nothing can be done; earlier nominations are void.
    Helpless {
        message: &'static str,
    },
    /// Nothing is done now; earlier nominations stand.
    Ineligible {
        message: &'static str,
    },
}

impl Engine {
    /// PostFilter of a group that has just been found to have no places.
    pub fn preempt_group(
        &mut self,
        group: GroupId,
        attempt: u64,
        respect: RespectBudgets,
    ) -> GangPreemption {
        self.preempt_group_hearing(group, attempt, respect, &Arc::default())
    }

    /// The same where plugins of the caller's have a say; the caller asks them again about these places.
    pub fn preempt_group_hearing(
        &mut self,
        group: GroupId,
        attempt: u64,
        respect: RespectBudgets,
        said: &Arc<Said>,
    ) -> GangPreemption {
        let Some(known) = self.snap.groups.get(group) else {
            return GangPreemption::Helpless { message: "" };
        };
        let (priority, may_preempt) = (known.priority, known.may_preempt);
        let mut request = known.request(&self.snap.pods, attempt);
        request.said = Arc::clone(said);
        if !may_preempt {
            let message = "not eligible due to preemptionPolicy=Never.";
            return GangPreemption::Helpless { message };
        }
        if waits_for_victims(&self.snap, &request, priority) {
            let message = "not eligible due to a terminating pod on the nominated node.";
            return GangPreemption::Ineligible { message };
        }
        let (units, leaving) = candidates(&self.snap, priority, respect);
        if units.is_empty() && leaving.is_empty() {
            let message = "No preemption victims found for incoming pods";
            return GangPreemption::Helpless { message };
        }
        match make_room(self, &request, &units, &leaving) {
            Some(victims) => GangPreemption::Nominate(victims),
            None => GangPreemption::Helpless {
                message: "Preemption is not helpful for scheduling",
            },
        }
    }
}

impl Engine {
    /// Pods that could leave for a group, and those that are leaving already; all of lower priority.
    pub fn below_group(&self, group: GroupId, respect: RespectBudgets) -> (Vec<PodId>, Vec<PodId>) {
        let Some(known) = self.snap.groups.get(group) else {
            return (Vec::new(), Vec::new());
        };
        let (units, leaving) = candidates(&self.snap, known.priority, respect);
        let pods = units.iter().flat_map(|unit| &unit.pods);
        (pods.map(|(pod, _)| *pod).collect(), leaving)
    }
}

/// Whether pods that were evicted for the group are still on their way.
fn waits_for_victims(snap: &Snapshot, request: &Request, priority: i32) -> bool {
    let nominated = request
        .members
        .iter()
        .filter_map(|(pod, _)| snap.pods[*pod].nominated);
    let mut rows = nominated.filter_map(|name| snap.nodes.row(name));
    rows.any(|row| {
        snap.nodes.pods[row as usize].iter().any(|id| {
            let pod = &snap.pods[*id];
            pod.terminating && pod.preempted && snap.importance(*id) < priority
        })
    })
}

/// Pods of lower priority by who must leave together, and those that are leaving already.
fn candidates(snap: &Snapshot, priority: i32, respect: RespectBudgets) -> (Vec<Unit>, Vec<PodId>) {
    let (mut pods, mut leaving) = (Vec::new(), Vec::new());
    for id in snap.nodes.pods.iter().flatten().copied() {
        if snap.importance(id) >= priority {
            continue;
        }
        match snap.pods[id].terminating {
            true => leaving.push(id),
            false => pods.push(id),
        }
    }
    sort_by_importance(snap, &mut pods);
    let (violating, _) = split_by_budgets(snap, &pods);
    let violating: FxHashSet<PodId> = violating.into_iter().collect();
    let mut units = units_of(snap, &pods);
    for unit in &mut units {
        unit.violates = unit.pods.iter().any(|(id, _)| violating.contains(id));
    }
    if respect == RespectBudgets::Always {
        units.retain(|unit| !unit.violates);
    }
    // Stable: within each half the most important stay first.
    units.sort_by_key(|unit| Reverse(unit.violates));
    (units, leaving)
}
