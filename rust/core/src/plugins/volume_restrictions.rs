//! VolumeRestrictions: disks that cannot be shared on a node, and claims that only one pod may use.

use crate::hints::Happening;
use crate::intern::Symbol;
use crate::plugin::{Affects, Filter, KeyWriter, Plugin, PreFilter, Rows};
use crate::snapshot::{Change, Pod, Row, Snapshot};
use crate::status::{Code, Status};
use crate::template::{Claim, Disk, Template};
use serde_json::Value;
use std::hash::Hash;
use std::sync::Arc;

pub(super) const NAME: &str = "VolumeRestrictions";
const REASON_DISK: &str = "node(s) had no available disk";
const REASON_ONCE: &str = "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod";

#[derive(Debug)]
struct VolumeRestrictions;

pub(super) fn new(_: &mut Snapshot, _: &Value) -> Result<Arc<dyn Plugin>, String> {
    Ok(Arc::new(VolumeRestrictions))
}

fn disks(template: &Template) -> impl Iterator<Item = &Disk> {
    template
        .volumes
        .iter()
        .filter_map(|volume| volume.disk.as_ref())
}

/// Claims that the pod names itself.
fn direct(pod: &Pod) -> impl Iterator<Item = &Claim> {
    pod.claims.iter().filter(|claim| !claim.ephemeral)
}

/// The pod's claims that only one pod may use, each once. The error names one that does not exist.
fn once_per_pod(snap: &Snapshot, pod: &Pod) -> Result<Vec<Symbol>, Symbol> {
    let mut names = Vec::new();
    for claim in direct(pod) {
        let info = snap.volumes.claim((pod.template.namespace, claim.name));
        if info.ok_or(claim.name)?.once_per_pod && !names.contains(&claim.name) {
            names.push(claim.name);
        }
    }
    Ok(names)
}

impl Plugin for VolumeRestrictions {
    fn name(&self) -> &'static str {
        NAME
    }

    fn helped_by(&self, _: &Snapshot, pod: &Pod, what: &Happening<'_>) -> bool {
        match what {
            Happening::Claim { namespace, name } => pod.uses(*namespace, *name, false),
            _ => true,
        }
    }

    fn key(&self, _: &Snapshot, pod: &Pod, key: &mut KeyWriter) {
        let claims: Vec<_> = direct(pod).map(|claim| claim.name).collect();
        let namespace = (!claims.is_empty()).then_some(pod.template.namespace);
        (namespace, claims).hash(key);
        disks(&pod.template).collect::<Vec<_>>().hash(key);
    }

    fn pre_filter(&self, snap: &Snapshot, pod: &Pod) -> PreFilter {
        if !pod.template.has_claims && pod.template.volumes.is_empty() {
            return PreFilter::Skip;
        }
        let once = match once_per_pod(snap, pod) {
            Ok(names) => names,
            Err(name) => {
                let name = snap.interner.text(name);
                let message = format!("persistentvolumeclaim {name:?} not found");
                return PreFilter::Reject(Status::unresolvable(message));
            }
        };
        let mut rules = Rules {
            namespace: pod.template.namespace,
            disks: disks(&pod.template).cloned().collect(),
            once: once.into(),
            users: 0,
        };
        rules.users = rules.count_users(snap);
        if rules.disks.is_empty() && rules.users == 0 {
            return PreFilter::Skip;
        }
        PreFilter::Run {
            filter: Box::new(rules),
            nodes: None,
        }
    }

    fn affects(&self, snap: &Snapshot, placed: &Template, pod: &Pod) -> Affects {
        if placed.has_claims && once_per_pod(snap, pod).is_ok_and(|names| !names.is_empty()) {
            return Affects::All;
        }
        let conflict = |disk: &Disk| disks(placed).any(|other| disk.conflicts(other));
        if disks(&pod.template).any(conflict) {
            Affects::Node
        } else {
            Affects::Nothing
        }
    }

    fn reads_storage(&self, pod: &Pod) -> bool {
        direct(pod).next().is_some()
    }
}

#[derive(Clone, Debug)]
struct Rules {
    namespace: Symbol,
    disks: Box<[Disk]>,
    /// Names of the claims that only one pod may use.
    once: Box<[Symbol]>,
    /// How many of these are in use, plus and minus the uses by hypothetical pods. Like upstream's count
    /// it knows those by the claim's name, whatever their namespace.
    users: i64,
}

impl Rules {
    fn count_users(&self, snap: &Snapshot) -> i64 {
        let used = |name: &&Symbol| snap.volumes.claim_in_use((self.namespace, **name));
        if crate::mutation::active(NAME) {
            return 0;
        }
        self.once.iter().filter(used).count() as i64
    }

    fn uses_of(&self, pod: &Pod) -> i64 {
        direct(pod)
            .filter(|claim| self.once.contains(&claim.name))
            .count() as i64
    }

    fn has_conflict(&self, snap: &Snapshot, row: Row) -> bool {
        let pods = snap.volumes.pods_with_disks(row).iter();
        let mut there = pods.flat_map(|pod| disks(&snap.pods[*pod].template));
        there.any(|other| self.disks.iter().any(|disk| disk.conflicts(other)))
    }
}

impl Filter for Rules {
    fn filter(&self, snap: &Snapshot, rows: Rows<'_>, out: &mut [Code]) {
        if self.users > 0 {
            rows.judge(out, |_| Code::Unschedulable);
        } else if !self.disks.is_empty() {
            rows.judge(out, |row| match self.has_conflict(snap, row) {
                true => Code::Unschedulable,
                false => Code::Success,
            });
        }
    }

    fn status(&self, snap: &Snapshot, row: Row) -> Status {
        if self.has_conflict(snap, row) {
            return Status::unschedulable(REASON_DISK);
        }
        if self.users > 0 {
            return Status::unschedulable(REASON_ONCE);
        }
        Status::default()
    }

    fn counts_pods(&self) -> bool {
        true
    }

    fn add_pod(&mut self, _: &Snapshot, pod: &Pod, _: Row) {
        self.users += self.uses_of(pod);
    }

    fn remove_pod(&mut self, _: &Snapshot, pod: &Pod, _: Row) {
        self.users -= self.uses_of(pod);
    }

    fn follow(&mut self, snap: &Snapshot, change: &Change) -> Affects {
        match change {
            Change::Placed { template, .. } | Change::Removed { template, .. } => {
                // Who uses a claim now is known whatever has happened since.
                let users = self.count_users(snap);
                if users != self.users {
                    self.users = users;
                    // Without users and disks there is nothing to judge: the pod is skipped.
                    let skipped = users == 0 && self.disks.is_empty();
                    return if skipped {
                        Affects::All
                    } else {
                        Affects::Every
                    };
                }
                let conflict = |disk: &Disk| disks(template).any(|other| disk.conflicts(other));
                if self.disks.iter().any(conflict) {
                    Affects::Node
                } else {
                    Affects::Nothing
                }
            }
            Change::Node { .. } => Affects::Node,
            Change::Storage => Affects::All,
            Change::World => Affects::Nothing,
        }
    }

    fn boxed_clone(&self) -> Box<dyn Filter> {
        Box::new(self.clone())
    }
}
