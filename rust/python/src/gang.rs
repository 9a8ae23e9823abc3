//! The gangs' half of `podium._core.Engine`.

use crate::engine::Engine;
use crate::said::Said;
use crate::tenants::spared;
use numpy::PyReadonlyArray1;
use podium_core::gang::{
    self, GangPreemption, Group, GroupId, Places, RespectBudgets, Together, Victims,
};
use podium_core::queue::{Entity, Nanos, Ticket};
use podium_core::snapshot::PodId;
use pyo3::prelude::*;
use std::sync::Arc;

/// Why a gang has no places.
#[pyclass(frozen, get_all, module = "podium._core")]
#[derive(Debug)]
pub(crate) struct Shortage {
    need: usize,
    placeable: usize,
    member: Option<u32>,
    message: String,
    plugins: Vec<&'static str>,
    /// Such as "2 more nvidia.com/gpu"; empty where amounts are not all that is in the way.
    nearest: String,
    /// A pod, its group if it stands for one, and the amount they hold.
    holders: Vec<(u32, Option<u32>, String)>,
    domain: String,
    domains: usize,
    failed: bool,
}

impl From<gang::Shortage> for Shortage {
    fn from(shortage: gang::Shortage) -> Self {
        let resource = shortage
            .nearest
            .as_ref()
            .map(|nearest| nearest.resource.clone());
        let resource = resource.unwrap_or_default();
        let holder = |holder: &gang::Holder| {
            let amount = gang::quantity(&resource, holder.amount);
            (holder.pod.0, holder.group.map(|group| group.0), amount)
        };
        Shortage {
            need: shortage.need,
            placeable: shortage.placeable,
            member: shortage.member.map(|pod| pod.0),
            message: shortage.message,
            plugins: shortage.plugins,
            nearest: shortage
                .nearest
                .as_ref()
                .map_or_else(String::new, gang::Nearest::text),
            holders: shortage.holders.iter().map(holder).collect(),
            domain: shortage.domain,
            domains: shortage.domains,
            failed: shortage.failed,
        }
    }
}

/// What preemption can do for a gang.
#[pyclass(frozen, get_all, module = "podium._core")]
#[derive(Debug)]
pub(crate) struct GangEviction {
    /// `nominate`, `helpless` or `ineligible`.
    result: &'static str,
    message: String,
    /// Each member and the row that it is to go to.
    places: Vec<(u32, u32)>,
    victims: Vec<u32>,
    violations: usize,
}

impl From<GangPreemption> for GangEviction {
    fn from(preemption: GangPreemption) -> Self {
        let none = |result, message: &str| GangEviction {
            result,
            message: message.to_owned(),
            places: Vec::new(),
            victims: Vec::new(),
            violations: 0,
        };
        match preemption {
            GangPreemption::Helpless { message } => none("helpless", message),
            GangPreemption::Ineligible { message } => none("ineligible", message),
            GangPreemption::Nominate(found) => found.into(),
        }
    }
}

impl From<Victims> for GangEviction {
    fn from(found: Victims) -> Self {
        GangEviction {
            result: "nominate",
            message: String::new(),
            places: pairs(&found.places),
            victims: found.pods.iter().map(|pod| pod.0).collect(),
            violations: found.violations,
        }
    }
}

/// When a group fits, and where each member goes then.
type Foreseen = (Nanos, Vec<(u32, u32)>);

pub(crate) fn respect(always: bool) -> RespectBudgets {
    match always {
        true => RespectBudgets::Always,
        false => RespectBudgets::Rank,
    }
}

pub(crate) fn pairs(places: &Places) -> Vec<(u32, u32)> {
    places.iter().map(|(pod, row)| (pod.0, *row)).collect()
}

#[pymethods]
impl Engine {
    fn add_groups(&self, count: usize) -> PyResult<Vec<u32>> {
        let groups = &mut self.lock()?.snap.groups;
        Ok((0..count).map(|_| groups.add(Group::default()).0).collect())
    }

    /// Replaces what groups say of themselves, which is the same.
    #[expect(
        clippy::too_many_arguments,
        reason = "one argument per field, named in the stub"
    )]
    fn set_groups(
        &self,
        groups: Vec<u32>,
        minimum: usize,
        role_minimums: Vec<usize>,
        priority: i32,
        may_preempt: bool,
        topology: Vec<String>,
        preferred: bool,
    ) -> PyResult<()> {
        let mut engine = self.lock()?;
        let keys = topology
            .iter()
            .map(|key| engine.snap.ensure_topology_key(key))
            .collect();
        let mut known = Group::default();
        known.min = minimum;
        known.role_mins = role_minimums.into();
        known.priority = priority;
        known.may_preempt = may_preempt;
        known.together = Together { keys, preferred };
        for group in groups {
            engine.snap.groups.set(GroupId(group), known.clone());
        }
        Ok(())
    }

    /// Replaces how many members must be on nodes.
    fn set_minimums(&self, group: u32, minimum: usize, role_minimums: Vec<usize>) -> PyResult<()> {
        let mut engine = self.lock()?;
        let groups = &mut engine.snap.groups;
        groups.set_minimums(GroupId(group), minimum, role_minimums.into());
        Ok(())
    }

    fn remove_group(&self, group: u32) -> PyResult<()> {
        self.lock()?.snap.groups.remove(GroupId(group));
        Ok(())
    }

    /// Adds members, each with the number of its role; `groups` are handles with how many of the pods are
    /// theirs. Members move from other groups.
    fn join_groups(
        &self,
        groups: Vec<(u32, usize)>,
        pods: Vec<u32>,
        roles: Vec<u16>,
    ) -> PyResult<()> {
        let mut engine = self.lock()?;
        let mut members = pods.into_iter().zip(roles);
        for (group, count) in groups {
            for (pod, role) in members.by_ref().take(count) {
                engine.snap.groups.join(GroupId(group), PodId(pod), role);
            }
        }
        Ok(())
    }

    fn leave_group(&self, pod: u32) -> PyResult<()> {
        self.lock()?.snap.groups.leave(PodId(pod));
        Ok(())
    }

    /// Keeps a member from a node where its binding failed, until a place is found elsewhere.
    fn avoid_node(&self, group: u32, pod: u32, node: &str) -> PyResult<()> {
        let mut engine = self.lock()?;
        let node = engine.snap.interner.intern(node);
        engine.snap.groups.avoid(GroupId(group), PodId(pod), node);
        Ok(())
    }

    /// Queues groups as one entity each, in this order.
    fn enqueue_gangs(
        &self,
        groups: Vec<u32>,
        since: Nanos,
        created: Vec<Nanos>,
        completing: Vec<bool>,
    ) -> PyResult<()> {
        let mut engine = self.lock()?;
        // Only tenants ask how much it is.
        let is_fair = engine.snap.tenants.is_some();
        for ((group, created), completing) in groups.into_iter().zip(created).zip(completing) {
            let entity = Entity::group(group);
            let known = engine.snap.groups.get(GroupId(group));
            let ticket = Ticket {
                priority: known.map_or(0, |known| known.priority),
                since,
                created,
                lane: engine.lane(entity),
                completing,
                request: is_fair.then(|| engine.amounts_of(GroupId(group))),
                ..Ticket::default()
            };
            engine.queue.add(entity, ticket);
        }
        Ok(())
    }

    /// Takes groups out of the queue.
    fn dequeue_gangs(&self, groups: Vec<u32>) -> PyResult<()> {
        let queue = &mut self.lock()?.queue;
        for group in groups {
            queue.remove(Entity::group(group));
        }
        Ok(())
    }

    /// Has a group that waits in the queue rest as after an error.
    fn rest_gang(&self, group: u32, now: Nanos) -> PyResult<()> {
        self.lock()?
            .queue
            .rest_after_error(Entity::group(group), now);
        Ok(())
    }

    /// Queues pods behind everything else.
    fn enqueue_surplus(&self, pods: Vec<u32>, since: Nanos) -> PyResult<()> {
        let mut engine = self.lock()?;
        for pod in pods {
            let id = Self::pod(&engine, pod)?;
            let ticket = Ticket {
                priority: i32::MIN,
                since,
                created: Nanos::MAX,
                lane: engine.lane(id.into()),
                ..Ticket::default()
            };
            engine.queue.add(id, ticket);
        }
        Ok(())
    }

    /// Why a group has no places now; None if it has. Nothing is kept.
    #[pyo3(signature = (group, said = None))]
    fn try_group(
        &self,
        py: Python<'_>,
        group: u32,
        said: Option<&Said>,
    ) -> PyResult<Option<Shortage>> {
        let said = said.map_or_else(Arc::default, |said| Arc::clone(&said.0));
        let found = self.run(py, move |engine| {
            engine.arrange_group(GroupId(group), 0, &said)
        })?;
        Ok(found.err().map(|shortage| Shortage::from(*shortage)))
    }

    #[pyo3(signature = (group, respect_budgets, said = None))]
    fn preempt_group(
        &self,
        py: Python<'_>,
        group: u32,
        respect_budgets: bool,
        said: Option<&Said>,
    ) -> PyResult<GangEviction> {
        let respect = respect(respect_budgets);
        let said = said.map_or_else(Arc::default, |said| Arc::clone(&said.0));
        let found = self.run(py, move |engine| {
            let attempt = u64::from(engine.queue.attempts(Entity::group(group)));
            engine.preempt_group_hearing(GroupId(group), attempt, respect, &said)
        })?;
        Ok(found.into())
    }

    /// What pods of other tenants must go so that a group fits; None if nobody owes it that much.
    #[pyo3(signature = (group, spared_pods, spared_tenants, said = None))]
    fn reclaim_group(
        &self,
        py: Python<'_>,
        group: u32,
        spared_pods: PyReadonlyArray1<'_, u32>,
        spared_tenants: PyReadonlyArray1<'_, u32>,
        said: Option<&Said>,
    ) -> PyResult<Option<GangEviction>> {
        let spared = spared(&spared_pods, &spared_tenants);
        let said = said.map_or_else(Arc::default, |said| Arc::clone(&said.0));
        let found = self.run(py, move |engine| {
            let attempt = u64::from(engine.queue.attempts(Entity::group(group)));
            engine.reclaim_group(GroupId(group), attempt, &spared, &said)
        })?;
        Ok(found.map(GangEviction::from))
    }

    /// Pods of other tenants that could be asked to leave for a group.
    fn claimed_by_group(
        &self,
        group: u32,
        spared_pods: PyReadonlyArray1<'_, u32>,
        spared_tenants: PyReadonlyArray1<'_, u32>,
    ) -> PyResult<Vec<u32>> {
        let spared = spared(&spared_pods, &spared_tenants);
        let pods = self.lock()?.claimed_by_group(GroupId(group), &spared);
        Ok(pods.into_iter().map(|pod| pod.0).collect())
    }

    /// When and where a group fits if pods leave at the given times; nothing is kept. None: never.
    #[pyo3(signature = (group, pods, ends, said = None))]
    fn foresee_group(
        &self,
        py: Python<'_>,
        group: u32,
        pods: PyReadonlyArray1<'_, u32>,
        ends: PyReadonlyArray1<'_, i64>,
        said: Option<&Said>,
    ) -> PyResult<Option<Foreseen>> {
        let pods = pods.as_array();
        let ends: Vec<(Nanos, PodId)> = ends
            .as_array()
            .iter()
            .zip(pods.iter())
            .map(|(end, pod)| (*end, PodId(*pod)))
            .collect();
        let said = said.map_or_else(Arc::default, |said| Arc::clone(&said.0));
        let found = self.run(py, move |engine| {
            engine.foresee_group(GroupId(group), &ends, &said)
        })?;
        Ok(found.map(|(at, places)| (at, pairs(&places))))
    }

    /// Schedules and assumes one pod as if a group were nominated nowhere; the row, None if none fits.
    fn fill_gap(&self, py: Python<'_>, pod: u32, group: u32) -> PyResult<Option<u32>> {
        self.run(py, move |engine| {
            Self::pod(engine, pod).map(|id| engine.fill_gap(id, GroupId(group)))
        })?
    }

    /// One number for everything that a transaction may touch.
    fn fingerprint(&self) -> PyResult<u64> {
        Ok(self.lock()?.fingerprint())
    }

    /// Whether what is remembered of a pod's class equals an evaluation from scratch.
    fn remembers_truly(&self, py: Python<'_>, pod: u32) -> PyResult<bool> {
        self.run(py, move |engine| {
            Self::pod(engine, pod).map(|id| engine.remembers_truly(id))
        })?
    }
}
