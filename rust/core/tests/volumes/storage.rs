//! The cluster in which VolumeBinding is tested.

use crate::support::{Judged, WAIT, World, class, pod, reach, volume, with};
use podium_core::status::Code;
use serde_json::{Value, json};

pub(crate) const NAME: &str = "VolumeBinding";

pub(crate) const NODE: &str = "node(s) didn't match PersistentVolume's node affinity";

pub(crate) const MATCH: &str = "node(s) didn't find available persistent volumes to bind";

pub(crate) const SPACE: &str = "node(s) did not have enough free storage";

pub(crate) const GONE: &str =
    "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)";

pub(crate) const HOST: &str = "kubernetes.io/hostname";

pub(crate) const MANUAL: &str = "kubernetes.io/no-provisioner";

pub(crate) const CSI: &str = "driver.csi.k8s.io";

/// Nodes `a`, `b` and `c` with host names; class `wait` of volumes made by hand, `hdd` likewise, `now`
/// that binds at once, `csi` that provisions, and `topo` that does so on node `b` only.
pub(crate) fn world() -> World {
    let mut world = World::default();
    for name in ["a", "b", "c"] {
        world.node(
            name,
            &[
                (HOST, name),
                ("zone", if name == "a" { "z1" } else { "z2" }),
            ],
        );
    }
    world.class(&class("wait", MANUAL, WAIT));
    world.class(&class("hdd", MANUAL, WAIT));
    world.class(&class("now", CSI, "Immediate"));
    world.class(&class("csi", CSI, WAIT));
    let term = json!([{"matchLabelExpressions": [{"key": HOST, "values": ["b"]}]}]);
    world.class(&with(
        class("topo", CSI, WAIT),
        json!({"allowedTopologies": term}),
    ));
    world
}

pub(crate) fn local(name: &str, class: &str, size: &str, node: &str) -> Value {
    with(volume(name, class, size), reach(&[(HOST, &[node])]))
}

pub(crate) fn judge(world: &mut World, claims: &[&str]) -> Judged {
    let pod = world.pod(&pod("p", claims));
    world.judge(NAME, pod)
}

pub(crate) fn rows(rows: [(Code, String); 3]) -> Judged {
    Judged::Rows(rows.into())
}

pub(crate) fn all(row: (Code, String)) -> Judged {
    Judged::Rows(vec![row; 3])
}
