use crate::support::{
    Judged, WAIT, World, bound, claim, class, ok, pod, rejected, unresolvable, volume, with,
};
use serde_json::json;

const NAME: &str = "VolumeZone";
const REASON: &str = "node(s) had no available volume zone";
const ZONE: &str = "topology.kubernetes.io/zone";
const REGION: &str = "topology.kubernetes.io/region";
const BETA_ZONE: &str = "failure-domain.beta.kubernetes.io/zone";
const BETA_REGION: &str = "failure-domain.beta.kubernetes.io/region";

/// Whether a node with these labels takes a pod whose volume has those.
fn fits(volume_labels: &[(&str, &str)], node_labels: &[(&str, &str)]) -> Judged {
    let mut world = World::default();
    let labels: serde_json::Map<_, _> = volume_labels
        .iter()
        .map(|(k, v)| ((*k).to_owned(), json!(v)))
        .collect();
    world.volume(&with(
        volume("v", "", "1Gi"),
        json!({"metadata": {"labels": labels}}),
    ));
    world.claim(&with(claim("c", "", "1Gi"), bound("v")));
    world.node("n", node_labels);
    let pod = world.pod(&pod("p", &["c"]));
    world.judge(NAME, pod)
}

#[test]
fn zone_labels_of_volumes_hold_for_nodes() {
    let a = "us-west1-a";
    type Labels<'a> = &'a [(&'a str, &'a str)];
    let cases: [(Labels<'_>, Labels<'_>, bool); 15] = [
        (&[(BETA_ZONE, a)], &[], true),
        (&[(BETA_ZONE, a)], &[(BETA_ZONE, a), ("other", "")], true),
        (&[(BETA_ZONE, a)], &[(BETA_ZONE, "us-west1-b")], false),
        (
            &[(BETA_REGION, "us-west1")],
            &[(BETA_REGION, "us-west1")],
            true,
        ),
        (&[(BETA_REGION, "us-west1")], &[(BETA_REGION, "no")], false),
        (&[(ZONE, a)], &[(ZONE, a)], true),
        (&[(ZONE, a)], &[(ZONE, "no")], false),
        (&[(REGION, "us-west1")], &[(REGION, "no")], false),
        (&[(ZONE, a), (REGION, "us-west1")], &[(ZONE, a)], false),
        (&[(ZONE, a)], &[(BETA_ZONE, a)], false),
        (&[(BETA_ZONE, a)], &[(ZONE, a)], true),
        (&[(BETA_ZONE, a)], &[(ZONE, "no")], false),
        (&[(BETA_ZONE, a)], &[(BETA_ZONE, "no"), (ZONE, a)], false),
        (&[(ZONE, "us-west1-c__us-west1-a")], &[(ZONE, a)], true),
        (&[(ZONE, a)], &[(REGION, "us-west1")], false),
    ];
    for (volume, node, fit) in cases {
        let expected = if fit { ok() } else { unresolvable(REASON) };
        assert_eq!(
            fits(volume, node),
            Judged::Rows(vec![expected]),
            "{volume:?} on {node:?}"
        );
    }
}

#[test]
fn volumes_without_zones_are_skipped() {
    assert_eq!(fits(&[], &[(ZONE, "a")]), Judged::Skip);
    assert_eq!(fits(&[("other", "a")], &[(ZONE, "a")]), Judged::Skip);
    assert_eq!(
        fits(&[(ZONE, "a____b")], &[(ZONE, "a")]),
        Judged::Skip,
        "an empty zone"
    );
    assert_eq!(fits(&[(ZONE, "")], &[(ZONE, "a")]), Judged::Skip);
}

#[test]
fn what_is_wrong_with_a_claim_is_told() {
    let mut world = World::default();
    world.node("n", &[(ZONE, "a")]);
    world.class(&class("now", "p", "Immediate"));
    world.class(&class("later", "p", WAIT));
    world.class(&json!({"metadata": {"name": "undecided"}, "provisioner": "p"}));
    for (name, class) in [
        ("now", "now"),
        ("later", "later"),
        ("undecided", "undecided"),
    ] {
        world.claim(&claim(name, class, "1Gi"));
    }
    world.claim(&claim("classless", "", "1Gi"));
    world.claim(&claim("lost", "nowhere", "1Gi"));
    world.claim(&with(claim("dangling", "now", "1Gi"), bound("missing")));
    let cases = [
        ("gone", rejected("persistentvolumeclaim \"gone\" not found")),
        ("now", rejected("PersistentVolume had no name")),
        ("later", Judged::Skip),
        (
            "undecided",
            rejected("VolumeBindingMode not set for StorageClass \"undecided\""),
        ),
        (
            "classless",
            rejected("PersistentVolumeClaim had no pv name and storageClass name"),
        ),
        (
            "lost",
            rejected("storageclass.storage.k8s.io \"nowhere\" not found"),
        ),
        (
            "dangling",
            rejected("persistentvolume \"missing\" not found"),
        ),
        ("", rejected("PersistentVolumeClaim had no name")),
    ];
    for (claim, expected) in cases {
        let pod = world.pod(&pod(&format!("p-{claim}"), &[claim]));
        assert_eq!(world.judge(NAME, pod), expected, "claim {claim}");
    }
}

#[test]
fn every_volume_counts_and_ephemeral_ones_do_not() {
    let mut world = World::default();
    for zone in ["a", "b"] {
        world.node(&format!("n-{zone}"), &[(ZONE, zone), (REGION, "r")]);
        let labels = json!({"metadata": {"labels": {ZONE: zone, REGION: "r"}}});
        world.volume(&with(volume(&format!("v-{zone}"), "", "1Gi"), labels));
        let name = format!("c-{zone}");
        world.claim(&with(claim(&name, "", "1Gi"), bound(&format!("v-{zone}"))));
    }
    let both = world.pod(&pod("both", &["c-a", "c-b"]));
    assert_eq!(
        world.judge(NAME, both),
        Judged::Rows(vec![unresolvable(REASON); 2])
    );
    let one = world.pod(&pod("one", &["c-a", "c-a"]));
    assert_eq!(
        world.judge(NAME, one),
        Judged::Rows(vec![ok(), unresolvable(REASON)])
    );
    let ephemeral = json!({"spec": {"volumes": [{"name": "a", "ephemeral": {}}]}});
    let ephemeral = world.pod(&with(pod("c", &[]), ephemeral));
    assert_eq!(world.judge(NAME, ephemeral), Judged::Skip);
}

#[test]
fn the_old_class_annotation_wins() {
    let mut world = World::default();
    world.node("n", &[]);
    world.class(&class("later", "p", WAIT));
    let annotation =
        json!({"metadata": {"annotations": {"volume.beta.kubernetes.io/storage-class": "later"}}});
    world.claim(&with(claim("c", "nowhere", "1Gi"), annotation));
    let pod = world.pod(&pod("p", &["c"]));
    assert_eq!(world.judge(NAME, pod), Judged::Skip);
}
