//! What a queue may have, must keep and ought to have: three limits, each in three states.

use super::node::Nodes;
use super::{DrfError, Tenant};

/// A limit on one resource. *Unset* says nothing, *finite zero* says none, *unlimited* says any amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Limit {
    #[default]
    Unset,
    Finite(i64),
    Unlimited,
}

/// The limits of one queue, an element per resource; a shorter (or empty) list leaves the rest unset.
///
/// | | unset | finite | unlimited |
/// |---|---|---|---|
/// | `capability` | only its ancestors' limits bind | usage never rises above it | as unset |
/// | `guarantee` | none | kept free for the queue, and never reclaimed from it | refused |
/// | `deserved` | shares alone decide what is reclaimed | reclaim stops at it | nothing is ever reclaimed |
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Limits {
    pub capability: Vec<Limit>,
    pub guarantee: Vec<Limit>,
    pub deserved: Vec<Limit>,
}

/// Which limit says no.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    Capability,
    Guarantee,
    Deserved,
}

/// Why a queue may not take, or need not give back, an amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal {
    /// The queue whose limit it is: the tenant, one of its ancestors, or (guarantee) whom the siblings' guarantees bind.
    pub tenant: Tenant,
    pub resource: usize,
    pub bound: Bound,
    /// The amount that usage must not go above (or, when giving back, below); None is unlimited.
    pub limit: Option<i64>,
}

impl Limits {
    pub(super) fn validate(&self, resources: usize) -> Result<(), DrfError> {
        let lists = [
            ("capability", &self.capability),
            ("guarantee", &self.guarantee),
            ("deserved", &self.deserved),
        ];
        for (what, list) in lists {
            if list.len() > resources {
                return Err(DrfError::Length {
                    what,
                    got: list.len(),
                    want: resources,
                });
            }
            for (resource, limit) in list.iter().enumerate() {
                if let Limit::Finite(amount @ ..0) = *limit {
                    return Err(DrfError::Negative {
                        what,
                        resource,
                        amount,
                    });
                }
            }
        }
        if self.guarantee.contains(&Limit::Unlimited) {
            return Err(DrfError::UnlimitedGuarantee);
        }
        Ok(())
    }
}

pub(super) fn limit(list: &[Limit], resource: usize) -> Limit {
    list.get(resource).copied().unwrap_or_default()
}

/// The amount a guarantee keeps: unset and zero keep nothing.
pub(super) fn guaranteed(limits: &Limits, resource: usize) -> i64 {
    match limit(&limits.guarantee, resource) {
        Limit::Finite(amount) => amount,
        Limit::Unset | Limit::Unlimited => 0,
    }
}

/// Sums the guarantees of the children of `node` again.
pub(super) fn sum_guarantees(nodes: &mut Nodes, node: u32) {
    let Some(inner) = nodes.inner(node) else {
        return;
    };
    let lists = inner
        .children
        .iter()
        .map(|&child| &nodes.rest[child as usize].limits);
    let width = lists
        .clone()
        .map(|limits| limits.guarantee.len())
        .max()
        .unwrap_or(0);
    let sums = (0..width)
        .map(|resource| {
            lists.clone().fold(0i64, |sum, limits| {
                sum.saturating_add(guaranteed(limits, resource))
            })
        })
        .collect();
    if let Some(inner) = nodes.inner_mut(node) {
        inner.guaranteed = sums;
    }
}
