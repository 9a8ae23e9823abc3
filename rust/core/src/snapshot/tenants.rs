//! Whose pods use what: the fair shares' books, in step with the pods on nodes.
//!
//! Capacity is the sum of allocatable over all nodes, cordoned ones included. Usage is the requests of all
//! pods on nodes, assumed or bound, whoever bound them; what a nominated pod waits for is not in it. The pod
//! count is no resource.

use super::{Nodes, PodId, Snapshot};
use crate::drf::{Bound, DrfError, FairShares, Limits, Refusal, Tenant, Weight};
use crate::resources::{Amounts, ResourceId, ResourceNames};
use rustc_hash::FxHashMap;

#[derive(Debug)]
pub struct Tenants {
    pub shares: FairShares,
    /// Weights of resources by name; one is unset.
    weights: FxHashMap<Box<str>, Weight>,
    /// Nodes or resources changed since capacities were last summed.
    pub(super) stale: bool,
    /// Some tenant has limits.
    limited: bool,
    /// Resources that have their weight already.
    weighed: usize,
    /// An amount per resource, all zero between uses.
    scratch: Vec<i64>,
}

impl Tenants {
    /// No tenants yet.
    ///
    /// # Errors
    /// None for an empty capacity; the type is that of every operation on shares.
    pub fn new(weights: FxHashMap<Box<str>, Weight>) -> Result<Self, DrfError> {
        Ok(Tenants {
            shares: FairShares::new(&[])?,
            weights,
            stale: true,
            limited: false,
            weighed: 0,
            scratch: Vec::new(),
        })
    }

    /// # Errors
    /// See [`FairShares::set_limits`].
    pub fn set_limits(&mut self, tenant: Tenant, limits: Limits) -> Result<(), DrfError> {
        let lists = [&limits.capability, &limits.guarantee, &limits.deserved];
        let width = lists.iter().map(|list| list.len()).max().unwrap_or(0);
        self.widen(width)?;
        self.limited = true;
        self.shares.set_limits(tenant, limits)
    }

    /// Books a request, or takes it back.
    fn book(&mut self, tenant: Tenant, amounts: &Amounts, added: bool) -> Result<(), DrfError> {
        self.spread(amounts)?;
        let booked = if added {
            self.shares.charge(tenant, &self.scratch)
        } else {
            self.shares.refund(tenant, &self.scratch)
        };
        self.clear(amounts);
        booked
    }

    /// The limit that keeps the tenant from taking `amounts` on top of what it uses.
    ///
    /// # Errors
    /// See [`FairShares::admits`].
    pub fn admits(
        &mut self,
        tenant: Tenant,
        amounts: &Amounts,
    ) -> Result<Option<Refusal>, DrfError> {
        if !self.limited {
            return Ok(None);
        }
        self.spread(amounts)?;
        let refusal = self.shares.admits(tenant, &self.scratch);
        self.clear(amounts);
        refusal
    }

    /// Whether limits let a tenant lose these amounts to another.
    pub fn may_lose(&self, from: Tenant, amounts: &Amounts, to: Tenant) -> bool {
        let mut loss = vec![0; self.shares.resources()];
        for (id, amount) in amounts.iter() {
            loss[id.0 as usize] = amount;
        }
        matches!(self.shares.releases(from, &loss, to), Ok(None))
    }

    fn spread(&mut self, amounts: &Amounts) -> Result<(), DrfError> {
        let width = amounts.iter().map(|(id, _)| id.0 as usize + 1).max();
        self.widen(width.unwrap_or(0))?;
        for (id, amount) in amounts.iter() {
            self.scratch[id.0 as usize] = amount;
        }
        Ok(())
    }

    fn clear(&mut self, amounts: &Amounts) {
        for (id, _) in amounts.iter() {
            self.scratch[id.0 as usize] = 0;
        }
    }

    /// Makes room for a resource that is new; its capacity is found out before the next pick.
    fn widen(&mut self, width: usize) -> Result<(), DrfError> {
        if width > self.shares.resources() {
            let mut capacity = self.shares.capacity().to_vec();
            capacity.resize(width, 0);
            self.shares.set_capacity(&capacity)?;
            self.scratch.resize(width, 0);
            self.stale = true;
        }
        Ok(())
    }

    /// Sums capacities again where nodes changed.
    fn refresh(&mut self, nodes: &Nodes, names: &ResourceNames) -> Result<(), DrfError> {
        if !std::mem::take(&mut self.stale) {
            return Ok(());
        }
        let width = names.len().max(self.shares.resources());
        let sum = |resource: usize| {
            let column = nodes.allocatable.get(resource);
            let amounts = column.into_iter().flat_map(|column| column.iter());
            amounts.fold(0i64, |sum, &amount| sum.saturating_add(amount.max(0)))
        };
        let capacity: Vec<i64> = (0..width).map(sum).collect();
        if capacity != self.shares.capacity() {
            self.shares.set_capacity(&capacity)?;
            self.scratch.resize(width, 0);
        }
        if self.weighed < width && !self.weights.is_empty() {
            self.weigh(names)?;
        }
        self.weighed = width;
        Ok(())
    }

    fn weigh(&mut self, names: &ResourceNames) -> Result<(), DrfError> {
        let mut weights = vec![Weight::ONE; self.shares.resources()];
        for (id, name) in names.iter() {
            if let Some(weight) = self.weights.get(name) {
                weights[id.0 as usize] = *weight;
            }
        }
        self.shares.set_resource_weights(&weights)
    }
}

impl Snapshot {
    /// Starts books for tenants, or ends them. No pod has a tenant yet.
    pub fn set_tenants(&mut self, tenants: Option<Tenants>) {
        self.tenants = tenants.map(Box::new);
        for pod in self.pods.iter_mut() {
            pod.tenant = None;
            pod.charged = false;
        }
    }

    /// Says whose pod it is; where it is on a node its request moves to the new tenant's books.
    ///
    /// # Errors
    /// A handle that is no leaf: nothing changes then.
    pub fn assign_tenant(&mut self, id: PodId, tenant: Option<Tenant>) -> Result<(), DrfError> {
        let Some(tenants) = &self.tenants else {
            return Ok(());
        };
        if let Some(tenant) = tenant {
            tenants.shares.check_leaf(tenant)?;
        }
        let Some(pod) = self.pods.get(id) else {
            return Ok(());
        };
        if pod.tenant == tenant {
            return Ok(());
        }
        let placed = pod.row.is_some();
        self.book_usage(id, false);
        if let Some(pod) = self.pods.get_mut(id) {
            pod.tenant = tenant;
        }
        if placed {
            self.book_usage(id, true);
        }
        Ok(())
    }

    /// Charges a pod's tenant for its request, or refunds it. A request that would leave 63 bits is not
    /// charged, and so not refunded either.
    pub(crate) fn book_usage(&mut self, id: PodId, added: bool) {
        let Some(tenants) = &mut self.tenants else {
            return;
        };
        let Some(pod) = self.pods.get_mut(id) else {
            return;
        };
        let Some(tenant) = pod.tenant else { return };
        if pod.charged == added {
            return;
        }
        let booked = tenants.book(tenant, &pod.template.requests.held, added);
        pod.charged = added && booked.is_ok();
    }

    /// Must run before shares are asked: brings capacities up to date. Capacities are sums of amounts that
    /// are not negative, which is all that shares could refuse.
    pub fn refresh_tenants(&mut self) {
        if let Some(tenants) = &mut self.tenants {
            let refreshed = tenants.refresh(&self.nodes, &self.resources);
            debug_assert!(refreshed.is_ok(), "{refreshed:?}");
        }
    }

    /// Why a tenant may not take these amounts, as a person reads it; `None` if it may.
    pub fn refused_to_tenant(&mut self, tenant: Tenant, amounts: &Amounts) -> Option<String> {
        self.refresh_tenants();
        let tenants = self.tenants.as_mut()?;
        let refusal = tenants.admits(tenant, amounts).ok()??;
        let name = tenants.shares.name(refusal.tenant).unwrap_or_default();
        let resource = ResourceId(refusal.resource as u16);
        let resource = self.resources.name(resource);
        let limit = refusal.limit.unwrap_or(0);
        let limit = match resource {
            "cpu" if limit % 1000 == 0 => (limit / 1000).to_string(),
            "cpu" => format!("{limit}m"),
            _ => limit.to_string(),
        };
        Some(match refusal.bound {
            Bound::Guarantee => format!(
                "tenant \"{name}\" may use {limit} of {resource}: the rest is guaranteed to others"
            ),
            Bound::Capability | Bound::Deserved => {
                format!("tenant \"{name}\" may use {limit} of {resource}: its capability")
            }
        })
    }
}
