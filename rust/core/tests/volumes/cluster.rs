//! A cluster in memory with its volume controller.

use crate::support::{WAIT, class};
use podium_core::snapshot::volumes::BindAction;
use podium_core::volume_controller::{Changed, Controller};
use serde_json::{Value, json};

pub(crate) const VOLUME: &str = "PersistentVolume";
pub(crate) const CLAIM: &str = "PersistentVolumeClaim";
pub(crate) const CSI: &str = "driver.csi.k8s.io";

pub(crate) fn apply(controller: &mut Controller, kind: &str, object: &Value) {
    let json = serde_json::to_vec(object).expect("JSON");
    controller.apply(kind, &json).expect("a valid object");
}

pub(crate) fn settle(controller: &mut Controller) -> Vec<Changed> {
    let changed = controller.settle().expect("valid objects");
    assert_eq!(
        controller.settle().expect("valid objects"),
        vec![],
        "nothing is left to do"
    );
    changed
}

/// What changed, as `name: field`, with the object reduced to what binding is about.
pub(crate) fn brief(changed: &[Changed]) -> Vec<String> {
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
pub(crate) fn cluster() -> Controller {
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

pub(crate) fn object(changed: &[Changed], name: &str) -> Value {
    let found = changed.iter().find(|c| c.name == name);
    found
        .and_then(|c| c.object.clone())
        .expect("a changed object")
}

pub(crate) fn select(claim: &str, node: &str) -> BindAction {
    BindAction {
        namespace: "default".into(),
        claim: claim.into(),
        node: node.into(),
        ..BindAction::default()
    }
}
