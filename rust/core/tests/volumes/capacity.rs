use crate::storage::{CSI, HOST, MATCH, SPACE, all, judge, local, rows, world};
use crate::support::{World, bound, claim, ok, pod, unresolvable, volume, with};
use podium_core::snapshot::Kind;
use serde_json::{Value, json};

/// Space of a class: `None` selects no node, an empty topology all.
fn capacity(name: &str, class: &str, nodes: Option<Value>, patch: Value) -> Value {
    let object = json!({
        "metadata": {"name": name, "namespace": "default"},
        "storageClassName": class,
        "nodeTopology": nodes,
    });
    with(object, patch)
}

fn host(name: &str) -> Option<Value> {
    Some(json!({"matchLabels": {HOST: name}}))
}

fn counting() -> World {
    let mut world = world();
    world.set(
        Kind::CsiDriver,
        &json!({"metadata": {"name": CSI}, "spec": {"storageCapacity": true}}),
    );
    world
}

#[test]
fn drivers_that_publish_their_space_must_have_enough() {
    let mut world = counting();
    let space = unresolvable(SPACE);
    world.claim(&claim("c", "csi", "10Gi"));
    assert_eq!(
        judge(&mut world, &["c"]),
        all(space.clone()),
        "none is published"
    );
    let spaces = [
        capacity("a", "csi", host("a"), json!({"capacity": "100Gi"})),
        capacity("b", "csi", host("b"), json!({"capacity": "9Gi"})),
        capacity(
            "c",
            "csi",
            host("c"),
            json!({"capacity": "100Gi", "maximumVolumeSize": "5Gi"}),
        ),
        capacity("x", "topo", Some(json!({})), json!({"capacity": "100Gi"})),
        capacity("y", "csi", None, json!({"capacity": "100Gi"})),
        capacity("z", "csi", Some(json!({})), json!({})),
    ];
    for space in &spaces {
        world.set(Kind::CsiStorageCapacity, space);
    }
    assert_eq!(
        judge(&mut world, &["c"]),
        rows([ok(), space.clone(), space.clone()])
    );
    world.claim(
        &json!({"metadata": {"name": "free", "namespace": "default"},
        "spec": {"storageClassName": "csi", "accessModes": ["ReadWriteOnce"]}}),
    );
    assert_eq!(
        judge(&mut world, &["free"]),
        all(ok()),
        "a claim without request"
    );
    world.snap.remove(Kind::CsiStorageCapacity, "default", "a");
    assert_eq!(judge(&mut world, &["c"]), all(space));
    world.set(
        Kind::CsiDriver,
        &json!({"metadata": {"name": CSI}, "spec": {"storageCapacity": false}}),
    );
    assert_eq!(judge(&mut world, &["c"]), all(ok()));
}

#[test]
fn the_first_claim_that_cannot_be_provisioned_gives_the_reason() {
    let mut world = counting();
    world.claim(&claim("small", "csi", "1Gi"));
    world.claim(&claim("large", "wait", "2Gi"));
    assert_eq!(
        judge(&mut world, &["large", "small"]),
        all(unresolvable(SPACE)),
        "by size"
    );
    world.claim(&claim("small", "csi", "3Gi"));
    assert_eq!(
        judge(&mut world, &["small", "large"]),
        all(unresolvable(MATCH))
    );
}

#[test]
fn pods_with_nothing_to_bind_score_nothing() {
    let mut world = world();
    world.volume(&volume("v", "wait", "1Gi"));
    world.claim(&with(claim("bound", "wait", "1Gi"), bound("v")));
    for claims in [&[][..], &["bound"]] {
        let pod = world.pod(&pod("p", claims));
        assert_eq!(
            world.scores(&Value::Null, pod),
            Some(vec![0, 0, 0]),
            "{claims:?}"
        );
    }
}

#[test]
fn nodes_with_more_room_in_their_volumes_score_higher() {
    let mut world = world();
    for (name, class, size, node) in [
        ("a-1", "wait", "200Gi", "a"),
        ("a-2", "wait", "200Gi", "a"),
        ("b-1", "wait", "100Gi", "b"),
        ("b-2", "wait", "100Gi", "b"),
        ("a-3", "hdd", "200Gi", "a"),
        ("b-3", "hdd", "100Gi", "b"),
    ] {
        world.volume(&local(name, class, size, node));
    }
    world.claim(&claim("ssd", "wait", "50Gi"));
    world.claim(&claim("ssd-2", "wait", "100Gi"));
    world.claim(&claim("hdd", "hdd", "100Gi"));
    let shape = json!({"shape": [
        {"utilization": 0, "score": 0}, {"utilization": 50, "score": 3}, {"utilization": 100, "score": 5}]});
    let cases: [(&[&str], Value, [i64; 3]); 4] = [
        (&["ssd"], Value::Null, [75, 50, 0]),
        (&["ssd", "hdd"], Value::Null, [63, 25, 0]),
        (&["ssd", "ssd-2"], Value::Null, [63, 25, 0]),
        (&["ssd"], shape, [15, 30, 0]),
    ];
    for (claims, args, expected) in cases {
        let pod = world.pod(&pod("p", claims));
        assert_eq!(
            world.scores(&args, pod),
            Some(expected.into()),
            "{claims:?}"
        );
    }
}

#[test]
fn nodes_with_more_space_to_provision_score_higher() {
    let mut world = counting();
    for (node, size) in [("a", "100Gi"), ("b", "50Gi"), ("c", "10Gi")] {
        let space = capacity(node, "csi", host(node), json!({"capacity": size}));
        world.set(Kind::CsiStorageCapacity, &space);
    }
    world.claim(&claim("c", "csi", "10Gi"));
    world.claim(&claim("d", "csi", "5Gi"));
    world.claim(&claim("unknown", "topo", "5Gi"));
    let p = world.pod(&pod("p", &["c"]));
    assert_eq!(world.scores(&Value::Null, p), Some(vec![90, 80, 0]));
    let both = world.pod(&pod("both", &["c", "d"]));
    let reason = "requests add up, the capacity counts once";
    assert_eq!(
        world.scores(&Value::Null, both),
        Some(vec![85, 70, 0]),
        "{reason}"
    );
    // A volume that exists outweighs all space.
    for node in ["a", "b", "c"] {
        world.volume(&local(&format!("v-{node}"), "wait", "100Gi", node));
    }
    world.claim(&claim("static", "wait", "50Gi"));
    let mixed = world.pod(&pod("mixed", &["c", "static"]));
    assert_eq!(world.scores(&Value::Null, mixed), Some(vec![50, 50, 50]));
}
