//! What provisioners of the cluster in memory make.

use crate::cluster::{CLAIM, CSI, apply, brief, cluster, object, select, settle};
use crate::support::{WAIT, claim, class, csi_node, with};
use serde_json::{Value, json};

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
