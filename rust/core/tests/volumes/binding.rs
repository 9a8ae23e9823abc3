use crate::storage::{CSI, GONE, MATCH, NAME, NODE, all, judge, local, rows, world};
use crate::support::{
    Judged, World, bound, claim, csi_node, error, ok, pod, reach, rejected, unresolvable, volume,
    with,
};
use podium_core::snapshot::Kind;
use serde_json::{Value, json};

#[test]
fn claims_that_cannot_be_used_reject_the_pod() {
    let mut world = world();
    world.claim(&claim("now", "now", "1Gi"));
    world.claim(&claim("classless", "", "1Gi"));
    world.claim(&with(
        claim("lost", "wait", "1Gi"),
        with(bound("v"), json!({"status": {"phase": "Lost"}})),
    ));
    let deleted = json!({"metadata": {"deletionTimestamp": "2030-01-01T00:00:00Z"}});
    world.claim(&with(claim("deleted", "wait", "1Gi"), deleted));
    world.claim(&with(
        claim("named", "wait", "1Gi"),
        json!({"spec": {"volumeName": "v"}}),
    ));
    let cases = [
        ("gone", "persistentvolumeclaim \"gone\" not found"),
        (
            "lost",
            "persistentvolumeclaim \"lost\" bound to non-existent persistentvolume \"v\"",
        ),
        (
            "deleted",
            "persistentvolumeclaim \"deleted\" is being deleted",
        ),
        ("now", "pod has unbound immediate PersistentVolumeClaims"),
        (
            "classless",
            "pod has unbound immediate PersistentVolumeClaims",
        ),
        ("named", "pod has unbound immediate PersistentVolumeClaims"),
    ];
    for (claim, reason) in cases {
        assert_eq!(
            judge(&mut world, &[claim]),
            rejected(reason),
            "claim {claim}"
        );
    }
    assert_eq!(judge(&mut world, &[]), Judged::Skip);
    world.class(&json!({"metadata": {"name": "undecided"}, "provisioner": CSI}));
    world.claim(&claim("undecided", "undecided", "1Gi"));
    let message = "VolumeBindingMode not set for StorageClass \"undecided\"".to_owned();
    let expected = Judged::Rejected(podium_core::status::Code::Error, message);
    assert_eq!(judge(&mut world, &["undecided"]), expected);
}

#[test]
fn ephemeral_volumes_wait_for_their_claim() {
    let mut world = world();
    let source = json!({"spec": {"volumes": [{"name": "v", "ephemeral": {}}]}});
    let pod = world.pod(&with(pod("p", &[]), source));
    let waiting =
        "waiting for ephemeral volume controller to create the persistentvolumeclaim \"p-v\"";
    assert_eq!(world.judge(NAME, pod), rejected(waiting));
    world.claim(&claim("p-v", "csi", "1Gi"));
    let stranger = "PVC default/p-v was not created for pod default/p (pod is not owner)";
    assert_eq!(world.judge(NAME, pod), rejected(stranger));
    let owner = json!([{"kind": "Pod", "name": "p", "uid": "uid-p", "controller": true}]);
    let owner = json!({"metadata": {"ownerReferences": owner}});
    world.claim(&with(claim("p-v", "csi", "1Gi"), owner));
    assert_eq!(world.judge(NAME, pod), all(ok()));
}

#[test]
fn bound_volumes_must_be_reachable() {
    let mut world = world();
    world.volume(&local("v-a", "wait", "1Gi", "a"));
    world.volume(&with(
        volume("v-z", "wait", "1Gi"),
        reach(&[("zone", &["z2", "z3"])]),
    ));
    world.volume(&volume("v-all", "wait", "1Gi"));
    for name in ["v-a", "v-z", "v-all", "v-gone"] {
        let key = name.replace("v-", "c-");
        world.claim(&with(claim(&key, "wait", "1Gi"), bound(name)));
    }
    let away = unresolvable(NODE);
    assert_eq!(
        judge(&mut world, &["c-a"]),
        rows([ok(), away.clone(), away.clone()])
    );
    assert_eq!(
        judge(&mut world, &["c-z"]),
        rows([away.clone(), ok(), ok()])
    );
    assert_eq!(judge(&mut world, &["c-all"]), all(ok()));
    assert_eq!(
        judge(&mut world, &["c-a", "c-z", "c-all"]),
        all(away.clone())
    );
    assert_eq!(judge(&mut world, &["c-gone"]), all(unresolvable(GONE)));
    let gone = unresolvable(GONE);
    assert_eq!(
        judge(&mut world, &["c-a", "c-gone"]),
        rows([gone, away.clone(), away])
    );
}

#[test]
fn reasons_of_bound_and_unbound_claims_are_both_told() {
    let mut world = world();
    world.volume(&local("v-a", "wait", "1Gi", "a"));
    world.claim(&with(claim("bound", "wait", "1Gi"), bound("v-a")));
    world.claim(&with(claim("gone", "wait", "1Gi"), bound("v-gone")));
    world.claim(&claim("unbound", "hdd", "1Gi"));
    let both = unresolvable(&format!("{NODE}, {MATCH}"));
    let expected = rows([unresolvable(MATCH), both.clone(), both]);
    assert_eq!(judge(&mut world, &["bound", "unbound"]), expected);
    let expected = all(unresolvable(&format!("{MATCH}, {GONE}")));
    assert_eq!(judge(&mut world, &["gone", "unbound"]), expected);
}

/// Fields of nodes are parsed, but not matched: every node passes.
#[test]
fn field_requirements_of_volumes_hold_everywhere() {
    let mut world = world();
    let fields = |operator: &str, values: Value| {
        let field = json!({"key": "metadata.name", "operator": operator, "values": values});
        json!({"spec": {"nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchFields": [field]}]}}}})
    };
    world.volume(&with(
        volume("v-in", "wait", "1Gi"),
        fields("In", json!(["a"])),
    ));
    world.volume(&with(
        volume("v-bad", "wait", "1Gi"),
        fields("Exists", json!([])),
    ));
    let none = json!({"spec": {"nodeAffinity": {"required": {"nodeSelectorTerms": []}}}});
    world.volume(&with(volume("v-none", "wait", "1Gi"), none));
    for name in ["in", "bad", "none"] {
        world.claim(&with(
            claim(name, "wait", "1Gi"),
            bound(&format!("v-{name}")),
        ));
    }
    assert_eq!(judge(&mut world, &["in"]), all(ok()));
    assert_eq!(judge(&mut world, &["bad"]), all(unresolvable(NODE)));
    assert_eq!(judge(&mut world, &["none"]), all(unresolvable(NODE)));
}

#[test]
fn a_selector_that_cannot_be_parsed_is_an_error() {
    let mut world = world();
    let selector =
        json!({"spec": {"selector": {"matchExpressions": [{"key": "k", "operator": "Near"}]}}});
    world.claim(&with(claim("c", "wait", "1Gi"), selector));
    let message = "error creating internal label selector for claim: default/c: \"Near\" is not a valid label selector operator";
    assert_eq!(judge(&mut world, &["c"]), all(error(message)));
}

#[test]
fn migrated_volumes_are_zoned_by_their_driver_where_the_node_says_so() {
    const TOPOLOGY: &str = "topology.ebs.csi.aws.com/zone";
    const ZONE: &str = "topology.kubernetes.io/zone";
    let mut world = World::default();
    let annotation = json!({"metadata": {"annotations": {
        "storage.alpha.kubernetes.io/migrated-plugins": "kubernetes.io/gce-pd,kubernetes.io/aws-ebs"}}});
    for (name, labels) in [
        ("a", [(ZONE, "z1"), ("x", "")]),
        ("b", [(TOPOLOGY, "z1"), (ZONE, "z9")]),
    ] {
        world.node(name, &labels);
        world.set(
            Kind::CsiNode,
            &with(csi_node(name, &[]), annotation.clone()),
        );
    }
    world.node("c", &[(ZONE, "z1"), (TOPOLOGY, "z9")]);
    let source = json!({"spec": {"awsElasticBlockStore": {"volumeID": "vol-1"}}});
    world.volume(&with(
        with(volume("v", "", "1Gi"), source),
        reach(&[(ZONE, &["z1"])]),
    ));
    world.claim(&with(claim("c", "", "1Gi"), bound("v")));
    let away = unresolvable(NODE);
    assert_eq!(judge(&mut world, &["c"]), rows([away, ok(), ok()]));
    let broken = json!({"spec": {"awsElasticBlockStore": {"volumeID": "aws://z1/disk"}}});
    world.volume(&with(
        with(volume("v", "", "1Gi"), broken),
        reach(&[(ZONE, &["z1"])]),
    ));
    let message = "could not translate pv: failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (aws://z1/disk)";
    assert_eq!(
        judge(&mut world, &["c"]),
        rows([error(message), error(message), ok()])
    );
}
