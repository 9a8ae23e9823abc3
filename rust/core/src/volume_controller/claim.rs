//! The side of the claim: it gets a volume, waits for one, or has lost its own.

use super::provision::provision;
use super::{Verb, Write};
use crate::intern::Symbol;
use crate::snapshot::volumes::{
    BIND_COMPLETED, BOUND_BY_CONTROLLER, ClaimInfo, ClaimRef, Phase, Slot, Volume,
};
use crate::snapshot::{ClaimKey, Snapshot};
use serde_json::{Value, json};

/// What is to be written next about a claim; nothing if all is well or nothing can be done.
pub fn sync_claim(snap: &Snapshot, key: ClaimKey) -> Vec<Write> {
    let Some(claim) = snap.volumes.claim(key) else {
        return Vec::new();
    };
    if claim.bind_completed {
        sync_bound(snap, key, claim)
    } else if claim.volume == Symbol::EMPTY {
        sync_unbound(snap, key, claim)
    } else {
        sync_requested(snap, key, claim)
    }
}

/// Any volume will do.
fn sync_unbound(snap: &Snapshot, key: ClaimKey, claim: &ClaimInfo) -> Vec<Write> {
    let class = claim.class_name();
    let class = snap.volumes.class(class).filter(|_| class != Symbol::EMPTY);
    let waits = match class.map(|class| class.waits) {
        // Upstream reports the class and leaves the claim alone.
        Some(None) => return Vec::new(),
        Some(Some(waits)) => waits,
        None => false,
    };
    if let Some(slot) = best_match(snap, key, claim, waits) {
        return bind(snap, slot, key, claim);
    }
    match class {
        Some(class) if class.provisions && (!waits || claim.selected_node.is_some()) => {
            provision(snap, key, claim, class)
        }
        _ => phase(snap, key, claim, Phase::Pending),
    }
}

/// The claim names its volume.
fn sync_requested(snap: &Snapshot, key: ClaimKey, claim: &ClaimInfo) -> Vec<Write> {
    let slot = snap.volumes.volume_slot(claim.volume);
    let found = slot.and_then(|slot| Some((slot, snap.volumes.volume(slot)?)));
    match found {
        Some((slot, volume)) => match volume.claim {
            None if satisfies(volume, claim) => bind(snap, slot, key, claim),
            Some(holder) if holder.is(key, claim.uid) => bind(snap, slot, key, claim),
            // Another's, though a controller put the name there: upstream gives up.
            Some(_) if claim.bound_by_controller => Vec::new(),
            _ => phase(snap, key, claim, Phase::Pending),
        },
        None => phase(snap, key, claim, Phase::Pending),
    }
}

/// The claim was bound once.
fn sync_bound(snap: &Snapshot, key: ClaimKey, claim: &ClaimInfo) -> Vec<Write> {
    let slot = snap.volumes.volume_slot(claim.volume);
    let volume = slot.and_then(|slot| snap.volumes.volume(slot));
    match (slot, volume.map(|volume| volume.claim)) {
        (Some(slot), Some(None)) => bind(snap, slot, key, claim),
        (Some(slot), Some(Some(holder))) if holder.uid == claim.uid => bind(snap, slot, key, claim),
        _ => phase(snap, key, claim, Phase::Lost),
    }
}

/// Whether a volume that is asked for by name can be had.
fn satisfies(volume: &Volume, claim: &ClaimInfo) -> bool {
    volume.capacity.value() >= claim.request.value()
        && !volume.deleting
        && volume.class == claim.class_name()
        && volume.kind.suits(claim)
        && volume.kind.has_modes(&claim.access_modes)
}

/// The volume with the fewest access modes that has those of the claim; among these one promised to
/// the claim, else the smallest free one. A claim that waits for its pod gets promised ones only.
/// Equal ones go in the order seen (upstream: in the order of a map).
fn best_match(snap: &Snapshot, key: ClaimKey, claim: &ClaimInfo, waits: bool) -> Option<Slot> {
    let selector = match &claim.selector {
        None => None,
        Some(Ok(selector)) => Some(selector),
        Some(Err(_)) => return None,
    };
    let promised = snap.volumes.claimed_by(key).filter(|(_, volume)| {
        let holder = volume.claim;
        holder.is_some_and(|holder| holder.is(key, claim.uid))
    });
    let free = snap.volumes.free(claim.class_name()).filter(|(_, volume)| {
        !waits && selector.is_none_or(|s| s.matches(&volume.labels, &snap.interner))
    });
    let all = promised
        .chain(free)
        .filter(|(_, volume)| volume.suits(claim) && volume.kind.has_modes(&claim.access_modes));
    // The first of equals is kept: promised before free, smaller before larger.
    let best = all.min_by_key(|(_, volume)| volume.kind.access_modes.len());
    best.map(|(slot, _)| slot)
}

/// Completes a binding on both sides.
fn bind(snap: &Snapshot, slot: Slot, key: ClaimKey, claim: &ClaimInfo) -> Vec<Write> {
    let Some(volume) = snap.volumes.volume(slot) else {
        return Vec::new();
    };
    let mut writes = Vec::new();
    if let Some(patch) = volume_patch(snap, volume, key, claim) {
        writes.push(Write::volume(snap, volume.name, Verb::Patch(patch)));
    }
    if let Some(patch) = claim_patch(snap, volume, claim) {
        writes.push(Write::claim(snap, key, patch));
    }
    writes
}

fn volume_patch(
    snap: &Snapshot,
    volume: &Volume,
    key: ClaimKey,
    claim: &ClaimInfo,
) -> Option<Value> {
    let text = |symbol| snap.interner.text(symbol);
    let holder = ClaimRef {
        claim: key,
        uid: claim.uid,
    };
    let mut patch = json!({});
    if volume.claim != Some(holder) {
        patch["spec"] = json!({"claimRef": {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "namespace": text(key.0),
            "name": text(key.1),
            "uid": text(claim.uid),
        }});
        let promised = volume.claim.is_some_and(|holder| holder.is(key, claim.uid));
        if !promised && !volume.bound_by_controller {
            patch["metadata"] = json!({"annotations": {BOUND_BY_CONTROLLER: "yes"}});
        }
    }
    if volume.phase != Phase::Bound {
        patch["status"] = json!({"phase": "Bound"});
    }
    (patch != json!({})).then_some(patch)
}

fn claim_patch(snap: &Snapshot, volume: &Volume, claim: &ClaimInfo) -> Option<Value> {
    let text = |symbol| snap.interner.text(symbol);
    let mut patch = json!({});
    let mut annotations = json!({});
    if claim.volume != volume.name {
        patch["spec"] = json!({"volumeName": text(volume.name)});
        if !claim.bound_by_controller {
            annotations[BOUND_BY_CONTROLLER] = json!("yes");
        }
    }
    if !claim.bind_completed {
        annotations[BIND_COMPLETED] = json!("yes");
    }
    if annotations != json!({}) {
        patch["metadata"] = json!({"annotations": annotations});
    }
    if claim.phase != Phase::Bound {
        let modes: Vec<_> = volume
            .kind
            .access_modes
            .iter()
            .map(|mode| text(*mode))
            .collect();
        patch["status"] = json!({
            "phase": "Bound",
            "accessModes": modes,
            "capacity": {"storage": volume.capacity},
        });
        if volume.kind.attributes_class != Symbol::EMPTY {
            let class = text(volume.kind.attributes_class);
            patch["status"]["currentVolumeAttributesClassName"] = json!(class);
        }
    }
    (patch != json!({})).then_some(patch)
}

/// Sets the phase of a claim without a volume.
fn phase(snap: &Snapshot, key: ClaimKey, claim: &ClaimInfo, phase: Phase) -> Vec<Write> {
    if claim.phase == phase {
        return Vec::new();
    }
    let status = json!({
        "phase": phase.name(),
        "accessModes": null,
        "capacity": null,
        "currentVolumeAttributesClassName": null,
    });
    vec![Write::claim(snap, key, json!({"status": status}))]
}
