//! Judging by limits: what a tenant may take, and what may be taken from it.

use super::limits::{guaranteed, limit, sum_guarantees};
use super::node::ROOT;
use super::{Bound, DrfError, FairShares, Limit, Limits, Refusal, Tenant};

impl FairShares {
    /// Replaces the limits of a tenant or inner queue.
    ///
    /// # Errors
    /// An unknown handle, a list longer than there are resources, a negative amount, an unlimited guarantee.
    pub fn set_limits(&mut self, tenant: Tenant, limits: Limits) -> Result<(), DrfError> {
        let node = self.known(tenant)?;
        limits.validate(self.resources())?;
        let counted = limits.guarantee.is_empty()
            && self.nodes.rest[node as usize].limits.guarantee.is_empty();
        self.nodes.rest[node as usize].limits = limits;
        if !counted {
            let parent = self.nodes.parent(node);
            sum_guarantees(&mut self.nodes, parent);
        }
        Ok(())
    }

    /// # Errors
    /// An unknown handle.
    pub fn limits(&self, tenant: Tenant) -> Result<&Limits, DrfError> {
        Ok(&self.nodes.rest[self.known(tenant)? as usize].limits)
    }

    /// Whether the tenant may take `request` on top of its usage: None, or the limit in the way.
    ///
    /// Judged are the resources that are asked for. Usage of the tenant and of each ancestor must stay within
    /// its capability, and within what the guarantees of its siblings leave of the parent (of the cluster).
    ///
    /// # Errors
    /// An unknown handle; a request of the wrong length or with a negative amount.
    pub fn admits(&self, tenant: Tenant, request: &[i64]) -> Result<Option<Refusal>, DrfError> {
        let node = self.known(tenant)?;
        self.check_amounts("request", request)?;
        let asked = request
            .iter()
            .enumerate()
            .filter(|(_, amount)| **amount > 0);
        for (resource, &amount) in asked {
            let refusal = self.refusal(node, resource, amount);
            if refusal.is_some() {
                return Ok(refusal);
            }
        }
        Ok(None)
    }

    /// The first limit, from the root down, that one more `amount` would break.
    fn refusal(&self, node: u32, resource: usize, amount: i64) -> Option<Refusal> {
        let path: Vec<u32> = self.nodes.path(node).collect();
        let mut room = self.capacity[resource];
        for &node in path.iter().rev() {
            let limits = &self.nodes.rest[node as usize].limits;
            let after = self.row(node)[resource].saturating_add(amount);
            let refuse = |bound, limit| {
                Some(Refusal {
                    tenant: Tenant(node),
                    resource,
                    bound,
                    limit: Some(limit),
                })
            };
            let siblings = self.guaranteed_to_siblings(node, resource);
            room = room.saturating_sub(siblings).max(0);
            if siblings > 0 && after > room {
                return refuse(Bound::Guarantee, room);
            }
            if let Limit::Finite(most) = limit(&limits.capability, resource) {
                if after > most {
                    return refuse(Bound::Capability, most);
                }
                room = room.min(most);
            }
        }
        None
    }

    fn guaranteed_to_siblings(&self, node: u32, resource: usize) -> i64 {
        let together = self
            .nodes
            .inner(self.nodes.parent(node))
            .and_then(|inner| inner.guaranteed.get(resource));
        together.map_or(0, |sum| {
            sum - guaranteed(&self.nodes.rest[node as usize].limits, resource)
        })
    }

    /// Whether `loss` may be reclaimed from one tenant for another: None, or the limit that protects it.
    ///
    /// Usage of the loser, and of each ancestor that `to` is not below, must stay at or above its guarantee
    /// and at or above what it deserves, in every resource that would be lost. An unset `deserved` protects
    /// nothing here: whether the shares justify it is for `compare` to say.
    ///
    /// # Errors
    /// An unknown handle; a loss of the wrong length or with a negative amount.
    pub fn releases(
        &self,
        from: Tenant,
        loss: &[i64],
        to: Tenant,
    ) -> Result<Option<Refusal>, DrfError> {
        let (from, to) = (self.known(from)?, self.known(to)?);
        self.check_amounts("loss", loss)?;
        let gainers: Vec<u32> = self.nodes.path(to).chain([ROOT]).collect();
        for node in self
            .nodes
            .path(from)
            .take_while(|node| !gainers.contains(node))
        {
            for (resource, &amount) in loss.iter().enumerate().filter(|(_, amount)| **amount > 0) {
                let refusal = self.protection(node, resource, amount);
                if refusal.is_some() {
                    return Ok(refusal);
                }
            }
        }
        Ok(None)
    }

    fn protection(&self, node: u32, resource: usize, amount: i64) -> Option<Refusal> {
        let limits = &self.nodes.rest[node as usize].limits;
        let after = self.row(node)[resource] - amount;
        let refuse = |bound, limit| {
            Some(Refusal {
                tenant: Tenant(node),
                resource,
                bound,
                limit,
            })
        };
        let least = guaranteed(limits, resource);
        if least > 0 && after < least {
            return refuse(Bound::Guarantee, Some(least));
        }
        match limit(&limits.deserved, resource) {
            Limit::Unset => None,
            Limit::Unlimited => refuse(Bound::Deserved, None),
            Limit::Finite(deserved) if after < deserved => refuse(Bound::Deserved, Some(deserved)),
            Limit::Finite(_) => None,
        }
    }
}
