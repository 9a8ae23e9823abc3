//! Reserve, Unreserve and PreBind.

use crate::storage::{CSI, HOST, NAME, local, world};
use crate::support::{Judged, World, bound, claim, ok, on, pod, unresolvable, volume, with};
use podium_core::overlay::Overlay;
use podium_core::snapshot::volumes::{BindAction, all_bound, pre_bind};
use podium_core::snapshot::{Change, Kind, PodId, Row};
use serde_json::{Value, json};

const MATCH: &str = "node(s) didn't find available persistent volumes to bind";

/// One local volume per node in class `wait`, two claims for them, and two that are provisioned.
fn stocked() -> World {
    let mut world = world();
    for node in ["a", "b"] {
        let version = json!({"metadata": {"resourceVersion": "7"}});
        world.volume(&with(
            local(&format!("v-{node}"), "wait", "5Gi", node),
            version,
        ));
    }
    for name in ["one", "two"] {
        world.claim(&claim(name, "wait", "1Gi"));
        world.claim(&claim(&format!("csi-{name}"), "csi", "1Gi"));
    }
    world
}

fn reserve(world: &mut World, pod: PodId, row: Row) -> Result<(), String> {
    let plugin = world.plugin(NAME, &Value::Null);
    let result = plugin.reserve(&mut world.snap, pod, row);
    result.map_err(|status| status.message())
}

fn unreserve(world: &mut World, pod: PodId) {
    world
        .plugin(NAME, &Value::Null)
        .unreserve(&mut world.snap, pod);
}

#[test]
fn a_reserved_volume_is_gone_for_other_claims() {
    let mut world = stocked();
    let first = world.pod(&pod("first", &["one"]));
    let second = world.pod(&pod("second", &["two"]));
    let none = unresolvable(MATCH);
    let both = Judged::Rows(vec![ok(), ok(), none.clone()]);
    assert_eq!(world.judge(NAME, second), both);
    reserve(&mut world, first, 0).expect("node a has a volume");
    assert_eq!(
        world.judge(NAME, second),
        Judged::Rows(vec![none.clone(), ok(), none.clone()])
    );
    let own = Judged::Rows(vec![ok(), none.clone(), none.clone()]);
    assert_eq!(
        world.judge(NAME, first),
        own,
        "the claim keeps to its volume"
    );
    assert_eq!(reserve(&mut world, second, 0), Err(MATCH.to_owned()));
    reserve(&mut world, second, 1).expect("node b has a volume");
    unreserve(&mut world, first);
    assert_eq!(
        world.judge(NAME, first),
        Judged::Rows(vec![ok(), none.clone(), none])
    );
    unreserve(&mut world, second);
    assert_eq!(world.judge(NAME, second), both);
    assert_eq!(
        world.snap.volumes.assumptions,
        stocked().snap.volumes.assumptions
    );
}

/// Each profile remembers its own promises only, as each has a VolumeBinding plugin of its own upstream.
#[test]
fn another_profile_sees_a_promised_volume_as_free_until_the_api_says_otherwise() {
    let mut world = stocked();
    let other = json!({"spec": {"schedulerName": "second-scheduler"}});
    let first = world.pod(&pod("first", &["one", "csi-one"]));
    let second = world.pod(&with(pod("second", &["two", "csi-one"]), other.clone()));
    let third = world.pod(&with(pod("third", &["one"]), other));
    let none = unresolvable(MATCH);
    reserve(&mut world, first, 0).expect("node a has a volume");
    let both = Judged::Rows(vec![ok(), ok(), none.clone()]);
    assert_eq!(world.judge(NAME, second), both, "nor is the node selected");
    assert_eq!(
        world.judge(NAME, third),
        both,
        "nor does the claim have one"
    );
    reserve(&mut world, second, 0).expect("the same volume");
    assert_eq!(world.snap.volumes.assumptions.volumes.len(), 2);
    let volumes = |world: &World, pod| {
        let actions = pre_bind(&world.snap, pod);
        let bound = actions.into_iter().filter(|action| action.node.is_empty());
        bound
            .map(|action| (action.volume, action.resource_version))
            .collect::<Vec<_>>()
    };
    let promised = [("v-a".to_owned(), "7".to_owned())];
    assert_eq!(volumes(&world, first), promised);
    assert_eq!(
        volumes(&world, second),
        promised,
        "the API takes one of the two writes"
    );
    unreserve(&mut world, second);
    assert_eq!(world.judge(NAME, second), both);
    assert_eq!(
        volumes(&world, first),
        promised,
        "the other profile's stands"
    );
    let claimed = json!({"metadata": {"resourceVersion": "8"}, "spec": {
        "claimRef": {"namespace": "default", "name": "one", "uid": "uid-one"}}});
    world.volume(&with(local("v-a", "wait", "5Gi", "a"), claimed));
    assert_eq!(
        world.judge(NAME, second),
        Judged::Rows(vec![none.clone(), ok(), none])
    );
    assert!(world.snap.volumes.assumptions.volumes.is_empty());
}

#[test]
fn a_claim_to_be_provisioned_keeps_to_its_node() {
    let mut world = stocked();
    let first = world.pod(&pod("first", &["csi-one"]));
    let sharer = world.pod(&pod("sharer", &["csi-one"]));
    reserve(&mut world, first, 1).expect("node b will do");
    let none = unresolvable(MATCH);
    let there = Judged::Rows(vec![none.clone(), ok(), none]);
    assert_eq!(world.judge(NAME, sharer), there);
    reserve(&mut world, sharer, 1).expect("the same node");
    unreserve(&mut world, first);
    assert_eq!(
        world.judge(NAME, first),
        there,
        "the other pod still holds it"
    );
    unreserve(&mut world, sharer);
    assert_eq!(world.judge(NAME, first), Judged::Rows(vec![ok(); 3]));
    unreserve(&mut world, sharer);
}

/// kube-scheduler takes back what it assumed for a pod only while it has not bound it.
#[test]
fn what_a_bound_pod_was_promised_stands_when_it_is_gone() {
    for bound in [true, false] {
        let mut world = stocked();
        let none = unresolvable(MATCH);
        let user = pod("user", &["one", "csi-one"]);
        let first = world.pod(&user);
        reserve(&mut world, first, 0).expect("node a has a volume");
        if bound {
            world.update(first, &with(user.clone(), on("a")));
        }
        world.snap.remove_pod(first);
        let next = world.pod(&user);
        let expected = match bound {
            true => vec![ok(), none.clone(), none],
            false => vec![ok(), ok(), none],
        };
        assert_eq!(world.judge(NAME, next), Judged::Rows(expected), "{bound}");
        reserve(&mut world, next, 0).expect("node a still has it");
        unreserve(&mut world, next);
        let volumes = &world.snap.volumes.assumptions.volumes;
        assert_eq!(
            volumes.len(),
            usize::from(bound),
            "until the API says something"
        );
        for name in ["a", "b"] {
            world.volume(&local(&format!("v-{name}"), "wait", "5Gi", name));
        }
        let later = json!({"metadata": {"resourceVersion": "8"}});
        world.claim(&with(claim("csi-one", "csi", "1Gi"), later));
        assert_eq!(
            world.snap.volumes.assumptions,
            stocked().snap.volumes.assumptions
        );
    }
}

fn bind(volume: &str, claim: &str, version: &str) -> BindAction {
    BindAction {
        namespace: "default".into(),
        claim: claim.into(),
        claim_uid: format!("uid-{claim}"),
        volume: volume.into(),
        annotate: true,
        resource_version: version.into(),
        ..BindAction::default()
    }
}

fn select(claim: &str, node: &str) -> BindAction {
    BindAction {
        namespace: "default".into(),
        claim: claim.into(),
        claim_uid: format!("uid-{claim}"),
        node: node.into(),
        ..BindAction::default()
    }
}

#[test]
fn pre_bind_says_what_is_to_be_written() {
    let mut world = stocked();
    let both = world.pod(&pod("both", &["csi-one", "one"]));
    assert_eq!(pre_bind(&world.snap, both), vec![], "nothing is reserved");
    reserve(&mut world, both, 0).expect("node a has a volume");
    let actions = pre_bind(&world.snap, both);
    assert_eq!(
        actions,
        vec![bind("v-a", "one", "7"), select("csi-one", "a")]
    );
    let reference = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "namespace": "default", "name": "one", "uid": "uid-one"});
    let expected = json!({
        "metadata": {"resourceVersion": "7", "annotations": {"pv.kubernetes.io/bound-by-controller": "yes"}},
        "spec": {"claimRef": reference}});
    assert_eq!(actions[0].patch(), expected);
    let expected =
        json!({"metadata": {"annotations": {"volume.kubernetes.io/selected-node": "a"}}});
    assert_eq!(actions[1].patch(), expected);
}

#[test]
fn a_promised_volume_gets_its_claims_uid_without_a_mark() {
    let mut world = stocked();
    let promised = json!({"spec": {"claimRef": {"namespace": "default", "name": "one"}}});
    world.volume(&with(volume("v-promised", "wait", "9Gi"), promised));
    let pod = world.pod(&pod("p", &["one"]));
    reserve(&mut world, pod, 0).expect("the promised volume");
    let expected = BindAction {
        annotate: false,
        ..bind("v-promised", "one", "")
    };
    assert_eq!(pre_bind(&world.snap, pod), vec![expected]);
}

#[test]
fn nothing_is_written_for_what_the_api_says_already() {
    let mut world = stocked();
    world.volume(&volume("v", "wait", "1Gi"));
    world.claim(&with(claim("bound", "wait", "1Gi"), bound("v")));
    let selected =
        json!({"metadata": {"annotations": {"volume.kubernetes.io/selected-node": "c"}}});
    world.claim(&with(claim("csi-one", "csi", "1Gi"), selected));
    let own =
        json!({"spec": {"claimRef": {"namespace": "default", "name": "two", "uid": "uid-two"}}});
    world.volume(&with(volume("v-two", "wait", "1Gi"), own));
    let before = world.snap.changes.now();
    let pod = world.pod(&pod("p", &["bound", "csi-one", "two"]));
    reserve(&mut world, pod, 2).expect("node c will do");
    assert_eq!(pre_bind(&world.snap, pod), vec![]);
    assert_eq!(
        all_bound(&world.snap, pod),
        Ok(false),
        "the claims are not bound yet"
    );
    let changes = world.snap.changes.since(before).expect("kept");
    assert!(
        changes
            .iter()
            .all(|change| !matches!(change, Change::Storage)),
        "nothing was assumed"
    );
}

/// Writes of the binding cycle come back as objects; what was assumed of them is dropped for what they say.
#[test]
fn binding_is_followed_to_its_end() {
    let mut world = stocked();
    let pod = world.pod(&pod("p", &["one", "csi-one"]));
    reserve(&mut world, pod, 0).expect("node a has a volume");
    assert_eq!(all_bound(&world.snap, pod), Ok(false));
    let own = json!({"metadata": {"resourceVersion": "8"},
        "spec": {"claimRef": {"namespace": "default", "name": "one", "uid": "uid-one"}}});
    world.volume(&with(local("v-a", "wait", "5Gi", "a"), own));
    let selected =
        json!({"metadata": {"annotations": {"volume.kubernetes.io/selected-node": "a"}}});
    world.claim(&with(claim("csi-one", "csi", "1Gi"), selected.clone()));
    assert_eq!(pre_bind(&world.snap, pod), vec![]);
    assert_eq!(all_bound(&world.snap, pod), Ok(false));
    world.claim(&with(claim("one", "wait", "1Gi"), bound("v-a")));
    let bound_new = with(bound("pvc-1"), selected);
    world.claim(&with(claim("csi-one", "csi", "1Gi"), bound_new));
    assert_eq!(
        all_bound(&world.snap, pod),
        Ok(false),
        "the new volume is not seen yet"
    );
    world.volume(&local("pvc-1", "csi", "1Gi", "a"));
    assert_eq!(all_bound(&world.snap, pod), Ok(true));
    unreserve(&mut world, pod);
    assert_eq!(
        world.judge(NAME, pod),
        Judged::Rows(vec![
            ok(),
            unresolvable("node(s) didn't match PersistentVolume's node affinity"),
            unresolvable("node(s) didn't match PersistentVolume's node affinity"),
        ])
    );
}

#[test]
fn binding_that_cannot_succeed_says_why() {
    let failing = |claims: &[&str], happen: &dyn Fn(&mut World)| {
        let mut world = stocked();
        let pod = world.pod(&pod("p", claims));
        reserve(&mut world, pod, 0).expect("node a will do");
        happen(&mut world);
        all_bound(&world.snap, pod).expect_err("it fails")
    };
    let annotated = |claim: Value, node: &str| {
        with(
            claim,
            json!({"metadata": {"annotations": {"volume.kubernetes.io/selected-node": node}}}),
        )
    };
    let error = failing(&["one"], &|w| {
        w.snap.remove(Kind::PersistentVolume, "", "v-a")
    });
    assert_eq!(
        error,
        "binding volumes: failed to check binding: persistentvolumes \"v-a\" not found"
    );
    let error = failing(&["one"], &|w| {
        w.snap.remove(Kind::PersistentVolumeClaim, "default", "one")
    });
    assert_eq!(
        error,
        "binding volumes: failed to check binding: persistentvolumeclaims \"default/one\" not found"
    );
    let error = failing(&["one"], &|w| w.volume(&local("v-a", "wait", "6Gi", "a")));
    assert_eq!(error, "binding volumes: ClaimRef got reset for pv \"v-a\"");
    let error = failing(&["one"], &|w| w.volume(&local("v-a", "wait", "6Gi", "b")));
    assert_eq!(
        error,
        "binding volumes: pv \"v-a\" node affinity doesn't match node \"a\": no matching NodeSelectorTerms"
    );
    let error = failing(&["csi-one"], &|w| w.claim(&claim("csi-one", "csi", "2Gi")));
    assert_eq!(
        error,
        "binding volumes: selectedNode annotation reset for PVC \"csi-one\""
    );
    let error = failing(&["csi-one"], &|w| {
        w.claim(&annotated(claim("csi-one", "csi", "1Gi"), "b"))
    });
    assert_eq!(
        error,
        "binding volumes: provisioning failed for PVC \"csi-one\""
    );
    let error = failing(&["csi-one"], &|w| {
        w.snap.remove_node("a");
    });
    assert_eq!(
        error,
        "binding volumes: failed to get node \"a\": node \"a\" not found"
    );
}

#[test]
fn an_object_that_is_seen_again_unchanged_leaves_assumptions_alone() {
    let mut world = stocked();
    let pod = world.pod(&pod("p", &["one", "csi-one"]));
    reserve(&mut world, pod, 0).expect("node a has a volume");
    let reserved = world.snap.volumes.assumptions.clone();
    world.volume(&with(
        local("v-a", "wait", "5Gi", "a"),
        json!({"metadata": {"resourceVersion": "7"}}),
    ));
    world.claim(&claim("csi-one", "csi", "1Gi"));
    assert_eq!(world.snap.volumes.assumptions, reserved);
}

#[test]
fn a_removed_pod_holds_nothing() {
    let mut world = stocked();
    let first = world.pod(&pod("first", &["one", "csi-one"]));
    reserve(&mut world, first, 0).expect("node a has a volume");
    world.snap.remove_pod(first);
    assert_eq!(
        world.snap.volumes.assumptions,
        stocked().snap.volumes.assumptions
    );
}

/// An overlay may reserve for a pod that has a reservation: undoing it leaves the older one.
#[test]
fn an_overlay_undoes_only_its_own_reservations() {
    let mut world = stocked();
    let plugin = world.plugin(NAME, &Value::Null);
    let moved = world.pod(&pod("moved", &["one"]));
    let other = world.pod(&pod("other", &["two", "csi-two"]));
    plugin
        .reserve(&mut world.snap, moved, 0)
        .expect("node a has a volume");
    let before = world.snap.volumes.assumptions.clone();
    let mut overlay = Overlay::default();
    overlay
        .reserve(&mut world.snap, &plugin, moved, 0)
        .expect("its own volume");
    overlay
        .reserve(&mut world.snap, &plugin, other, 1)
        .expect("node b has a volume");
    assert_ne!(world.snap.volumes.assumptions, before);
    overlay.discard(&mut world.snap);
    assert_eq!(world.snap.volumes.assumptions, before);
    assert_eq!(pre_bind(&world.snap, moved).len(), 1);
}

#[test]
fn a_claim_named_twice_gets_two_volumes_as_upstream() {
    let mut world = stocked();
    world.volume(&local("v-a-2", "wait", "6Gi", "a"));
    let pod = world.pod(&pod("p", &["one", "one"]));
    let none = unresolvable(MATCH);
    assert_eq!(
        world.judge(NAME, pod),
        Judged::Rows(vec![ok(), none.clone(), none])
    );
    reserve(&mut world, pod, 0).expect("two volumes");
    let volumes: Vec<_> = pre_bind(&world.snap, pod)
        .into_iter()
        .map(|a| a.volume)
        .collect();
    assert_eq!(volumes, ["v-a", "v-a-2"]);
    unreserve(&mut world, pod);
    assert_eq!(
        world.snap.volumes.assumptions,
        stocked().snap.volumes.assumptions
    );
}

#[test]
fn capacity_of_a_driver_matters_to_reserve() {
    let mut world = stocked();
    world.set(
        Kind::CsiDriver,
        &json!({"metadata": {"name": CSI}, "spec": {"storageCapacity": true}}),
    );
    world.set(
        Kind::CsiStorageCapacity,
        &json!({
        "metadata": {"name": "b", "namespace": "default"}, "storageClassName": "csi",
        "nodeTopology": {"matchLabels": {HOST: "b"}}, "capacity": "10Gi"}),
    );
    let pod = world.pod(&pod("p", &["csi-one"]));
    let short = "node(s) did not have enough free storage".to_owned();
    assert_eq!(reserve(&mut world, pod, 0), Err(short));
    assert_eq!(reserve(&mut world, pod, 1), Ok(()));
}
