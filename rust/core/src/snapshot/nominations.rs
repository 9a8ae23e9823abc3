//! Which pending pods wait for which node after a preemption.

use super::pods::PodId;
use crate::intern::Symbol;
use rustc_hash::FxHashMap;

/// One entry per pod, in the order they were nominated.
#[derive(Debug, Default)]
pub(super) struct Nominations {
    by_node: FxHashMap<Symbol, Vec<PodId>>,
    node_of: FxHashMap<PodId, Symbol>,
    /// Grows with every change.
    version: u64,
    /// The nodes of the latest changes; the last one made the present version.
    log: Vec<Symbol>,
}

/// Changes remembered at least.
const KEEP: usize = 1 << 16;

impl Nominations {
    pub(super) fn set(&mut self, pod: PodId, node: Option<Symbol>) {
        let before = self.node_of.get(&pod).copied();
        let noted = before != node && !crate::mutation::active("nominations");
        for changed in before.into_iter().chain(node).filter(|_| noted) {
            self.version += 1;
            self.log.push(changed);
            if self.log.len() > 2 * KEEP {
                self.log.drain(..KEEP);
            }
        }
        if let Some(before) = self.node_of.remove(&pod)
            && let Some(list) = self.by_node.get_mut(&before)
        {
            list.retain(|p| *p != pod);
            if list.is_empty() {
                self.by_node.remove(&before);
            }
        }
        if let Some(node) = node {
            self.by_node.entry(node).or_default().push(pod);
            self.node_of.insert(pod, node);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.node_of.is_empty()
    }

    pub(super) fn version(&self) -> u64 {
        self.version
    }

    /// The nodes whose nominations changed after a version; `None` if that is no longer known.
    pub(super) fn since(&self, version: u64) -> Option<&[Symbol]> {
        let changes = usize::try_from(self.version - version).ok()?;
        let start = self.log.len().checked_sub(changes)?;
        Some(&self.log[start..])
    }

    pub(super) fn on(&self, node: Symbol) -> &[PodId] {
        self.by_node.get(&node).map_or(&[], Vec::as_slice)
    }

    pub(super) fn nodes(&self) -> impl Iterator<Item = Symbol> + '_ {
        self.by_node.keys().copied()
    }
}
