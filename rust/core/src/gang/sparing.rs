//! Which pods leave so that a whole group fits: only with a complete placement, and in one wave.
//!
//! Everything that may be evicted is taken away; then it is put back, as long as the group still fits.
//! Groups come back whole, or else as many of them as their minimum needs.

use super::place::fits;
use super::transaction::Transaction;
use super::{GroupId, Places, Request};
use crate::engine::Engine;
use crate::filtering::{FEASIBLE, Filters};
use crate::preempt::sort_by_importance;
use crate::snapshot::{PodId, Row, Snapshot};
use rustc_hash::{FxHashMap, FxHashSet};

/// Placements that are tried in order to spare victims; beyond that they are spared only where the group
/// leaves room for them as it stands.
const MOST_TRIED: usize = 256;

#[derive(Clone, Debug)]
pub struct Victims {
    /// Where each member is to go once they have left.
    pub places: Places,
    /// The most important first; none if those that leave anyway are enough.
    pub pods: Vec<PodId>,
    /// How many of them a budget wanted to keep.
    pub violations: usize,
}

/// Who may be evicted together.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    /// Those that are spared first come first.
    pub pods: Vec<(PodId, Row)>,
    /// How many of them may leave without the others.
    pub surplus: usize,
    /// Whether a budget wants to keep one of them.
    pub violates: bool,
}

/// Pods by who must leave together, in the order in which the first of each comes.
pub(super) fn units_of(snap: &Snapshot, pods: &[PodId]) -> Vec<Unit> {
    let mut units: Vec<Unit> = Vec::new();
    let mut of_group: FxHashMap<GroupId, usize> = FxHashMap::default();
    for id in pods.iter().copied() {
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
    }
    units
}

/// Who must leave so that the group fits, `leaving` gone in any case: as few units as can be, the first
/// spared before the others. `None` if it does not fit with all of them gone. Nothing is kept.
pub(super) fn make_room(
    engine: &mut Engine,
    request: &Request,
    units: &[Unit],
    leaving: &[PodId],
) -> Option<Victims> {
    let mut sparing = Sparing {
        engine,
        request,
        tx: Transaction::new(request.budget),
        evicted: FxHashSet::default(),
        tries: 0,
        placed: false,
    };
    let pods = units.iter().flat_map(|unit| &unit.pods);
    for pod in pods.map(|(pod, _)| pod).chain(leaving) {
        sparing.tx.evict(sparing.engine, *pod);
        sparing.evicted.insert(*pod);
    }
    if !sparing.fits() {
        sparing.tx.discard(sparing.engine);
        return None;
    }
    sparing.spare(units);
    Some(sparing.finish(units))
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

impl Sparing<'_> {
    /// Places all members anew.
    fn fits(&mut self) -> bool {
        self.tx.undo_to(self.engine, 0);
        self.tries += 1;
        self.placed = fits(self.engine, self.request, &mut self.tx);
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
