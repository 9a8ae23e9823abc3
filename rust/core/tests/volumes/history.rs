//! A small cluster to which things happen at random.

use crate::support::{
    Judged, World, bound, claim, class, csi, csi_node, pod, reach, statuses, volume, with,
};
use podium_core::plugin::{Plugin, PreFilter};
use podium_core::snapshot::{Kind, PodId, Row};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;

pub(crate) const PLUGINS: [&str; 4] = [
    "VolumeRestrictions",
    "NodeVolumeLimits",
    "VolumeBinding",
    "VolumeZone",
];
pub(crate) const ZONE: &str = "topology.kubernetes.io/zone";
pub(crate) const HOST: &str = "kubernetes.io/hostname";
pub(crate) const DRIVER: &str = "d.csi";

pub(crate) const NODES: usize = 4;
pub(crate) const VOLUMES: usize = 5;
pub(crate) const CLAIMS: usize = 5;
pub(crate) const PODS: usize = 6;

/// Something that happens. Numbers stand for objects of a fixed cast.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    Node {
        node: usize,
        zone: usize,
    },
    NodeGone(usize),
    Volume {
        volume: usize,
        size: usize,
        place: usize,
        claim: Option<usize>,
        in_tree: bool,
    },
    VolumeGone(usize),
    Claim {
        claim: usize,
        size: usize,
        class: usize,
        volume: Option<usize>,
        once: bool,
    },
    ClaimGone(usize),
    Selected {
        claim: usize,
        node: usize,
    },
    Limit {
        node: usize,
        limit: Option<i32>,
    },
    LimitGone(usize),
    Space {
        node: usize,
        size: usize,
    },
    Driver {
        required: bool,
        space: bool,
    },
    Attached {
        volume: usize,
        node: usize,
    },
    Placed {
        pod: usize,
        node: usize,
    },
    Unplaced(usize),
    Reserved {
        pod: usize,
        node: usize,
    },
    Unreserved(usize),
}

pub(crate) fn event() -> impl Strategy<Value = Event> {
    let (node, volume, claim, pod) = (0..NODES, 0..VOLUMES, 0..CLAIMS, 0..PODS);
    prop_oneof![
        2 => (node.clone(), 0..4usize).prop_map(|(node, zone)| Event::Node { node, zone }),
        1 => node.clone().prop_map(Event::NodeGone),
        4 => (volume.clone(), 1..4usize, 0..8usize, prop::option::of(claim.clone()), any::<bool>()).prop_map(
            |(volume, size, place, claim, in_tree)| Event::Volume { volume, size, place, claim, in_tree }),
        1 => volume.clone().prop_map(Event::VolumeGone),
        4 => (claim.clone(), 1..4usize, 0..3usize, prop::option::of(volume.clone()), any::<bool>()).prop_map(
            |(claim, size, class, volume, once)| Event::Claim { claim, size, class, volume, once }),
        1 => claim.clone().prop_map(Event::ClaimGone),
        1 => (claim, node.clone()).prop_map(|(claim, node)| Event::Selected { claim, node }),
        1 => (node.clone(), prop::option::of(0..3i32)).prop_map(|(node, limit)| Event::Limit { node, limit }),
        1 => node.clone().prop_map(Event::LimitGone),
        1 => (node.clone(), 1..4usize).prop_map(|(node, size)| Event::Space { node, size }),
        1 => (any::<bool>(), any::<bool>()).prop_map(|(required, space)| Event::Driver { required, space }),
        1 => (volume, node.clone()).prop_map(|(volume, node)| Event::Attached { volume, node }),
        6 => (pod.clone(), node.clone()).prop_map(|(pod, node)| Event::Placed { pod, node }),
        3 => pod.clone().prop_map(Event::Unplaced),
        3 => (pod.clone(), node).prop_map(|(pod, node)| Event::Reserved { pod, node }),
        2 => pod.prop_map(Event::Unreserved),
    ]
}

pub(crate) fn history() -> impl Strategy<Value = Vec<Event>> {
    prop::collection::vec(event(), 1..60)
}

pub(crate) struct Stage {
    pub(crate) world: World,
    pub(crate) pods: Vec<PodId>,
    pub(crate) plugins: Vec<Arc<dyn Plugin>>,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let mut world = World::default();
        world.class(&class(
            "manual",
            "kubernetes.io/no-provisioner",
            "WaitForFirstConsumer",
        ));
        world.class(&class("csi", DRIVER, "WaitForFirstConsumer"));
        let disk = |id: &str| json!({"name": "disk", "awsElasticBlockStore": {"volumeID": id}});
        let mut cast = [
            pod("p0", &["c0"]),
            pod("p1", &["c0", "c1"]),
            pod("p2", &["c1", "c2", "c3"]),
            pod("p3", &["c4", "c4"]),
            pod("p4", &["c2"]),
            pod("p5", &[]),
        ];
        for (at, id) in [(4, "vol-0"), (5, "vol-0")] {
            let volumes = cast[at]["spec"]["volumes"].as_array_mut().expect("volumes");
            volumes.push(disk(id));
        }
        for at in [1, 4] {
            cast[at]["spec"]["schedulerName"] = json!("second-scheduler");
        }
        let pods = cast.iter().map(|pod| world.pod(pod)).collect();
        let plugins = PLUGINS.map(|name| world.plugin(name, &Value::Null));
        Stage {
            world,
            pods,
            plugins: plugins.into(),
        }
    }

    pub(crate) fn row(&self, node: usize) -> Option<Row> {
        let name = self.world.snap.interner.get(&format!("n{node}"))?;
        self.world.snap.nodes.row(name)
    }

    pub(crate) fn play(&mut self, event: &Event) {
        let world = &mut self.world;
        match event {
            Event::Node { node, zone } => {
                let name = format!("n{node}");
                let zone = format!("z{zone}");
                let mut labels = vec![(HOST, name.as_str())];
                if zone != "z3" {
                    labels.push((ZONE, &zone));
                }
                world.node(&name, &labels);
            }
            Event::NodeGone(node) => drop(world.snap.remove_node(&format!("n{node}")).is_some()),
            Event::Volume {
                volume,
                size,
                place,
                claim,
                in_tree,
            } => {
                world.volume(&a_volume(*volume, *size, *place, *claim, *in_tree));
            }
            Event::VolumeGone(n) => world
                .snap
                .remove(Kind::PersistentVolume, "", &format!("v{n}")),
            Event::Claim {
                claim,
                size,
                class,
                volume,
                once,
            } => {
                world.claim(&a_claim(*claim, *size, *class, *volume, *once));
            }
            Event::ClaimGone(n) => {
                world
                    .snap
                    .remove(Kind::PersistentVolumeClaim, "default", &format!("c{n}"));
            }
            Event::Selected { claim, node } => {
                let annotation = json!({"metadata": {"annotations": {
                    "volume.kubernetes.io/selected-node": format!("n{node}")}}});
                world.claim(&with(a_claim(*claim, 1, 1, None, false), annotation));
            }
            Event::Limit { node, limit } => {
                let drivers = [(DRIVER, *limit), ("ebs.csi.aws.com", *limit)];
                let migrated = json!({"metadata": {"annotations": {
                    "storage.alpha.kubernetes.io/migrated-plugins": "kubernetes.io/aws-ebs"}}});
                let csi_node = csi_node(&format!("n{node}"), &drivers);
                world.set(Kind::CsiNode, &with(csi_node, migrated));
            }
            Event::LimitGone(node) => world.snap.remove(Kind::CsiNode, "", &format!("n{node}")),
            Event::Space { node, size } => {
                world.set(
                    Kind::CsiStorageCapacity,
                    &json!({
                    "metadata": {"name": format!("s{node}"), "namespace": "default"},
                    "storageClassName": "csi", "capacity": format!("{size}Gi"),
                    "nodeTopology": {"matchLabels": {HOST: format!("n{node}")}}}),
                );
            }
            Event::Driver { required, space } => {
                world.set(
                    Kind::CsiDriver,
                    &json!({"metadata": {"name": DRIVER}, "spec": {
                    "preventPodSchedulingIfMissing": required, "storageCapacity": space}}),
                );
            }
            Event::Attached { volume, node } => {
                world.set(
                    Kind::VolumeAttachment,
                    &json!({
                    "metadata": {"name": format!("a{volume}")},
                    "spec": {"attacher": DRIVER, "nodeName": format!("n{node}"),
                        "source": {"persistentVolumeName": format!("v{volume}")}}}),
                );
            }
            Event::Placed { pod, node } => self.place(*pod, *node),
            Event::Unplaced(pod) => drop(world.snap.unplace(self.pods[*pod])),
            Event::Reserved { pod, node } => {
                if let Some(row) = self.row(*node) {
                    let reserved =
                        self.plugins[2].reserve(&mut self.world.snap, self.pods[*pod], row);
                    drop(reserved);
                }
            }
            Event::Unreserved(pod) => self.plugins[2].unreserve(&mut world.snap, self.pods[*pod]),
        }
    }

    pub(crate) fn place(&mut self, pod: usize, node: usize) {
        let id = self.pods[pod];
        if let (None, Some(row)) = (self.world.snap.pods[id].row, self.row(node)) {
            self.world.snap.place(id, row);
        }
    }

    /// The same objects on a snapshot that has seen nothing else.
    pub(crate) fn judge(&self, plugin: &dyn Plugin, pod: PodId) -> Judged {
        match plugin.pre_filter(&self.world.snap, &self.world.snap.pods[pod]) {
            PreFilter::Skip => Judged::Skip,
            PreFilter::Reject(status) => Judged::Rejected(status.code, status.message()),
            PreFilter::Run { filter, .. } => Judged::Rows(statuses(&self.world.snap, &*filter)),
        }
    }
}

pub(crate) fn a_volume(
    n: usize,
    size: usize,
    place: usize,
    claim: Option<usize>,
    in_tree: bool,
) -> Value {
    let name = format!("v{n}");
    let mut object = volume(&name, "manual", &format!("{size}Gi"));
    object = match place {
        0..NODES => with(object, reach(&[(HOST, &[&format!("n{place}")])])),
        4..7 => {
            let zone = format!("z{}", place - 4);
            let labelled = with(object, json!({"metadata": {"labels": {ZONE: zone}}}));
            with(labelled, reach(&[(ZONE, &[&zone, "z9"])]))
        }
        _ => object,
    };
    if let Some(claim) = claim {
        let holder = json!({"namespace": "default", "name": format!("c{claim}"), "uid": format!("uid-c{claim}")});
        object = with(object, json!({"spec": {"claimRef": holder}}));
    }
    if in_tree {
        return with(
            object,
            json!({"spec": {"awsElasticBlockStore": {"volumeID": format!("vol-{n}")}}}),
        );
    }
    with(object, csi(DRIVER, &format!("h{n}")))
}

pub(crate) fn a_claim(
    n: usize,
    size: usize,
    class: usize,
    volume: Option<usize>,
    once: bool,
) -> Value {
    let class = ["manual", "csi", "missing"][class];
    let mut object = claim(&format!("c{n}"), class, &format!("{size}Gi"));
    if once {
        object = with(
            object,
            json!({"spec": {"accessModes": ["ReadWriteOncePod"]}}),
        );
    }
    match volume {
        Some(volume) => with(object, bound(&format!("v{volume}"))),
        None => object,
    }
}

/// The events that say what there is in the end, objects in the order in which they were first seen
/// since they last did not exist.
pub(crate) fn last(events: &[Event]) -> Vec<&Event> {
    let mut list: Vec<(String, &Event)> = Vec::new();
    for event in events {
        let (key, gone) = match event {
            Event::Node { node, .. } => (format!("n{node}"), false),
            Event::NodeGone(node) => (format!("n{node}"), true),
            Event::Volume { volume, .. } => (format!("v{volume}"), false),
            Event::VolumeGone(volume) => (format!("v{volume}"), true),
            Event::Claim { claim, .. } | Event::Selected { claim, .. } => {
                (format!("c{claim}"), false)
            }
            Event::ClaimGone(claim) => (format!("c{claim}"), true),
            Event::Limit { node, .. } => (format!("l{node}"), false),
            Event::LimitGone(node) => (format!("l{node}"), true),
            Event::Space { node, .. } => (format!("s{node}"), false),
            Event::Driver { .. } => ("d".to_owned(), false),
            Event::Attached { volume, .. } => (format!("a{volume}"), false),
            Event::Placed { .. }
            | Event::Unplaced(_)
            | Event::Reserved { .. }
            | Event::Unreserved(_) => continue,
        };
        let at = list.iter().position(|(known, _)| *known == key);
        match (at, gone) {
            (Some(at), true) => drop(list.remove(at)),
            (Some(at), false) => list[at].1 = event,
            (None, true) => {}
            (None, false) => list.push((key, event)),
        }
    }
    list.into_iter().map(|(_, event)| event).collect()
}
