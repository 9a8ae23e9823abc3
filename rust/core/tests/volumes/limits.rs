use crate::support::{
    Judged, WAIT, World, bound, claim, class, csi, csi_node, error, ok, on, pod, unresolvable,
    unschedulable, volume, with,
};
use podium_core::snapshot::Kind;
use serde_json::{Value, json};

const NAME: &str = "NodeVolumeLimits";
const FULL: &str = "node(s) exceed max volume count";
const EBS: &str = "ebs.csi.aws.com";
const PD: &str = "pd.csi.storage.gke.io";

fn in_tree(id: &str) -> Value {
    json!({"spec": {"awsElasticBlockStore": {"volumeID": id}}})
}

fn inline(name: &str, id: &str) -> Value {
    let volume = json!({"name": "v", "awsElasticBlockStore": {"volumeID": id}});
    with(pod(name, &[]), json!({"spec": {"volumes": [volume]}}))
}

/// A node whose EBS driver takes `limit` volumes; claims `ebs-N`, `pd-N`, `tree-N` bound to volumes of
/// either driver and of the in-tree plugin; claims `wait-*` unbound.
fn world(limit: Option<i32>) -> World {
    let mut world = World::default();
    world.node("n", &[]);
    world.set(Kind::CsiNode, &csi_node("n", &[(EBS, limit), (PD, None)]));
    for n in 0..5 {
        let claims = [
            (format!("ebs-{n}"), csi(EBS, &format!("vol-{n}"))),
            (format!("pd-{n}"), csi(PD, &format!("disk-{n}"))),
            (format!("tree-{n}"), in_tree(&format!("tree-{n}"))),
        ];
        for (name, source) in claims {
            world.volume(&with(volume(&format!("v-{name}"), "", "1Gi"), source));
            world.claim(&with(claim(&name, "", "1Gi"), bound(&format!("v-{name}"))));
        }
    }
    world.class(&class("ebs", EBS, WAIT));
    world.class(&class("tree", "kubernetes.io/aws-ebs", WAIT));
    world.class(&class("files", "kubernetes.io/azure-file", WAIT));
    for (name, class) in [
        ("ebs", "ebs"),
        ("tree", "tree"),
        ("files", "files"),
        ("none", "gone"),
    ] {
        world.claim(&claim(&format!("wait-{name}"), class, "1Gi"));
        world.claim(&claim(&format!("wait-{name}-2"), class, "1Gi"));
    }
    world
}

/// What the plugin says of a pod with `claims` where pods with `others` are on the node.
fn beside(
    world: &mut World,
    claims: &[&str],
    others: &[&[&str]],
) -> (podium_core::status::Code, String) {
    for (n, claims) in others.iter().enumerate() {
        world.pod(&with(pod(&format!("there-{n}"), claims), on("n")));
    }
    let new = world.pod(&pod("new", claims));
    one(world.judge(NAME, new))
}

fn one(judged: Judged) -> (podium_core::status::Code, String) {
    match judged {
        Judged::Rows(rows) => rows.into_iter().next().expect("one node"),
        other => panic!("not judged by node: {other:?}"),
    }
}

#[test]
fn volumes_on_the_node_and_new_ones_must_fit() {
    let full = unschedulable(FULL);
    /// What it shows, the limit, claims of the pod, claims of the pods on the node, whether it fits.
    type Case<'a> = (&'a str, i32, &'a [&'a str], &'a [&'a [&'a str]], bool);
    let cases: [Case<'_>; 18] = [
        (
            "fits",
            4,
            &["ebs-0"],
            &[&["ebs-3"], &["ebs-1", "ebs-2"]],
            true,
        ),
        ("one too many", 2, &["ebs-0"], &[&["ebs-1", "ebs-2"]], false),
        (
            "shared volume is free",
            2,
            &["ebs-1"],
            &[&["ebs-1", "ebs-2"]],
            true,
        ),
        (
            "shared, but overfull already",
            1,
            &["ebs-1"],
            &[&["ebs-1", "ebs-2"]],
            true,
        ),
        (
            "one shared, one new",
            2,
            &["ebs-1", "ebs-0"],
            &[&["ebs-1", "ebs-2"]],
            false,
        ),
        (
            "unbound counts by class",
            2,
            &["ebs-0"],
            &[&["ebs-1"], &["wait-ebs"]],
            false,
        ),
        (
            "the same unbound claim twice",
            2,
            &["wait-ebs"],
            &[&["wait-ebs"], &["ebs-1"]],
            true,
        ),
        (
            "two unbound claims",
            1,
            &["wait-ebs", "wait-ebs-2"],
            &[],
            false,
        ),
        ("no such class", 1, &["wait-none", "wait-none-2"], &[], true),
        ("another driver", 1, &["ebs-0"], &[&["pd-1", "pd-2"]], true),
        (
            "no limit for the driver",
            1,
            &["pd-0"],
            &[&["pd-1", "pd-2"]],
            true,
        ),
        (
            "in-tree counts for the driver",
            1,
            &["tree-0"],
            &[&["ebs-1"]],
            false,
        ),
        ("in-tree on the node", 1, &["ebs-0"], &[&["tree-1"]], false),
        ("unbound in-tree", 1, &["wait-tree"], &[&["ebs-1"]], false),
        (
            "class of a plugin that is not migrated",
            1,
            &["wait-files", "wait-files-2"],
            &[],
            true,
        ),
        ("limit 0", 0, &["ebs-0"], &[], false),
        ("named twice in the pod", 1, &["ebs-0", "ebs-0"], &[], true),
        (
            "unknown claim of a pod on the node",
            1,
            &["ebs-0"],
            &[&["missing"]],
            true,
        ),
    ];
    for (what, limit, claims, others, fits) in cases {
        let expected = if fits { ok() } else { full.clone() };
        assert_eq!(
            beside(&mut world(Some(limit)), claims, others),
            expected,
            "{what}"
        );
    }
}

#[test]
fn in_tree_volumes_count_by_the_handle_of_their_translation() {
    let mut world = world(Some(1));
    world.pod(&with(inline("there", "aws:///vol-1"), on("n")));
    let same = world.pod(&pod("same", &["ebs-1"]));
    assert_eq!(one(world.judge(NAME, same)), ok());
    let other = world.pod(&inline("other", "vol-9"));
    assert_eq!(one(world.judge(NAME, other)), unschedulable(FULL));
    let same = world.pod(&inline("same-inline", "vol-1"));
    assert_eq!(one(world.judge(NAME, same)), ok());
}

#[test]
fn an_inline_volume_that_cannot_be_translated_is_an_error() {
    let mut world = world(Some(1));
    let broken = world.pod(&inline("broken", "aws://zone/disk-1"));
    let message = "converting volume(v) from inline to csi: failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (aws://zone/disk-1)";
    assert_eq!(one(world.judge(NAME, broken)), error(message));
    world.snap.remove(Kind::CsiNode, "", "n");
    assert_eq!(
        one(world.judge(NAME, broken)),
        ok(),
        "not looked at without a CSINode"
    );
}

#[test]
fn nodes_without_csi_node_or_count_have_no_limit() {
    let claims: &[&str] = &["ebs-0", "wait-ebs"];
    assert_eq!(beside(&mut world(None), claims, &[&["ebs-1"]]), ok());
    let mut bare = world(Some(1));
    bare.snap.remove(Kind::CsiNode, "", "n");
    assert_eq!(beside(&mut bare, claims, &[&["ebs-1"]]), ok());
}

#[test]
fn attachments_count_unless_a_pod_accounts_for_them() {
    let attachment = |name: &str, volume: &str| {
        json!({"metadata": {"name": name},
            "spec": {"attacher": EBS, "nodeName": "n", "source": {"persistentVolumeName": volume}}})
    };
    let mut world = world(Some(2));
    world.set(Kind::VolumeAttachment, &attachment("a1", "v-ebs-1"));
    world.set(Kind::VolumeAttachment, &attachment("a2", "missing"));
    world.set(Kind::VolumeAttachment, &attachment("a3", "v-tree-1"));
    let new = world.pod(&pod("new", &["ebs-0"]));
    assert_eq!(one(world.judge(NAME, new)), ok(), "one attached, one new");
    world.set(Kind::VolumeAttachment, &attachment("a4", "v-ebs-2"));
    assert_eq!(one(world.judge(NAME, new)), unschedulable(FULL));
    let user = world.pod(&with(pod("user", &["ebs-2"]), on("n")));
    assert_eq!(
        one(world.judge(NAME, new)),
        unschedulable(FULL),
        "counted once"
    );
    world.snap.remove_pod(user);
    world.snap.remove(Kind::VolumeAttachment, "", "a1");
    assert_eq!(one(world.judge(NAME, new)), ok());
    let own = world.pod(&pod("own", &["ebs-2"]));
    world.set(Kind::VolumeAttachment, &attachment("a1", "v-ebs-1"));
    let reason = "upstream subtracts what pods use, not what attachments say";
    assert_eq!(one(world.judge(NAME, own)), unschedulable(FULL), "{reason}");
}

#[test]
fn pods_without_volumes_that_can_count_are_skipped() {
    let mut world = world(Some(1));
    let volumes = |volumes: Value| with(pod("p", &[]), json!({"spec": {"volumes": volumes}}));
    let skipped = json!([{"name": "a", "secret": {}}, {"name": "b", "iscsi": {"iqn": "x"}}]);
    let skipped = world.pod(&volumes(skipped));
    assert_eq!(world.judge(NAME, skipped), Judged::Skip);
    for source in [
        "azureFile",
        "vsphereVolume",
        "portworxVolume",
        "cinder",
        "gcePersistentDisk",
    ] {
        let judged = world.pod(&volumes(json!([{"name": "a", source: {}}])));
        assert_eq!(one(world.judge(NAME, judged)), ok(), "{source}");
    }
}

#[test]
fn ephemeral_volumes_need_their_claim() {
    let mut world = world(Some(1));
    let source = json!({"spec": {"volumes": [{"name": "v", "ephemeral": {}}]}});
    let new = world.pod(&with(pod("new", &[]), source));
    let missing = "looking up PVC default/new-v: persistentvolumeclaim \"new-v\" not found";
    assert_eq!(one(world.judge(NAME, new)), unresolvable(missing));
    world.claim(&claim("new-v", "ebs", "1Gi"));
    let stranger = "PVC default/new-v was not created for pod default/new (pod is not owner)";
    assert_eq!(one(world.judge(NAME, new)), error(stranger));
    let owner = json!([{"apiVersion": "v1", "kind": "Pod", "name": "new", "uid": "uid-new", "controller": true}]);
    world.claim(&with(
        claim("new-v", "ebs", "1Gi"),
        json!({"metadata": {"ownerReferences": owner}}),
    ));
    assert_eq!(one(world.judge(NAME, new)), ok());
    world.pod(&with(pod("there", &["ebs-1"]), on("n")));
    assert_eq!(one(world.judge(NAME, new)), unschedulable(FULL));
}

#[test]
fn a_required_driver_must_be_on_the_node() {
    let driver = |required: bool| json!({"metadata": {"name": EBS}, "spec": {"preventPodSchedulingIfMissing": required}});
    let missing = unschedulable("ebs.csi.aws.com CSI driver is not installed on the node");
    let mut world = world(Some(1));
    world.node("bare", &[]);
    world.node("other", &[]);
    world.set(Kind::CsiNode, &csi_node("other", &[(PD, Some(1))]));
    let new = world.pod(&pod("new", &["ebs-0"]));
    assert_eq!(
        world.judge(NAME, new),
        Judged::Rows(vec![ok(); 3]),
        "no CSIDriver"
    );
    world.set(Kind::CsiDriver, &driver(false));
    assert_eq!(
        world.judge(NAME, new),
        Judged::Rows(vec![ok(); 3]),
        "not required"
    );
    world.set(Kind::CsiDriver, &driver(true));
    let expected = Judged::Rows(vec![ok(), missing.clone(), missing]);
    assert_eq!(world.judge(NAME, new), expected);
}

#[test]
fn counts_follow_claims_volumes_and_classes() {
    let mut world = world(Some(1));
    world.claim(&with(claim("late", "ebs", "1Gi"), bound("v-late")));
    world.pod(&with(pod("there", &["late"]), on("n")));
    let new = world.pod(&pod("new", &["ebs-0"]));
    assert_eq!(
        one(world.judge(NAME, new)),
        unschedulable(FULL),
        "its volume is missing: by class"
    );
    world.volume(&with(volume("v-late", "ebs", "1Gi"), csi(PD, "late")));
    assert_eq!(
        one(world.judge(NAME, new)),
        ok(),
        "its volume is of another driver"
    );
    world.volume(&with(volume("v-late", "ebs", "1Gi"), csi(EBS, "vol-0")));
    assert_eq!(
        one(world.judge(NAME, new)),
        ok(),
        "its volume is the pod's own"
    );
    world.volume(&with(volume("v-late", "ebs", "1Gi"), csi(EBS, "late")));
    assert_eq!(one(world.judge(NAME, new)), unschedulable(FULL));
    world.claim(&claim("late", "ebs", "1Gi"));
    assert_eq!(
        one(world.judge(NAME, new)),
        unschedulable(FULL),
        "unbound again"
    );
    world.snap.remove(Kind::StorageClass, "", "ebs");
    assert_eq!(one(world.judge(NAME, new)), ok());
}
