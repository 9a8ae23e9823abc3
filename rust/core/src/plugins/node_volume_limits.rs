//! NodeVolumeLimits: how many volumes of a CSI driver a node can have attached.

use crate::hints::Happening;
use crate::intern::Symbol;
use crate::plugin::{Affects, Filter, KeyWriter, Plugin, PreFilter, Rows};
use crate::snapshot::volumes::{CsiNode, VolumeKey, collect};
use crate::snapshot::{Change, Pod, Row, Snapshot};
use crate::status::{Code, Status};
use crate::template::Template;
use serde_json::Value;
use std::hash::Hash;
use std::sync::Arc;

pub(super) const NAME: &str = "NodeVolumeLimits";
const REASON: &str = "node(s) exceed max volume count";

#[derive(Debug)]
struct NodeVolumeLimits;

pub(super) fn new(_: &mut Snapshot, _: &Value) -> Result<Arc<dyn Plugin>, String> {
    Ok(Arc::new(NodeVolumeLimits))
}

/// Whether pods of the template have volumes of a kind that can count.
fn can_count(template: &Template) -> bool {
    template.has_claims
        || template
            .volumes
            .iter()
            .any(|volume| volume.counted.is_some())
}

impl Plugin for NodeVolumeLimits {
    fn name(&self) -> &'static str {
        NAME
    }

    fn helped_by(&self, _: &Snapshot, pod: &Pod, what: &Happening<'_>) -> bool {
        match what {
            Happening::Claim { namespace, name } => pod.uses(*namespace, *name, true),
            Happening::Detached => can_count(&pod.template),
            Happening::Node { .. } => true,
        }
    }

    fn key(&self, _: &Snapshot, pod: &Pod, key: &mut KeyWriter) {
        let claims = (!pod.claims.is_empty()).then_some((pod.template.namespace, &pod.claims));
        claims.hash(key);
        // Whether a claim was made for the pod depends on the pod itself.
        let ephemeral = pod.claims.iter().any(|claim| claim.ephemeral);
        ephemeral.then_some((&pod.name, &pod.uid)).hash(key);
        let volumes = pod.template.volumes.iter();
        let counted = volumes.filter(|volume| volume.counted.is_some());
        counted
            .map(|volume| (volume.name, &volume.counted))
            .collect::<Vec<_>>()
            .hash(key);
    }

    fn pre_filter(&self, snap: &Snapshot, pod: &Pod) -> PreFilter {
        if !can_count(&pod.template) {
            return PreFilter::Skip;
        }
        PreFilter::Run {
            filter: Box::new(Limits {
                bare: Arriving::new(snap, pod, false),
                csi: Arriving::new(snap, pod, true),
            }),
            nodes: None,
        }
    }

    fn affects(&self, _: &Snapshot, placed: &Template, pod: &Pod) -> Affects {
        if can_count(placed) && can_count(&pod.template) {
            Affects::Node
        } else {
            Affects::Nothing
        }
    }

    fn reads_storage(&self, pod: &Pod) -> bool {
        can_count(&pod.template)
    }
}

/// The volumes of the pod, on nodes without and with a CSINode: without one, volumes of in-tree plugins
/// do not count.
#[derive(Clone, Debug)]
struct Limits {
    bare: Arriving,
    csi: Arriving,
}

#[derive(Clone, Debug)]
struct Arriving {
    /// Each once, in the order of the pod's claims and volumes.
    keys: Vec<VolumeKey>,
    /// How many of each driver's, by the order of `keys`.
    drivers: Vec<(Symbol, i64)>,
    /// Drivers without which a node cannot take the pod.
    required: Vec<Symbol>,
    refusal: Option<Status>,
}

impl Arriving {
    fn new(snap: &Snapshot, pod: &Pod, has_csi_node: bool) -> Self {
        let mut found = Vec::new();
        let refusal = collect(snap, pod, has_csi_node, true, &mut found).err();
        let mut arriving = Arriving {
            keys: Vec::new(),
            drivers: Vec::new(),
            required: Vec::new(),
            refusal,
        };
        for key in found {
            if !arriving.keys.contains(&key) {
                arriving.keys.push(key);
                arriving.count(snap, key.driver());
            }
        }
        arriving
    }

    fn count(&mut self, snap: &Snapshot, driver: Symbol) {
        if let Some((_, count)) = self.drivers.iter_mut().find(|(name, _)| *name == driver) {
            *count += 1;
            return;
        }
        self.drivers.push((driver, 1));
        if snap
            .volumes
            .driver(driver)
            .is_some_and(|driver| driver.required)
        {
            self.required.push(driver);
        }
    }
}

/// What keeps the pod off a node.
enum Obstacle<'a> {
    Refused(&'a Status),
    DriverMissing(Symbol),
    Full,
}

impl Limits {
    fn obstacle<'a>(&'a self, snap: &'a Snapshot, row: Row) -> Option<Obstacle<'a>> {
        let csi_node = snap.volumes.csi_node(row);
        let arriving = if csi_node.is_some() {
            &self.csi
        } else {
            &self.bare
        };
        if let Some(status) = &arriving.refusal {
            return Some(Obstacle::Refused(status));
        }
        if arriving.keys.is_empty() {
            return None;
        }
        let lacks = |driver: &&Symbol| csi_node.is_none_or(|node| node.driver(**driver).is_none());
        if let Some(driver) = arriving.required.iter().find(lacks) {
            return Some(Obstacle::DriverMissing(*driver));
        }
        let node = csi_node.filter(|node| node.has_limits())?;
        let attached = snap.attached(row);
        if let Some(status) = &attached.error {
            return Some(Obstacle::Refused(status));
        }
        let mut drivers = arriving.drivers.iter();
        drivers
            .any(|(driver, count)| Self::exceeds(snap, row, node, arriving, (*driver, *count)))
            .then_some(Obstacle::Full)
    }

    fn exceeds(
        snap: &Snapshot,
        row: Row,
        node: &CsiNode,
        arriving: &Arriving,
        (driver, count): (Symbol, i64),
    ) -> bool {
        let Some(limit) = node.limit(driver) else {
            return false;
        };
        let limit = i64::from(limit) - i64::from(crate::mutation::active(NAME));
        let attached = snap.attached(row);
        let current = attached.count(driver);
        if current + count <= limit {
            return false;
        }
        // A volume that a pod on the node uses already comes at no cost.
        let keys = arriving.keys.iter().filter(|key| key.driver() == driver);
        let new = keys.filter(|key| !attached.contains(**key)).count() as i64;
        new > 0 && current + new > limit
    }
}

impl Filter for Limits {
    fn filter(&self, snap: &Snapshot, rows: Rows<'_>, out: &mut [Code]) {
        rows.judge(out, |row| match self.obstacle(snap, row) {
            None => Code::Success,
            Some(Obstacle::Refused(status)) => status.code,
            Some(Obstacle::DriverMissing(_) | Obstacle::Full) => Code::Unschedulable,
        });
    }

    fn status(&self, snap: &Snapshot, row: Row) -> Status {
        match self.obstacle(snap, row) {
            None => Status::default(),
            Some(Obstacle::Refused(status)) => status.clone(),
            Some(Obstacle::DriverMissing(driver)) => {
                let driver = snap.interner.text(driver);
                let reason = format!("{driver} CSI driver is not installed on the node");
                Status::unschedulable(reason)
            }
            Some(Obstacle::Full) => Status::unschedulable(REASON),
        }
    }

    fn can_fail(&self) -> bool {
        true
    }

    fn follow(&mut self, _: &Snapshot, change: &Change) -> Affects {
        match change {
            Change::Placed { template, .. } | Change::Removed { template, .. } => {
                if can_count(template) {
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
