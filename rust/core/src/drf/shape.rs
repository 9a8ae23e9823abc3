//! Linking and unlinking nodes of the tenant tree.

use super::FairShares;
use super::limits::sum_guarantees;
use super::node::{Inner, ROOT};

impl FairShares {
    /// Levels of the tree from `node` down; the recursion is as deep as the tree, at most `MAX_DEPTH`.
    pub(super) fn height(&self, node: u32) -> usize {
        let children = self
            .nodes
            .inner(node)
            .map_or(&[][..], |inner| &inner.children);
        1 + children
            .iter()
            .map(|&child| self.height(child))
            .max()
            .unwrap_or(0)
    }

    /// Makes `node` a child of `parent`, which its standing names already.
    pub(super) fn attach(&mut self, node: u32, parent: u32) {
        if !self.nodes.standings[parent as usize].inner {
            self.promote(parent);
        }
        let is_inner = self.nodes.standings[node as usize].inner;
        if let Some(inner) = self.nodes.inner_mut(parent) {
            let slot = inner.children.len() as u32;
            inner.children.push(node);
            self.nodes.rest[node as usize].slot = slot;
        }
        self.shift_usage(node, parent, i64::wrapping_add);
        self.resum_guarantees(node, parent);
        if is_inner {
            self.note_inner_child(parent, node);
        }
        self.refresh(node);
    }

    /// Makes `node` nobody's child; its standing keeps the parent's name.
    pub(super) fn detach(&mut self, node: u32) {
        let parent = self.nodes.parent(node);
        self.nodes.displace(node, &self.scales);
        self.take_term(node);
        self.shift_usage(node, parent, i64::wrapping_sub);
        let slot = self.nodes.rest[node as usize].slot;
        let Some(inner) = self.nodes.inner_mut(parent) else {
            return;
        };
        inner.children.swap_remove(slot as usize);
        let (moved, empty) = (
            inner.children.get(slot as usize).copied(),
            inner.children.is_empty(),
        );
        if let Some(moved) = moved {
            self.nodes.rest[moved as usize].slot = slot;
        }
        self.resum_guarantees(node, parent);
        if self.nodes.standings[node as usize].inner {
            self.forget_inner_child(parent, node);
        }
        if parent != ROOT {
            if empty {
                self.demote(parent);
            } else {
                self.renew(parent); // the band it serves may have changed
            }
            self.refresh(parent);
        }
    }

    /// Turns a leaf that is not in use into an inner node.
    fn promote(&mut self, node: u32) {
        let standing = &mut self.nodes.standings[node as usize];
        standing.inner = true;
        let above = standing.parent;
        self.nodes.displace(node, &self.scales);
        let mut inner = Inner {
            band: i32::MIN,
            ..Inner::default()
        };
        for sums in [&mut inner.raw, &mut inner.scaled, &mut inner.vector] {
            sums.resize(self.capacity.len(), 0);
        }
        self.nodes.rest[node as usize].inner = Some(Box::new(inner));
        self.note_inner_child(above, node);
    }

    /// Turns an inner node that has lost its last child back into a leaf.
    fn demote(&mut self, node: u32) {
        let standing = &mut self.nodes.standings[node as usize];
        (standing.inner, standing.waiting) = (false, false);
        let above = standing.parent;
        self.nodes.rest[node as usize].inner = None;
        self.forget_inner_child(above, node);
    }

    /// The first inner child makes its siblings' keys fixed point.
    fn note_inner_child(&mut self, parent: u32, node: u32) {
        let Some(inner) = self.nodes.inner_mut(parent) else {
            return;
        };
        inner.inner_children.push(node);
        if inner.inner_children.len() == 1 {
            self.renew(parent);
        }
    }

    /// Without inner children the siblings' keys are exact again.
    fn forget_inner_child(&mut self, parent: u32, node: u32) {
        let Some(inner) = self.nodes.inner_mut(parent) else {
            return;
        };
        inner.inner_children.retain(|&child| child != node);
        if inner.inner_children.is_empty() {
            self.renew(parent);
        }
    }

    /// Adds the usage of `node` to, or takes it from, `parent` and all above except the root, whose total
    /// stays: the sums are parts of it, so they cannot overflow.
    fn shift_usage(&mut self, node: u32, parent: u32, by: fn(i64, i64) -> i64) {
        let moved = self.row(node).to_vec();
        let above: Vec<u32> = self.nodes.path(parent).collect();
        for node in above {
            for (used, &amount) in self.row_mut(node).iter_mut().zip(&moved) {
                *used = by(*used, amount);
            }
        }
    }

    fn resum_guarantees(&mut self, node: u32, parent: u32) {
        if !self.nodes.rest[node as usize].limits.guarantee.is_empty() {
            sum_guarantees(&mut self.nodes, parent);
        }
    }
}
