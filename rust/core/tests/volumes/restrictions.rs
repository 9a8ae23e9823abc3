use crate::support::{Judged, World, claim, ok, on, pod, rejected, statuses, unschedulable, with};
use podium_core::snapshot::PodId;
use serde_json::{Value, json};

const NAME: &str = "VolumeRestrictions";
const DISK: &str = "node(s) had no available disk";
const ONCE: &str = "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod";

fn disk_pod(name: &str, source: Value) -> Value {
    with(
        pod(name, &[]),
        json!({"spec": {"volumes": [with(json!({"name": "v"}), source)]}}),
    )
}

/// What the plugin says of a pod with `mine` where a pod with `theirs` is on the first of two nodes.
fn beside(mine: Value, theirs: Value) -> Judged {
    let mut world = World::default();
    world.node("n0", &[]);
    world.node("n1", &[]);
    world.pod(&with(disk_pod("there", theirs), on("n0")));
    let pod = world.pod(&disk_pod("new", mine));
    world.judge(NAME, pod)
}

fn gce(name: &str, read_only: bool) -> Value {
    json!({"gcePersistentDisk": {"pdName": name, "readOnly": read_only}})
}

fn iscsi(iqn: &str, read_only: bool) -> Value {
    json!({"iscsi": {"targetPortal": "127.0.0.1:3260", "iqn": iqn, "lun": 0, "readOnly": read_only}})
}

fn rbd(monitors: &[&str], image: &str, read_only: bool) -> Value {
    json!({"rbd": {"monitors": monitors, "pool": "foo", "image": image, "readOnly": read_only}})
}

fn aws(id: &str) -> Value {
    json!({"awsElasticBlockStore": {"volumeID": id, "readOnly": true}})
}

#[test]
fn disks_conflict_on_their_node_only() {
    let conflict = Judged::Rows(vec![unschedulable(DISK), ok()]);
    let free = Judged::Rows(vec![ok(), ok()]);
    let cases = [
        ("same disk", gce("foo", false), gce("foo", false), true),
        ("one writes", gce("foo", true), gce("foo", false), true),
        ("both read", gce("foo", true), gce("foo", true), false),
        ("other disk", gce("bar", false), gce("foo", false), false),
        ("EBS even where both read", aws("foo"), aws("foo"), true),
        ("other EBS volume", aws("bar"), aws("foo"), false),
        (
            "same target",
            iscsi("iqn.a", false),
            iscsi("iqn.a", true),
            true,
        ),
        (
            "targets read",
            iscsi("iqn.a", true),
            iscsi("iqn.a", true),
            false,
        ),
        (
            "other target",
            iscsi("iqn.b", false),
            iscsi("iqn.a", false),
            false,
        ),
        (
            "common monitor",
            rbd(&["a", "b"], "i", false),
            rbd(&["c", "b"], "i", false),
            true,
        ),
        (
            "no common monitor",
            rbd(&["a"], "i", false),
            rbd(&["c"], "i", false),
            false,
        ),
        (
            "other image",
            rbd(&["a"], "i", false),
            rbd(&["a"], "j", false),
            false,
        ),
        (
            "images read",
            rbd(&["a"], "i", true),
            rbd(&["a"], "i", true),
            false,
        ),
        ("other kind", gce("foo", false), aws("foo"), false),
    ];
    for (what, mine, theirs, conflicts) in cases {
        let expected = if conflicts { &conflict } else { &free };
        assert_eq!(&beside(mine, theirs), expected, "{what}");
    }
}

#[test]
fn pods_without_such_volumes_are_skipped() {
    assert_eq!(
        beside(json!({"emptyDir": {}}), gce("foo", false)),
        Judged::Skip
    );
    assert_eq!(
        beside(json!({"cinder": {"volumeID": "a"}}), aws("a")),
        Judged::Skip
    );
}

fn once_per_pod(name: &str) -> Value {
    with(
        claim(name, "c", "1Gi"),
        json!({"spec": {"accessModes": ["ReadWriteOncePod"]}}),
    )
}

fn world_with_claims() -> World {
    let mut world = World::default();
    world.node("n0", &[]);
    world.node("n1", &[]);
    world.claim(&once_per_pod("once"));
    world.claim(&claim("shared", "c", "1Gi"));
    world
}

#[test]
fn a_claim_for_one_pod_in_use_anywhere_rejects_every_node() {
    let mut world = world_with_claims();
    let new = world.pod(&pod("new", &["once"]));
    assert_eq!(world.judge(NAME, new), Judged::Skip, "nobody uses it");
    let other = world.pod(&with(pod("other", &["shared"]), on("n0")));
    assert_eq!(world.judge(NAME, new), Judged::Skip, "another claim");
    let user = world.pod(&with(pod("user", &["shared", "once"]), on("n0")));
    let taken = Judged::Rows(vec![unschedulable(ONCE); 2]);
    assert_eq!(world.judge(NAME, new), taken);
    world.snap.remove_pod(other);
    assert_eq!(world.judge(NAME, new), taken);
    world.snap.remove_pod(user);
    assert_eq!(world.judge(NAME, new), Judged::Skip);
}

#[test]
fn a_claim_of_an_ephemeral_volume_is_not_counted() {
    let mut world = world_with_claims();
    world.claim(&once_per_pod("user-v"));
    let user = with(
        pod("user", &[]),
        json!({"spec": {"volumes": [{"name": "v", "ephemeral": {}}]}}),
    );
    world.pod(&with(user, on("n0")));
    let new = world.pod(&pod("new", &["user-v"]));
    assert_eq!(world.judge(NAME, new), Judged::Skip);
}

#[test]
fn a_missing_claim_rejects_the_pod() {
    let mut world = world_with_claims();
    let new = world.pod(&pod("new", &["shared", "gone"]));
    assert_eq!(
        world.judge(NAME, new),
        rejected("persistentvolumeclaim \"gone\" not found")
    );
}

/// Upstream compares claim names without their namespaces when pods come and go hypothetically.
#[test]
fn hypothetical_pods_are_counted_by_claim_name_alone() {
    let mut world = world_with_claims();
    let user = world.pod(&with(pod("user", &["once"]), on("n0")));
    let new = world.pod(&pod("new", &["once"]));
    let stranger = with(
        pod("stranger", &["once"]),
        json!({"metadata": {"namespace": "elsewhere"}}),
    );
    let stranger = world.pod(&stranger);
    let mut filter = world.filter(NAME, new).expect("the claim is in use");
    let mut step = |world: &World, pod: PodId, added: bool| {
        let pod = &world.snap.pods[pod];
        if added {
            filter.add_pod(&world.snap, pod, 0);
        } else {
            filter.remove_pod(&world.snap, pod, 0);
        }
        statuses(&world.snap, &*filter)
    };
    assert_eq!(step(&world, user, false), vec![ok(); 2]);
    assert_eq!(step(&world, stranger, true), vec![unschedulable(ONCE); 2]);
    assert_eq!(step(&world, stranger, false), vec![ok(); 2]);
    assert_eq!(
        step(&world, stranger, false),
        vec![ok(); 2],
        "below zero is as good as zero"
    );
    assert_eq!(
        step(&world, user, true),
        vec![ok(); 2],
        "and counts against the next"
    );
}

#[test]
fn a_claim_named_twice_counts_once() {
    let mut world = world_with_claims();
    let user = world.pod(&with(pod("user", &["once"]), on("n0")));
    let new = world.pod(&pod("new", &["once", "once"]));
    let mut filter = world.filter(NAME, new).expect("the claim is in use");
    filter.remove_pod(&world.snap, &world.snap.pods[user], 0);
    assert_eq!(statuses(&world.snap, &*filter), vec![ok(); 2]);
}

#[test]
fn a_disk_is_told_before_a_claim() {
    let mut world = world_with_claims();
    let user = with(disk_pod("user", gce("foo", false)), json!({}));
    let mut user = with(user, on("n0"));
    let claims = json!({"name": "c", "persistentVolumeClaim": {"claimName": "once"}});
    user["spec"]["volumes"]
        .as_array_mut()
        .expect("volumes")
        .push(claims.clone());
    world.pod(&user);
    let mut new = disk_pod("new", gce("foo", false));
    new["spec"]["volumes"]
        .as_array_mut()
        .expect("volumes")
        .push(claims);
    let new = world.pod(&new);
    let expected = Judged::Rows(vec![unschedulable(DISK), unschedulable(ONCE)]);
    assert_eq!(world.judge(NAME, new), expected);
}
