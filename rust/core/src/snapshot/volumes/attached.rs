//! Which volumes of CSI drivers are attached to a node, as NodeVolumeLimits counts them.

use super::{ClaimInfo, Source, Volumes};
use crate::intern::Symbol;
use crate::snapshot::{ClaimKey, Pod, Row, Snapshot};
use crate::status::Status;
use crate::template::Counted;

/// A volume that counts once, however many pods use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum VolumeKey {
    Handle {
        driver: Symbol,
        handle: Symbol,
    },
    /// Yet to be made for a claim.
    Unbound {
        driver: Symbol,
        claim: ClaimKey,
    },
}

impl VolumeKey {
    pub fn driver(self) -> Symbol {
        match self {
            VolumeKey::Handle { driver, .. } | VolumeKey::Unbound { driver, .. } => driver,
        }
    }
}

/// The attached volumes of one node.
#[derive(Debug, Default)]
pub struct Attached {
    /// Of pods on the node, ascending.
    keys: Vec<VolumeKey>,
    /// By driver: of pods, and of VolumeAttachments that no pod accounts for.
    counts: Vec<(Symbol, i64)>,
    /// A pod on the node has a volume that cannot be made out; nothing more can be said.
    pub error: Option<Status>,
}

impl Attached {
    pub fn count(&self, driver: Symbol) -> i64 {
        let mut counts = self.counts.iter();
        counts
            .find(|(name, _)| *name == driver)
            .map_or(0, |(_, count)| *count)
    }

    pub fn contains(&self, key: VolumeKey) -> bool {
        self.keys.binary_search(&key).is_ok()
    }

    fn new(snap: &Snapshot, row: Row) -> Self {
        let has_csi_node = snap.volumes.csi_node(row).is_some();
        let mut attached = Attached::default();
        for pod in &snap.nodes.pods[row as usize] {
            let pod = &snap.pods[*pod];
            if let Err(status) = collect(snap, pod, has_csi_node, false, &mut attached.keys) {
                attached.error = Some(status);
                return attached;
            }
        }
        attached.keys.sort_unstable();
        attached.keys.dedup();
        let mut extra = snap.volumes.attached_handles(snap.nodes.name(row));
        extra.sort_unstable();
        extra.dedup();
        extra.retain(|key| !attached.contains(*key));
        for key in attached.keys.iter().chain(&extra) {
            let driver = key.driver();
            match attached.counts.iter_mut().find(|(name, _)| *name == driver) {
                Some((_, count)) => *count += 1,
                None => attached.counts.push((driver, 1)),
            }
        }
        attached
    }
}

/// Adds the volumes by which a pod counts on a node with or without a CSINode. Of a pod that is not
/// there yet (`arriving`) every claim must exist.
pub fn collect(
    snap: &Snapshot,
    pod: &Pod,
    has_csi_node: bool,
    arriving: bool,
    keys: &mut Vec<VolumeKey>,
) -> Result<(), Status> {
    let text = |symbol| snap.interner.text(symbol);
    for claim in &pod.claims {
        if claim.name == Symbol::EMPTY {
            return Err(Status::error("PersistentVolumeClaim had no name"));
        }
        let key = (pod.template.namespace, claim.name);
        let Some(info) = snap.volumes.claim(key) else {
            if !arriving {
                continue;
            }
            let (namespace, name) = (text(key.0), text(key.1));
            return Err(Status::unresolvable(format!(
                "looking up PVC {namespace}/{name}: persistentvolumeclaim {name:?} not found"
            )));
        };
        if claim.ephemeral && !info.is_controlled_by(pod) {
            return Err(Status::error(snap.not_owner(key, pod)));
        }
        keys.extend(snap.volumes.counted(key, info, has_csi_node));
    }
    for volume in pod.template.volumes.iter().filter(|_| has_csi_node) {
        match &volume.counted {
            None | Some(Counted::Never) => {}
            Some(Counted::As { driver, handle }) => keys.push(VolumeKey::Handle {
                driver: *driver,
                handle: *handle,
            }),
            Some(Counted::Invalid(message)) => {
                let name = text(volume.name);
                return Err(Status::error(format!(
                    "converting volume({name}) from inline to csi: {message}"
                )));
            }
        }
    }
    Ok(())
}

impl Volumes {
    /// How a claim counts: by its volume, or by its class while it has none.
    fn counted(&self, key: ClaimKey, claim: &ClaimInfo, has_csi_node: bool) -> Option<VolumeKey> {
        if let Some(volume) = self.volume_named(claim.volume) {
            let (driver, handle) = volume.source.counted(has_csi_node)?;
            return Some(VolumeKey::Handle { driver, handle });
        }
        let driver = self.class(claim.class?)?.counted(has_csi_node)?;
        Some(VolumeKey::Unbound { driver, claim: key })
    }

    /// The volumes of CSI drivers that VolumeAttachments say are attached to a node.
    fn attached_handles(&self, node: Symbol) -> Vec<VolumeKey> {
        let handle = |slot: &_| {
            let attachment = self.attachments.get(*slot)?;
            let volume = self.volume_named(attachment.volume?)?;
            let Source::Csi { handle, .. } = volume.source else {
                return None;
            };
            let driver = attachment.attacher;
            (driver != Symbol::EMPTY).then_some(VolumeKey::Handle { driver, handle })
        };
        let slots = self.attachments_of.get(&node).into_iter().flatten();
        slots.filter_map(handle).collect()
    }
}

impl Snapshot {
    /// The volumes attached to a node; counted when first asked for after a change.
    pub fn attached(&self, row: Row) -> &Attached {
        static NONE: Attached = Attached {
            keys: Vec::new(),
            counts: Vec::new(),
            error: None,
        };
        let known = self.volumes.rows.get(row as usize);
        known.map_or(&NONE, |known| {
            known.attached.get_or_init(|| Attached::new(self, row))
        })
    }
}
