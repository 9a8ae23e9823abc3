//! The shape of the tenant tree: adding, removing and moving tenants.

use std::sync::Arc;

use super::node::ROOT;
use super::weight::Weight;
use super::{DrfError, FairShares, MAX_DEPTH, Tenant};

impl FairShares {
    /// Adds a tenant of weight 1 below `parent`, or at the top. Its handle stays the same until it is removed,
    /// then it may be used again.
    ///
    /// # Errors
    /// A name that exists, an unknown parent or one with usage or a head of its own, more than `MAX_DEPTH` levels.
    pub fn add(&mut self, name: &str, parent: Option<Tenant>) -> Result<Tenant, DrfError> {
        if self.names.contains_key(name) {
            return Err(DrfError::DuplicateName(name.to_owned()));
        }
        let parent = self.may_adopt(parent, name, 1)?;
        let name: Arc<str> = name.into();
        let node = self.nodes.insert(Arc::clone(&name), parent);
        self.used.resize(self.nodes.len() * self.resources(), 0);
        self.names.insert(name, Tenant(node));
        self.attach(node, parent);
        Ok(Tenant(node))
    }

    /// Removes a tenant that is not in use.
    ///
    /// # Errors
    /// An unknown handle; a tenant with children, usage or a head.
    pub fn remove(&mut self, tenant: Tenant) -> Result<(), DrfError> {
        let node = self.known(tenant)?;
        let standing = &self.nodes.standings[node as usize];
        let reason = match () {
            () if standing.inner => "children",
            () if self.row(node).iter().any(|&amount| amount != 0) => "usage",
            () if standing.waiting => "a waiting pod",
            () => {
                self.detach(node);
                self.names.remove(&self.nodes.rest[node as usize].name);
                self.nodes.vacate(node);
                return Ok(());
            }
        };
        Err(DrfError::StillInUse(self.name_of(node).to_owned(), reason))
    }

    /// Moves a tenant, with all below it, to another parent (None: the top).
    ///
    /// # Errors
    /// As `add`; a parent that is the tenant itself or one of its descendants.
    pub fn set_parent(&mut self, tenant: Tenant, parent: Option<Tenant>) -> Result<(), DrfError> {
        let node = self.known(tenant)?;
        if let Some(above) = parent
            && self.nodes.path(self.known(above)?).any(|at| at == node)
        {
            return Err(DrfError::Cycle(
                self.name_of(node).to_owned(),
                self.name_of(above.0).to_owned(),
            ));
        }
        let name = self.name_of(node).to_owned();
        let parent = self.may_adopt(parent, &name, self.height(node))?;
        if parent != self.nodes.parent(node) {
            self.detach(node);
            self.nodes.standings[node as usize].parent = parent;
            self.attach(node, parent);
        }
        Ok(())
    }

    /// Sets a tenant's weight among its siblings; None unsets it, which is 1.
    ///
    /// # Errors
    /// An unknown handle.
    pub fn set_weight(&mut self, tenant: Tenant, weight: Option<Weight>) -> Result<(), DrfError> {
        let node = self.known(tenant)?;
        self.nodes.standings[node as usize].rank.weight = weight.unwrap_or_default();
        self.refresh(node);
        Ok(())
    }

    /// # Errors
    /// An unknown handle.
    pub fn weight(&self, tenant: Tenant) -> Result<Weight, DrfError> {
        Ok(self.nodes.standings[self.known(tenant)? as usize]
            .rank
            .weight)
    }

    pub fn find(&self, name: &str) -> Option<Tenant> {
        self.names.get(name).copied()
    }

    /// # Errors
    /// An unknown handle.
    pub fn name(&self, tenant: Tenant) -> Result<&str, DrfError> {
        Ok(self.name_of(self.known(tenant)?))
    }

    /// # Errors
    /// An unknown handle.
    pub fn parent(&self, tenant: Tenant) -> Result<Option<Tenant>, DrfError> {
        let parent = self.nodes.parent(self.known(tenant)?);
        Ok((parent != ROOT).then_some(Tenant(parent)))
    }

    /// Whether the handle is that of a leaf, so that pods can be charged to it and queue at it.
    ///
    /// # Errors
    /// An unknown handle or inner node.
    pub fn check_leaf(&self, tenant: Tenant) -> Result<(), DrfError> {
        self.known_leaf(tenant).map(|_| ())
    }

    /// Whether two tenants are the same or have an ancestor in common below the root: what one gives back, the
    /// other may be allowed to take.
    pub fn are_related(&self, a: Tenant, b: Tenant) -> bool {
        let top = |tenant| {
            self.known(tenant)
                .ok()
                .and_then(|at| self.nodes.path(at).last())
        };
        top(a).is_some() && top(a) == top(b)
    }

    /// Every tenant and inner queue, by handle.
    pub fn tenants(&self) -> impl Iterator<Item = Tenant> {
        let standings = self.nodes.standings.iter().zip(0..);
        standings
            .filter(|(standing, node)| standing.alive && *node != ROOT)
            .map(|(_, node)| Tenant(node))
    }

    fn may_adopt(
        &self,
        parent: Option<Tenant>,
        child: &str,
        levels: usize,
    ) -> Result<u32, DrfError> {
        let Some(parent) = parent else {
            return Ok(ROOT);
        };
        let node = self.known(parent)?;
        let standing = &self.nodes.standings[node as usize];
        let in_use = standing.waiting || self.row(node).iter().any(|&amount| amount != 0);
        if !standing.inner && in_use {
            return Err(DrfError::LeafInUse(self.name_of(node).to_owned()));
        }
        match self.nodes.path(node).count() + levels {
            depth if depth > MAX_DEPTH => Err(DrfError::TooDeep(child.to_owned(), depth)),
            _ => Ok(node),
        }
    }
}
