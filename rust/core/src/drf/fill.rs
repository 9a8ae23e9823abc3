//! Progressive filling: what the rule gives to tenants with constant demands and one pool of capacity.

use super::{DrfError, FairShares, Tenant};

/// Tenants that ask again and again for the same amounts.
#[derive(Debug, Clone, Copy)]
pub struct Filling<'a> {
    pub tenants: &'a [Tenant],
    /// One row of R amounts per tenant.
    pub demands: &'a [i64],
    /// The most grants of each tenant; None is no bound.
    pub most: Option<&'a [u64]>,
    /// The most grants of all.
    pub limit: usize,
}

impl FairShares {
    /// Grants one demand after the other to whoever is picked, and blocks whom nothing more fits (total usage
    /// within capacity in every resource asked for) or who has all it may have, until nobody is left.
    ///
    /// Heads and earlier usage are the caller's and stay; the grants are charged, and the blocking is undone.
    /// Returns, grant by grant, the index into `tenants`.
    ///
    /// # Errors
    /// What `charge` says; lists of different lengths; a ready tenant that the filling does not name.
    pub fn fill(&mut self, filling: &Filling<'_>) -> Result<Vec<u32>, DrfError> {
        let index = self.check_filling(filling)?;
        let width = self.resources();
        let mut left = filling
            .most
            .map_or_else(|| vec![u64::MAX; filling.tenants.len()], <[u64]>::to_vec);
        let (mut grants, mut blocked) = (Vec::new(), Vec::new());
        let outcome = loop {
            let Some(tenant) = self.pick().filter(|_| grants.len() < filling.limit) else {
                break Ok(());
            };
            let Some(at) = index[tenant.0 as usize] else {
                break Err(DrfError::NoDemand(self.name_of(tenant.0).to_owned()));
            };
            let demand = &filling.demands[at as usize * width..][..width];
            let left = &mut left[at as usize];
            let change = if *left > 0 && self.fits(demand) {
                *left -= 1;
                grants.push(at);
                self.charge(tenant, demand)
            } else {
                blocked.push(tenant);
                self.block(tenant)
            };
            if change.is_err() {
                break change;
            }
        };
        for tenant in blocked {
            self.unblock(tenant)?;
        }
        outcome.map(|()| grants)
    }

    /// Where each handle is in the filling.
    fn check_filling(&self, filling: &Filling<'_>) -> Result<Vec<Option<u32>>, DrfError> {
        let tenants = filling.tenants.len();
        let lengths = [
            ("demands", filling.demands.len(), tenants * self.resources()),
            ("most", filling.most.map_or(tenants, <[u64]>::len), tenants),
        ];
        for (what, got, want) in lengths {
            if got != want {
                return Err(DrfError::Length { what, got, want });
            }
        }
        let mut index = vec![None; self.nodes.len()];
        for (&tenant, at) in filling.tenants.iter().zip(0..) {
            index[self.known_leaf(tenant)? as usize] = Some(at);
        }
        Ok(index)
    }

    fn fits(&self, demand: &[i64]) -> bool {
        let amounts = self.total().iter().zip(&self.capacity).zip(demand);
        amounts.into_iter().all(|((&used, &capacity), &amount)| {
            amount == 0
                || used
                    .checked_add(amount)
                    .is_some_and(|after| after <= capacity)
        })
    }
}
