//! One number for everything that a transaction can touch.

use crate::engine::Engine;
use crate::snapshot::{Row, Snapshot};
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

impl Engine {
    /// Equal before a transaction and after it was discarded: node columns, the order of pods on nodes,
    /// ports, each pod's place, reservations and nomination, domain counts and where sampling goes on.
    pub fn fingerprint(&self) -> u64 {
        let mut hasher = FxHasher::default();
        nodes(&self.snap, &mut hasher);
        pods(&self.snap, &mut hasher);
        self.sampling_start().hash(&mut hasher);
        hasher.finish()
    }
}

fn nodes(snap: &Snapshot, hasher: &mut FxHasher) {
    let nodes = &snap.nodes;
    for column in nodes
        .allocatable
        .iter()
        .chain(&nodes.requested)
        .chain(&nodes.nonzero)
    {
        column.hash(hasher);
    }
    nodes.pod_count.hash(hasher);
    nodes.pods.hash(hasher);
    for row in 0..nodes.len() as Row {
        // A set: its order means nothing.
        let mut ports: Vec<String> = nodes.ports[row as usize]
            .iter()
            .map(|p| format!("{p:?}"))
            .collect();
        ports.sort_unstable();
        ports.hash(hasher);
    }
}

fn pods(snap: &Snapshot, hasher: &mut FxHasher) {
    for (id, pod) in snap.pods.iter() {
        (id, pod.row, pod.nominated, pod.terminating).hash(hasher);
        format!("{:?}", snap.volumes.assumptions.reservation(id)).hash(hasher);
    }
    for (id, peer) in snap.peers.placed() {
        id.hash(hasher);
        let mut counts: Vec<_> = peer.all().collect();
        counts.sort_unstable();
        counts.hash(hasher);
    }
}
