//! Against an exhaustive search: a gang is placed exactly where some arrangement exists.

use crate::scene::Scene;
use podium_core::engine::Engine;
use podium_core::snapshot::PodId;
use proptest::prelude::*;
use serde_json::json;

/// Tries every node for every member, in every order that matters.
fn arrangement_exists(engine: &mut Engine, members: &[PodId], need: usize) -> bool {
    if need == 0 {
        return true;
    }
    for (at, pod) in members.iter().enumerate() {
        let names = engine.feasible(*pod);
        let mut rest = members.to_vec();
        rest.remove(at);
        for name in names {
            let symbol = engine.snap.interner.get(&name).expect("a node's name");
            let row = engine.snap.nodes.row(symbol).expect("a node");
            engine.snap.place(*pod, row);
            let found = arrangement_exists(engine, &rest, need - 1);
            engine.snap.unplace(*pod);
            if found {
                return true;
            }
        }
    }
    false
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn a_gang_is_placed_exactly_where_it_can_be(
        nodes in proptest::collection::vec((1u64..7, 1u64..7), 1..4),
        shapes in proptest::collection::vec((1u64..4, 1u64..4), 1..5),
        surplus in 0usize..2,
        affine in proptest::option::of(0usize..4),
        spread in any::<bool>(),
    ) {
        let mut scene = Scene::new();
        for (at, (cpu, gpu)) in nodes.iter().enumerate() {
            let amounts = json!({"cpu": cpu.to_string(), "x.com/gpu": gpu.to_string()});
            let name = format!("n{at}");
            scene.node(&name, amounts, json!({"kubernetes.io/hostname": name}));
        }
        let term = |app: &str| json!({"topologyKey": "kubernetes.io/hostname",
            "labelSelector": {"matchLabels": {"app": app}}});
        let members: Vec<PodId> = shapes
            .iter()
            .enumerate()
            .map(|(at, (cpu, gpu))| {
                let app = if at == 0 { "first" } else { "other" };
                let mut more = json!({"labels": {"app": app}});
                if affine == Some(at) && at > 0 {
                    // Only where the first one is, which may come later in the greedy order.
                    more["affinity"] = json!({"podAffinity":
                        {"requiredDuringSchedulingIgnoredDuringExecution": [term("first")]}});
                } else if spread && at % 2 == 1 {
                    more["affinity"] = json!({"podAntiAffinity":
                        {"requiredDuringSchedulingIgnoredDuringExecution": [term("other")]}});
                }
                scene.pod(json!({"cpu": cpu.to_string(), "x.com/gpu": gpu.to_string()}), more)
            })
            .rev()
            .collect();
        let need = members.len().saturating_sub(surplus).max(1);
        let gang = scene.gang(&members, need);
        let expected = arrangement_exists(&mut scene.engine, &members, need);
        let found = scene.engine.try_group(gang, 0);
        prop_assert_eq!(found.is_ok(), expected);
        if expected {
            let (places, shortage) = scene.engine.place_group(gang, 0);
            prop_assert!(shortage.is_none());
            prop_assert_eq!(places.len(), need);
        }
    }
}

#[test]
fn six_shapes_that_fit_one_way_only() {
    let mut scene = Scene::new();
    for (name, cpu, gpu) in [("a", 10, 10), ("b", 9, 7)] {
        let amounts = json!({"cpu": cpu.to_string(), "x.com/gpu": gpu.to_string()});
        scene.node(name, amounts, json!({}));
    }
    // a: 6+4 cpu, 3+7 gpu; b: 5+4 cpu, 6+1 gpu.
    let shapes = [(4, 1), (4, 7), (5, 6), (6, 3)];
    let members: Vec<PodId> = shapes
        .iter()
        .map(|(cpu, gpu)| {
            let requests = json!({"cpu": cpu.to_string(), "x.com/gpu": gpu.to_string()});
            scene.pod(requests, json!({}))
        })
        .collect();
    let gang = scene.gang(&members, 4);
    assert!(scene.engine.place_group(gang, 0).1.is_none());
}
