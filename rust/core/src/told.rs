//! Cycles of pods for which the caller's plugins need not be asked again: what they said of each node is in a
//! table, and only rows that have changed since are asked for.

use crate::engine::{Engine, Outcome, Stopped};
use crate::gang::GroupId;
use crate::queue::{Bits, Entity, Nanos};
use crate::snapshot::{PodId, Question, Row, Snapshot, TableId};
use rustc_hash::{FxHashMap, FxHashSet};

/// What the caller's plugins mean to a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Concern {
    /// None of them concerns it.
    Nothing,
    /// They filter and score, from a table, and no more: such pods are placed in batches.
    Table(TableId),
    /// The same, or not even that, and the caller goes on from the node that is found.
    UpToNode(Option<TableId>),
}

/// What a kind of pods is to the caller, which tells them apart by more than the core reads.
pub type KindId = u32;

/// What hints of the caller's say against waking pods: plugin bit, and kind of pod.
pub type Spared = FxHashSet<(u32, KindId)>;

impl Engine {
    /// One pod of each kind that is parked because a plugin of the caller's rejected it, or its gang, and waits
    /// for the event.
    pub fn parked_kinds(&self, plugin: u32, event: Bits) -> Vec<PodId> {
        let mut seen = FxHashSet::default();
        let parked = self.queue.parked_by(plugin, event);
        let pods = parked.flat_map(|entity| waiting(&self.snap, entity));
        pods.filter(|pod| self.kind(*pod).is_some_and(|kind| seen.insert(kind)))
            .collect()
    }

    /// Runs the cycle of a popped pod whose profile needs the caller.
    pub(crate) fn run_with_caller(&mut self, pod: PodId, now: Nanos) -> Result<Row, Stopped> {
        let caller = Stopped::for_caller(pod.into());
        match self.concern(pod) {
            Some(Concern::Table(table)) => {
                let row = self.find_by_table(pod, Some(table))?;
                self.take(pod, row)?;
                self.settled(pod, now);
                Ok(row)
            }
            Some(Concern::UpToNode(table)) => {
                let row = self.find_by_table(pod, table)?;
                self.take(pod, row)?;
                Err(Stopped {
                    assumed: Some(row),
                    ..caller
                })
            }
            _ => Err(caller),
        }
    }

    /// The best row by what is remembered; the caller's plugins have their say where that does not do.
    fn find_by_table(&mut self, pod: PodId, table: Option<TableId>) -> Result<Row, Stopped> {
        self.snap.refresh();
        let caller = Stopped::for_caller(pod.into());
        let alone = self.snap.pods[pod].nominated.is_none()
            && self.snap.rows_nominated_above(pod).is_empty();
        let apart = self.beside_its_group(pod, 0).is_none();
        if !alone || !apart || !self.remembers(pod) || self.refused_to_tenant(pod.into()).is_some()
        {
            return Err(caller);
        }
        if let Some(question) = table.and_then(|table| self.snap.outdated(table)) {
            self.asked = Some((pod, question.clone()));
            return Err(Stopped {
                asks: Some(question),
                ..caller
            });
        }
        let attempt = u64::from(self.queue.attempts(pod));
        self.snap.go_by(pod, table);
        let outcome = self.schedule(pod, attempt);
        self.snap.go_by(pod, None);
        match outcome {
            Outcome::Placed { row, .. } => Ok(row),
            // Why not is for the plugins themselves to say.
            Outcome::Unschedulable(_) | Outcome::Failed(_) => Err(caller),
        }
    }

    /// Takes the answers to what was asked for a pod; false if that was not the last question.
    pub fn answer(&mut self, pod: PodId, accepts: &[bool], scores: &[i64]) -> bool {
        let Some((_, question)) = self.asked.take().filter(|(asked, _)| *asked == pod) else {
            return false;
        };
        self.snap.tell(&question, accepts, scores);
        true
    }

    /// How many rows were asked for, if something was asked for this pod last.
    pub fn asked_rows(&self, pod: PodId) -> Option<usize> {
        let asked: Option<&(PodId, Question)> = self.asked.as_ref();
        let question = asked.filter(|(asked, _)| *asked == pod);
        question.map(|(_, question)| question.rows.len())
    }
}

/// What the caller said of a pod.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller {
    pub(crate) concern: Option<Concern>,
    pub(crate) kind: KindId,
}

/// Whether a hint says that what woke others is nothing to this pod, or gang.
pub(crate) fn spares(
    spared: &Spared,
    (snap, concerns): (&Snapshot, &FxHashMap<PodId, Caller>),
    plugin: u32,
    parked: Entity,
) -> bool {
    let is_spared = |pod: PodId| {
        let caller = concerns.get(&pod);
        caller.is_some_and(|caller| spared.contains(&(plugin, caller.kind)))
    };
    !spared.is_empty() && waiting(snap, parked).into_iter().all(is_spared)
}

/// The pods that an entity in the queue stands for.
fn waiting(snap: &Snapshot, entity: Entity) -> Vec<PodId> {
    let members = |group| snap.groups.get(GroupId(group));
    match (entity.pod(), entity.number().and_then(members)) {
        (Some(pod), _) => vec![pod],
        (None, Some(group)) => group.without_node(&snap.pods).map(|(pod, _)| pod).collect(),
        (None, None) => Vec::new(),
    }
}
