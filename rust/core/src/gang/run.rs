//! A group that was taken off the queue.

use super::{GroupId, Places, Shortage};
use crate::engine::Engine;
use crate::memo::{Memo, Scratch};
use crate::memos::Memos;
use crate::queue::{Entity, Nanos};
use crate::resources::{Amounts, ResourceId};
use crate::snapshot::PodId;
use rustc_hash::FxHashMap;
use std::sync::Arc;

impl Engine {
    /// Places and keeps what a popped group needs, and tells the queue of it.
    pub fn run_group(&mut self, entity: Entity, now: Nanos) -> (Places, Option<Box<Shortage>>) {
        let Some(group) = entity.number().map(GroupId) else {
            return (Places::new(), None);
        };
        let attempt = u64::from(self.queue.attempts(entity));
        let (places, shortage) = self.place_group(group, attempt);
        if shortage.is_none() {
            self.queue.settle(entity);
        }
        for (pod, _) in &places {
            self.announce(*pod, self.pod_events.added, now);
        }
        (places, shortage)
    }

    /// Whether plugins of the caller's have a say in where a member goes.
    pub(crate) fn caller_judges(&self, group: Entity) -> bool {
        let group = group.number().map(GroupId);
        let Some(group) = group.and_then(|id| self.snap.groups.get(id)) else {
            return false;
        };
        let mut members = group.without_node(&self.snap.pods);
        members.any(|(pod, _)| self.needs_caller(pod))
    }

    /// What the members that a group needs ask for together.
    pub fn amounts_of(&self, group: GroupId) -> Arc<Amounts> {
        let request = self.request_of(group, 0);
        let mut sums: FxHashMap<ResourceId, i64> = FxHashMap::default();
        for (pod, _) in request.members.iter().take(request.need) {
            for (id, amount) in self.snap.pods[*pod].template.requests.held.iter() {
                let sum = sums.entry(id).or_default();
                *sum = sum.saturating_add(amount);
            }
        }
        Arc::new(sums.into_iter().collect())
    }

    /// Whether what is remembered of a pod's class equals an evaluation from scratch, bit for bit.
    pub fn remembers_truly(&mut self, pod: PodId) -> bool {
        let Some((index, profile)) = self.profile_of(pod) else {
            return true;
        };
        self.snap.refresh();
        if !self.remembers(pod) || !Memos::shareable(&self.snap.pods[pod]) {
            return true;
        }
        let Engine { snap, memos, .. } = self;
        let mut scratch = Scratch::default();
        let fresh = Memo::build(snap, &profile, &snap.pods[pod], &mut scratch);
        let known = memos.get(snap, (index, &*profile), &snap.pods[pod]);
        match (known, fresh) {
            (Ok((known, _)), Ok(fresh)) => {
                known.verdicts() == fresh.verdicts()
                    && known.feasible() == fresh.feasible()
                    && known.totals() == fresh.totals()
            }
            (Err(_), Err(_)) => true,
            _ => false,
        }
    }
}
