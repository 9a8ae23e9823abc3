//! What a node-local plugin remembers and follows stays equal to what it would compute anew.

mod common;

use common::{add_pod, plugin, set_node};
use podium_core::plugin::{Affects, Filter, Plugin, PreFilter, PreScore, Rows, Score};
use podium_core::snapshot::{Change, Generation, PodId, Row, Snapshot};
use podium_core::status::Code;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;

/// Each plugin, with arguments that make it read as much as it can.
fn plugins() -> Vec<(&'static str, Value)> {
    let preferred = json!([{"weight": 2, "preference": {"matchExpressions": [{"key": "zone", "operator": "Exists"}]}}]);
    vec![
        ("TaintToleration", Value::Null),
        (
            "NodeAffinity",
            json!({"addedAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}),
        ),
        ("NodePorts", Value::Null),
        (
            "NodeResourcesFit",
            json!({"scoringStrategy": {"type": "MostAllocated", "resources": [
            {"name": "cpu", "weight": 1}, {"name": "a.com/gpu", "weight": 5}]}}),
        ),
        ("NodeResourcesBalancedAllocation", Value::Null),
        ("ImageLocality", Value::Null),
        ("NodeDeclaredFeatures", Value::Null),
    ]
}

fn node(kind: usize) -> Value {
    let taints =
        json!([{"key": "t", "effect": "NoSchedule"}, {"key": "u", "effect": "PreferNoSchedule"}]);
    let images = json!([{"names": ["a:1"], "sizeBytes": 300 << 20}]);
    match kind % 5 {
        0 => json!({"metadata": {"labels": {"zone": "a"}}, "spec": {"taints": taints},
            "status": {"allocatable": {"cpu": "8", "memory": "16Gi", "pods": "3"}}}),
        1 => json!({"metadata": {"labels": {"zone": "b"}}, "status": {"images": images,
            "allocatable": {"cpu": "4", "memory": "32Gi", "pods": "9", "a.com/gpu": "2"}}}),
        2 => json!({"status": {"declaredFeatures": ["UserNamespacesHostNetworkSupport"],
            "allocatable": {"cpu": "2", "memory": "8Gi", "pods": "9"}}}),
        3 => json!({"metadata": {"labels": {"zone": "a"}}, "status": {"images": images,
            "allocatable": {"cpu": "16", "memory": "8Gi", "pods": "9", "a.com/gpu": "8"}}}),
        _ => json!({}),
    }
}

fn pod(kind: usize) -> Value {
    let sized = |requests: Value, ports: Value| {
        json!({"hostNetwork": kind.is_multiple_of(2), "hostUsers": false, "containers": [
            {"name": "c", "image": "a:1", "ports": ports, "resources": {"requests": requests}}]})
    };
    let mut spec = match kind % 4 {
        0 => sized(
            json!({"cpu": "1", "memory": "1Gi"}),
            json!([{"hostPort": 80}]),
        ),
        1 => sized(
            json!({"cpu": "500m", "a.com/gpu": "1"}),
            json!([{"hostPort": 80, "hostIP": "10.0.0.1"}]),
        ),
        2 => sized(json!({"memory": "4Gi"}), json!([{"hostPort": 81}])),
        _ => json!({"containers": [{"name": "c"}], "nodeSelector": {"zone": "a"}}),
    };
    if kind.is_multiple_of(3) {
        spec["tolerations"] = json!([{"key": "t", "operator": "Exists"}]);
    }
    spec
}

#[derive(Clone, Copy, Debug)]
enum Step {
    SetNode(usize, usize),
    RemoveNode(usize),
    AddPod(usize, usize),
    RemovePod(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => (0usize..20, 0usize..5).prop_map(|(n, kind)| Step::SetNode(n, kind)),
        1 => (0usize..20).prop_map(Step::RemoveNode),
        4 => (0usize..20, 0usize..12).prop_map(|(n, kind)| Step::AddPod(n, kind)),
        2 => (0usize..40).prop_map(Step::RemovePod),
    ]
}

fn apply(snap: &mut Snapshot, placed: &mut Vec<PodId>, step: Step) {
    match step {
        Step::SetNode(n, kind) => drop(set_node(snap, &format!("n{n}"), node(kind))),
        Step::RemoveNode(n) => drop(snap.remove_node(&format!("n{n}"))),
        Step::AddPod(n, kind) => {
            let mut spec = pod(kind);
            spec["nodeName"] = json!(format!("n{n}"));
            placed.push(add_pod(snap, &format!("p{}", placed.len()), spec));
        }
        Step::RemovePod(at) => {
            if !placed.is_empty() {
                let gone = placed.swap_remove(at % placed.len());
                snap.remove_pod(gone);
            }
        }
    }
}

/// Results of one plugin for one pod, kept by following.
struct Kept {
    plugin: Arc<dyn Plugin>,
    pod: PodId,
    seen: Generation,
    filter: Option<Box<dyn Filter>>,
    codes: Vec<Code>,
    score: Option<Box<dyn Score>>,
    scores: Vec<i64>,
}

fn fresh(snap: &Snapshot, plugin: &Arc<dyn Plugin>, pod: PodId) -> Kept {
    let len = snap.nodes.len();
    let filter = match plugin.pre_filter(snap, &snap.pods[pod]) {
        PreFilter::Run { filter, .. } => Some(filter),
        _ => None,
    };
    let score = match plugin.pre_score(snap, &snap.pods[pod], &[]) {
        PreScore::Run(score) => Some(score),
        _ => None,
    };
    let mut codes = vec![Code::Success; len];
    if let Some(filter) = &filter {
        filter.filter(snap, Rows::All(len), &mut codes);
    }
    let mut scores = vec![0; len];
    if let Some(score) = &score {
        score.score(snap, Rows::All(len), &mut scores);
    }
    let seen = snap.changes.now();
    let plugin = Arc::clone(plugin);
    Kept {
        plugin,
        pod,
        seen,
        filter,
        codes,
        score,
        scores,
    }
}

impl Kept {
    fn catch_up(&mut self, snap: &Snapshot) {
        let changes = snap.changes.since(self.seen).expect("the log is short");
        self.seen = snap.changes.now();
        self.codes.resize(snap.nodes.len(), Code::Success);
        self.scores.resize(snap.nodes.len(), 0);
        for change in changes {
            let filter = self.filter.as_mut().map(|f| f.follow(snap, change));
            let score = self.score.as_mut().map(|s| s.follow(snap, change));
            if filter == Some(Affects::All) || score == Some(Affects::All) {
                *self = fresh(snap, &self.plugin, self.pod);
                return;
            }
            let Some(row) = row_of(change) else { continue };
            if let (Some(Affects::Node), Some(f)) = (filter, &self.filter) {
                let mut code = [Code::Success];
                f.filter(snap, Rows::List(&[row]), &mut code);
                self.codes[row as usize] = code[0];
            }
            if let (Some(Affects::Node), Some(s)) = (score, &self.score) {
                let mut score = [0];
                s.score(snap, Rows::List(&[row]), &mut score);
                self.scores[row as usize] = score[0];
            }
        }
    }

    /// What a placed or removed pod changed must have been foretold.
    fn check_affects(&self, snap: &Snapshot, before: &Kept) {
        let changes = snap.changes.since(before.seen).expect("the log is short");
        let (mut foretold, mut other) = (false, false);
        for change in changes {
            match change {
                Change::Placed { template, .. } | Change::Removed { template, .. } => {
                    let pod = &snap.pods[self.pod];
                    foretold |= self.plugin.affects(snap, template, pod) != Affects::Nothing;
                }
                _ => other = true,
            }
        }
        if !other && !foretold {
            assert_eq!(
                (&self.codes, &self.scores),
                (&before.codes, &before.scores),
                "{}",
                self.plugin.name()
            );
        }
    }
}

fn row_of(change: &Change) -> Option<Row> {
    match change {
        Change::Placed { row, .. } | Change::Removed { row, .. } | Change::Node { row, .. } => {
            Some(*row)
        }
        _ => None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn following_equals_computing_anew(
        start in prop::collection::vec(0usize..5, 4..16),
        steps in prop::collection::vec((step(), step()), 1..24),
    ) {
        let mut snap = Snapshot::default();
        for (n, kind) in start.into_iter().enumerate() {
            set_node(&mut snap, &format!("n{n}"), node(kind));
        }
        let pending: Vec<_> = (0..12).map(|kind| add_pod(&mut snap, &format!("w{kind}"), pod(kind))).collect();
        let made: Vec<_> = plugins().into_iter().map(|(name, args)| plugin(&mut snap, name, args)).collect();
        let all = || made.iter().flat_map(|plugin| pending.iter().map(move |pod| (plugin, *pod)));
        let mut kept: Vec<_> = all().map(|(plugin, pod)| fresh(&snap, plugin, pod)).collect();
        let mut last: Vec<_> = all().map(|(plugin, pod)| fresh(&snap, plugin, pod)).collect();
        let mut placed = Vec::new();
        for (first, second) in steps {
            // Two at a time: changes are told when later ones have happened too.
            apply(&mut snap, &mut placed, first);
            apply(&mut snap, &mut placed, second);
            for (kept, last) in kept.iter_mut().zip(&mut last) {
                kept.catch_up(&snap);
                let now = fresh(&snap, &kept.plugin, kept.pod);
                for row in common::live(&snap) {
                    let at = row as usize;
                    let name = kept.plugin.name();
                    prop_assert_eq!(kept.codes[at], now.codes[at], "{} row {}", name, row);
                    prop_assert_eq!(kept.scores[at], now.scores[at], "{} row {}", name, row);
                }
                now.check_affects(&snap, last);
                *last = now;
            }
        }
    }

    /// Equal keys mean equal results.
    #[test]
    fn keys_are_projections(kinds in prop::collection::vec(0usize..5, 4..16), placed in prop::collection::vec((0usize..16, 0usize..12), 0..12)) {
        let mut snap = Snapshot::default();
        for (n, kind) in kinds.into_iter().enumerate() {
            set_node(&mut snap, &format!("n{n}"), node(kind));
        }
        let mut bound = Vec::new();
        for (n, kind) in placed {
            apply(&mut snap, &mut bound, Step::AddPod(n, kind));
        }
        let pending: Vec<_> = (0..12).map(|kind| add_pod(&mut snap, &format!("w{kind}"), pod(kind))).collect();
        let mut shared = 0;
        for (name, args) in plugins() {
            let plugin = plugin(&mut snap, name, args);
            let judged: Vec<_> = pending.iter().map(|pod| {
                let mut key = Default::default();
                plugin.key(&snap, &snap.pods[*pod], &mut key);
                let made = fresh(&snap, &plugin, *pod);
                (key, (made.codes, made.scores))
            }).collect();
            for (at, (key, results)) in judged.iter().enumerate() {
                for (other, theirs) in &judged[..at] {
                    if key == other {
                        shared += 1;
                        prop_assert_eq!(results, theirs, "{}", name);
                    }
                }
            }
        }
        prop_assert!(shared > 50, "only {} pairs of pods shared a key", shared);
    }
}
