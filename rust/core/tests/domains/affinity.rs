use crate::cluster::{self, Dice, HOSTNAME, Rules, ZONE, plugin};
use crate::follow::{Follower, live};
use crate::naive_affinity;
use podium_core::normalize::Extremes;
use podium_core::plugin::{Filter, Plugin, PreFilter, PreScore, Rows};
use podium_core::snapshot::{Kind, Pod, PodId, Row, Snapshot};
use podium_core::status::Code;
use proptest::prelude::*;
use serde_json::{Value, json};

const NAME: &str = "InterPodAffinity";

const REASONS: [&str; 4] = [
    "",
    "node(s) didn't match pod affinity rules",
    "node(s) didn't match pod anti-affinity rules",
    "node(s) didn't satisfy existing pods anti-affinity rules",
];

/// Arguments that the random tests run with, and what the slow implementation is told.
fn arguments(choice: u64) -> (Value, (i64, bool)) {
    match choice {
        0 => (Value::Null, (1, false)),
        1 => (json!({"hardPodAffinityWeight": 0}), (0, false)),
        _ => {
            let args =
                json!({"hardPodAffinityWeight": 7, "ignorePreferredTermsOfExistingPods": true});
            (args, (7, true))
        }
    }
}

fn made(plugin: &dyn Plugin, snap: &Snapshot, pod: &Pod) -> Option<Box<dyn Filter>> {
    match plugin.pre_filter(snap, pod) {
        PreFilter::Run {
            filter,
            nodes: None,
        } => Some(filter),
        PreFilter::Skip => None,
        other => panic!("{other:?}"),
    }
}

/// Codes with the index of their reason.
fn findings(filter: &dyn Filter, snap: &Snapshot, rows: &[Row]) -> Vec<(Code, usize)> {
    let mut all = vec![Code::Success; snap.nodes.len()];
    filter.filter(snap, Rows::All(all.len()), &mut all);
    let mut listed = vec![Code::Success; rows.len()];
    filter.filter(snap, Rows::List(rows), &mut listed);
    let finding = |(row, code): (&Row, &Code)| {
        let status = filter.status(snap, *row);
        assert_eq!((all[*row as usize], *code), (status.code, status.code));
        let message = status.message();
        let reason = REASONS.iter().position(|r| **r == message);
        (status.code, reason.expect("a known reason"))
    };
    rows.iter().zip(&listed).map(finding).collect()
}

fn raw(plugin: &dyn Plugin, snap: &Snapshot, pod: &Pod, rows: &[Row]) -> Option<Vec<i64>> {
    match plugin.pre_score(snap, pod, rows) {
        PreScore::Run(score) => {
            let mut out = vec![0; rows.len()];
            score.score(snap, Rows::List(rows), &mut out);
            Some(out)
        }
        PreScore::Skip => None,
        PreScore::Reject(status) => panic!("{status:?}"),
    }
}

fn shaken(seed: u64, args: &Value) -> (Dice, Snapshot, std::sync::Arc<dyn Plugin>) {
    let mut dice = Dice(seed);
    let mut snap = Snapshot::default();
    let plugin = plugin(&mut snap, NAME, args);
    for _ in 0..80 {
        cluster::change(&mut snap, &mut dice, Rules::Affinity);
    }
    (dice, snap, plugin)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn equals_the_slow_way(seed: u64, choice in 0u64..3) {
        let (args, told) = arguments(choice);
        let (_, snap, plugin) = shaken(seed, &args);
        let rows: Vec<Row> = live(&snap).collect();
        for (_, pod) in snap.pods.iter() {
            let fast = made(&*plugin, &snap, pod).map(|f| findings(&*f, &snap, &rows));
            prop_assert_eq!(fast, naive_affinity::filter(&snap, pod, &[]));
            let fast = raw(&*plugin, &snap, pod, &rows);
            prop_assert_eq!(fast, naive_affinity::score(&snap, pod, told, &rows));
        }
    }

    #[test]
    fn supposes_as_upstream(seed: u64) {
        let (mut dice, snap, plugin) = shaken(seed, &Value::Null);
        let ids: Vec<PodId> = snap.pods.iter().map(|(id, _)| id).collect();
        let rows: Vec<Row> = live(&snap).collect();
        prop_assume!(!rows.is_empty());
        for (_, pod) in snap.pods.iter() {
            let Some(mut filter) = made(&*plugin, &snap, pod) else { continue };
            let row = dice.of(&rows);
            let mut extra = Vec::new();
            for _ in 0..dice.roll(4) {
                let other = snap.pods[dice.of(&ids)].clone();
                let sign = dice.of(&[1, -1]);
                match sign {
                    1 => filter.add_pod(&snap, &other, row),
                    _ => filter.remove_pod(&snap, &other, row),
                }
                extra.push((row, other, sign));
            }
            let slow = naive_affinity::filter(&snap, pod, &extra);
            prop_assert_eq!(Some(findings(&*filter, &snap, &rows)), slow);
        }
    }

    #[test]
    fn follows_every_change(seed: u64, choice in 0u64..3) {
        follow(seed, choice, 150);
    }
}

/// Followers of several pods over `steps` batches of changes; how often they made anew, and steps made.
fn follow(seed: u64, choice: u64, steps: usize) -> (usize, usize) {
    let mut dice = Dice(seed);
    let mut snap = Snapshot::default();
    let plugin = plugin(&mut snap, NAME, &arguments(choice).0);
    let mut followers = Vec::new();
    for _ in 0..12 {
        let json = cluster::random_pod(&mut dice, Rules::Affinity);
        let id = cluster::pod(&mut snap, "", json);
        followers.push(Follower::new(&plugin, &snap, &snap.pods[id].clone()));
    }
    for _ in 0..steps {
        for _ in 0..=dice.roll(3) {
            cluster::change(&mut snap, &mut dice, Rules::Affinity);
        }
        for follower in &mut followers {
            follower.step(&snap, |_| true);
        }
    }
    let remade = followers
        .iter()
        .map(|f| f.remade())
        .fold(0, |sum, (f, s)| sum + f + s);
    (remade, steps * followers.len() * 2)
}

#[test]
fn follows_thousands_of_changes() {
    let (remade, asked) = follow(7, 0, 2000);
    assert!(
        remade * 2 < asked,
        "{remade} of {asked} made anew: nothing was followed"
    );
}

fn zones(snap: &mut Snapshot) -> Vec<Row> {
    let node =
        |(name, zone): (&str, &str)| cluster::node(snap, name, json!({HOSTNAME: name, ZONE: zone}));
    [("a1", "a"), ("a2", "a"), ("b1", "b")].map(node).to_vec()
}

/// A pod labelled app=x with one required term of affinity or anti-affinity for app=x.
fn with_term(side: &str, key: &str, more: Value) -> Value {
    let mut term = json!({"topologyKey": key, "labelSelector": {"matchLabels": {"app": "x"}}});
    for (field, value) in more.as_object().expect("fields") {
        term[field] = value.clone();
    }
    json!({
        "metadata": {"labels": {"app": "x"}},
        "spec": {"affinity": {side: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}},
    })
}

fn incoming(snap: &mut Snapshot, json: Value) -> Pod {
    let id = cluster::pod(snap, "", json);
    snap.pods[id].clone()
}

#[test]
fn the_first_of_its_kind_needs_no_other() {
    let mut snap = Snapshot::default();
    let plugin = plugin(&mut snap, NAME, &Value::Null);
    let mut rows = zones(&mut snap);
    rows.push(cluster::node(&mut snap, "bare", json!({})));
    let pod = incoming(&mut snap, with_term("podAffinity", ZONE, json!({})));
    let codes = |snap: &Snapshot| {
        let filter = made(&*plugin, snap, &pod).expect("a filter");
        findings(&*filter, snap, &rows)
            .into_iter()
            .map(|(_, reason)| reason)
            .collect::<Vec<_>>()
    };
    assert_eq!(codes(&snap), [0, 0, 0, 1]);
    cluster::pod(
        &mut snap,
        "b1",
        json!({"metadata": {"labels": {"app": "x"}}}),
    );
    assert_eq!(codes(&snap), [1, 1, 0, 1]);
}

#[test]
fn a_selected_pod_without_domain_ends_no_exception() {
    let mut snap = Snapshot::default();
    let plugin = plugin(&mut snap, NAME, &Value::Null);
    let rows = zones(&mut snap);
    cluster::node(&mut snap, "bare", json!({}));
    cluster::pod(
        &mut snap,
        "bare",
        json!({"metadata": {"labels": {"app": "x"}}}),
    );
    let pod = incoming(&mut snap, with_term("podAffinity", ZONE, json!({})));
    let filter = made(&*plugin, &snap, &pod).expect("a filter");
    assert_eq!(findings(&*filter, &snap, &rows), [(Code::Success, 0); 3]);
}

#[test]
fn anti_affinity_holds_both_ways() {
    let mut snap = Snapshot::default();
    let plugin = plugin(&mut snap, NAME, &Value::Null);
    let rows = zones(&mut snap);
    cluster::pod(
        &mut snap,
        "a1",
        with_term("podAntiAffinity", ZONE, json!({})),
    );
    let plain = incoming(&mut snap, json!({"metadata": {"labels": {"app": "x"}}}));
    let filter = made(&*plugin, &snap, &plain).expect("a filter");
    let near = (Code::Unschedulable, 3);
    assert_eq!(
        findings(&*filter, &snap, &rows),
        [near, near, (Code::Success, 0)]
    );
    let same = incoming(&mut snap, with_term("podAntiAffinity", HOSTNAME, json!({})));
    let filter = made(&*plugin, &snap, &same).expect("a filter");
    let own = (Code::Unschedulable, 2);
    assert_eq!(
        findings(&*filter, &snap, &rows),
        [own, near, (Code::Success, 0)]
    );
    let other = incoming(&mut snap, json!({"metadata": {"labels": {"app": "y"}}}));
    assert!(made(&*plugin, &snap, &other).is_none());
}

#[test]
fn namespaces_of_the_own_terms_are_existing_objects() {
    let mut snap = Snapshot::default();
    let plugin = plugin(&mut snap, NAME, &Value::Null);
    let rows = zones(&mut snap);
    let elsewhere = json!({"metadata": {"namespace": "other", "labels": {"app": "x"}}});
    cluster::pod(&mut snap, "b1", elsewhere);
    let unlabelled = json!({"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]});
    let term = with_term(
        "podAntiAffinity",
        ZONE,
        json!({"namespaceSelector": unlabelled}),
    );
    let pod = incoming(&mut snap, term);
    let reasons = |snap: &Snapshot| {
        let filter = made(&*plugin, snap, &pod).expect("a filter");
        findings(&*filter, snap, &rows)
            .into_iter()
            .map(|(_, reason)| reason)
            .collect::<Vec<_>>()
    };
    assert_eq!(reasons(&snap), [0, 0, 0], "no object, no namespace");
    let namespace = json!({"metadata": {"name": "other"}});
    snap.set(Kind::Namespace, namespace.to_string().as_bytes())
        .expect("a namespace");
    assert_eq!(reasons(&snap), [0, 0, 2]);
}

#[test]
fn scores_add_up_and_spread_over_the_range() {
    let mut snap = Snapshot::default();
    let plugin = plugin(&mut snap, NAME, &Value::Null);
    let rows = zones(&mut snap);
    let plain = incoming(&mut snap, json!({"metadata": {"labels": {"app": "x"}}}));
    assert_eq!(raw(&*plugin, &snap, &plain, &rows), None);
    // A required affinity term of a pod on a node: its domain gets hardPodAffinityWeight.
    cluster::pod(&mut snap, "a1", with_term("podAffinity", ZONE, json!({})));
    assert_eq!(raw(&*plugin, &snap, &plain, &rows), Some(vec![1, 1, 0]));
    let wish = json!({
        "metadata": {"labels": {"app": "y"}},
        "spec": {"affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 50, "podAffinityTerm":
                {"topologyKey": HOSTNAME, "labelSelector": {"matchLabels": {"app": "x"}}}},
        ]}}},
    });
    let pod = incoming(&mut snap, wish);
    let scores = raw(&*plugin, &snap, &pod, &rows).expect("scores");
    assert_eq!(scores, [-50, 0, 0]);
    let PreScore::Run(score) = plugin.pre_score(&snap, &pod, &rows) else {
        panic!("a score")
    };
    let extremes = Extremes::of(scores.iter().copied());
    let normalized: Vec<_> = scores
        .iter()
        .map(|s| score.normalize().apply(*s, extremes))
        .collect();
    assert_eq!(normalized, [0, 100, 100]);
}

#[test]
fn wrong_arguments_are_refused() {
    let mut snap = Snapshot::default();
    let constructor = podium_core::plugins::constructor(NAME).expect("a plugin");
    for weight in [-1, 101] {
        assert!(constructor(&mut snap, &json!({"hardPodAffinityWeight": weight})).is_err());
    }
    assert!(constructor(&mut snap, &json!({"hardPodAffinityWeight": "x"})).is_err());
}
