//! NodeResourcesFit and NodeResourcesBalancedAllocation against upstream's rules and against plain
//! arithmetic on extreme amounts.

mod common;

use common::{
    add_pod, filter, plugin, refusal, requesting, score, scores, set_node, sized, statuses,
};
use podium_core::snapshot::Snapshot;
use podium_core::status::Code;
use proptest::prelude::*;
use serde_json::{Value, json};

const FIT: &str = "NodeResourcesFit";
const BALANCE: &str = "NodeResourcesBalancedAllocation";

/// Code and message of a pending pod on a node with one bound pod.
fn fit(args: Value, node: Value, bound: Value, pending: Value) -> (Code, String) {
    let mut snap = Snapshot::default();
    let fit = plugin(&mut snap, FIT, args);
    set_node(&mut snap, "n", sized(node));
    let mut spec = bound;
    spec["nodeName"] = json!("n");
    add_pod(&mut snap, "bound", spec);
    let pod = add_pod(&mut snap, "pending", pending);
    let filter = filter(&snap, &fit, pod).expect("Fit never skips");
    let status = statuses(&snap, filter.as_ref()).remove(0);
    (status.code, status.message())
}

#[test]
fn every_reason_is_given() {
    let node = json!({"cpu": "4", "memory": "8Gi", "ephemeral-storage": "1Gi", "pods": "1", "b.com/x": "2"});
    let bound = requesting(json!({"cpu": "2", "memory": "4Gi", "b.com/x": "1"}));
    let pending = requesting(json!({
        "cpu": "3", "memory": "5Gi", "ephemeral-storage": "1Gi", "b.com/x": "2", "a.com/y": "1"
    }));
    let (code, message) = fit(Value::Null, node, bound, pending);
    // No eviction brings a resource that the node has not.
    assert_eq!(code, Code::UnschedulableAndUnresolvable);
    assert_eq!(
        message,
        "Too many pods, Insufficient cpu, Insufficient memory, Insufficient a.com/y, Insufficient b.com/x"
    );
}

#[test]
fn code_tells_whether_eviction_can_help() {
    let node = || json!({"cpu": "4", "memory": "8Gi", "pods": "1"});
    let bound = || requesting(json!({"cpu": "3"}));
    let judge = |pending| fit(Value::Null, node(), bound(), pending);
    assert_eq!(
        judge(json!({"containers": []})),
        (Code::Unschedulable, "Too many pods".to_owned())
    );
    assert_eq!(
        judge(requesting(json!({"cpu": "4"}))).0,
        Code::Unschedulable
    );
    assert_eq!(
        judge(requesting(json!({"cpu": "4001m"}))).0,
        Code::UnschedulableAndUnresolvable
    );
}

#[test]
fn only_extended_resources_are_ignored() {
    let node = || json!({"cpu": "4", "memory": "8Gi", "pods": "10"});
    let bound = || json!({"containers": []});
    let args = json!({"ignoredResources": ["a.com/x", "hugepages-2Mi", "memory"], "ignoredResourceGroups": ["b.com"]});
    let asks = |name: &str| requesting(json!({name: "9Gi"}));
    for (name, code) in [
        ("a.com/x", Code::Success),
        ("b.com/anything", Code::Success),
        ("a.com/y", Code::UnschedulableAndUnresolvable),
        ("hugepages-2Mi", Code::UnschedulableAndUnresolvable),
        ("memory", Code::UnschedulableAndUnresolvable),
    ] {
        assert_eq!(
            fit(args.clone(), node(), bound(), asks(name)).0,
            code,
            "{name}"
        );
    }
}

#[test]
fn negative_sums_ask_for_nothing() {
    let node = json!({"cpu": "0", "memory": "8Gi", "pods": "10"});
    let (code, _) = fit(
        Value::Null,
        node,
        json!({"containers": []}),
        requesting(json!({"cpu": "-1"})),
    );
    assert_eq!(code, Code::Success);
}

/// Scores of a pending pod by node; each node may have one bound pod.
fn scored(
    name: &str,
    args: Value,
    nodes: &[(Value, Option<Value>)],
    pending: Value,
) -> Option<Vec<i64>> {
    let mut snap = Snapshot::default();
    let plugin = plugin(&mut snap, name, args);
    for (index, (node, bound)) in nodes.iter().enumerate() {
        let name = format!("n{index}");
        set_node(&mut snap, &name, sized(node.clone()));
        if let Some(requests) = bound {
            let mut spec = requesting(requests.clone());
            spec["nodeName"] = json!(name);
            add_pod(&mut snap, &format!("bound{index}"), spec);
        }
    }
    let pod = add_pod(&mut snap, "pending", pending);
    let score = score(&snap, &plugin, pod)?;
    Some(scores(&snap, score.as_ref()))
}

fn strategy(kind: &str) -> Value {
    json!({"scoringStrategy": {"type": kind, "resources": [{"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1}]}})
}

#[test]
fn strategies_score_as_upstream() {
    let big = json!({"cpu": "4000m", "memory": "10000"});
    let bigger = json!({"cpu": "6000m", "memory": "10000"});
    let pending = || requesting(json!({"cpu": "3000m", "memory": "5000"}));
    // (25 + 50) / 2 and (50 + 50) / 2 left; (75 + 50) / 2 and (50 + 50) / 2 used.
    let nodes = [(big, None), (bigger, None)];
    let run = |args| scored(FIT, args, &nodes, pending());
    assert_eq!(run(strategy("LeastAllocated")), Some(vec![37, 50]));
    assert_eq!(run(strategy("MostAllocated")), Some(vec![62, 50]));
    let mut ratio = strategy("RequestedToCapacityRatio");
    let shape =
        json!({"shape": [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]});
    ratio["scoringStrategy"]["requestedToCapacityRatio"] = shape;
    // (75 + 50) / 2 = 62.5, rounded.
    assert_eq!(run(ratio), Some(vec![63, 50]));
}

#[test]
fn missing_requests_are_scored_with_defaults() {
    let node = json!({"cpu": "1", "memory": "2000Mi"});
    let bound = json!({"cpu": "0", "example.com/x": "1"});
    // Container and pod count 200 MiB each, the pod 100m: (90 + 80) / 2.
    let nodes = [(node, Some(bound))];
    let pending = json!({"containers": [{"name": "c"}]});
    assert_eq!(scored(FIT, Value::Null, &nodes, pending), Some(vec![85]));
}

#[test]
fn scalar_resources_count_for_pods_that_request_them() {
    let args = json!({"scoringStrategy": {"type": "MostAllocated", "resources": [
        {"name": "cpu", "weight": 1}, {"name": "a.com/gpu", "weight": 3}, {"name": "unaccounted", "weight": 9}]}});
    let nodes = [
        (
            json!({"cpu": "10", "a.com/gpu": "4"}),
            Some(json!({"a.com/gpu": "1"})),
        ),
        (json!({"cpu": "10"}), None),
    ];
    let without = requesting(json!({"cpu": "5"}));
    assert_eq!(
        scored(FIT, args.clone(), &nodes, without),
        Some(vec![51, 50])
    );
    // (51 + 3 · 75) / 4 and, on the node that has none, 50.
    let with = requesting(json!({"cpu": "5", "a.com/gpu": "2"}));
    assert_eq!(scored(FIT, args, &nodes, with), Some(vec![69, 50]));
}

#[test]
fn balance_prefers_the_evener_node() {
    let node = || json!({"cpu": "10", "memory": "10000"});
    let pending = || requesting(json!({"cpu": "3", "memory": "5000"}));
    let nodes = [
        (node(), None),
        (node(), Some(json!({"cpu": "4", "memory": "1000"}))),
        (json!({"cpu": "10"}), None),
    ];
    // |0.3 − 0.5| / 2 against 0: 90 and 100. |0.7 − 0.6| / 2 against |0.4 − 0.1| / 2: 95 and 85.
    assert_eq!(
        scored(BALANCE, Value::Null, &nodes, pending()),
        Some(vec![70, 80, 75])
    );
    let nothing = requesting(json!({"cpu": "0"}));
    assert_eq!(scored(BALANCE, Value::Null, &nodes, nothing), None);
}

#[test]
fn balance_of_three_is_the_standard_deviation() {
    let args = json!({"resources": [{"name": "cpu"}, {"name": "memory"}, {"name": "a.com/gpu", "weight": 1}]});
    let node = json!({"cpu": "10", "memory": "10", "a.com/gpu": "10"});
    let pending = requesting(json!({"cpu": "3", "memory": "5", "a.com/gpu": "10"}));
    // Fractions 0.3, 0.5 and 1: deviation 0.2944, so 70 of 100; 50 + (50 + 70 − 100) / 2.
    assert_eq!(
        scored(BALANCE, args, &[(node, None)], pending),
        Some(vec![60])
    );
}

#[test]
fn arguments_are_checked() {
    let cases = [
        (
            FIT,
            json!({"scoringStrategy": {"type": "Best"}}),
            "scoringStrategy.type",
        ),
        (
            FIT,
            json!({"scoringStrategy": {"type": "RequestedToCapacityRatio"}}),
            "must be specified",
        ),
        (
            FIT,
            json!({"scoringStrategy": {"type": "LeastAllocated", "resources": [{"name": "cpu", "weight": 101}]}}),
            "(0, 100]",
        ),
        (
            FIT,
            json!({"ignoredResourceGroups": ["a/b"]}),
            "can't contain '/'",
        ),
        (FIT, json!({"ignoredResources": 3}), "invalid type"),
        (
            FIT,
            json!({"scoringStrategy": {"type": "RequestedToCapacityRatio", "requestedToCapacityRatio":
            {"shape": [{"utilization": 5, "score": 1}, {"utilization": 5, "score": 2}]}}}),
            "increasing order",
        ),
        (
            BALANCE,
            json!({"resources": [{"name": "cpu", "weight": 2}]}),
            "must be 1",
        ),
        (
            BALANCE,
            json!({"resources": [{"name": "cpu"}, {"name": "cpu"}]}),
            "duplicate",
        ),
    ];
    for (name, args, expected) in cases {
        let message = refusal(name, args.clone());
        assert!(message.contains(expected), "{args}: {message}");
    }
}

/// Amounts around every bound that some form of the arithmetic has.
fn amount() -> impl Strategy<Value = i64> {
    let edges = [
        0,
        1,
        2,
        100,
        1 << 40,
        (1 << 43) - 1,
        1 << 43,
        1 << 46,
        1 << 52,
        i64::MAX / 100,
        i64::MAX,
    ];
    let near = prop::sample::select(edges.to_vec())
        .prop_flat_map(|edge| (-2i64..3).prop_map(move |d| edge.wrapping_add(d)));
    prop_oneof![
        4 => 0i64..64_000,
        2 => 0i64..1 << 43,
        2 => near,
        1 => any::<i64>(),
        1 => Just(i64::MIN),
    ]
}

/// Allocatable and used cpu and memory of a node. Mostly multiples of a quarter: such nodes decide exactly
/// at the integers, where floating point is in danger.
fn usage() -> impl Strategy<Value = [i64; 4]> {
    let quarters = (1i64..50_000, 0i64..5, 1i64..1 << 38, 0i64..5)
        .prop_map(|(cpu, c, memory, m)| [4 * cpu, cpu * c, 4 * memory, memory * m]);
    prop_oneof![3 => quarters, 2 => [amount(), amount(), amount(), amount()]]
}

/// Nodes with these amounts and a pod on each that holds what is used.
fn cluster(rows: &[[i64; 4]]) -> Snapshot {
    let mut snap = Snapshot::default();
    let amounts =
        |cpu: i64, memory: i64| json!({"cpu": format!("{cpu}m"), "memory": memory.to_string()});
    for (index, [cpu, used_cpu, memory, used_memory]) in rows.iter().enumerate() {
        let name = format!("n{index}");
        let mut allocatable = amounts(*cpu, *memory);
        allocatable["pods"] = json!((index % 3).to_string());
        set_node(&mut snap, &name, sized(allocatable));
        let mut spec = requesting(amounts(*used_cpu, *used_memory));
        spec["nodeName"] = json!(name);
        add_pod(&mut snap, &name, spec);
    }
    snap
}

/// Every plugin and strategy, to be judged in the three ways that [`common`] compares.
fn judge_all(mut snap: Snapshot, cpu: i64, memory: i64) {
    let pending = requesting(json!({"cpu": format!("{cpu}m"), "memory": memory.to_string()}));
    let pod = add_pod(&mut snap, "pending", pending);
    let mut ratio = strategy("RequestedToCapacityRatio");
    let shape = json!({"shape": [{"utilization": 7, "score": 0}, {"utilization": 40, "score": 10}, {"utilization": 90, "score": 3}]});
    ratio["scoringStrategy"]["requestedToCapacityRatio"] = shape;
    let mut weighted = strategy("LeastAllocated");
    weighted["scoringStrategy"]["resources"][0]["weight"] = json!(97);
    let fits = [
        strategy("LeastAllocated"),
        strategy("MostAllocated"),
        ratio,
        weighted,
    ];
    for args in fits {
        let fit = plugin(&mut snap, FIT, args);
        let filter = filter(&snap, &fit, pod).expect("Fit never skips");
        statuses(&snap, filter.as_ref());
        let score = score(&snap, &fit, pod).expect("Fit never skips");
        scores(&snap, score.as_ref());
    }
    let balance = plugin(&mut snap, BALANCE, Value::Null);
    if let Some(score) = score(&snap, &balance, pod) {
        scores(&snap, score.as_ref());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// One row at a time goes through upstream's own integer and division steps, all rows through the
    /// forms that vectorise.
    #[test]
    fn dense_forms_equal_scalar_ones(
        rows in prop::collection::vec(usage(), 20..300),
        gone in 0usize..20,
        cpu in amount(),
        memory in amount(),
    ) {
        let mut snap = cluster(&rows);
        snap.remove_node(&format!("n{gone}"));
        judge_all(snap, cpu, memory);
    }

    /// Ordinary clusters, where every lane stays in the fast form or is decided by exact division.
    #[test]
    fn ordinary_amounts_too(
        rows in prop::collection::vec([1i64..64_000, 0i64..64_000, 1i64..1 << 40, 0i64..1 << 40], 20..600),
        cpu in 1i64..8_000,
        memory in 1i64..1 << 36,
    ) {
        judge_all(cluster(&rows), cpu, memory);
    }

    #[test]
    fn one_shape_of_pods_and_nodes(size in 1i64..8, used in prop::collection::vec(0i64..9, 20..300)) {
        let rows: Vec<_> = used.iter().map(|n| [32_000, 1_000 * n * size, 128 << 30, (4 << 30) * n * size]).collect();
        judge_all(cluster(&rows), 1_000 * size, (4 << 30) * size);
    }
}
