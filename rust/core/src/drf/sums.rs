//! What the children of an inner node consume together: `raw + m * V` in 64.64 fixed point.
//!
//! V changes by the term of one child at a time. A term is computed once and remembered, so taking it out
//! again is exact and nothing drifts; m is a factor of the whole sum, so that the child with the least share
//! may change without touching the terms of the others.

use super::FairShares;
use super::fixed::{self, Factor};
use super::key::weighted;
use super::node::{Inner, Term};
use super::wide::Ratio;

impl FairShares {
    /// m: the weighted share of the first child in V. Its key may be on the grid; m is not, so that errors
    /// do not grow with the number of children.
    pub(super) fn least(&self, node: u32) -> Factor {
        let Some(child) = self.nodes.first(node) else {
            return Factor::ZERO;
        };
        let weight = self.nodes.standings[child as usize].rank.weight;
        if weight.is_zero() {
            return Factor::ZERO; // V is empty: whoever has a claim comes first
        }
        let share = match self.nodes.inner(child) {
            Some(inner) => Ratio {
                numerator: inner.share,
                denominator: fixed::ONE,
            },
            None => self.scales.share(self.scales.dominant(self.row(child))),
        };
        let share = weighted(share, weight);
        Factor::of(share.numerator, share.denominator)
    }

    /// Adds up the terms of all children of `node` afresh.
    pub(super) fn sum(&mut self, node: u32) {
        let resources = self.resources();
        let Some(inner) = self.nodes.inner_mut(node) else {
            return;
        };
        for sums in [&mut inner.raw, &mut inner.scaled] {
            sums.clear();
            sums.resize(resources, 0);
        }
        for child in self.children(node) {
            self.nodes.rest[child as usize].term = Term::default();
            self.add_term(child);
        }
    }

    /// Replaces what `node` adds to its parent's sums.
    pub(super) fn add_term(&mut self, node: u32) {
        let old = self.take_term(node);
        let term = self.term(node, old);
        let parent = self.nodes.parent(node);
        if let Some(inner) = self.nodes.inner_mut(parent) {
            for (sum, amount) in sums_of(inner, &term).iter_mut().zip(&term.amounts) {
                *sum += amount;
            }
        }
        self.nodes.rest[node as usize].term = term;
    }

    /// Takes what `node` adds out of its parent's sums.
    pub(super) fn take_term(&mut self, node: u32) -> Term {
        let term = std::mem::take(&mut self.nodes.rest[node as usize].term);
        let parent = self.nodes.parent(node);
        if let Some(inner) = self.nodes.inner_mut(parent) {
            for (sum, amount) in sums_of(inner, &term).iter_mut().zip(&term.amounts) {
                *sum -= amount;
            }
        }
        term
    }

    /// `U_c * w_c / s_c` for a child that is rescaled, else `U_c`; `reused` lends its memory.
    fn term(&self, node: u32, reused: Term) -> Term {
        let standing = &self.nodes.standings[node as usize];
        let band = self
            .nodes
            .inner(standing.parent)
            .map_or(i32::MIN, |inner| inner.band);
        let scaled =
            standing.ready() && !standing.rank.weight.is_zero() && standing.rank.head.band == band;
        let mut amounts = reused.amounts;
        amounts.clear();
        let share = match self.nodes.inner(node) {
            Some(inner) => {
                amounts.extend(&inner.vector);
                inner.share
            }
            None => {
                let used = self.row(node).iter().enumerate();
                amounts.extend(used.map(|(resource, &amount)| self.scales.fixed(resource, amount)));
                amounts.iter().copied().max().unwrap_or(0)
            }
        };
        if scaled {
            let weight = standing.rank.weight;
            let by = match share {
                0 => Factor::ZERO, // nothing in use: nothing to rescale
                _ => Factor::of(
                    weight.numerator().into(),
                    share * u128::from(weight.denominator()),
                )
                .to_fixed(),
            };
            amounts
                .iter_mut()
                .for_each(|amount| *amount = by.times(*amount));
        }
        Term { amounts, scaled }
    }
}

fn sums_of<'a>(inner: &'a mut Inner, term: &Term) -> &'a mut Vec<u128> {
    if term.scaled {
        &mut inner.scaled
    } else {
        &mut inner.raw
    }
}
