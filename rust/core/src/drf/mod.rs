//! Fair shares: dominant resource fairness, exact, weighted and hierarchical.
//!
//! The tenant with the smallest dominant share goes next (Ghodsi et al., NSDI 2011): share `U_ij / R_j` of
//! resource j, dominant share the largest of them, divided by the tenant's weight. Tenants may form a tree
//! of queues, ordered by the H-DRF rule (Bhattacharya et al., SoCC 2013): at each inner node the children
//! that could be served are rescaled to the least weighted share among them, the others count as they are.
//!
//! Siblings that are all leaves (so: a flat set of tenants) are compared exactly, in 256-bit integers. Where
//! inner nodes take part, shares are 64.64 fixed point on a grid of 2^-44.
//!
//! Resources are indices `0..R` with `i64` amounts in any unit; what they mean, and whether the pod count is
//! one of them (it should not be), is the caller's choice. Nothing here knows of pods, nodes or time.
//!
//! ```
//! use podium_core::drf::{FairShares, Head};
//!
//! let mut shares = FairShares::new(&[9, 18])?; // 9 CPU, 18 GB
//! let a = shares.add("a", None)?;
//! let b = shares.add("b", None)?;
//! for (tenant, time) in [(a, 1), (b, 2)] {
//!     shares.set_head(tenant, Head { time, ..Head::default() })?;
//! }
//! assert_eq!(shares.pick(), Some(a)); // both have nothing: the older pod
//! shares.charge(a, &[1, 4])?;
//! assert_eq!(shares.pick(), Some(b)); // 0 < 4/18
//! shares.charge(b, &[3, 1])?;
//! assert_eq!(shares.pick(), Some(a)); // 4/18 < 3/9
//! # Ok::<(), podium_core::drf::DrfError>(())
//! ```

use std::collections::HashMap;
use std::sync::Arc;

mod admission;
mod books;
mod error;
mod fill;
mod fixed;
mod heap;
mod key;
mod limits;
mod node;
mod order;
mod queue;
mod scale;
mod shape;
mod share;
mod sums;
mod tree;
mod update;
mod weight;
mod wide;

pub use error::DrfError;
pub use fill::Filling;
pub use key::Head;
pub use limits::{Bound, Limit, Limits, Refusal};
pub use share::Share;
pub use weight::Weight;

use node::{Inner, Nodes, ROOT};
use scale::Scales;

/// Levels of queues below the root.
pub const MAX_DEPTH: usize = 32;

/// A tenant, or an inner queue: a handle that is valid until the tenant is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tenant(pub u32);

/// Who has what, and who goes next.
///
/// An operation on one tenant costs O(depth × (resources + log children)). New capacities or resource
/// weights re-key everything; a resource that becomes full, or ceases to be, re-keys the inner nodes.
#[derive(Debug)]
pub struct FairShares {
    capacity: Vec<i64>,
    resource_weights: Vec<Weight>,
    scales: Scales,
    /// Usage, a row of R amounts per node; an inner node has the sum of its children, the root the total.
    used: Vec<i64>,
    nodes: Nodes,
    names: HashMap<Arc<str>, Tenant>,
    /// The resources that are used up, which inner nodes leave out of their shares; see `settle`.
    full: Vec<bool>,
    stale: bool,
}

impl FairShares {
    /// No tenants yet; `capacity` is R, an amount per resource.
    ///
    /// # Errors
    /// A negative capacity.
    pub fn new(capacity: &[i64]) -> Result<Self, DrfError> {
        let mut shares = Self {
            capacity: vec![0; capacity.len()],
            resource_weights: vec![Weight::ONE; capacity.len()],
            scales: Scales::default(),
            used: vec![0; capacity.len()],
            nodes: Nodes::default(),
            names: HashMap::new(),
            full: Vec::new(),
            stale: false,
        };
        let root = shares.nodes.insert("".into(), ROOT);
        shares.nodes.standings[root as usize].inner = true;
        shares.nodes.rest[root as usize].inner = Some(Box::new(Inner::default()));
        shares.set_capacity(capacity)?;
        Ok(shares)
    }

    /// The number of resources R.
    pub fn resources(&self) -> usize {
        self.capacity.len()
    }

    pub fn capacity(&self) -> &[i64] {
        &self.capacity
    }

    /// Replaces the capacities and re-keys every tenant. More amounts than before add resources, of weight 1;
    /// a resource that has gone keeps its index, with capacity 0.
    ///
    /// # Errors
    /// A negative capacity, or fewer amounts than there are resources.
    pub fn set_capacity(&mut self, capacity: &[i64]) -> Result<(), DrfError> {
        let (before, after) = (self.resources(), capacity.len());
        if after < before {
            return Err(DrfError::Length {
                what: "capacity",
                got: after,
                want: before,
            });
        }
        check_sign("capacity", capacity)?;
        if after > before {
            self.used = self
                .used
                .chunks(before.max(1))
                .flat_map(|row| widened(row, after))
                .collect();
            self.used.resize(self.nodes.len() * after, 0);
            self.resource_weights.resize(after, Weight::ONE);
        }
        self.capacity = capacity.to_vec();
        self.rescale();
        Ok(())
    }

    /// Replaces the weights of the resources and re-keys every tenant: a share of resource j counts
    /// `weights[j]` times, and not at all where that is zero.
    ///
    /// # Errors
    /// Another number of weights than of resources.
    pub fn set_resource_weights(&mut self, weights: &[Weight]) -> Result<(), DrfError> {
        if weights.len() != self.resources() {
            return Err(DrfError::Length {
                what: "resource weights",
                got: weights.len(),
                want: self.resources(),
            });
        }
        self.resource_weights = weights.to_vec();
        self.rescale();
        Ok(())
    }

    fn rescale(&mut self) {
        self.scales = Scales::new(&self.capacity, &self.resource_weights);
        self.full = self.full_resources();
        self.stale = false;
        self.renew_all(ROOT);
    }

    fn row(&self, node: u32) -> &[i64] {
        let width = self.resources();
        &self.used[node as usize * width..][..width]
    }

    fn known(&self, tenant: Tenant) -> Result<u32, DrfError> {
        match self.nodes.standings.get(tenant.0 as usize) {
            Some(standing) if standing.alive && tenant.0 != ROOT => Ok(tenant.0),
            _ => Err(DrfError::UnknownTenant(tenant.0)),
        }
    }

    fn name_of(&self, node: u32) -> &str {
        &self.nodes.rest[node as usize].name
    }

    fn known_leaf(&self, tenant: Tenant) -> Result<u32, DrfError> {
        let node = self.known(tenant)?;
        if self.nodes.standings[node as usize].inner {
            return Err(DrfError::NotALeaf(self.name_of(node).to_owned()));
        }
        Ok(node)
    }

    fn check_amounts(&self, what: &'static str, amounts: &[i64]) -> Result<(), DrfError> {
        if amounts.len() != self.resources() {
            return Err(DrfError::Length {
                what,
                got: amounts.len(),
                want: self.resources(),
            });
        }
        check_sign(what, amounts)
    }
}

fn check_sign(what: &'static str, amounts: &[i64]) -> Result<(), DrfError> {
    match amounts.iter().enumerate().find(|(_, amount)| **amount < 0) {
        Some((resource, &amount)) => Err(DrfError::Negative {
            what,
            resource,
            amount,
        }),
        None => Ok(()),
    }
}

fn widened(row: &[i64], width: usize) -> impl Iterator<Item = i64> {
    row.iter().copied().chain(std::iter::repeat(0)).take(width)
}
