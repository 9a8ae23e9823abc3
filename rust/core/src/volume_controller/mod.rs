//! What the persistent volume controller and the provisioners of a real cluster do with claims and
//! volumes, for a cluster in memory: by kube-controller-manager v1.37.2, without its delays.
//!
//! [`sync_claim`] and [`sync_volume`] are pure: they say what is to be written next about one object.
//! [`Controller`] holds the objects as JSON, carries that out, and tells what has changed.

mod claim;
mod controller;
mod provision;
mod volume;

pub use claim::sync_claim;
pub use controller::{Changed, Controller, ControllerError};
pub use volume::sync_volume;

use crate::intern::Symbol;
use crate::snapshot::{ClaimKey, Kind, Snapshot};
use serde_json::Value;

/// One write.
#[derive(Clone, Debug, PartialEq)]
pub struct Write {
    pub kind: Kind,
    /// Empty for volumes.
    pub namespace: String,
    pub name: String,
    pub verb: Verb,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Verb {
    /// The whole object.
    Create(Value),
    /// A JSON merge patch (RFC 7386).
    Patch(Value),
    Delete,
}

impl Write {
    fn claim(snap: &Snapshot, key: ClaimKey, patch: Value) -> Self {
        Write {
            kind: Kind::PersistentVolumeClaim,
            namespace: snap.interner.text(key.0).to_owned(),
            name: snap.interner.text(key.1).to_owned(),
            verb: Verb::Patch(patch),
        }
    }

    fn volume(snap: &Snapshot, name: Symbol, verb: Verb) -> Self {
        Write {
            kind: Kind::PersistentVolume,
            namespace: String::new(),
            name: snap.interner.text(name).to_owned(),
            verb,
        }
    }
}
