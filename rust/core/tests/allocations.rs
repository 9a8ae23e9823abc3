//! The steady state of `schedule_batch` takes no memory per pod.

use podium_core::engine::{Engine, Settings};
use podium_core::pick::Choose;
use podium_core::snapshot::PodId;
use serde_json::json;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Counts what one thread asks for: tests run on several.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call goes to the system's allocator with the same arguments; counting touches no memory that
// it hands out, and a thread-local cell with a constant start needs no allocation of its own.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller's promise is passed on.
        unsafe { System.realloc(memory, layout, size) }
    }
}

fn count() {
    // A thread that is going away counts nothing.
    let _ = ALLOCATIONS.try_with(|cell| cell.set(cell.get() + 1));
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const NODES: usize = 200;
const PODS: usize = 4_000;
const FILTERS: [&str; 6] = [
    "NodeUnschedulable",
    "TaintToleration",
    "NodeAffinity",
    "NodePorts",
    "NodeResourcesFit",
    "PodTopologySpread",
];
const SCORES: [&str; 3] = [
    "TaintToleration",
    "NodeResourcesFit",
    "NodeResourcesBalancedAllocation",
];

fn engine() -> Engine {
    let mut engine = Engine::new(Settings {
        choose: Choose::Seeded(0),
        sample: false,
    });
    let score: Vec<_> = SCORES.iter().map(|name| json!([name, 1])).collect();
    let profile = json!({
        "schedulerName": "s", "preFilter": FILTERS, "filter": FILTERS,
        "preScore": SCORES, "score": score,
    });
    let added = engine.add_profile(profile.to_string().as_bytes());
    added.expect("a profile");
    for name in 0..NODES {
        let node = json!({
            "metadata": {"name": format!("n{name}"), "labels": {"zone": format!("z{}", name % 3)}},
            "status": {"allocatable": {"cpu": "64", "memory": "256Gi", "pods": "110"}},
        });
        engine
            .snap
            .set_node(&serde_json::from_value(node).expect("a node"));
    }
    engine
}

/// Pods of several classes, one after the other.
fn pods(engine: &mut Engine, specs: &[serde_json::Value]) -> Vec<(PodId, u64)> {
    let make = |number: usize| {
        let mut pod = json!({
            "metadata": {"name": format!("p{number}"), "namespace": "default",
                "uid": format!("u{number}"), "labels": {"app": "a"}},
            "spec": specs[number % specs.len()],
        });
        pod["spec"]["schedulerName"] = "s".into();
        let id = engine.add_pod_json(pod.to_string().as_bytes());
        (id.expect("a pod"), 0)
    };
    (0..PODS).map(make).collect()
}

/// How often memory was asked for while all pods were placed, after they were placed once already.
fn allocations_of_a_second_run(specs: &[serde_json::Value]) -> usize {
    let mut engine = engine();
    let batch = pods(&mut engine, specs);
    let mut rows = Vec::new();
    engine.schedule_batch(&batch, &mut rows);
    assert!(rows.iter().all(Option::is_some));
    for (pod, _) in &batch {
        engine.forget(*pod);
    }
    let before = ALLOCATIONS.get();
    engine.schedule_batch(&batch, &mut rows);
    let after = ALLOCATIONS.get();
    assert!(rows.iter().all(Option::is_some) && rows.len() == PODS);
    after - before
}

fn spec(cpu: &str) -> serde_json::Value {
    json!({"containers": [{"name": "c", "resources": {"requests": {"cpu": cpu, "memory": "500Mi"}}}]})
}

/// What may grow meanwhile grows by doubling (the change log, lists of a node's pods): far fewer steps than pods.
const GROWTH: usize = PODS / 20;

#[test]
fn one_class_allocates_nothing_per_pod() {
    let count = allocations_of_a_second_run(&[spec("100m")]);
    assert!(count < GROWTH, "{count} allocations for {PODS} pods");
}

#[test]
fn classes_in_turn_allocate_nothing_per_pod() {
    let count = allocations_of_a_second_run(&[spec("100m"), spec("200m"), spec("300m")]);
    assert!(count < GROWTH, "{count} allocations for {PODS} pods");
}

#[test]
fn spread_pods_allocate_nothing_per_pod() {
    let mut spread = spec("100m");
    spread["topologySpreadConstraints"] = json!([{"maxSkew": 5, "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"app": "a"}}}]);
    let count = allocations_of_a_second_run(&[spread]);
    assert!(count < GROWTH, "{count} allocations for {PODS} pods");
}
