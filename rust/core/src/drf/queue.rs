//! Who goes next: heads, blocking and the pick.

use super::key::Head;
use super::node::ROOT;
use super::{DrfError, FairShares, Tenant};

impl FairShares {
    /// Says with which pod a leaf waits. A leaf without a head is not picked. Blocking is left as it is.
    ///
    /// # Errors
    /// An unknown handle or inner node.
    pub fn set_head(&mut self, tenant: Tenant, head: Head) -> Result<(), DrfError> {
        let node = self.known_leaf(tenant)?;
        let standing = &mut self.nodes.standings[node as usize];
        standing.rank.head = head;
        standing.waiting = true;
        self.refresh(node);
        Ok(())
    }

    /// Says that a leaf has nothing to schedule.
    ///
    /// # Errors
    /// An unknown handle or inner node.
    pub fn clear_head(&mut self, tenant: Tenant) -> Result<(), DrfError> {
        let node = self.known_leaf(tenant)?;
        self.nodes.standings[node as usize].waiting = false;
        self.refresh(node);
        Ok(())
    }

    /// # Errors
    /// An unknown handle.
    pub fn head(&self, tenant: Tenant) -> Result<Option<Head>, DrfError> {
        let standing = &self.nodes.standings[self.known(tenant)? as usize];
        Ok(standing.waiting.then_some(standing.rank.head))
    }

    /// Skips a tenant, or all below an inner node, until it is unblocked; the others go on.
    ///
    /// # Errors
    /// An unknown handle.
    pub fn block(&mut self, tenant: Tenant) -> Result<(), DrfError> {
        self.set_blocked(tenant, true)
    }

    /// # Errors
    /// An unknown handle.
    pub fn unblock(&mut self, tenant: Tenant) -> Result<(), DrfError> {
        self.set_blocked(tenant, false)
    }

    /// Unblocks everybody, leaves and inner nodes.
    pub fn unblock_all(&mut self) {
        for node in 1..self.nodes.len() as u32 {
            if std::mem::take(&mut self.nodes.standings[node as usize].blocked) {
                self.refresh(node);
            }
        }
    }

    /// # Errors
    /// An unknown handle.
    pub fn is_blocked(&self, tenant: Tenant) -> Result<bool, DrfError> {
        Ok(self.nodes.standings[self.known(tenant)? as usize].blocked)
    }

    /// The leaf that goes next: at each level the ready child of the greatest band, then with a claim, then
    /// of the smallest weighted share, then with the oldest head, then the first by name. None: nobody is ready.
    pub fn pick(&mut self) -> Option<Tenant> {
        self.settle();
        let mut at = self.nodes.first(ROOT)?;
        while self.nodes.standings[at as usize].inner {
            at = self.nodes.first(at)?;
        }
        Some(Tenant(at))
    }

    fn set_blocked(&mut self, tenant: Tenant, blocked: bool) -> Result<(), DrfError> {
        let node = self.known(tenant)?;
        let standing = &mut self.nodes.standings[node as usize];
        if std::mem::replace(&mut standing.blocked, blocked) != blocked {
            self.refresh(node);
        }
        Ok(())
    }
}
