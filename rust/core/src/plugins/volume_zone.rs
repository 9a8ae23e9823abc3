//! VolumeZone: the zone and region labels of bound volumes hold for the nodes too.

use crate::hints::Happening;
use crate::intern::Symbol;
use crate::plugin::{Affects, Filter, KeyWriter, Plugin, PreFilter, Rows};
use crate::snapshot::volumes::{ZONE_LABELS, Zone};
use crate::snapshot::{Change, DomainId, NO_DOMAIN, Pod, Row, Snapshot};
use crate::status::{Code, Status};
use crate::template::Template;
use serde_json::Value;
use std::hash::Hash;
use std::sync::Arc;

pub(super) const NAME: &str = "VolumeZone";
const REASON: &str = "node(s) had no available volume zone";

/// The topology labels and their stand-ins, as in [`ZONE_LABELS`].
type Labels = [(Symbol, Symbol); ZONE_LABELS.len()];

#[derive(Debug)]
struct VolumeZone {
    labels: Labels,
}

pub(super) fn new(snap: &mut Snapshot, _: &Value) -> Result<Arc<dyn Plugin>, String> {
    let labels = ZONE_LABELS.map(|(key, other)| {
        (
            snap.ensure_topology_key(key),
            snap.ensure_topology_key(other),
        )
    });
    Ok(Arc::new(VolumeZone { labels }))
}

/// The claims that the pod names itself: those of ephemeral volumes are not looked at, as upstream.
fn claims(pod: &Pod) -> impl Iterator<Item = Symbol> + '_ {
    let direct = pod.claims.iter().filter(|claim| !claim.ephemeral);
    direct.map(|claim| claim.name)
}

/// Zones of the volumes that the pod's claims are bound to, each once.
fn zones(snap: &Snapshot, pod: &Pod) -> Result<Vec<Zone>, Status> {
    let mut zones: Vec<Zone> = Vec::new();
    for name in claims(pod) {
        if name == Symbol::EMPTY {
            return Err(Status::unresolvable("PersistentVolumeClaim had no name"));
        }
        for zone in zones_of(snap, (pod.template.namespace, name))? {
            if !zones.contains(zone) {
                zones.push(zone.clone());
            }
        }
    }
    Ok(zones)
}

fn zones_of(snap: &Snapshot, claim: (Symbol, Symbol)) -> Result<&[Zone], Status> {
    let not_found = |kind: &str, name: Symbol| {
        let name = snap.interner.text(name);
        Status::unresolvable(format!("{kind} {name:?} not found"))
    };
    let info = snap.volumes.claim(claim);
    let info = info.ok_or_else(|| not_found("persistentvolumeclaim", claim.1))?;
    if info.volume != Symbol::EMPTY {
        let volume = snap.volumes.volume_named(info.volume);
        return match volume {
            Some(volume) => Ok(&volume.zones),
            None => Err(not_found("persistentvolume", info.volume)),
        };
    }
    let name = info.class_name();
    if name == Symbol::EMPTY {
        let message = "PersistentVolumeClaim had no pv name and storageClass name";
        return Err(Status::unresolvable(message));
    }
    let class = snap.volumes.class(name);
    match class.map(|class| class.waits) {
        None => Err(not_found("storageclass.storage.k8s.io", name)),
        Some(None) => {
            let name = snap.interner.text(name);
            let message = format!("VolumeBindingMode not set for StorageClass {name:?}");
            Err(Status::unresolvable(message))
        }
        Some(Some(true)) => Ok(&[]),
        Some(Some(false)) => Err(Status::unresolvable("PersistentVolume had no name")),
    }
}

impl Plugin for VolumeZone {
    fn name(&self) -> &'static str {
        NAME
    }

    fn helped_by(&self, _: &Snapshot, pod: &Pod, what: &Happening<'_>) -> bool {
        match what {
            Happening::Claim { namespace, name } => pod.uses(*namespace, *name, true),
            _ => true,
        }
    }

    fn key(&self, _: &Snapshot, pod: &Pod, key: &mut KeyWriter) {
        let claims: Vec<_> = claims(pod).collect();
        let namespace = (!claims.is_empty()).then_some(pod.template.namespace);
        (namespace, claims).hash(key);
    }

    fn pre_filter(&self, snap: &Snapshot, pod: &Pod) -> PreFilter {
        match zones(snap, pod) {
            Err(status) => PreFilter::Reject(status),
            Ok(zones) if zones.is_empty() => PreFilter::Skip,
            Ok(zones) => PreFilter::Run {
                filter: Box::new(Zones {
                    labels: self.labels,
                    zones: zones.into(),
                }),
                nodes: None,
            },
        }
    }

    fn affects(&self, _: &Snapshot, _: &Template, _: &Pod) -> Affects {
        Affects::Nothing
    }

    fn reads_storage(&self, pod: &Pod) -> bool {
        claims(pod).next().is_some()
    }
}

#[derive(Clone, Debug)]
struct Zones {
    labels: Labels,
    zones: Box<[Zone]>,
}

/// One zone ready for many rows: by the label itself, and by the one that stands in for it.
struct Test<'a> {
    own: (&'a [DomainId], Vec<DomainId>),
    other: (&'a [DomainId], Vec<DomainId>),
}

impl<'a> Test<'a> {
    fn new(snap: &'a Snapshot, labels: &Labels, zone: &Zone) -> Self {
        let (key, other) = labels[zone.label];
        let column = |key| {
            let domains = snap.topology.domains(key);
            let values = zone.values.iter();
            (
                domains.of_rows(),
                values.filter_map(|value| domains.id(*value)).collect(),
            )
        };
        Test {
            own: column(key),
            other: column(other),
        }
    }

    fn accepts(&self, row: Row) -> bool {
        let (column, wanted) = match self.own.0[row as usize] {
            NO_DOMAIN if !crate::mutation::active(NAME) => &self.other,
            _ => &self.own,
        };
        wanted.contains(&column[row as usize])
    }
}

impl Zones {
    fn judge<'a>(&'a self, snap: &'a Snapshot) -> impl Fn(Row) -> Code + 'a {
        let column = |(key, _): (Symbol, Symbol)| snap.topology.domains(key).of_rows();
        let columns = self.labels.map(column);
        let tests: Vec<_> = self
            .zones
            .iter()
            .map(|zone| Test::new(snap, &self.labels, zone))
            .collect();
        move |row| {
            // A node without any zone label is in a cluster without zones.
            let unzoned = columns
                .iter()
                .all(|column| column[row as usize] == NO_DOMAIN);
            if unzoned || tests.iter().all(|test| test.accepts(row)) {
                Code::Success
            } else {
                Code::UnschedulableAndUnresolvable
            }
        }
    }
}

impl Filter for Zones {
    fn filter(&self, snap: &Snapshot, rows: Rows<'_>, out: &mut [Code]) {
        rows.judge(out, self.judge(snap));
    }

    fn status(&self, snap: &Snapshot, row: Row) -> Status {
        match self.judge(snap)(row) {
            Code::Success => Status::default(),
            code => Status::new(code, REASON),
        }
    }

    fn follow(&mut self, _: &Snapshot, change: &Change) -> Affects {
        match change {
            Change::Node { .. } => Affects::Node,
            Change::Storage => Affects::All,
            Change::Placed { .. } | Change::Removed { .. } | Change::World => Affects::Nothing,
        }
    }

    fn boxed_clone(&self) -> Box<dyn Filter> {
        Box::new(self.clone())
    }
}
