//! The volume controller of the cluster in memory: who gets which volume.

use crate::cluster::{CLAIM, CSI, VOLUME, apply, brief, cluster, object, select, settle};
use crate::support::{bound, claim, reach, volume, with};
use podium_core::snapshot::volumes::BindAction;
use podium_core::volume_controller::Controller;
use serde_json::{Value, json};

#[test]
fn immediate_claims_get_the_smallest_volume_that_suits() {
    let mut controller = Controller::default();
    for (name, size) in [
        ("big", "9Gi"),
        ("small", "2Gi"),
        ("same", "2Gi"),
        ("tiny", "512Mi"),
    ] {
        apply(&mut controller, VOLUME, &volume(name, "", size));
    }
    let kept = json!({"metadata": {"labels": {"kept": "yes"}}, "spec": {"dataSource": null}});
    apply(&mut controller, CLAIM, &with(claim("c", "", "1Gi"), kept));
    let changed = settle(&mut controller);
    assert_eq!(brief(&changed), ["small Bound c", "c Bound small"]);
    let volume = object(&changed, "small");
    assert_eq!(volume["spec"]["claimRef"]["uid"], "uid-c");
    assert_eq!(
        volume["metadata"]["annotations"]["pv.kubernetes.io/bound-by-controller"],
        "yes"
    );
    let claim = object(&changed, "c");
    let annotations = json!({
        "pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes"});
    assert_eq!(claim["metadata"]["annotations"], annotations);
    assert_eq!(claim["metadata"]["labels"]["kept"], "yes");
    let status =
        json!({"phase": "Bound", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "2Gi"}});
    assert_eq!(claim["status"], status);
}

#[test]
fn fewer_access_modes_come_before_a_smaller_size() {
    let mut controller = Controller::default();
    let modes = json!({"spec": {"accessModes": ["ReadWriteOnce", "ReadOnlyMany"]}});
    apply(
        &mut controller,
        VOLUME,
        &with(volume("small", "", "1Gi"), modes),
    );
    apply(&mut controller, VOLUME, &volume("big", "", "9Gi"));
    apply(&mut controller, CLAIM, &claim("c", "", "1Gi"));
    assert_eq!(
        brief(&settle(&mut controller)),
        ["big Bound c", "c Bound big"]
    );
}

#[test]
fn each_volume_serves_one_claim_in_the_order_seen() {
    let mut controller = Controller::default();
    apply(&mut controller, CLAIM, &claim("second", "", "1Gi"));
    apply(&mut controller, CLAIM, &claim("third", "", "1Gi"));
    apply(
        &mut controller,
        CLAIM,
        &with(
            claim("waiting", "", "9Gi"),
            json!({"status": {"phase": ""}}),
        ),
    );
    apply(&mut controller, VOLUME, &volume("v", "", "1Gi"));
    assert_eq!(
        brief(&settle(&mut controller)),
        ["v Bound second", "second Bound v", "waiting Pending -"]
    );
    controller.remove(CLAIM, "default", "second");
    assert_eq!(
        brief(&settle(&mut controller)),
        ["v Released second"],
        "kept for its owner to look at"
    );
}

#[test]
fn claims_that_wait_are_left_to_the_scheduler() {
    let mut controller = cluster();
    apply(&mut controller, VOLUME, &volume("v", "wait", "1Gi"));
    apply(&mut controller, CLAIM, &claim("c", "wait", "1Gi"));
    apply(
        &mut controller,
        CLAIM,
        &claim("undecided", "missing", "1Gi"),
    );
    assert_eq!(settle(&mut controller), vec![]);
    let bind = BindAction {
        namespace: "default".into(),
        claim: "c".into(),
        claim_uid: "uid-c".into(),
        volume: "v".into(),
        annotate: true,
        ..BindAction::default()
    };
    controller.write(&bind).expect("the volume is there");
    assert_eq!(brief(&settle(&mut controller)), ["v Bound c", "c Bound v"]);
}

#[test]
fn promised_volumes_and_claims_that_name_theirs_find_each_other() {
    let mut controller = cluster();
    let promise = json!({"spec": {"claimRef": {"namespace": "default", "name": "c"}}, "status": {"phase": ""}});
    apply(
        &mut controller,
        VOLUME,
        &with(volume("small", "manual", "1Gi"), json!({})),
    );
    apply(
        &mut controller,
        VOLUME,
        &with(volume("promised", "manual", "5Gi"), promise),
    );
    assert_eq!(brief(&settle(&mut controller)), ["promised Available c"]);
    apply(&mut controller, CLAIM, &claim("c", "manual", "1Gi"));
    assert_eq!(
        brief(&settle(&mut controller)),
        ["promised Bound c", "c Bound promised"]
    );
    let names = |name: &str, size: &str| {
        with(
            claim(name, "manual", size),
            json!({"spec": {"volumeName": "small"}, "status": {"phase": ""}}),
        )
    };
    apply(&mut controller, CLAIM, &names("too-big", "2Gi"));
    assert_eq!(brief(&settle(&mut controller)), ["too-big Pending small"]);
    apply(&mut controller, CLAIM, &names("named", "1Gi"));
    let changed = settle(&mut controller);
    assert_eq!(brief(&changed), ["small Bound named", "named Bound small"]);
    let annotations = json!({"pv.kubernetes.io/bind-completed": "yes"});
    assert_eq!(
        object(&changed, "named")["metadata"]["annotations"],
        annotations,
        "a user chose it"
    );
}

#[test]
fn claims_without_their_volume_are_lost() {
    let mut controller = Controller::default();
    apply(
        &mut controller,
        CLAIM,
        &with(claim("gone", "", "1Gi"), bound("v")),
    );
    let other = json!({"spec": {"claimRef": {"namespace": "default", "name": "x", "uid": "uid-x"}},
        "status": {"phase": "Bound"}});
    apply(
        &mut controller,
        VOLUME,
        &with(volume("taken", "", "1Gi"), other),
    );
    apply(
        &mut controller,
        CLAIM,
        &with(claim("robbed", "", "1Gi"), bound("taken")),
    );
    let expected = ["gone Lost v", "robbed Lost taken", "taken Released x"];
    assert_eq!(brief(&settle(&mut controller)), expected);
    apply(&mut controller, VOLUME, &volume("v", "", "1Gi"));
    assert_eq!(
        brief(&settle(&mut controller)),
        ["v Bound gone", "gone Bound v"],
        "found again"
    );
}

#[test]
fn a_volume_whose_claim_went_elsewhere_is_free_again() {
    let mut controller = Controller::default();
    let holder = json!({"spec": {"claimRef": {"namespace": "default", "name": "c", "uid": "uid-c"}},
        "status": {"phase": "Bound"}});
    let marked =
        json!({"metadata": {"annotations": {"pv.kubernetes.io/bound-by-controller": "yes"}}});
    apply(
        &mut controller,
        VOLUME,
        &with(volume("theirs", "", "1Gi"), holder.clone()),
    );
    apply(
        &mut controller,
        VOLUME,
        &with(with(volume("ours", "", "1Gi"), holder.clone()), marked),
    );
    let made = json!({"metadata": {"annotations": {"pv.kubernetes.io/provisioned-by": CSI}},
        "spec": {"persistentVolumeReclaimPolicy": "Delete"}});
    apply(
        &mut controller,
        VOLUME,
        &with(with(volume("made", "", "1Gi"), holder.clone()), made),
    );
    apply(
        &mut controller,
        VOLUME,
        &with(volume("v", "", "1Gi"), holder),
    );
    apply(
        &mut controller,
        CLAIM,
        &with(claim("c", "", "1Gi"), bound("v")),
    );
    let changed = settle(&mut controller);
    assert_eq!(
        brief(&changed),
        ["theirs Available c", "ours Available -", "made deleted"]
    );
    assert_eq!(
        object(&changed, "theirs")["spec"]["claimRef"]["uid"],
        Value::Null
    );
}

#[test]
fn a_write_to_an_object_that_changed_or_went_is_refused() {
    let mut controller = cluster();
    apply(
        &mut controller,
        VOLUME,
        &with(volume("v", "wait", "1Gi"), reach(&[("zone", &["z"])])),
    );
    let version = json!({"metadata": {"resourceVersion": "5"}});
    apply(
        &mut controller,
        CLAIM,
        &with(claim("c", "wait", "1Gi"), version),
    );
    let old = BindAction {
        resource_version: "4".into(),
        ..select("c", "n")
    };
    let error = controller
        .write(&old)
        .expect_err("a newer one is there")
        .to_string();
    assert!(
        error.starts_with("Operation cannot be fulfilled on persistentvolumeclaims \"c\""),
        "{error}"
    );
    let error = controller
        .write(&select("x", "n"))
        .expect_err("there is none")
        .to_string();
    assert_eq!(error, "persistentvolumeclaims \"x\" not found");
    assert_eq!(settle(&mut controller), vec![]);
}

/// Two profiles may promise the same thing; manifests have no versions by which the second write is refused.
#[test]
fn a_write_does_not_undo_another_where_there_are_no_versions() {
    let mut controller = cluster();
    let place = reach(&[("zone", &["z"])]);
    apply(
        &mut controller,
        VOLUME,
        &with(volume("v", "wait", "1Gi"), place),
    );
    for name in ["c", "d", "e"] {
        apply(&mut controller, CLAIM, &claim(name, "wait", "1Gi"));
    }
    let bind = |claim: &str| BindAction {
        namespace: "default".into(),
        claim: claim.into(),
        claim_uid: format!("uid-{claim}"),
        volume: "v".into(),
        annotate: true,
        ..BindAction::default()
    };
    controller.write(&bind("c")).expect("it is free");
    controller.write(&bind("c")).expect("the same again");
    let error = controller.write(&bind("d")).expect_err("it is not");
    assert!(
        error
            .to_string()
            .starts_with("Operation cannot be fulfilled on persistentvolumes \"v\"")
    );
    controller
        .write(&select("e", "n"))
        .expect("none is selected");
    controller.write(&select("e", "n")).expect("the same again");
    controller.write(&select("e", "m")).expect_err("another is");
}

#[test]
fn objects_without_uids_are_bound_all_the_same() {
    let mut controller = Controller::default();
    let anonymous = json!({"metadata": {"uid": ""}});
    apply(
        &mut controller,
        VOLUME,
        &with(volume("v", "", "1Gi"), anonymous.clone()),
    );
    apply(
        &mut controller,
        CLAIM,
        &with(claim("c", "", "1Gi"), anonymous),
    );
    assert_eq!(brief(&settle(&mut controller)), ["v Bound c", "c Bound v"]);
}
