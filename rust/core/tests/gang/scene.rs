//! Small clusters with gangs.

use podium_core::engine::{Engine, Settings};
use podium_core::gang::{Group, GroupId, Role, Together};
use podium_core::pick::Choose;
use podium_core::snapshot::{PodId, Row};
use serde_json::{Value, json};

const FILTERS: [&str; 8] = [
    "NodeUnschedulable",
    "NodeName",
    "TaintToleration",
    "NodeAffinity",
    "NodePorts",
    "NodeResourcesFit",
    "InterPodAffinity",
    "PodTopologySpread",
];

pub(crate) struct Scene {
    pub(crate) engine: Engine,
    pods: usize,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let mut engine = Engine::new(Settings {
            choose: Choose::Seeded(7),
            sample: false,
        });
        let profile = json!({
            "schedulerName": "s", "preFilter": FILTERS, "filter": FILTERS,
            "preScore": ["NodeResourcesFit", "NodeResourcesBalancedAllocation"],
            "score": [["NodeResourcesFit", 1], ["NodeResourcesBalancedAllocation", 1]],
            "postFilter": ["DefaultPreemption"],
        });
        let added = engine.add_profile(profile.to_string().as_bytes());
        added.expect("a profile");
        Scene { engine, pods: 0 }
    }

    pub(crate) fn node(&mut self, name: &str, amounts: Value, labels: Value) -> Row {
        let mut allocatable = amounts;
        allocatable["pods"] = json!("110");
        let node = json!({"metadata": {"name": name, "labels": labels},
            "status": {"allocatable": allocatable}});
        self.engine
            .snap
            .set_node(&serde_json::from_value(node).expect("a node"))
    }

    /// A pod with these requests; `more` is merged into its spec.
    pub(crate) fn pod(&mut self, requests: Value, more: Value) -> PodId {
        let name = format!("p{}", self.pods);
        self.pods += 1;
        let mut spec = json!({"schedulerName": "s", "priority": 0,
            "containers": [{"name": "c", "resources": {"requests": requests}}]});
        for (key, value) in more.as_object().expect("an object") {
            spec[key] = value.clone();
        }
        let labels = spec.get("labels").cloned().unwrap_or_else(|| json!({}));
        let pod = json!({"metadata": {"name": name, "namespace": "d", "uid": name, "labels": labels},
            "spec": spec, "status": {"startTime": format!("2026-01-01T00:00:{:02}Z", self.pods % 60)}});
        self.engine
            .add_pod_json(pod.to_string().as_bytes())
            .expect("a pod")
    }

    pub(crate) fn gang(&mut self, members: &[PodId], min: usize) -> GroupId {
        let mut group = Group::default();
        group.min = min;
        group.may_preempt = true;
        group.priority = members
            .first()
            .map_or(0, |pod| self.engine.snap.pods[*pod].template.priority);
        self.add(group, members.iter().map(|pod| (*pod, 0)))
    }

    pub(crate) fn gang_with(&mut self, group: Group, members: &[(PodId, Role)]) -> GroupId {
        self.add(group, members.iter().copied())
    }

    fn add(&mut self, group: Group, members: impl Iterator<Item = (PodId, Role)>) -> GroupId {
        let id = self.engine.snap.groups.add(group);
        for (pod, role) in members {
            self.engine.snap.groups.join(id, pod, role);
        }
        id
    }

    pub(crate) fn together(&mut self, key: &str, preferred: bool) -> Together {
        let key = self.engine.snap.ensure_topology_key(key);
        Together {
            keys: [key].into(),
            preferred,
        }
    }

    pub(crate) fn rows(&self, pods: &[PodId]) -> Vec<Option<Row>> {
        pods.iter()
            .map(|pod| self.engine.snap.pods[*pod].row)
            .collect()
    }
}
