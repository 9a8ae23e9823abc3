//! Nothing of a discarded placement is left, and memos stay true.

use crate::scene::Scene;
use podium_core::snapshot::PodId;
use proptest::prelude::*;
use serde_json::{Value, json};

fn cpu(amount: u64) -> Value {
    json!({"cpu": amount.to_string()})
}

#[test]
fn an_infeasible_gang_leaves_nothing_and_says_how_near_it_is() {
    let mut scene = Scene::new();
    for name in ["a", "b"] {
        scene.node(name, json!({"cpu": "8", "x.com/gpu": "2"}), json!({}));
    }
    let other = scene.pod(json!({"x.com/gpu": "1"}), json!({"nodeName": "a"}));
    let members: Vec<PodId> = (0..4)
        .map(|_| scene.pod(json!({"cpu": "1", "x.com/gpu": "1"}), json!({})))
        .collect();
    let gang = scene.gang(&members, 4);
    let before = scene.engine.fingerprint();
    let (places, shortage) = scene.engine.place_group(gang, 0);
    let shortage = shortage.expect("one GPU is missing");
    assert!(places.is_empty());
    assert_eq!((shortage.need, shortage.placeable), (4, 3));
    assert_eq!(shortage.member, Some(members[3]));
    assert_eq!(
        shortage.nearest.as_ref().map(|n| n.text()).as_deref(),
        Some("1 more x.com/gpu")
    );
    assert_eq!(shortage.holders[0].pod, other);
    assert!(
        shortage.message.contains("Insufficient x.com/gpu"),
        "{}",
        shortage.message
    );
    assert_eq!(scene.engine.fingerprint(), before);
    assert_eq!(scene.rows(&members), [None; 4]);
}

#[test]
fn all_get_places_or_none() {
    let mut scene = Scene::new();
    for name in ["a", "b"] {
        scene.node(name, cpu(2), json!({}));
    }
    let gangs: Vec<Vec<PodId>> = (0..2)
        .map(|_| (0..4).map(|_| scene.pod(cpu(1), json!({}))).collect())
        .collect();
    let ids: Vec<_> = gangs.iter().map(|members| scene.gang(members, 4)).collect();
    assert!(scene.engine.place_group(ids[0], 0).1.is_none());
    assert!(scene.engine.place_group(ids[1], 0).1.is_some());
    assert!(scene.rows(&gangs[0]).iter().all(Option::is_some));
    assert_eq!(scene.rows(&gangs[1]), [None; 4]);
}

#[test]
fn a_surplus_is_left_for_later_and_roles_have_their_minimums() {
    let mut scene = Scene::new();
    scene.node("a", cpu(10), json!({}));
    let members: Vec<PodId> = (0..6).map(|_| scene.pod(cpu(1), json!({}))).collect();
    let roles = [1, 1, 1, 1, 2, 2];
    let mut group = podium_core::gang::Group::default();
    group.min = 3;
    group.role_mins = [0, 1, 1].into();
    let with_roles: Vec<_> = members.iter().copied().zip(roles).collect();
    let gang = scene.gang_with(group, &with_roles);
    let (places, shortage) = scene.engine.place_group(gang, 0);
    assert!(shortage.is_none());
    let placed: Vec<PodId> = places.iter().map(|(pod, _)| *pod).collect();
    assert_eq!(placed, [members[0], members[4], members[1]]);
}

#[test]
fn missing_members_are_placed_as_far_as_they_fit() {
    let mut scene = Scene::new();
    scene.node("a", cpu(2), json!({}));
    scene.node("b", cpu(1), json!({}));
    let mut members = vec![scene.pod(cpu(1), json!({"nodeName": "b"}))];
    members.extend((0..3).map(|_| scene.pod(cpu(1), json!({}))));
    let gang = scene.gang(&members, 4);
    let (places, shortage) = scene.engine.place_group(gang, 0);
    assert_eq!(places.len(), 2);
    assert_eq!(shortage.expect("one is missing").placeable, 2);
}

#[derive(Clone, Debug)]
struct Shape {
    cpu: u64,
    gpu: u64,
    anti: bool,
    port: bool,
}

fn shape() -> impl Strategy<Value = Shape> {
    (1u64..4, 0u64..2, any::<bool>(), any::<bool>()).prop_map(|(cpu, gpu, anti, port)| Shape {
        cpu,
        gpu,
        anti,
        port,
    })
}

fn member(scene: &mut Scene, shape: &Shape) -> PodId {
    let mut more = json!({"labels": {"app": "x"}});
    if shape.anti {
        let term = json!({"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "y"}}});
        more["affinity"] =
            json!({"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}});
    }
    let mut container = json!({"name": "c", "resources": {"requests":
        {"cpu": shape.cpu.to_string(), "x.com/gpu": shape.gpu.to_string()}}});
    if shape.port {
        container["ports"] = json!([{"containerPort": 80, "hostPort": 80}]);
    }
    more["containers"] = json!([container]);
    scene.pod(json!({}), more)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn simulating_and_discarding_changes_nothing(
        nodes in proptest::collection::vec((1u64..6, 0u64..3), 1..5),
        shapes in proptest::collection::vec(shape(), 2..7),
        mins in 1usize..7,
    ) {
        let mut scene = Scene::new();
        for (at, (cpu, gpu)) in nodes.iter().enumerate() {
            let amounts = json!({"cpu": cpu.to_string(), "x.com/gpu": gpu.to_string()});
            let zone = format!("z{}", at % 2);
            scene.node(&format!("n{at}"), amounts, json!({"zone": zone}));
        }
        let members: Vec<PodId> = shapes.iter().map(|shape| member(&mut scene, shape)).collect();
        let lone: Vec<PodId> = shapes.iter().map(|shape| member(&mut scene, shape)).collect();
        let gang = scene.gang(&members, mins.min(members.len()));
        scene.engine.snap.refresh();
        let before = scene.engine.fingerprint();
        for _ in 0..25 {
            let _ = scene.engine.try_group(gang, 0);
            prop_assert_eq!(scene.engine.fingerprint(), before);
            for pod in members.iter().chain(&lone) {
                prop_assert!(scene.engine.remembers_truly(*pod));
            }
        }
    }
}
