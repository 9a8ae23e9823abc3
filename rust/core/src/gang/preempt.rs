//! Which pods leave so that a whole group fits: only with a complete placement, and in one wave.
//!
//! Everything that may be evicted is taken away; then it is put back, budgets first and the most important
//! first, as long as the group still fits. Groups come back whole, or else as many of them as their
//! minimum needs.

use super::place::fill;
use super::transaction::Transaction;
use super::{GroupId, Places, Request};
use crate::engine::Engine;
use crate::filtering::{FEASIBLE, Filters};
use crate::preempt::{sort_by_importance, split_by_budgets};
use crate::snapshot::{PodId, Row, Snapshot};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;

/// Placements that are tried in order to spare victims; beyond that they are spared only where the group
/// leaves room for them as it stands.
const MOST_TRIED: usize = 256;

/// What a disruption budget means to a victim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RespectBudgets {
    /// Violated only where nothing else helps, as kube-scheduler does.
    Rank,
    /// Never violated.
    Always,
}

#[derive(Clone, Debug)]
pub struct Victims {
    /// Where each member is to go once they have left.
    pub places: Places,
    /// The most important first; none if those that leave anyway are enough.
    pub pods: Vec<PodId>,
    /// How many of them a budget wanted to keep.
    pub violations: usize,
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

/// Who may be evicted together.
#[derive(Clone, Debug)]
struct Unit {
    /// The most important first.
    pods: Vec<(PodId, Row)>,
    /// How many of them may leave without the others.
    surplus: usize,
    violates: bool,
}

impl Engine {
    /// PostFilter of a group that has just been found to have no places.
    pub fn preempt_group(
        &mut self,
        group: GroupId,
        attempt: u64,
        respect: RespectBudgets,
    ) -> GangPreemption {
        let Some(known) = self.snap.groups.get(group) else {
            return GangPreemption::Helpless { message: "" };
        };
        let (priority, may_preempt) = (known.priority, known.may_preempt);
        let request = known.request(&self.snap.pods, attempt);
        if !may_preempt {
            let message = "not eligible due to preemptionPolicy=Never.";
            return GangPreemption::Ineligible { message };
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
        let mut sparing = Sparing::new(self, &request);
        let pods = units
            .iter()
            .flat_map(|unit| &unit.pods)
            .map(|(pod, _)| *pod);
        for pod in pods.chain(leaving) {
            sparing.tx.evict(sparing.engine, pod);
            sparing.evicted.insert(pod);
        }
        if !sparing.fits() {
            sparing.tx.discard(self);
            let message = "Preemption is not helpful for scheduling";
            return GangPreemption::Helpless { message };
        }
        sparing.spare(&units);
        GangPreemption::Nominate(sparing.finish(&units))
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
    let mut units: Vec<Unit> = Vec::new();
    let mut of_group: FxHashMap<GroupId, usize> = FxHashMap::default();
    for id in pods {
        let Some(row) = snap.pods[id].row else {
            continue;
        };
        let group = snap.groups.of(id);
        let at = group.map_or(units.len(), |group| {
            *of_group.entry(group).or_insert(units.len())
        });
        if at == units.len() {
            let known = group.and_then(|group| snap.groups.get(group));
            units.push(Unit {
                pods: Vec::new(),
                surplus: known.map_or(0, |known| known.surplus(&snap.pods)),
                violates: false,
            });
        }
        units[at].pods.push((id, row));
        units[at].violates |= violating.contains(&id);
    }
    if respect == RespectBudgets::Always {
        units.retain(|unit| !unit.violates);
    }
    // Stable: within each half the most important stay first.
    units.sort_by_key(|unit| Reverse(unit.violates));
    (units, leaving)
}

/// A group on a cluster from which victims were taken, and who may come back.
struct Sparing<'a> {
    engine: &'a mut Engine,
    request: &'a Request,
    tx: Transaction,
    evicted: FxHashSet<PodId>,
    tries: usize,
    /// Whether the members are placed with all in place that were spared.
    placed: bool,
}

impl<'a> Sparing<'a> {
    fn new(engine: &'a mut Engine, request: &'a Request) -> Self {
        Sparing {
            engine,
            request,
            tx: Transaction::default(),
            evicted: FxHashSet::default(),
            tries: 0,
            placed: false,
        }
    }

    /// Places all members anew.
    fn fits(&mut self) -> bool {
        self.tx.undo_to(self.engine, 0);
        self.tries += 1;
        self.placed = fill(self.engine, self.request, &mut self.tx).is_ok();
        self.placed
    }

    /// Puts pods back where they were if the group still fits then.
    fn keep(&mut self, pods: &[(PodId, Row)]) -> bool {
        if self.tries >= MOST_TRIED {
            return false;
        }
        self.tx.undo_to(self.engine, 0);
        let before = self.tx.savepoint();
        for &(pod, row) in pods {
            self.tx.put_back(self.engine, pod, row);
        }
        if self.fits() {
            for (pod, _) in pods {
                self.evicted.remove(pod);
            }
            return true;
        }
        self.tx.undo_to_savepoint(self.engine, before);
        false
    }

    /// Spares as many units as it can, the first before the others.
    fn spare(&mut self, units: &[Unit]) {
        let all: Vec<(PodId, Row)> = units.iter().flat_map(|unit| unit.pods.clone()).collect();
        if self.keep(&all) {
            return;
        }
        match units {
            [] => {}
            [one] => self.spare_members(one),
            _ => {
                let (first, second) = units.split_at(units.len() / 2);
                self.spare(first);
                self.spare(second);
            }
        }
    }

    /// A group that cannot stay as a whole may give up its surplus.
    fn spare_members(&mut self, unit: &Unit) {
        if unit.surplus == 0 {
            return;
        }
        self.tx.undo_to(self.engine, 0);
        let before = self.tx.savepoint();
        let kept: Vec<(PodId, Row)> = unit
            .pods
            .iter()
            .copied()
            .filter(|member| self.keep(&[*member]))
            .collect();
        if unit.pods.len() - kept.len() > unit.surplus {
            self.tx.undo_to(self.engine, 0);
            self.tx.undo_to_savepoint(self.engine, before);
            self.evicted.extend(kept.into_iter().map(|(pod, _)| pod));
            self.placed = false;
        }
    }

    /// Places the members for good, spares who is not in their way, and undoes everything.
    fn finish(mut self, units: &[Unit]) -> Victims {
        if !self.placed {
            self.fits();
        }
        let places = self.tx.places();
        if self.tries >= MOST_TRIED {
            for unit in units {
                if unit.pods.iter().all(|(pod, _)| self.evicted.contains(pod)) {
                    self.spare_in_place(unit, &places);
                }
            }
        }
        self.tx.discard(self.engine);
        let snap = &self.engine.snap;
        let evicted = |pod: &PodId| self.evicted.contains(pod);
        let mut pods: Vec<PodId> = units
            .iter()
            .flat_map(|u| &u.pods)
            .map(|(pod, _)| *pod)
            .collect();
        pods.retain(evicted);
        sort_by_importance(snap, &mut pods);
        let violations = units
            .iter()
            .filter(|unit| unit.violates)
            .flat_map(|unit| &unit.pods);
        Victims {
            places,
            violations: violations
                .filter(|(pod, _)| self.evicted.contains(pod))
                .count(),
            pods,
        }
    }

    /// Puts a unit back if all members stand beside it where they are.
    fn spare_in_place(&mut self, unit: &Unit, places: &Places) {
        let before = self.tx.savepoint();
        for &(pod, row) in &unit.pods {
            self.tx.put_back(self.engine, pod, row);
        }
        let beside = |row: Row| unit.pods.iter().any(|(_, own)| *own == row);
        let members = places.iter().filter(|(_, row)| beside(*row));
        let stand = members
            .copied()
            .all(|(pod, row)| stands(self.engine, pod, row));
        if stand {
            for (pod, _) in &unit.pods {
                self.evicted.remove(pod);
            }
        } else {
            self.tx.undo_to_savepoint(self.engine, before);
        }
    }
}

/// Whether a placed member still passes every filter on its node.
fn stands(engine: &mut Engine, pod: PodId, row: Row) -> bool {
    let Some((_, profile)) = engine.profile_of(pod) else {
        return false;
    };
    let Some((_, position)) = engine.snap.unplace(pod) else {
        return false;
    };
    let filters = Filters::new(&engine.snap, &profile, &engine.snap.pods[pod]);
    let passes = filters.is_ok_and(|filters| filters.judge(&engine.snap, row, 0) == FEASIBLE);
    engine.snap.place_at(pod, row, position);
    passes
}
