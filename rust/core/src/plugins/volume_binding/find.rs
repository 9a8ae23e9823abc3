//! How the claims of a pod fare on one node.

use super::claims::{Bound, Claims, Unbound};
use super::conflict::{Conflict, Failure};
use super::search::{SpaceSearch, VolumeSearch};
use crate::snapshot::volumes::{Decision, Lookup, Place, Reach, Slot, Source, Test, Volume};
use crate::snapshot::{Row, Snapshot};
use crate::status::{Code, Status};
use std::sync::Arc;

/// [`Claims`] made ready for judging rows.
#[derive(Debug)]
pub(super) struct Finder<'a> {
    snap: &'a Snapshot,
    claims: &'a Claims,
    bound: Vec<BoundTest<'a>>,
    /// Of the claims to be matched.
    shelves: Vec<Option<Lookup<'a>>>,
    /// Of the claims to be matched, then of those to be provisioned.
    means: Vec<Option<MeansTest<'a>>>,
}

#[derive(Debug)]
enum BoundTest<'a> {
    Missing,
    Reach(Test<'a>),
    /// Depends on whether the node has migrated the volume's plugin.
    InTree(Slot, &'a Volume),
}

#[derive(Debug)]
struct MeansTest<'a> {
    allowed: Test<'a>,
    limited: bool,
    space: Option<Lookup<'a>>,
}

/// What was found on one node; reused from node to node. Claims are counted as in [`Finder::claim`].
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) bindings: Vec<(usize, Slot)>,
    /// With the capacity that suffices, where there must be one.
    pub(super) provisions: Vec<(usize, Option<Slot>)>,
}

impl<'a> Finder<'a> {
    pub(super) fn new(snap: &'a Snapshot, claims: &'a Claims, rows: usize) -> Self {
        let topology = &snap.topology;
        let mut bound = Vec::with_capacity(claims.bound.len());
        let mut reaches: Vec<&Arc<Reach>> = Vec::new();
        for claim in &claims.bound {
            let volume = match claim {
                Bound::Missing => None,
                Bound::Volume(slot) => snap.volumes.volume(*slot).map(|volume| (*slot, volume)),
            };
            bound.push(match volume {
                None => BoundTest::Missing,
                Some((slot, volume)) if matches!(volume.source, Source::InTree { .. }) => {
                    BoundTest::InTree(slot, volume)
                }
                // Volumes of a zone share one reach: it is asked once.
                Some((_, volume)) if reaches.iter().any(|r| Arc::ptr_eq(r, &volume.reach)) => {
                    continue;
                }
                Some((_, volume)) => {
                    reaches.push(&volume.reach);
                    BoundTest::Reach(Test::new(&volume.reach, topology))
                }
            });
        }
        let all = claims.matched.iter().chain(&claims.provisioned);
        let means = all.map(|claim| {
            let means = claim.means.as_ref()?;
            let space = snap.volumes.space(claim.class).filter(|_| means.limited);
            Some(MeansTest {
                allowed: Test::new(&means.allowed, topology),
                limited: means.limited,
                space: space.map(|shelf| shelf.lookup(topology, rows)),
            })
        });
        let view = snap.volumes.view(claims.profile);
        let shelf = |claim: &Unbound| Some(view.shelf(claim.class)?.lookup(topology, rows));
        Finder {
            snap,
            claims,
            bound,
            shelves: claims.matched.iter().map(shelf).collect(),
            means: means.collect(),
        }
    }

    /// The claims to be matched, then those to be provisioned.
    pub(super) fn claim(&self, index: usize) -> &'a Unbound {
        let matched = &self.claims.matched;
        match matched.get(index) {
            Some(claim) => claim,
            None => &self.claims.provisioned[index - matched.len()],
        }
    }

    pub(super) fn code(&self, row: Row, found: &mut Found) -> Code {
        match self.find(row, found) {
            Err(_) => Code::Error,
            Ok([None, None]) => Code::Success,
            Ok(_) => Code::UnschedulableAndUnresolvable,
        }
    }

    pub(super) fn status(&self, row: Row, found: &mut Found) -> Status {
        match self.find(row, found) {
            Err(failure) => Status::error(failure.message(self.snap, self.claims)),
            Ok(conflicts) => {
                let mut conflicts: Vec<_> = conflicts.into_iter().flatten().collect();
                conflicts.sort_unstable();
                if conflicts.is_empty() {
                    return Status::default();
                }
                Status {
                    code: Code::UnschedulableAndUnresolvable,
                    reasons: conflicts.into_iter().map(|c| c.reason().into()).collect(),
                }
            }
        }
    }

    /// Conflicts of the bound claims and of the unbound ones.
    fn find(&self, row: Row, found: &mut Found) -> Result<[Option<Conflict>; 2], Failure> {
        found.bindings.clear();
        found.provisions.clear();
        Ok([self.check_bound(row)?, self.find_unbound(row, found)?])
    }

    fn check_bound(&self, row: Row) -> Result<Option<Conflict>, Failure> {
        let (nodes, interner) = (&self.snap.nodes, &self.snap.interner);
        for test in &self.bound {
            let reached = match test {
                BoundTest::Missing => return Ok(Some(Conflict::NoVolume)),
                BoundTest::Reach(test) => test.accepts(row, nodes, interner),
                BoundTest::InTree(slot, volume) => {
                    let reach = volume.reach_on(self.snap.volumes.csi_node(row));
                    let reach = reach.map_err(|_| Failure::Translation(*slot))?;
                    reach.matches(&nodes.info(row).labels, interner)
                }
            };
            if !reached {
                return Ok(Some(Conflict::Node));
            }
        }
        Ok(None)
    }

    fn find_unbound(&self, row: Row, found: &mut Found) -> Result<Option<Conflict>, Failure> {
        let node = self.snap.nodes.name(row);
        if self
            .claims
            .selected
            .iter()
            .any(|selected| *selected != node)
        {
            return Ok(Some(Conflict::NoMatch));
        }
        let matched = self.claims.matched.len();
        for (index, claim) in self.claims.matched.iter().enumerate() {
            if claim.invalid.is_some() {
                return Err(Failure::Selector(index));
            }
            if let Some(volume) = self.find_volume(index, claim, row, found) {
                found.bindings.push((index, volume));
            }
        }
        let is_bound = |found: &Found, index| found.bindings.iter().any(|(i, _)| *i == index);
        let selected = matched..matched + self.claims.provisioned.len();
        for index in selected.chain(0..matched) {
            if is_bound(found, index) {
                continue;
            }
            match self.provision(index, row) {
                Ok(capacity) => found.provisions.push((index, capacity)),
                Err(conflict) => return Ok(Some(conflict)),
            }
        }
        Ok(None)
    }

    fn find_volume(&self, index: usize, claim: &Unbound, row: Row, found: &Found) -> Option<Slot> {
        let snap = self.snap;
        let free = |slot: &Slot| found.bindings.iter().all(|(_, taken)| taken != slot);
        if let Some(slot) = claim.promised.iter().find(|slot| free(slot)) {
            let volume = snap.volumes.volume(*slot)?;
            let labels = &snap.nodes.info(row).labels;
            return volume
                .reach
                .matches(labels, &snap.interner)
                .then_some(*slot);
        }
        let search = VolumeSearch {
            snap,
            wanted: &claim.wanted,
            taken: &found.bindings,
        };
        self.shelves[index]
            .as_ref()?
            .first(self.place(row), &search)
    }

    /// Whether a volume can be made for a claim, and in which capacity.
    fn provision(&self, index: usize, row: Row) -> Result<Option<Slot>, Conflict> {
        let snap = self.snap;
        let means = self.means[index].as_ref().ok_or(Conflict::NoMatch)?;
        if !means.allowed.accepts(row, &snap.nodes, &snap.interner) {
            return Err(Conflict::NoMatch);
        }
        if !means.limited {
            return Ok(None);
        }
        let size = self.claim(index).request;
        let search = SpaceSearch { snap, size };
        let space = means
            .space
            .as_ref()
            .and_then(|space| space.first(self.place(row), &search));
        space.map(Some).ok_or(Conflict::NoSpace)
    }

    fn place(&self, row: Row) -> Place<'a> {
        Place {
            row,
            nodes: &self.snap.nodes,
            interner: &self.snap.interner,
        }
    }
}

impl Claims {
    /// How the unbound claims get volumes on a node, or why they cannot.
    pub(super) fn decide(&self, snap: &Snapshot, row: Row) -> Result<Decision, Status> {
        if self.all_bound() {
            return Ok(Decision::default());
        }
        let finder = Finder::new(snap, self, 1);
        let mut found = Found::default();
        let status = finder.status(row, &mut found);
        if status.code != Code::Success {
            return Err(status);
        }
        let key = |index| finder.claim(index).key;
        let bindings = found.bindings.iter();
        let provisions = found.provisions.iter();
        Ok(Decision {
            bindings: bindings.map(|(index, slot)| (*slot, key(*index))).collect(),
            provisions: provisions.map(|(index, _)| key(*index)).collect(),
        })
    }
}
