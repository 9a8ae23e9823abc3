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

/// What else than amounts a member asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wish {
    Nothing,
    /// No other member on its node, in its zone; nobody of the first kind in its zone.
    AloneOnNode,
    AloneInZone,
    FarFromFirst,
    Port,
    Spread,
    Near,
}

fn wish() -> impl Strategy<Value = Wish> {
    prop_oneof![
        3 => Just(Wish::Nothing),
        2 => Just(Wish::AloneOnNode),
        1 => Just(Wish::AloneInZone),
        1 => Just(Wish::FarFromFirst),
        1 => Just(Wish::Port),
        1 => Just(Wish::Spread),
        1 => Just(Wish::Near),
    ]
}

fn wishing(wish: Wish, first: bool, (cpu, gpu): (u64, u64)) -> serde_json::Value {
    let term = |app: &str, key: &str| json!({"topologyKey": key, "labelSelector": {"matchLabels": {app: "x"}}});
    let required = |term| json!({"requiredDuringSchedulingIgnoredDuringExecution": [term]});
    let mut labels = json!({"all": "x"});
    if first {
        labels["first"] = json!("x");
    }
    let requests = json!({"cpu": cpu.to_string(), "x.com/gpu": gpu.to_string()});
    let mut container = json!({"name": "c", "resources": {"requests": requests}});
    let mut more = json!({"labels": labels});
    match wish {
        Wish::Nothing => {}
        Wish::AloneOnNode => {
            let term = required(term("all", "kubernetes.io/hostname"));
            more["affinity"] = json!({"podAntiAffinity": term});
        }
        Wish::AloneInZone => {
            more["affinity"] = json!({"podAntiAffinity": required(term("all", "zone"))});
        }
        Wish::FarFromFirst => {
            more["affinity"] = json!({"podAntiAffinity": required(term("first", "zone"))});
        }
        Wish::Near => {
            more["affinity"] = json!({"podAffinity": required(term("first", "zone"))});
        }
        Wish::Port => container["ports"] = json!([{"containerPort": 80, "hostPort": 80}]),
        Wish::Spread => {
            more["topologySpreadConstraints"] = json!([{"maxSkew": 1, "topologyKey": "zone",
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"all": "x"}}}]);
        }
    }
    more["containers"] = json!([container]);
    more
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn members_that_keep_away_or_near_are_placed_wherever_they_can_be(
        nodes in proptest::collection::vec((1u64..7, 0u64..4, any::<bool>()), 1..6),
        members in proptest::collection::vec((1u64..4, 0u64..3, wish()), 2..7),
        surplus in 0usize..2,
        alike in any::<bool>(),
    ) {
        let mut scene = Scene::new();
        for (at, (cpu, gpu, other)) in nodes.iter().enumerate() {
            let amounts = json!({"cpu": cpu.to_string(), "x.com/gpu": gpu.to_string()});
            let name = format!("n{at}");
            let zone = if *other { "b" } else { "a" };
            let labels = match at {
                3 => json!({"kubernetes.io/hostname": name}),
                _ => json!({"kubernetes.io/hostname": name, "zone": zone}),
            };
            scene.node(&name, amounts, labels);
        }
        let shape = |at: usize| if alike { members[at % 2] } else { members[at] };
        let pods: Vec<PodId> = (0..members.len())
            .map(|at| {
                let (cpu, gpu, wish) = shape(at);
                scene.pod(json!({}), wishing(wish, at % 3 == 0, (cpu, gpu)))
            })
            .collect();
        let need = pods.len().saturating_sub(surplus).max(1);
        let gang = scene.gang(&pods, need);
        let expected = arrangement_exists(&mut scene.engine, &pods, need);
        let before = scene.engine.fingerprint();
        let found = scene.engine.try_group(gang, 0);
        prop_assert_eq!(found.is_ok(), expected, "{:?}", found);
        prop_assert_eq!(scene.engine.fingerprint(), before);
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
