//! Tenants above their share give back for one below it, and space that is kept for who has waited long.

use crate::drf::{FairShares, Tenant};
use crate::engine::Engine;
use crate::filtering::Filters;
use crate::preempt::split_by_budgets;
use crate::queue::SYSTEM_CRITICAL;
use crate::snapshot::{PodId, Row, Snapshot};
use crate::status::Code;
use crate::trial::Trial;
use rustc_hash::FxHashSet;
use std::cmp::{Ordering, Reverse};

/// Nodes on which victims are looked for, at most.
const CANDIDATES: usize = 100;

/// Whose pods are not taken.
#[derive(Clone, Debug, Default)]
pub struct Spared {
    /// Pods that run too short a time.
    pub pods: FxHashSet<PodId>,
    pub tenants: FxHashSet<Tenant>,
}

/// Pods that leave so that another fits on a row; of a group no more than its surplus, or all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reclaimed {
    pub row: Row,
    pub victims: Vec<PodId>,
}

impl Engine {
    /// Which pods of other tenants must go so that a pod fits on some node, none of whose tenants could then
    /// claim it back: with the victims gone and the pod in place, its tenant has no larger share than theirs,
    /// and theirs have all that they deserve and are guaranteed. No disruption budget is violated, and no gang
    /// is left with less than its minimum.
    pub fn reclaim(&mut self, pod: PodId, spared: &Spared) -> Option<Reclaimed> {
        let judged = self.judge(pod)?.ok()?;
        self.snap.refresh_tenants();
        let mine = self.snap.pods[pod].tenant?;
        let codes = judged.codes(&self.snap);
        let snap = &mut self.snap;
        let rows: Vec<Row> = snap.order.rows().to_vec();
        let candidates = rows
            .into_iter()
            .filter(|row| codes[*row as usize] == Code::Unschedulable)
            .map(|row| {
                let pods = snap.nodes.pods[row as usize].iter().copied();
                (row, offered(snap, mine, pods, spared))
            })
            .filter(|(_, victims)| !victims.is_empty());
        let mut candidates: Vec<_> = candidates.collect();
        candidates.sort_by_key(|(_, victims)| Reverse(victims.len()));
        candidates.truncate(CANDIDATES);
        let mut trial = Trial::new(snap, &judged.filters, pod);
        let mut found: Option<Reclaimed> = None;
        for (row, victims) in candidates {
            let claim = Claim {
                pod,
                mine,
                row,
                spared,
            };
            let taken = claim.take(snap, &mut trial, victims);
            trial.restart(snap, &judged.filters);
            if let Some(victims) = taken
                && found
                    .as_ref()
                    .is_none_or(|best| victims.len() < best.victims.len())
            {
                found = Some(Reclaimed { row, victims });
            }
        }
        trial.end(snap);
        found
    }

    /// The node that has to lose least before a pod fits on it: who has waited long gets its space kept there.
    /// That is `kept` as long as the pod could ever fit on it.
    pub fn roomiest(&mut self, pod: PodId, kept: Option<Row>) -> Option<Row> {
        let judged = self.judge(pod)?.ok()?;
        let codes = judged.codes(&self.snap);
        let snap = &mut self.snap;
        let rows = snap.order.rows().iter().copied();
        let mut lacking: Vec<(f64, Row)> = rows
            .filter(|row| codes[*row as usize] == Code::Unschedulable)
            .map(|row| match kept == Some(row) {
                true => (f64::NEG_INFINITY, row),
                false => (lack(snap, pod, row), row),
            })
            .collect();
        lacking.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        lacking.truncate(CANDIDATES);
        let fits = |(_, row): &(f64, Row)| fits_empty(snap, &judged.filters, pod, *row);
        lacking.into_iter().find(fits).map(|(_, row)| row)
    }

    /// Nominates a pod to a row and keeps the space from everybody who is not system-critical, whatever the
    /// priorities.
    pub fn keep_space(&mut self, pod: PodId, row: Row) {
        let node = self.snap.nodes.name(row);
        self.snap.nominate(pod, None);
        self.snap.nominate(pod, Some(node));
        self.snap.keep(pod);
    }
}

/// The largest part of a resource that is missing on a row.
fn lack(snap: &Snapshot, pod: PodId, row: Row) -> f64 {
    let held = snap.pods[pod].template.requests.held.iter();
    let missing = held.map(|(id, amount)| {
        let (all, used) = (
            snap.nodes.allocatable(id, row),
            snap.nodes.requested(id, row),
        );
        (used.saturating_add(amount).saturating_sub(all)).max(0) as f64 / all.max(1) as f64
    });
    missing.fold(0.0, f64::max)
}

fn fits_empty(snap: &mut Snapshot, filters: &Filters, pod: PodId, row: Row) -> bool {
    let mut trial = Trial::new(snap, filters, pod);
    for other in snap.nodes.pods[row as usize].clone() {
        trial.remove(snap, other);
    }
    let fits = trial.passes(snap, row);
    trial.end(snap);
    fits
}

/// Those of `pods` that may be asked for: of the tenant with the largest share first, in it the least
/// important.
pub(crate) fn offered(
    snap: &Snapshot,
    mine: Tenant,
    pods: impl Iterator<Item = PodId>,
    spared: &Spared,
) -> Vec<PodId> {
    let Some(tenants) = &snap.tenants else {
        return Vec::new();
    };
    let shares = &tenants.shares;
    let pods: Vec<PodId> = pods
        .filter(|id| may_go(snap, *id, mine, spared))
        .filter(|id| {
            let other = snap.pods[*id].tenant;
            other.is_some_and(|other| over(shares, other, mine))
        })
        .collect();
    let (_, mut pods) = split_by_budgets(snap, &pods);
    pods.sort_by(|a, b| {
        let (a, b) = (&snap.pods[*a], &snap.pods[*b]);
        let larger = match (a.tenant, b.tenant) {
            (Some(a), Some(b)) => shares.compare(b, a).unwrap_or(Ordering::Equal),
            _ => Ordering::Equal,
        };
        let youth = |pod: &crate::snapshot::Pod| Reverse(pod.start_time.unwrap_or(i64::MAX));
        larger
            .then_with(|| a.template.priority.cmp(&b.template.priority))
            .then_with(|| youth(a).cmp(&youth(b)))
    });
    pods
}

fn may_go(snap: &Snapshot, id: PodId, mine: Tenant, spared: &Spared) -> bool {
    let pod = &snap.pods[id];
    let other = pod.tenant.filter(|tenant| *tenant != mine);
    other.is_some_and(|tenant| !spared.tenants.contains(&tenant))
        && !pod.terminating
        && snap.importance(id) < SYSTEM_CRITICAL
        && !spared.pods.contains(&id)
}

fn over(shares: &FairShares, tenant: Tenant, other: Tenant) -> bool {
    shares.compare(tenant, other) == Ok(Ordering::Greater)
}

/// Who wants which row, and whom it must not cost anything.
struct Claim<'a> {
    pod: PodId,
    mine: Tenant,
    row: Row,
    spared: &'a Spared,
}

/// Pods that leave together: one, or all of a gang that cannot do with less; each with its row.
type Bundle = Vec<(PodId, Row)>;

impl Claim<'_> {
    /// The pods that must leave so that the pod fits on the row, if all who lose them may. Books are as before;
    /// what the trial did is left to be undone.
    fn take(
        &self,
        snap: &mut Snapshot,
        trial: &mut Trial,
        victims: Vec<PodId>,
    ) -> Option<Vec<PodId>> {
        let mut taken = Vec::new();
        let fits = self.clear(snap, trial, victims, &mut taken);
        let taken: Vec<PodId> = taken.into_iter().flatten().map(|(id, _)| id).collect();
        let fair = fits && is_fair(snap, &[self.pod], self.mine, &taken);
        for id in &taken {
            snap.book_usage(*id, true);
        }
        fair.then_some(taken)
    }

    /// Takes pods off, and out of the books, one by one until the trial's pod fits; then puts back whoever need
    /// not go.
    fn clear(
        &self,
        snap: &mut Snapshot,
        trial: &mut Trial,
        victims: Vec<PodId>,
        taken: &mut Vec<Bundle>,
    ) -> bool {
        let mut fits = false;
        for victim in victims {
            let Some(bundle) = self.bundle(snap, victim, taken) else {
                continue;
            };
            if !self.remove(snap, trial, &bundle) {
                continue;
            }
            taken.push(bundle);
            fits = trial.passes(snap, self.row);
            if fits {
                break;
            }
        }
        // The last one taken is needed; of the others whoever can stay does, the most over-served last.
        for at in (0..taken.len().saturating_sub(1)).rev().filter(|_| fits) {
            for (id, row) in &taken[at] {
                trial.add(snap, *id, *row);
            }
            let stays = trial.passes(snap, self.row);
            for (id, _) in &taken[at] {
                match stays {
                    true => snap.book_usage(*id, true),
                    false => trial.remove(snap, *id),
                }
            }
            if stays {
                taken.remove(at);
            }
        }
        fits
    }

    /// Takes pods off and out of the books, if limits let their tenants lose all of them.
    fn remove(&self, snap: &mut Snapshot, trial: &mut Trial, bundle: &Bundle) -> bool {
        for (at, (id, _)) in bundle.iter().enumerate() {
            if releases(snap, *id, self.mine) {
                trial.remove(snap, *id);
                snap.book_usage(*id, false);
                continue;
            }
            for (id, row) in &bundle[..at] {
                trial.add(snap, *id, *row);
                snap.book_usage(*id, true);
            }
            return false;
        }
        true
    }

    /// Who leaves with a pod besides those that are `taken`; `None` if one of them may not.
    fn bundle(&self, snap: &Snapshot, victim: PodId, taken: &[Bundle]) -> Option<Bundle> {
        let gone = || taken.iter().flatten().map(|(id, _)| *id);
        if gone().any(|id| id == victim) {
            return None;
        }
        let mut leave = vec![(victim, snap.pods[victim].row?)];
        let group = snap.groups.of(victim);
        if let Some(group) = group.and_then(|id| snap.groups.get(id)) {
            // What has been taken is off its node, and so no longer among those that hold one.
            leave.extend(group.followers(&snap.pods, &[victim]));
        }
        let all: Vec<PodId> = gone().chain(leave.iter().map(|(id, _)| *id)).collect();
        let mut may = leave
            .iter()
            .map(|(id, _)| may_go(snap, *id, self.mine, self.spared));
        (may.all(|may| may) && split_by_budgets(snap, &all).0.is_empty()).then_some(leave)
    }
}

/// Whether, with `pods` in the books and those `taken` out, their tenant has no larger share than the others.
pub(crate) fn is_fair(snap: &mut Snapshot, pods: &[PodId], mine: Tenant, taken: &[PodId]) -> bool {
    let losers: FxHashSet<_> = taken.iter().map(|id| snap.pods[*id].tenant).collect();
    for id in pods {
        snap.book_usage(*id, true);
    }
    let fair = losers.into_iter().all(|loser| no_larger(snap, mine, loser));
    for id in pods {
        snap.book_usage(*id, false);
    }
    fair
}

/// Whether a tenant has no larger share than another.
pub(crate) fn no_larger(snap: &Snapshot, mine: Tenant, other: Option<Tenant>) -> bool {
    let (Some(tenants), Some(other)) = (&snap.tenants, other) else {
        return false;
    };
    let order = tenants.shares.compare(mine, other);
    order.is_ok_and(Ordering::is_le)
}

/// Whether limits let a tenant lose a pod for another.
pub(crate) fn releases(snap: &Snapshot, victim: PodId, to: Tenant) -> bool {
    let pod = &snap.pods[victim];
    let (Some(tenants), Some(from)) = (&snap.tenants, pod.tenant) else {
        return false;
    };
    tenants.may_lose(from, &pod.template.requests.held, to)
}
