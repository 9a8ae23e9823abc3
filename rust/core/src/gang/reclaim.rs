//! Pods of tenants above their share leave so that a whole group of a tenant below it fits.

use super::sparing::{Unit, Victims, make_room, units_of};
use super::{GroupId, Request, Said};
use crate::drf::Tenant;
use crate::engine::Engine;
use crate::reclaim::{Spared, is_fair, no_larger, offered, releases};
use crate::snapshot::{PodId, Snapshot};
use rustc_hash::FxHashSet;
use std::sync::Arc;

impl Engine {
    /// Which pods of other tenants must go so that the group fits, under the conditions of
    /// [`Engine::reclaim`].
    ///
    /// As few as can be are looked for first, wherever they are; where it would not be fair to take them,
    /// among those that each tenant could lose in any case. Plugins of the caller's have a say by what they
    /// `said`; the caller asks them again about these places.
    pub fn reclaim_group(
        &mut self,
        group: GroupId,
        attempt: u64,
        spared: &Spared,
        said: &Arc<Said>,
    ) -> Option<Victims> {
        let known = self.snap.groups.get(group)?;
        let mut request = known.request(&self.snap.pods, attempt);
        request.said = Arc::clone(said);
        self.snap.refresh_tenants();
        let claim = Claim {
            mine: self.snap.pods[request.members.first()?.0].tenant?,
            request: &request,
            spared,
        };
        let units = claim.units(&self.snap);
        let found = make_room(self, &request, &units, &[])?;
        if claim.may_take(&mut self.snap, &found) {
            return Some(found);
        }
        let units = claim.owed(&mut self.snap, units);
        let found = make_room(self, &request, &units, &[])?;
        claim.may_take(&mut self.snap, &found).then_some(found)
    }
}

impl Engine {
    /// Pods that could be asked to leave for a group.
    pub fn claimed_by_group(&self, group: GroupId, spared: &Spared) -> Vec<PodId> {
        let Some(known) = self.snap.groups.get(group) else {
            return Vec::new();
        };
        let request = known.request(&self.snap.pods, 0);
        let first = request.members.first();
        let Some(mine) = first.and_then(|(pod, _)| self.snap.pods[*pod].tenant) else {
            return Vec::new();
        };
        let claim = Claim {
            mine,
            request: &request,
            spared,
        };
        let units = claim.units(&self.snap).into_iter();
        units
            .flat_map(|unit| unit.pods)
            .map(|(pod, _)| pod)
            .collect()
    }
}

/// Who wants room, and whom it must not cost anything.
struct Claim<'a> {
    mine: Tenant,
    request: &'a Request,
    spared: &'a Spared,
}

impl Claim<'_> {
    /// Pods that may be asked for, by who must leave together; who has most is the last to be spared.
    fn units(&self, snap: &Snapshot) -> Vec<Unit> {
        let on_nodes = snap.order.rows().iter();
        let on_nodes = on_nodes.flat_map(|row| snap.nodes.pods[*row as usize].iter().copied());
        let mut pods = offered(snap, self.mine, on_nodes, self.spared);
        pods.reverse();
        let may: FxHashSet<PodId> = pods.iter().copied().collect();
        let mut units = units_of(snap, &pods);
        // Of a gang with a member that must stay there is no more to have than its surplus.
        for unit in &mut units {
            let group = snap.groups.of(unit.pods[0].0);
            let known = group.and_then(|group| snap.groups.get(group));
            let mut holding = known
                .into_iter()
                .flat_map(|known| known.holding(&snap.pods));
            if !holding.all(|(id, _, _)| may.contains(&id)) {
                let kept = unit.pods.len().saturating_sub(unit.surplus);
                unit.pods.drain(..kept);
            }
        }
        units.retain(|unit| !unit.pods.is_empty());
        units
    }

    /// Those of `units` that may all go together: whichever of them are taken, nobody is worse off than the
    /// group's tenant then.
    fn owed(&self, snap: &mut Snapshot, units: Vec<Unit>) -> Vec<Unit> {
        self.book_members(snap, true);
        let mut owed: Vec<Unit> = Vec::new();
        for unit in units.into_iter().rev() {
            if self.lose(snap, unit.pods.iter().map(|(id, _)| *id), true) {
                owed.push(unit);
            }
        }
        for (id, _) in owed.iter().flat_map(|unit: &Unit| &unit.pods) {
            snap.book_usage(*id, true);
        }
        self.book_members(snap, false);
        owed.reverse();
        owed
    }

    /// Takes pods out of the books if limits let their tenants lose all of them and, where `stay_ahead`,
    /// those have no less than the group's tenant then.
    fn lose(
        &self,
        snap: &mut Snapshot,
        pods: impl Iterator<Item = PodId>,
        stay_ahead: bool,
    ) -> bool {
        let mut gone: Vec<PodId> = Vec::new();
        for id in pods {
            let may = releases(snap, id, self.mine);
            if may {
                snap.book_usage(id, false);
                gone.push(id);
            }
            if !may || stay_ahead && !no_larger(snap, self.mine, snap.pods[id].tenant) {
                for id in gone {
                    snap.book_usage(id, true);
                }
                return false;
            }
        }
        true
    }

    fn book_members(&self, snap: &mut Snapshot, added: bool) {
        let needed = self.request.members.iter().take(self.request.need);
        for (id, _) in needed {
            snap.book_usage(*id, added);
        }
    }

    /// Whether limits let the tenants lose the victims, and none has less than the group's tenant then.
    /// Books are as before.
    fn may_take(&self, snap: &mut Snapshot, victims: &Victims) -> bool {
        let taken = &victims.pods;
        if taken.is_empty() || !self.lose(snap, taken.iter().copied(), false) {
            return false;
        }
        let members: Vec<PodId> = victims.places.iter().map(|(id, _)| *id).collect();
        let fair = is_fair(snap, &members, self.mine, taken);
        for id in taken {
            snap.book_usage(*id, true);
        }
        fair
    }
}
