//! Keeping ranks, heaps and sums in step with usage: the H-DRF rule.

use super::FairShares;
use super::fixed::CLAMP;
use super::key::{Head, Key};
use super::node::ROOT;

impl FairShares {
    /// Carries a change of `node` (usage, head, weight, blocking) up to the root.
    pub(super) fn refresh(&mut self, node: u32) {
        let mut at = node;
        while at != ROOT {
            self.step(at);
            at = self.nodes.parent(at);
        }
    }

    /// Re-keys `node` and brings its parent's heap and sums up to date.
    fn step(&mut self, node: u32) {
        self.rekey(node);
        self.nodes.place(node, &self.scales);
        let parent = self.nodes.parent(node);
        if parent == ROOT {
            return; // the root competes with nobody: it needs no sums
        }
        if self.serves_another_band(parent) {
            self.sum(parent);
        } else {
            self.add_term(node);
        }
    }

    /// Re-keys the children of `node` and rebuilds its heap and sums.
    pub(super) fn renew(&mut self, node: u32) {
        for child in self.children(node) {
            self.rekey(child);
        }
        self.nodes.heapify(node, &self.scales);
        if node != ROOT {
            self.serves_another_band(node);
            self.sum(node);
        }
    }

    /// `renew` for the whole tree below `node`, deepest first.
    pub(super) fn renew_all(&mut self, node: u32) {
        for child in self.inner_children(node) {
            self.renew_all(child);
        }
        self.renew(node);
    }

    /// Takes note of which resources are full. H-DRF leaves those out of the shares of inner nodes: who holds
    /// all of a resource would otherwise starve its siblings of the others, although nobody can want it any more.
    pub(super) fn settle(&mut self) {
        if !std::mem::take(&mut self.stale) {
            return;
        }
        let full = self.full_resources();
        if full != self.full {
            self.full = full;
            self.step_below(ROOT);
        }
    }

    fn step_below(&mut self, node: u32) {
        for child in self.inner_children(node) {
            self.step_below(child);
            self.step(child);
        }
    }

    pub(super) fn full_resources(&self) -> Vec<bool> {
        let total = self.row(ROOT).iter();
        total
            .zip(&self.capacity)
            .map(|(&used, &capacity)| capacity > 0 && used >= capacity)
            .collect()
    }

    pub(super) fn children(&self, node: u32) -> Vec<u32> {
        self.nodes
            .inner(node)
            .map(|inner| inner.children.clone())
            .unwrap_or_default()
    }

    fn inner_children(&self, node: u32) -> Vec<u32> {
        self.nodes
            .inner(node)
            .map(|inner| inner.inner_children.clone())
            .unwrap_or_default()
    }

    fn rekey(&mut self, node: u32) {
        if self.nodes.standings[node as usize].inner {
            self.rekey_inner(node);
            return;
        }
        let standing = &self.nodes.standings[node as usize];
        let (weight, used) = (standing.rank.weight, self.row(node));
        let dominant = self.scales.dominant(used);
        let key = if self.nodes.mixed(standing.parent) {
            let share = dominant.map_or(0, |d| self.scales.fixed(d.resource as usize, d.amount));
            Key::of_fixed(share, weight)
        } else {
            Key::of_leaf(dominant, weight)
        };
        self.nodes.standings[node as usize].rank.key = key;
    }

    /// An inner node consumes what its children do, those in V rescaled to the least share m among them, and
    /// queues with the pod that it would be served with.
    fn rekey_inner(&mut self, node: u32) {
        let least = self.least(node);
        let first = self.nodes.first(node);
        let head = first.map_or(Head::default(), |child| {
            self.nodes.standings[child as usize].rank.head
        });
        let Some(inner) = self.nodes.rest[node as usize].inner.as_deref_mut() else {
            return;
        };
        inner.vector.resize(inner.raw.len(), 0);
        let sums = inner.raw.iter().zip(&inner.scaled);
        for (amount, (&raw, &scaled)) in inner.vector.iter_mut().zip(sums) {
            *amount = raw.saturating_add(least.times(scaled)).min(CLAMP);
        }
        let open = inner
            .vector
            .iter()
            .zip(&self.full)
            .filter(|(_, full)| !**full);
        inner.share = open.map(|(&amount, _)| amount).max().unwrap_or(0);
        let share = inner.share;
        let standing = &mut self.nodes.standings[node as usize];
        standing.rank.head = head;
        standing.rank.key = Key::of_fixed(share, standing.rank.weight);
        standing.waiting = first.is_some();
    }

    /// Whether the band that `node` serves has changed; it is brought up to date.
    fn serves_another_band(&mut self, node: u32) -> bool {
        let first = self.nodes.first(node);
        let band = first.map_or(i32::MIN, |child| {
            self.nodes.standings[child as usize].rank.head.band
        });
        let Some(inner) = self.nodes.inner_mut(node) else {
            return false;
        };
        std::mem::replace(&mut inner.band, band) != band
    }
}
