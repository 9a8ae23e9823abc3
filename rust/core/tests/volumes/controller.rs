//! The volume controller of the cluster in memory.

use crate::support::{WAIT, bound, claim, class, csi_node, reach, volume, with};
use podium_core::snapshot::volumes::BindAction;
use podium_core::volume_controller::{Changed, Controller};
use serde_json::{Value, json};

const VOLUME: &str = "PersistentVolume";
const CLAIM: &str = "PersistentVolumeClaim";
const CSI: &str = "driver.csi.k8s.io";

fn apply(controller: &mut Controller, kind: &str, object: &Value) {
    let json = serde_json::to_vec(object).expect("JSON");
    controller.apply(kind, &json).expect("a valid object");
}

fn settle(controller: &mut Controller) -> Vec<Changed> {
    let changed = controller.settle().expect("valid objects");
    assert_eq!(
        controller.settle().expect("valid objects"),
        vec![],
        "nothing is left to do"
    );
    changed
}

/// What changed, as `name: field`, with the object reduced to what binding is about.
fn brief(changed: &[Changed]) -> Vec<String> {
    let brief = |c: &Changed| {
        let Some(object) = &c.object else {
            return format!("{} deleted", c.name);
        };
        let phase = object["status"]["phase"].as_str().unwrap_or_default();
        let other = if c.kind == VOLUME {
            object["spec"]["claimRef"]["name"].as_str()
        } else {
            object["spec"]["volumeName"].as_str()
        };
        format!("{} {phase} {}", c.name, other.unwrap_or("-"))
    };
    changed.iter().map(brief).collect()
}

/// Classes `now`, `wait` and `manual`, and a node `n` in zone `z` that has the driver.
fn cluster() -> Controller {
    let mut controller = Controller::default();
    apply(
        &mut controller,
        "StorageClass",
        &class("now", CSI, "Immediate"),
    );
    apply(&mut controller, "StorageClass", &class("wait", CSI, WAIT));
    apply(
        &mut controller,
        "StorageClass",
        &class("manual", "kubernetes.io/no-provisioner", WAIT),
    );
    let labels = json!({"kubernetes.io/hostname": "n", "zone": "z"});
    apply(
        &mut controller,
        "Node",
        &json!({"metadata": {"name": "n", "labels": labels}}),
    );
    controller
}

fn object(changed: &[Changed], name: &str) -> Value {
    let found = changed.iter().find(|c| c.name == name);
    found
        .and_then(|c| c.object.clone())
        .expect("a changed object")
}

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
fn claims_of_a_class_that_binds_at_once_are_provisioned() {
    let mut controller = cluster();
    let plain =
        json!({"metadata": {"resourceVersion": "5"}, "spec": {"accessModes": ["ReadWriteMany"]}});
    apply(
        &mut controller,
        CLAIM,
        &with(claim("c", "now", "3Gi"), plain),
    );
    let changed = settle(&mut controller);
    assert_eq!(brief(&changed), ["pvc-uid-c Bound c", "c Bound pvc-uid-c"]);
    let volume = object(&changed, "pvc-uid-c");
    let spec = json!({
        "capacity": {"storage": "3Gi"}, "accessModes": ["ReadWriteMany"], "volumeMode": "Filesystem",
        "storageClassName": "now", "persistentVolumeReclaimPolicy": "Delete",
        "csi": {"driver": CSI, "volumeHandle": "pvc-uid-c"},
        "claimRef": {"apiVersion": "v1", "kind": CLAIM, "namespace": "default", "name": "c", "uid": "uid-c"}});
    assert_eq!(volume["spec"], spec);
    assert_eq!(
        volume["metadata"]["annotations"],
        json!({"pv.kubernetes.io/provisioned-by": CSI})
    );
    assert_eq!(object(&changed, "c")["metadata"]["resourceVersion"], "6");
    controller.remove(CLAIM, "default", "c");
    assert_eq!(brief(&settle(&mut controller)), ["pvc-uid-c deleted"]);
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

fn select(claim: &str, node: &str) -> BindAction {
    BindAction {
        namespace: "default".into(),
        claim: claim.into(),
        node: node.into(),
        ..BindAction::default()
    }
}

#[test]
fn a_selected_node_gets_a_volume_that_it_can_use() {
    let term = json!([
        {"matchLabelExpressions": [{"key": "zone", "values": ["y"]}]},
        {"matchLabelExpressions": [{"key": "zone", "values": ["x", "z"]}]}]);
    let by_class =
        json!({"allowedTopologies": term, "mountOptions": ["ro"], "reclaimPolicy": "Retain"});
    let expression =
        |key: &str, value: &str| json!({"key": key, "operator": "In", "values": [value]});
    let driver = |keys: Value| {
        with(
            csi_node("n", &[]),
            json!({"spec": {"drivers": [{"name": CSI, "topologyKeys": keys}]}}),
        )
    };
    let cases = [
        ("nothing is known", json!({}), None, None),
        (
            "the class",
            by_class.clone(),
            None,
            Some(json!([expression("zone", "z")])),
        ),
        (
            "the driver",
            by_class,
            Some(driver(json!(["kubernetes.io/hostname", "none"]))),
            Some(json!([expression("kubernetes.io/hostname", "n")])),
        ),
    ];
    for (what, patch, csi, expected) in cases {
        let mut controller = cluster();
        apply(
            &mut controller,
            "StorageClass",
            &with(class("wait", CSI, WAIT), patch),
        );
        if let Some(csi) = csi {
            apply(&mut controller, "CSINode", &csi);
        }
        apply(&mut controller, CLAIM, &claim("c", "wait", "1Gi"));
        controller
            .write(&select("c", "n"))
            .expect("the claim is there");
        let changed = settle(&mut controller);
        assert_eq!(
            brief(&changed),
            ["c Bound pvc-uid-c", "pvc-uid-c Bound c"],
            "{what}"
        );
        let volume = object(&changed, "pvc-uid-c");
        let terms = &volume["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"];
        let expressions = terms
            .as_array()
            .map(|terms| terms[0]["matchExpressions"].clone());
        assert_eq!(expressions, expected, "{what}");
    }
}

#[test]
fn a_claim_whose_node_is_gone_goes_back_to_the_scheduler() {
    let mut controller = cluster();
    apply(&mut controller, CLAIM, &claim("c", "wait", "1Gi"));
    controller.remove("Node", "", "n");
    controller
        .write(&select("c", "n"))
        .expect("the claim is there");
    let changed = settle(&mut controller);
    assert_eq!(object(&changed, "c")["metadata"]["annotations"], json!({}));
}

#[test]
fn in_tree_classes_are_provisioned_by_their_drivers() {
    let mut controller = cluster();
    apply(
        &mut controller,
        "StorageClass",
        &class("tree", "kubernetes.io/aws-ebs", "Immediate"),
    );
    apply(&mut controller, CLAIM, &claim("c", "tree", "1Gi"));
    let changed = settle(&mut controller);
    assert_eq!(
        object(&changed, "pvc-uid-c")["spec"]["csi"]["driver"],
        "ebs.csi.aws.com"
    );
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
