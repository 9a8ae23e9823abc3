//! The side of the volume: its phase, and what becomes of it when its claim is gone.

use super::{Verb, Write};
use crate::intern::Symbol;
use crate::snapshot::Snapshot;
use crate::snapshot::volumes::{BOUND_BY_CONTROLLER, Holder, Phase, Reclaim, Slot, Volume};
use serde_json::{Value, json};

/// What is to be written next about a volume; nothing if all is well.
pub fn sync_volume(snap: &Snapshot, slot: Slot) -> Vec<Write> {
    let Some(volume) = snap.volumes.volume(slot) else {
        return Vec::new();
    };
    let verb = next(snap, volume);
    let write = verb.map(|verb| Write::volume(snap, volume.name, verb));
    write.into_iter().collect()
}

fn next(snap: &Snapshot, volume: &Volume) -> Option<Verb> {
    match snap.volumes.holder(volume) {
        Holder::Nobody => phase(volume, Phase::Available),
        Holder::Gone => reclaim(volume),
        // The claim will see to it.
        Holder::Claim(claim) if claim.volume == Symbol::EMPTY => None,
        Holder::Claim(claim) if claim.volume == volume.name => phase(volume, Phase::Bound),
        Holder::Claim(_) if volume.provisioned && volume.reclaim == Reclaim::Delete => {
            reclaim(volume)
        }
        Holder::Claim(_) => Some(Verb::Patch(unbind(volume))),
    }
}

fn phase(volume: &Volume, phase: Phase) -> Option<Verb> {
    let patch = || Verb::Patch(json!({"status": {"phase": phase.name()}}));
    (volume.phase != phase).then(patch)
}

/// The claim is gone, or has another volume.
fn reclaim(volume: &Volume) -> Option<Verb> {
    match volume.reclaim {
        Reclaim::Delete => Some(Verb::Delete),
        Reclaim::Recycle => {
            let mut patch = unbind(volume);
            patch["spec"]["claimRef"] = Value::Null;
            Some(Verb::Patch(patch))
        }
        Reclaim::Retain if volume.phase == Phase::Failed => None,
        Reclaim::Retain => phase(volume, Phase::Released),
    }
}

/// A binding by a controller is taken back, a promise by a user left standing.
fn unbind(volume: &Volume) -> Value {
    let status = json!({"phase": "Available"});
    if volume.bound_by_controller {
        let metadata = json!({"annotations": {BOUND_BY_CONTROLLER: null}});
        json!({"metadata": metadata, "spec": {"claimRef": null}, "status": status})
    } else {
        json!({"spec": {"claimRef": {"uid": null}}, "status": status})
    }
}
