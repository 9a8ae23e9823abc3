//! The books: what every tenant uses.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::node::ROOT;
use super::{DrfError, FairShares, Tenant};

impl FairShares {
    /// Adds `request`, an amount per resource, to the usage of a leaf and of all above it.
    ///
    /// # Errors
    /// An unknown handle or inner node; a request of the wrong length, with a negative amount, or so large
    /// that the total of a resource would leave `i64`.
    pub fn charge(&mut self, tenant: Tenant, request: &[i64]) -> Result<(), DrfError> {
        let node = self.known_leaf(tenant)?;
        self.check_amounts("request", request)?;
        // The root has the total of everybody: where it does not overflow, nothing does.
        for (resource, (&used, &amount)) in self.row(ROOT).iter().zip(request).enumerate() {
            if used.checked_add(amount).is_none() {
                return Err(DrfError::Overflow {
                    resource,
                    used,
                    amount,
                });
            }
        }
        self.book(node, request, |used, amount| used + amount);
        Ok(())
    }

    /// Takes back what `charge` added.
    ///
    /// # Errors
    /// An unknown handle or inner node; a request of the wrong length, with a negative amount, or larger than
    /// what the tenant uses.
    pub fn refund(&mut self, tenant: Tenant, request: &[i64]) -> Result<(), DrfError> {
        let node = self.known_leaf(tenant)?;
        self.check_amounts("refund", request)?;
        for (resource, (&used, &amount)) in self.row(node).iter().zip(request).enumerate() {
            if amount > used {
                let tenant = self.name_of(node).to_owned();
                return Err(DrfError::Underflow {
                    tenant,
                    resource,
                    used,
                    amount,
                });
            }
        }
        self.book(node, request, |used, amount| used - amount);
        Ok(())
    }

    /// Usage per resource: of a leaf its own, of an inner node that of its leaves together.
    ///
    /// # Errors
    /// An unknown handle.
    pub fn used(&self, tenant: Tenant) -> Result<&[i64], DrfError> {
        Ok(self.row(self.known(tenant)?))
    }

    /// Usage of all tenants together, per resource.
    pub fn total(&self) -> &[i64] {
        self.row(ROOT)
    }

    /// A hash of capacities, weights and usage: equal books have equal digests, whatever was charged and
    /// refunded on the way. Handles count, so compare digests of the same `FairShares` only.
    pub fn digest(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (&self.capacity, &self.resource_weights, &self.used).hash(&mut hasher);
        for standing in &self.nodes.standings {
            (
                standing.rank.weight,
                standing.parent,
                standing.waiting,
                standing.blocked,
            )
                .hash(&mut hasher);
        }
        hasher.finish()
    }

    fn book(&mut self, node: u32, request: &[i64], sum: impl Fn(i64, i64) -> i64) {
        let mut at = node;
        loop {
            for (used, &amount) in self.row_mut(at).iter_mut().zip(request) {
                *used = sum(*used, amount);
            }
            if at == ROOT {
                break;
            }
            at = self.nodes.parent(at);
        }
        self.stale |= self.nodes.mixed(ROOT);
        self.refresh(node);
    }

    pub(super) fn row_mut(&mut self, node: u32) -> &mut [i64] {
        let width = self.resources();
        &mut self.used[node as usize * width..][..width]
    }
}
