use crate::storage::{HOST, MATCH, NAME, NODE, all, judge, local, rows, world};
use crate::support::{bound, claim, ok, pod, unresolvable, volume, with};
use podium_core::snapshot::Kind;
use serde_json::{Value, json};

#[test]
fn unbound_claims_need_a_volume_or_a_provisioner() {
    let mut world = world();
    world.volume(&local("v-a", "wait", "5Gi", "a"));
    world.volume(&local("v-b", "wait", "1Gi", "b"));
    world.volume(&with(
        local("v-c", "wait", "5Gi", "c"),
        json!({"status": {"phase": "Released"}}),
    ));
    world.claim(&claim("two", "wait", "2Gi"));
    world.claim(&claim("any", "csi", "2Gi"));
    world.claim(&claim("topo", "topo", "2Gi"));
    let none = unresolvable(MATCH);
    assert_eq!(
        judge(&mut world, &["two"]),
        rows([ok(), none.clone(), none.clone()])
    );
    assert_eq!(judge(&mut world, &["any"]), all(ok()));
    assert_eq!(
        judge(&mut world, &["topo"]),
        rows([none.clone(), ok(), none.clone()])
    );
    assert_eq!(
        judge(&mut world, &["two", "any"]),
        rows([ok(), none.clone(), none.clone()])
    );
    assert_eq!(judge(&mut world, &["two", "topo"]), all(none));
}

#[test]
fn one_volume_serves_one_claim() {
    let mut world = world();
    world.volume(&local("v-a", "wait", "5Gi", "a"));
    world.volume(&local("v-b-1", "wait", "1Gi", "b"));
    world.volume(&local("v-b-2", "wait", "9Gi", "b"));
    world.claim(&claim("big", "wait", "2Gi"));
    world.claim(&claim("small", "wait", "1Gi"));
    let none = unresolvable(MATCH);
    let expected = rows([none.clone(), ok(), none]);
    assert_eq!(
        judge(&mut world, &["big", "small"]),
        expected,
        "the small one is served first"
    );
}

#[test]
fn volumes_must_suit_the_claim() {
    let suits = |volume_patch: Value, claim_patch: Value| {
        let mut world = world();
        world.volume(&with(volume("v", "wait", "5Gi"), volume_patch));
        world.claim(&with(claim("c", "wait", "5Gi"), claim_patch));
        judge(&mut world, &["c"]) == all(ok())
    };
    let spec = |spec: Value| json!({"spec": spec});
    let nothing = || json!({});
    let other = json!({"namespace": "default", "name": "other", "uid": "uid-other"});
    let own = json!({"namespace": "default", "name": "c", "uid": "uid-c"});
    let promised = json!({"namespace": "default", "name": "c"});
    let old = json!({"namespace": "default", "name": "c", "uid": "uid-old"});
    let released = json!({"status": {"phase": "Released"}});
    let cases = [
        ("plain", nothing(), nothing(), true),
        (
            "request in other units",
            nothing(),
            spec(json!({"resources": {"requests": {"storage": "5368709120"}}})),
            true,
        ),
        (
            "a byte more",
            nothing(),
            spec(json!({"resources": {"requests": {"storage": "5368709121"}}})),
            false,
        ),
        (
            "block",
            spec(json!({"volumeMode": "Block"})),
            nothing(),
            false,
        ),
        (
            "block for block",
            spec(json!({"volumeMode": "Block"})),
            spec(json!({"volumeMode": "Block"})),
            true,
        ),
        (
            "explicit file system",
            spec(json!({"volumeMode": "Filesystem"})),
            nothing(),
            true,
        ),
        (
            "more modes",
            spec(json!({"accessModes": ["ReadOnlyMany", "ReadWriteOnce"]})),
            nothing(),
            true,
        ),
        (
            "mode missing",
            nothing(),
            spec(json!({"accessModes": ["ReadWriteOnce", "ReadWriteMany"]})),
            false,
        ),
        (
            "attributes class",
            spec(json!({"volumeAttributesClassName": "gold"})),
            nothing(),
            false,
        ),
        (
            "same attributes class",
            spec(json!({"volumeAttributesClassName": "gold"})),
            spec(json!({"volumeAttributesClassName": "gold"})),
            true,
        ),
        (
            "empty attributes class",
            nothing(),
            spec(json!({"volumeAttributesClassName": ""})),
            true,
        ),
        (
            "selector",
            nothing(),
            spec(json!({"selector": {"matchLabels": {"k": "v"}}})),
            false,
        ),
        (
            "selector matches",
            json!({"metadata": {"labels": {"k": "v"}}}),
            spec(json!({"selector": {"matchLabels": {"k": "v"}}})),
            true,
        ),
        (
            "empty selector",
            nothing(),
            spec(json!({"selector": {}})),
            true,
        ),
        (
            "other class",
            spec(json!({"storageClassName": "hdd"})),
            nothing(),
            false,
        ),
        (
            "class by annotation",
            with(
                spec(json!({"storageClassName": "hdd"})),
                json!({"metadata": {"annotations": {"volume.beta.kubernetes.io/storage-class": "wait"}}}),
            ),
            nothing(),
            true,
        ),
        (
            "being deleted",
            json!({"metadata": {"deletionTimestamp": "2030-01-01T00:00:00Z"}}),
            nothing(),
            false,
        ),
        ("not available", released.clone(), nothing(), false),
        (
            "another's",
            spec(json!({"claimRef": other})),
            nothing(),
            false,
        ),
        (
            "an older claim's",
            spec(json!({"claimRef": old})),
            nothing(),
            false,
        ),
        (
            "promised",
            spec(json!({"claimRef": promised})),
            nothing(),
            true,
        ),
        (
            "its own, whatever the phase",
            with(spec(json!({"claimRef": own})), released),
            nothing(),
            true,
        ),
        (
            "promised, mode missing",
            spec(json!({"claimRef": promised})),
            spec(json!({"accessModes": ["ReadWriteMany"]})),
            true,
        ),
        (
            "promised, too small",
            spec(json!({"claimRef": promised, "capacity": {"storage": "1Gi"}})),
            nothing(),
            false,
        ),
    ];
    for (what, volume, claim, expected) in cases {
        assert_eq!(suits(volume, claim), expected, "{what}");
    }
}

#[test]
fn affinities_of_several_terms_are_alternatives() {
    let mut world = world();
    let term = |key: &str, operator: &str, values: Value| json!({"matchExpressions": [{"key": key, "operator": operator, "values": values}]});
    let affinity = |terms: Value| json!({"spec": {"nodeAffinity": {"required": {"nodeSelectorTerms": terms}}}});
    let cases = [
        (
            json!([
                term(HOST, "In", json!(["a"])),
                term("zone", "In", json!(["z2"]))
            ]),
            [true, true, true],
        ),
        (
            json!([
                term(HOST, "In", json!(["a"])),
                term(HOST, "In", json!(["c"]))
            ]),
            [true, false, true],
        ),
        (
            json!([term(HOST, "NotIn", json!(["b"]))]),
            [true, false, true],
        ),
        (
            json!([term("zone", "Exists", json!([])), {}]),
            [true, true, true],
        ),
        (
            json!([term("none", "Exists", json!([])), {}]),
            [false, false, false],
        ),
        (
            json!([{"matchExpressions": [
            {"key": "zone", "operator": "In", "values": ["z2"]},
            {"key": HOST, "operator": "NotIn", "values": ["c"]}]}]),
            [false, true, false],
        ),
    ];
    for (at, (terms, expected)) in cases.into_iter().enumerate() {
        let name = format!("v-{at}");
        world.volume(&with(volume(&name, "wait", "1Gi"), affinity(terms.clone())));
        world.claim(&with(claim("bound", "wait", "1Gi"), bound(&name)));
        world.claim(&claim("unbound", "wait", "1Gi"));
        for (claim, reason) in [("bound", NODE), ("unbound", MATCH)] {
            let row = |fits| if fits { ok() } else { unresolvable(reason) };
            assert_eq!(
                judge(&mut world, &[claim]),
                rows(expected.map(row)),
                "{claim}: {terms}"
            );
        }
        world.snap.remove(Kind::PersistentVolume, "", &name);
    }
}

#[test]
fn a_selected_node_is_the_only_one() {
    let mut world = world();
    world.volume(&volume("v", "csi", "5Gi"));
    let selected = |node: &str| json!({"metadata": {"annotations": {"volume.kubernetes.io/selected-node": node}}});
    world.claim(&with(claim("b", "csi", "1Gi"), selected("b")));
    world.claim(&with(claim("c", "csi", "1Gi"), selected("c")));
    world.claim(&with(claim("manual", "wait", "1Gi"), selected("b")));
    let none = unresolvable(MATCH);
    assert_eq!(
        judge(&mut world, &["b"]),
        rows([none.clone(), ok(), none.clone()])
    );
    assert_eq!(judge(&mut world, &["b", "c"]), all(none.clone()));
    world.volume(&volume("w", "wait", "5Gi"));
    assert_eq!(
        judge(&mut world, &["manual"]),
        all(none),
        "no volume is looked for any more"
    );
}

#[test]
fn equal_volumes_are_taken_in_the_order_seen() {
    let mut world = world();
    for name in ["z", "m", "a"] {
        world.volume(&volume(name, "wait", "5Gi"));
    }
    world.volume(&with(
        volume("z", "wait", "5Gi"),
        json!({"metadata": {"labels": {"new": "1"}}}),
    ));
    world.claim(&claim("c", "wait", "1Gi"));
    let plugin = world.plugin(NAME, &Value::Null);
    let pod = world.pod(&pod("p", &["c"]));
    plugin
        .reserve(&mut world.snap, pod, 0)
        .expect("a volume for the claim");
    let reservation = world
        .snap
        .volumes
        .assumptions
        .reservation(pod)
        .expect("a reservation");
    assert_eq!(
        world
            .snap
            .interner
            .text(reservation.bindings[0].volume_name),
        "z"
    );
}
