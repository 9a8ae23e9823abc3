//! The engine's tenants: who they are, whose each pod is, and what they may not have.

use crate::drf::{DrfError, Limit, Limits, Tenant, Weight};
use crate::engine::Engine;
use crate::filtering::Rejection;
use crate::object::ResourceList;
use crate::queue::{Entity, Order};
use crate::resources::Amounts;
use crate::snapshot::{Snapshot, Tenants};
use crate::status::Status;
use rustc_hash::FxHashMap;
use serde::Deserialize;
use std::sync::Arc;

/// Name of the queue-order plugin; limits of tenants reject in its name.
pub const DRF: &str = "DRF";

/// Exact: numerator and denominator.
type Fraction = (u64, u64);

/// All tenants and inner queues that are configured, as JSON.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TenantTree {
    pub band_first: bool,
    pub resource_weights: FxHashMap<Box<str>, Fraction>,
    /// Parents before their children.
    pub tenants: Vec<TenantNode>,
}

/// One tenant. A resource that a limit does not list is unset there.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TenantNode {
    pub name: String,
    /// Position in the list.
    pub parent: Option<usize>,
    pub weight: Option<Fraction>,
    /// Before siblings of a lower one, whatever the shares.
    #[serde(default)]
    pub priority: i32,
    #[serde(default)]
    pub capability: ResourceList,
    #[serde(default)]
    pub guarantee: ResourceList,
    #[serde(default)]
    pub deserved: ResourceList,
}

impl TenantTree {
    fn build(&self, snap: &mut Snapshot) -> Result<(Tenants, Vec<Tenant>), DrfError> {
        let mut weights = FxHashMap::default();
        for (name, &(numerator, denominator)) in &self.resource_weights {
            weights.insert(name.clone(), Weight::new(numerator, denominator)?);
        }
        let mut tenants = Tenants::new(weights)?;
        let mut handles = Vec::with_capacity(self.tenants.len());
        for node in &self.tenants {
            let parent = node.parent.and_then(|at| handles.get(at)).copied();
            let tenant = tenants.shares.add(&node.name, parent)?;
            if let Some((numerator, denominator)) = node.weight {
                let weight = Weight::new(numerator, denominator)?;
                tenants.shares.set_weight(tenant, Some(weight))?;
            }
            if let Some(limits) = node.limits(snap) {
                tenants.set_limits(tenant, limits)?;
            }
            handles.push(tenant);
        }
        Ok((tenants, handles))
    }
}

impl TenantNode {
    fn limits(&self, snap: &mut Snapshot) -> Option<Limits> {
        let lists = [&self.capability, &self.guarantee, &self.deserved];
        if lists.iter().all(|list| list.is_empty()) {
            return None;
        }
        let [capability, guarantee, deserved] = lists.map(|list| {
            let amounts = Amounts::new(list, &mut snap.resources);
            let width = amounts.iter().map(|(id, _)| id.0 as usize + 1).max();
            let mut limits = vec![Limit::Unset; width.unwrap_or(0)];
            for (id, amount) in amounts.iter() {
                let name = snap.resources.name(id).to_owned();
                snap.ensure_resource(&name);
                limits[id.0 as usize] = Limit::Finite(amount);
            }
            limits
        });
        Some(Limits {
            capability,
            guarantee,
            deserved,
        })
    }
}

impl Engine {
    /// Replaces all tenants; `assigned` says whose each known pod or queued group is, as a position in the
    /// tree's list. Returns the tenants' handles in the order of that list.
    ///
    /// # Errors
    /// A tree that the shares refuse (nothing has changed then), or an assignment to an inner queue.
    pub fn set_tenants(
        &mut self,
        tree: &TenantTree,
        assigned: &[(Entity, usize)],
    ) -> Result<Vec<Tenant>, DrfError> {
        let (tenants, handles) = tree.build(&mut self.snap)?;
        for &(_, at) in assigned {
            let tenant = handles.get(at).copied().unwrap_or(Tenant(0));
            tenants.shares.check_leaf(tenant)?;
        }
        self.snap.set_tenants(Some(tenants));
        let mut lanes = FxHashMap::default();
        for &(entity, at) in assigned {
            lanes.insert(entity, handles[at].0);
            if let Some(pod) = entity.pod() {
                self.snap.assign_tenant(pod, Some(handles[at]))?;
            }
        }
        let order = if tree.band_first {
            Order::Band
        } else {
            Order::Share
        };
        let nodes = handles.iter().zip(&tree.tenants);
        let standings = nodes
            .filter(|(_, node)| node.priority != 0)
            .map(|(handle, node)| (handle.0, node.priority))
            .collect();
        let lane = |entity: Entity, lane| lanes.get(&entity).copied().unwrap_or(lane);
        self.queue.set_order(order, standings, lane);
        Ok(handles)
    }

    /// Adds a tenant that nobody configured, at the top or below an inner queue.
    ///
    /// # Errors
    /// See [`crate::drf::FairShares::add`].
    pub fn add_tenant(&mut self, name: &str, parent: Option<Tenant>) -> Result<Tenant, DrfError> {
        match &mut self.snap.tenants {
            Some(tenants) => tenants.shares.add(name, parent),
            None => Err(DrfError::UnknownTenant(0)),
        }
    }

    /// Says whose a pod or group is; it moves to that tenant's lane.
    ///
    /// # Errors
    /// A handle that is no leaf.
    pub fn assign_tenant(&mut self, entity: Entity, tenant: Tenant) -> Result<(), DrfError> {
        if let Some(tenants) = &self.snap.tenants {
            tenants.shares.check_leaf(tenant)?;
        }
        if let Some(pod) = entity.pod() {
            self.snap.assign_tenant(pod, Some(tenant))?;
        }
        let moves = |lane: u32| lane != tenant.0;
        if self.queue.ticket(entity).is_some_and(|t| moves(t.lane)) {
            self.queue.amend(entity, |ticket| ticket.lane = tenant.0);
        }
        Ok(())
    }

    /// The lane of a pod: its tenant's handle.
    pub fn lane(&self, entity: Entity) -> u32 {
        let pod = entity.pod().and_then(|pod| self.snap.pods.get(pod));
        pod.and_then(|pod| pod.tenant).map_or(0, |tenant| tenant.0)
    }

    /// Why the tenant of a pod or group may not have what it asks for. Evicting others does not help.
    pub fn refused_to_tenant(&mut self, entity: Entity) -> Option<Rejection> {
        self.snap.tenants.as_ref()?;
        let (tenant, text) = match entity.pod() {
            Some(pod) => {
                let pod = &self.snap.pods[pod];
                let (tenant, template) = (pod.tenant?, Arc::clone(&pod.template));
                let text = self
                    .snap
                    .refused_to_tenant(tenant, &template.requests.held)?;
                (tenant, text)
            }
            None => {
                let ticket = self.queue.ticket(entity)?;
                let (tenant, request) = (Tenant(ticket.lane), Arc::clone(ticket.request.as_ref()?));
                (tenant, self.snap.refused_to_tenant(tenant, &request)?)
            }
        };
        debug_assert!(tenant.0 != 0, "nobody queues at the root");
        Some(Rejection {
            plugin: DRF,
            status: Status::unresolvable(text),
            restricted_by: Vec::new(),
        })
    }
}

impl Snapshot {
    /// Whether usage that a tenant gave back may let another pod through a limit. Of groups it is not known.
    pub(crate) fn gives_back(&self, from: Option<Tenant>, to: Entity) -> bool {
        let to = to
            .pod()
            .and_then(|pod| self.pods.get(pod))
            .map(|pod| pod.tenant);
        match (&self.tenants, from, to) {
            (Some(tenants), Some(from), Some(Some(to))) => tenants.shares.are_related(from, to),
            _ => true,
        }
    }
}
