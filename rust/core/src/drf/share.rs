//! Shares as people read them, and the exact comparison that reclaim is judged by.

use std::cmp::Ordering;

use super::key::weighted;
use super::node::ROOT;
use super::wide::Ratio;
use super::{DrfError, FairShares, Tenant};

/// The dominant share of a tenant or inner queue: `used / capacity` of its dominant resource, not divided by
/// the tenant's weight and not multiplied by the resource's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// None where all shares are zero; `used / capacity` is then 0/1.
    pub resource: Option<usize>,
    pub used: i64,
    pub capacity: i64,
}

impl Share {
    pub fn to_f64(self) -> f64 {
        self.used as f64 / self.capacity as f64
    }
}

impl FairShares {
    /// The dominant share of what a tenant, or an inner queue as a whole, uses.
    ///
    /// # Errors
    /// An unknown handle.
    pub fn share(&self, tenant: Tenant) -> Result<Share, DrfError> {
        let used = self.used(tenant)?;
        let Some(dominant) = self.scales.dominant(used) else {
            return Ok(Share {
                resource: None,
                used: 0,
                capacity: 1,
            });
        };
        let resource = dominant.resource as usize;
        Ok(Share {
            resource: Some(resource),
            used: used[resource],
            capacity: self.capacity[resource],
        })
    }

    /// The value that orders a tenant among its siblings, rounded: the weighted share of a leaf, the rescaled
    /// one of an inner node.
    ///
    /// # Errors
    /// An unknown handle.
    pub fn weighted_share(&mut self, tenant: Tenant) -> Result<f64, DrfError> {
        let node = self.known(tenant)?;
        self.settle();
        let rank = &self.nodes.standings[node as usize].rank;
        Ok(rank.weighted_share(&self.scales).to_f64())
    }

    /// Compares what two tenants have, exactly and without tie-breaks: the weighted dominant shares of real
    /// usage, of the two themselves or, in a tree, of their ancestors that are siblings. Equal if one is
    /// above the other.
    ///
    /// This is the test for reclaim: charge and refund what would move, then the gainer must not compare
    /// greater than the loser, or the loser could claim it back.
    ///
    /// # Errors
    /// An unknown handle.
    pub fn compare(&self, a: Tenant, b: Tenant) -> Result<Ordering, DrfError> {
        let (a, b) = (self.known(a)?, self.known(b)?);
        let (above_a, above_b) = (self.down_to(a), self.down_to(b));
        let parting = above_a.iter().zip(&above_b).find(|(a, b)| a != b);
        Ok(parting.map_or(Ordering::Equal, |(&a, &b)| {
            self.claim(a)
                .cmp(&self.claim(b))
                .then_with(|| self.real(a).compare(self.real(b)))
        }))
    }

    /// Nodes without a claim come after those with one.
    fn claim(&self, node: u32) -> bool {
        self.nodes.standings[node as usize].rank.weight.is_zero()
    }

    fn real(&self, node: u32) -> Ratio {
        let share = self.scales.share(self.scales.dominant(self.row(node)));
        weighted(share, self.nodes.standings[node as usize].rank.weight)
    }

    fn down_to(&self, node: u32) -> Vec<u32> {
        let mut path: Vec<u32> = self.nodes.path(node).chain([ROOT]).collect();
        path.reverse();
        path
    }
}
