//! Nanoseconds per node of the dense loops: `cargo bench -p podium-core --bench node_resources`.
// A bench reports on standard output.
#![allow(clippy::print_stdout)]

use podium_core::plugin::{PreFilter, PreScore, Rows};
use podium_core::plugins;
use podium_core::snapshot::{PodId, Snapshot};
use podium_core::status::Code;
use serde_json::{Value, json};
use std::hint::black_box;
use std::time::Instant;

fn main() {
    let loads = [
        (5_000, "empty", 0),
        (5_000, "mixed sizes", 5),
        (5_000, "one shape", 4),
        (5_000, "full", 12),
        (100_000, "mixed sizes", 1),
    ];
    for (nodes, load, pods) in loads {
        let (snap, pod) = cluster(nodes, load, pods);
        println!("{nodes} nodes, {load}:");
        bench(snap, pod, nodes);
    }
}

/// Nodes of 32 cpu and 256Gi, each with some pods on it, and a pending pod.
fn cluster(nodes: usize, load: &str, pods: usize) -> (Snapshot, PodId) {
    let mut snap = Snapshot::default();
    let mut state = 7u64;
    let mut draw = |bound: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % bound + 1
    };
    for n in 0..nodes {
        let allocatable = json!({"cpu": "32", "memory": "256Gi", "pods": "110"});
        let node =
            json!({"metadata": {"name": format!("n{n}")}, "status": {"allocatable": allocatable}});
        snap.set_node(&serde_json::from_value(node).expect("a node"));
        for _ in 0..pods {
            let (cpu, memory) = match load {
                "one shape" => (4_000, 32_768),
                _ => (draw(6_000), draw(40_000)),
            };
            snap.add_pod(
                &serde_json::from_value(pod(cpu, memory, &format!("n{n}"))).expect("a pod"),
            );
        }
    }
    let pending = snap.add_pod(&serde_json::from_value(pod(1_371, 7_777, "")).expect("a pod"));
    (snap, pending)
}

fn pod(cpu: u64, memory: u64, node: &str) -> Value {
    let requests = json!({"cpu": format!("{cpu}m"), "memory": format!("{memory}Mi")});
    json!({"metadata": {"name": "p", "namespace": "default"},
        "spec": {"nodeName": node, "containers": [{"name": "c", "resources": {"requests": requests}}]}})
}

fn bench(mut snap: Snapshot, pod: PodId, nodes: usize) {
    let ratio =
        json!({"shape": [{"utilization": 0, "score": 10}, {"utilization": 100, "score": 0}]});
    let cases = [
        ("NodeResourcesFit", Value::Null),
        (
            "NodeResourcesFit",
            json!({"scoringStrategy": {"type": "MostAllocated"}}),
        ),
        (
            "NodeResourcesFit",
            json!({"scoringStrategy": {"type": "RequestedToCapacityRatio", "requestedToCapacityRatio": ratio}}),
        ),
        ("NodeResourcesBalancedAllocation", Value::Null),
    ];
    for (at, (name, args)) in cases.into_iter().enumerate() {
        let plugin = plugins::constructor(name).expect("known")(&mut snap, &args).expect("valid");
        let strategy = args["scoringStrategy"]["type"]
            .as_str()
            .unwrap_or("default");
        if let (PreFilter::Run { filter, .. }, 0) = (plugin.pre_filter(&snap, &snap.pods[pod]), at)
        {
            let mut codes = vec![Code::Success; nodes];
            report("filter", strategy, nodes, || {
                codes.fill(Code::Success);
                filter.filter(black_box(&snap), Rows::All(nodes), &mut codes);
            });
        }
        if let PreScore::Run(score) = plugin.pre_score(&snap, &snap.pods[pod], &[]) {
            let mut scores = vec![0; nodes];
            report(name, strategy, nodes, || {
                score.score(black_box(&snap), Rows::All(nodes), &mut scores);
            });
        }
    }
}

/// The best of several rounds: what the loop costs when nothing disturbs it.
fn report(what: &str, form: &str, nodes: usize, mut run: impl FnMut()) {
    let calls = 500_000 / nodes + 1;
    let mut best = f64::MAX;
    for _ in 0..40 {
        let start = Instant::now();
        for _ in 0..calls {
            run();
        }
        best = best.min(start.elapsed().as_secs_f64() / calls as f64);
    }
    let per_node = best * 1e9 / nodes as f64;
    println!(
        "  {what:32} {form:26} {:8.2} us {per_node:6.2} ns/node",
        best * 1e6
    );
}
