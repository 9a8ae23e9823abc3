//! PreFilter: what is known of a pod's claims before any node is looked at.

use crate::intern::Symbol;
use crate::quantity::Quantity;
use crate::selector::Selector;
use crate::snapshot::volumes::{ClaimInfo, Phase, Reach, Slot, View, VolumeKind};
use crate::snapshot::{ClaimKey, Pod, Snapshot};
use crate::status::Status;
use std::sync::Arc;

const REASON_IMMEDIATE: &str = "pod has unbound immediate PersistentVolumeClaims";

#[derive(Clone, Debug, Default)]
pub(super) struct Claims {
    /// Scheduler name of the pod's profile, whose promises count.
    pub(super) profile: Symbol,
    pub(super) bound: Vec<Bound>,
    /// Nodes that claims have selected: the pod can only go to that one.
    pub(super) selected: Vec<Symbol>,
    /// To be bound to a volume that exists or else to a new one, smallest request first.
    pub(super) matched: Vec<Unbound>,
    /// To be bound to new volumes, in the order of the pod.
    pub(super) provisioned: Vec<Unbound>,
}

/// A bound claim's volume.
#[derive(Clone, Debug)]
pub(super) enum Bound {
    Missing,
    Volume(Slot),
}

/// A claim that waits for its pod.
#[derive(Clone, Debug)]
pub(super) struct Unbound {
    pub(super) key: ClaimKey,
    pub(super) field_class: Symbol,
    /// By which volumes and capacities are found.
    pub(super) class: Symbol,
    /// Requested, bytes.
    pub(super) request: i64,
    /// Volumes promised to it, in the order seen. The first that is not taken decides alone.
    pub(super) promised: Vec<Slot>,
    pub(super) wanted: Wanted,
    /// Its selector cannot be parsed.
    pub(super) invalid: Option<Box<str>>,
    /// How a volume can be made; `None`: not at all.
    pub(super) means: Option<Means>,
}

/// The free volumes that suit a claim, wherever they are.
#[derive(Clone, Debug, Default)]
pub(super) struct Wanted {
    /// By kind of volume.
    pub(super) kinds: Vec<bool>,
    pub(super) request: Quantity,
    /// The same as a plain number, if it is one.
    pub(super) size: Option<i64>,
    pub(super) selector: Option<Selector>,
}

#[derive(Clone, Debug)]
pub(super) struct Means {
    pub(super) allowed: Arc<Reach>,
    /// Whether published space must suffice.
    pub(super) limited: bool,
}

impl Claims {
    pub(super) fn of(snap: &Snapshot, pod: &Pod) -> Result<Self, Status> {
        for claim in &pod.claims {
            check(
                snap,
                pod,
                (pod.template.namespace, claim.name),
                claim.ephemeral,
            )?;
        }
        let mut claims = Claims {
            profile: pod.template.scheduler_name,
            ..Claims::default()
        };
        let mut immediate = false;
        for claim in &pod.claims {
            let key = (pod.template.namespace, claim.name);
            if let Some(info) = snap.volumes.claim(key) {
                immediate |= !claims.add(snap, key, info)?;
            }
        }
        if immediate {
            return Err(Status::unresolvable(REASON_IMMEDIATE));
        }
        // Upstream's sort keeps equal requests in place up to twelve claims; beyond, its order is its own.
        let request = |claim: &Unbound| snap.volumes.claim(claim.key).map(|info| &info.request);
        claims.matched.sort_by(|a, b| request(a).cmp(&request(b)));
        Ok(claims)
    }

    /// Adds one claim; false for one that should have been bound before.
    fn add(&mut self, snap: &Snapshot, key: ClaimKey, info: &ClaimInfo) -> Result<bool, Status> {
        if info.is_bound() {
            let volume = snap.volumes.volume_slot(info.volume);
            self.bound
                .push(volume.map_or(Bound::Missing, Bound::Volume));
            return Ok(true);
        }
        let class = info.class_name();
        let known = snap.volumes.class(class).filter(|_| class != Symbol::EMPTY);
        let waits = match known.map(|class| class.waits) {
            None => false,
            Some(Some(waits)) => waits,
            Some(None) => {
                let class = snap.interner.text(class);
                let message = format!("VolumeBindingMode not set for StorageClass {class:?}");
                return Err(Status::error(message));
            }
        };
        if !waits || info.volume != Symbol::EMPTY {
            return Ok(false);
        }
        match snap.volumes.view(self.profile).selected_node(key) {
            Some(node) => {
                self.selected.push(node);
                self.provisioned
                    .push(Unbound::to_provision(snap, key, info));
            }
            None => {
                let view = snap.volumes.view(self.profile);
                self.matched
                    .push(Unbound::to_match(snap, view, (key, info)));
            }
        }
        Ok(true)
    }

    pub(super) fn all_bound(&self) -> bool {
        self.matched.is_empty() && self.provisioned.is_empty()
    }
}

/// Whether a claim can be used by the pod at all.
fn check(snap: &Snapshot, pod: &Pod, key: ClaimKey, ephemeral: bool) -> Result<(), Status> {
    let name = snap.interner.text(key.1);
    let Some(info) = snap.volumes.claim(key) else {
        return Err(Status::unresolvable(match ephemeral {
            true => format!(
                "waiting for ephemeral volume controller to create the persistentvolumeclaim {name:?}"
            ),
            false => format!("persistentvolumeclaim {name:?} not found"),
        }));
    };
    if info.phase == Phase::Lost {
        let volume = snap.interner.text(info.volume);
        return Err(Status::unresolvable(format!(
            "persistentvolumeclaim {name:?} bound to non-existent persistentvolume {volume:?}"
        )));
    }
    if info.deleting {
        let message = format!("persistentvolumeclaim {name:?} is being deleted");
        return Err(Status::unresolvable(message));
    }
    if ephemeral && !info.is_controlled_by(pod) {
        return Err(Status::unresolvable(snap.not_owner(key, pod)));
    }
    Ok(())
}

impl Unbound {
    fn to_provision(snap: &Snapshot, key: ClaimKey, info: &ClaimInfo) -> Self {
        Unbound {
            key,
            field_class: info.field_class,
            class: info.class_name(),
            request: info.request.value(),
            promised: Vec::new(),
            wanted: Wanted::default(),
            invalid: None,
            means: Means::of(snap, info),
        }
    }

    fn to_match(snap: &Snapshot, view: View<'_>, (key, info): (ClaimKey, &ClaimInfo)) -> Self {
        let mut claim = Unbound::to_provision(snap, key, info);
        if let Some(Err(message)) = &info.selector {
            claim.invalid = Some(message.clone());
            return claim;
        }
        let volumes = &snap.volumes;
        let promised = view.claimed_by(key).filter(|(slot, volume)| {
            let holder = view.claim_of(*slot);
            holder.is_some_and(|holder| holder.is(key, info.uid))
                && volume.class == claim.class
                && volume.suits(info)
        });
        claim.promised = promised.map(|(slot, _)| slot).collect();
        let suits = |kind: &VolumeKind| kind.suits(info) && kind.has_modes(&info.access_modes);
        claim.wanted = Wanted {
            kinds: volumes.kinds().iter().map(suits).collect(),
            request: info.request.clone(),
            size: info.request.as_i64(),
            selector: info.selector.clone().and_then(Result::ok),
        };
        claim
    }
}

impl Means {
    fn of(snap: &Snapshot, claim: &ClaimInfo) -> Option<Self> {
        let volumes = &snap.volumes;
        let class = volumes.class(claim.class_name());
        let class = class.filter(|class| class.provisions)?;
        let driver = volumes.driver(class.provisioner);
        Some(Means {
            allowed: Arc::clone(&class.reach),
            limited: claim.has_request && driver.is_some_and(|driver| driver.storage_capacity),
        })
    }
}
