//! What stands against a node, in upstream's words.

use super::claims::Claims;
use crate::snapshot::Snapshot;
use crate::snapshot::volumes::{Slot, Source};

/// Why the claims keep the pod off a node, in the order in which reasons are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Conflict {
    Node,
    NoMatch,
    NoSpace,
    NoVolume,
}

impl Conflict {
    pub(super) fn reason(self) -> &'static str {
        match self {
            Conflict::Node => "node(s) didn't match PersistentVolume's node affinity",
            Conflict::NoMatch => "node(s) didn't find available persistent volumes to bind",
            Conflict::NoSpace => "node(s) did not have enough free storage",
            Conflict::NoVolume => {
                "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
            }
        }
    }
}

/// Something that ought not to be; the cycle ends.
#[derive(Clone, Copy, Debug)]
pub(super) enum Failure {
    /// A bound volume cannot be translated.
    Translation(Slot),
    /// The selector of the n-th claim to be matched cannot be parsed.
    Selector(usize),
}

impl Failure {
    pub(super) fn message(self, snap: &Snapshot, claims: &Claims) -> String {
        let text = |symbol| snap.interner.text(symbol);
        match self {
            Failure::Translation(slot) => {
                let volume = snap.volumes.volume(slot);
                let source = volume.map(|volume| &volume.source);
                let handle = match source {
                    Some(Source::InTree { handle, .. }) => handle.as_ref().err(),
                    _ => None,
                };
                let message = handle.map_or("", |message| message);
                format!("could not translate pv: {message}")
            }
            Failure::Selector(index) => {
                let claim = &claims.matched[index];
                let (namespace, name) = (text(claim.key.0), text(claim.key.1));
                let message = claim.invalid.as_deref().unwrap_or_default();
                format!(
                    "error creating internal label selector for claim: {namespace}/{name}: {message}"
                )
            }
        }
    }
}
