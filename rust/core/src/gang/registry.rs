//! Which pods belong together, and what their group says of itself. Counts are derived from the pods.

use super::fruitless::Fruitless;
use super::search::BUDGET;
use super::{Request, Together};
use crate::intern::Symbol;
use crate::snapshot::{PodId, Pods, Row};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Handle of a group. In the queue it has its top bit set; handles of removed groups are reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupId(pub u32);

/// Number of a role within its group; 0 is the role of members that name none.
pub type Role = u16;

/// Searches for a group that were given up leave less for the next one, down to this power of a half: one that
/// is tried again and again must not hold up all others.
const MOST_HALVED: u32 = 4;

#[derive(Clone, Debug, Default)]
pub struct Group {
    /// The effective minimum, not less than the sum of the roles' minimums.
    pub min: usize,
    /// Minimum of each role.
    pub role_mins: Box<[usize]>,
    /// The group's own, which counts for its members where their importance as victims is in question.
    pub priority: i32,
    pub may_preempt: bool,
    pub together: Together,
    members: Vec<(PodId, Role)>,
    avoid: Vec<(PodId, Symbol)>,
    /// How often in a row a search for an arrangement was given up.
    gave_up: u32,
}

#[derive(Debug, Default)]
pub struct Groups {
    pub(super) fruitless: Fruitless,
    slots: Vec<Option<Group>>,
    free: Vec<GroupId>,
    of_pod: FxHashMap<PodId, GroupId>,
}

impl Group {
    /// Members that hold a node and are not about to leave it.
    pub fn holding<'a>(&'a self, pods: &'a Pods) -> impl Iterator<Item = (PodId, Role, Row)> + 'a {
        self.members.iter().filter_map(|(id, role)| {
            let pod = pods.get(*id)?;
            Some((*id, *role, pod.row.filter(|_| !pod.terminating)?))
        })
    }

    /// Members that may be placed.
    pub fn without_node<'a>(&'a self, pods: &'a Pods) -> impl Iterator<Item = (PodId, Role)> + 'a {
        self.members.iter().copied().filter(|(id, _)| {
            let pod = pods.get(*id);
            pod.is_some_and(|pod| pod.row.is_none() && !pod.terminating)
        })
    }

    /// What is missing from the minimum, and who can fill it.
    pub fn request(&self, pods: &Pods, attempt: u64) -> Request {
        let held: Vec<_> = self.holding(pods).collect();
        let mut role_needs = self.role_mins.clone();
        for (_, role, _) in &held {
            if let Some(need) = role_needs.get_mut(*role as usize) {
                *need = need.saturating_sub(1);
            }
        }
        let in_roles = role_needs.iter().sum();
        Request {
            members: self.without_node(pods).collect(),
            need: self.min.saturating_sub(held.len()).max(in_roles),
            role_needs,
            together: self.together.clone(),
            anchored: held.iter().map(|(_, _, row)| *row).collect(),
            attempt,
            avoid: self.avoid.clone(),
            partial: !held.is_empty(),
            said: Arc::default(),
            budget: BUDGET >> self.gave_up.min(MOST_HALVED),
        }
    }

    /// How many members could leave before the minimum is broken.
    pub fn surplus(&self, pods: &Pods) -> usize {
        self.holding(pods).count().saturating_sub(self.min)
    }

    /// Who must leave with some members, on their nodes still or not: nobody as long as the minimum stays,
    /// else all others.
    pub fn followers(&self, pods: &Pods, leaving: &[PodId]) -> Vec<(PodId, Row)> {
        let others = self.holding(pods).filter(|(id, ..)| !leaving.contains(id));
        let others: Vec<_> = others.map(|(id, _, row)| (id, row)).collect();
        match others.len() < self.min {
            true => others,
            false => Vec::new(),
        }
    }
}

impl Groups {
    pub fn add(&mut self, group: Group) -> GroupId {
        if let Some(id) = self.free.pop() {
            self.slots[id.0 as usize] = Some(group);
            return id;
        }
        self.slots.push(Some(group));
        GroupId(u32::try_from(self.slots.len() - 1).expect("fewer than 2^31 groups"))
    }

    /// Replaces what a group says of itself; its members stay.
    pub fn set(&mut self, id: GroupId, group: Group) {
        if let Some(known) = self.get_mut(id) {
            let members = std::mem::take(&mut known.members);
            let avoid = std::mem::take(&mut known.avoid);
            *known = Group {
                members,
                avoid,
                ..group
            };
        }
    }

    pub fn set_minimums(&mut self, id: GroupId, min: usize, role_mins: Box<[usize]>) {
        if let Some(group) = self.get_mut(id) {
            group.min = min;
            group.role_mins = role_mins;
        }
    }

    pub fn remove(&mut self, id: GroupId) {
        let slot = self.slots.get_mut(id.0 as usize).and_then(Option::take);
        if let Some(group) = slot {
            for (pod, _) in group.members {
                self.of_pod.remove(&pod);
            }
            self.free.push(id);
        }
    }

    pub fn get(&self, id: GroupId) -> Option<&Group> {
        self.slots.get(id.0 as usize)?.as_ref()
    }

    fn get_mut(&mut self, id: GroupId) -> Option<&mut Group> {
        self.slots.get_mut(id.0 as usize)?.as_mut()
    }

    pub fn join(&mut self, id: GroupId, pod: PodId, role: Role) {
        self.leave(pod);
        if let Some(group) = self.get_mut(id) {
            group.members.push((pod, role));
            group.gave_up = 0;
            self.of_pod.insert(pod, id);
        }
    }

    pub fn leave(&mut self, pod: PodId) {
        let Some(id) = self.of_pod.remove(&pod) else {
            return;
        };
        if let Some(group) = self.get_mut(id)
            && let Some(at) = group.members.iter().position(|(member, _)| *member == pod)
        {
            group.members.remove(at);
            group.avoid.retain(|(member, _)| *member != pod);
        }
    }

    /// Notes whether the last search for an arrangement was given up.
    pub(super) fn note_search(&mut self, id: GroupId, gave_up: bool) {
        if let Some(group) = self.get_mut(id) {
            group.gave_up = if gave_up { group.gave_up + 1 } else { 0 };
        }
    }

    /// Keeps a member from a node as long as there is another for it.
    pub fn avoid(&mut self, id: GroupId, pod: PodId, node: Symbol) {
        if let Some(group) = self.get_mut(id) {
            group.avoid.push((pod, node));
        }
    }

    pub fn of(&self, pod: PodId) -> Option<GroupId> {
        self.of_pod.get(&pod).copied()
    }

    pub fn is_empty(&self) -> bool {
        self.of_pod.is_empty()
    }
}
