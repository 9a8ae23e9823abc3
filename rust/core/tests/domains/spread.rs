use crate::cluster::{self, Dice, HOSTNAME, Rules, ZONE, plugin};
use crate::follow::{Follower, live};
use crate::naive_spread;
use podium_core::normalize::{Extremes, IGNORED};
use podium_core::plugin::{Plugin, PreFilter, PreScore, Rows};
use podium_core::snapshot::{Kind, Pod, PodId, Row, Snapshot};
use podium_core::status::Code;
use podium_core::template::SpreadConstraint;
use proptest::prelude::*;
use serde_json::{Value, json};

const NAME: &str = "PodTopologySpread";

/// Arguments that the random tests run with.
fn arguments(choice: u64) -> Value {
    let constraint = |key, max_skew, when| json!({"topologyKey": key, "maxSkew": max_skew, "whenUnsatisfiable": when});
    match choice {
        0 => Value::Null,
        1 => json!({"defaultingType": "List", "defaultConstraints": [
            constraint(ZONE, 1, "DoNotSchedule"), constraint(HOSTNAME, 2, "ScheduleAnyway"),
            constraint("rack", 2, "ScheduleAnyway"),
        ]}),
        _ => json!({"defaultingType": "List", "defaultConstraints": []}),
    }
}

/// The constraints of one kind as the slow implementation is told them.
fn constraints(snap: &mut Snapshot, pod: &Pod, args: &Value, hard: bool) -> Vec<SpreadConstraint> {
    let template = &pod.template;
    if template.has_own_spread() {
        return template
            .spread
            .iter()
            .filter(|c| c.hard == hard)
            .cloned()
            .collect();
    }
    let system = json!([
        {"topologyKey": HOSTNAME, "maxSkew": 3, "whenUnsatisfiable": "ScheduleAnyway"},
        {"topologyKey": ZONE, "maxSkew": 5, "whenUnsatisfiable": "ScheduleAnyway"},
    ]);
    let list = args.get("defaultConstraints").unwrap_or(&system);
    let Some(selector) = snap.owners.default_selector(template, &snap.interner) else {
        return Vec::new();
    };
    let mut compiled = Vec::new();
    for json in list.as_array().expect("a list") {
        let source = serde_json::from_value(json.clone()).expect("a constraint");
        let interner = &mut snap.interner;
        let mut constraint = SpreadConstraint::new(&source, &template.labels, interner, &mut None);
        constraint.selector = selector.clone();
        if constraint.hard == hard {
            compiled.push(constraint);
        }
    }
    compiled
}

fn codes(plugin: &dyn Plugin, snap: &Snapshot, pod: &Pod, rows: &[Row]) -> Option<Vec<Code>> {
    let PreFilter::Run { filter, .. } = plugin.pre_filter(snap, pod) else {
        return None;
    };
    let mut all = vec![Code::Success; snap.nodes.len()];
    filter.filter(snap, Rows::All(all.len()), &mut all);
    let mut listed = vec![Code::Success; rows.len()];
    filter.filter(snap, Rows::List(rows), &mut listed);
    for (row, code) in rows.iter().zip(&listed) {
        assert_eq!(all[*row as usize], *code);
        assert_eq!(filter.status(snap, *row).code, *code);
    }
    Some(listed)
}

fn raw(plugin: &dyn Plugin, snap: &Snapshot, pod: &Pod, rows: &[Row]) -> Option<Vec<i64>> {
    let PreScore::Run(score) = plugin.pre_score(snap, pod, rows) else {
        return None;
    };
    let mut out = vec![0; rows.len()];
    score.score(snap, Rows::List(rows), &mut out);
    Some(out)
}

fn normalized(plugin: &dyn Plugin, snap: &Snapshot, pod: &Pod, rows: &[Row]) -> Vec<i64> {
    let PreScore::Run(score) = plugin.pre_score(snap, pod, rows) else {
        panic!("a score");
    };
    let mut out = vec![0; rows.len()];
    score.score(snap, Rows::List(rows), &mut out);
    let extremes = Extremes::of(out.iter().copied());
    out.iter()
        .map(|s| score.normalize().apply(*s, extremes))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn equals_the_slow_way(seed: u64, choice in 0u64..3) {
        let mut dice = Dice(seed);
        let mut snap = Snapshot::default();
        let args = arguments(choice);
        let plugin = plugin(&mut snap, NAME, &args);
        for _ in 0..80 {
            cluster::change(&mut snap, &mut dice, Rules::Spread);
        }
        let ids: Vec<PodId> = snap.pods.iter().map(|(id, _)| id).collect();
        for id in ids {
            let pod = snap.pods[id].clone();
            let rows: Vec<Row> = live(&snap).collect();
            let hard = constraints(&mut snap, &pod, &args, true);
            let slow = naive_spread::filter(&snap, &pod, &hard, &[]);
            let expected = (!hard.is_empty()).then(|| slow.into_values().collect::<Vec<_>>());
            prop_assert_eq!(codes(&*plugin, &snap, &pod, &rows), expected);
            let soft = constraints(&mut snap, &pod, &args, false);
            let require_all = pod.template.has_own_spread() || choice != 0;
            let feasible: Vec<Row> = rows.into_iter().filter(|_| !dice.one_in(4)).collect();
            let slow = naive_spread::score(&snap, &pod, (&soft, require_all), &feasible);
            let expected = (!soft.is_empty() && !snap.nodes.is_empty()).then_some(slow);
            prop_assert_eq!(raw(&*plugin, &snap, &pod, &feasible), expected);
        }
    }

    #[test]
    fn supposes_as_upstream(seed: u64) {
        let mut dice = Dice(seed);
        let mut snap = Snapshot::default();
        let plugin = plugin(&mut snap, NAME, &Value::Null);
        for _ in 0..80 {
            cluster::change(&mut snap, &mut dice, Rules::Spread);
        }
        let ids: Vec<PodId> = snap.pods.iter().map(|(id, _)| id).collect();
        let rows: Vec<Row> = live(&snap).collect();
        prop_assume!(!ids.is_empty() && !rows.is_empty());
        for id in &ids {
            let pod = snap.pods[*id].clone();
            let hard: Vec<_> = pod.template.spread.iter().filter(|c| c.hard).cloned().collect();
            let PreFilter::Run { mut filter, .. } = plugin.pre_filter(&snap, &pod) else { continue };
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
            for (row, code) in naive_spread::filter(&snap, &pod, &hard, &extra) {
                prop_assert_eq!(filter.status(&snap, row).code, code);
                let mut out = [Code::Success];
                filter.filter(&snap, Rows::List(&[row]), &mut out);
                prop_assert_eq!(out[0], code);
            }
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
    let plugin = plugin(&mut snap, NAME, &arguments(choice));
    let mut followers = Vec::new();
    for _ in 0..12 {
        let json = cluster::random_pod(&mut dice, Rules::Spread);
        let id = cluster::pod(&mut snap, "", json);
        let pod = snap.pods[id].clone();
        snap.remove_pod(id);
        followers.push(Follower::new(&plugin, &snap, &pod));
    }
    for _ in 0..steps {
        for _ in 0..=dice.roll(3) {
            cluster::change(&mut snap, &mut dice, Rules::Spread);
        }
        let kept = dice.roll(1 << 9) | dice.roll(1 << 9);
        for follower in &mut followers {
            follower.step(&snap, |row| kept & (1 << row) != 0);
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
    let node = |snap: &mut Snapshot, (name, zone): (&str, &str)| {
        cluster::node(snap, name, json!({HOSTNAME: name, ZONE: zone}))
    };
    [("a1", "a"), ("a2", "a"), ("b1", "b"), ("b2", "b")]
        .map(|n| node(snap, n))
        .to_vec()
}

fn incoming(snap: &mut Snapshot, spread: Value) -> Pod {
    let id = cluster::pod(
        snap,
        "",
        json!({
            "metadata": {"labels": {"app": "x"}},
            "spec": {"topologySpreadConstraints": spread},
        }),
    );
    snap.pods[id].clone()
}

fn app() -> Value {
    json!({"metadata": {"labels": {"app": "x"}}})
}

fn hard(max_skew: i32) -> Value {
    json!([{"maxSkew": max_skew, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "x"}}}])
}

#[test]
fn skew_counts_the_pod_itself() {
    let mut snap = Snapshot::default();
    let plugin = plugin(&mut snap, NAME, &Value::Null);
    let rows = zones(&mut snap);
    cluster::pod(&mut snap, "a1", app());
    let pod = incoming(&mut snap, hard(1));
    use Code::{Success, Unschedulable};
    let expected = vec![Unschedulable, Unschedulable, Success, Success];
    assert_eq!(codes(&*plugin, &snap, &pod, &rows), Some(expected));
    let PreFilter::Run { filter, .. } = plugin.pre_filter(&snap, &pod) else {
        panic!("a filter")
    };
    let status = filter.status(&snap, rows[0]);
    assert_eq!(
        status.message(),
        "node(s) didn't match pod topology spread constraints"
    );
    let bare = cluster::node(&mut snap, "bare", json!({HOSTNAME: "bare"}));
    let PreFilter::Run { filter, .. } = plugin.pre_filter(&snap, &pod) else {
        panic!("a filter")
    };
    let status = filter.status(&snap, bare);
    assert_eq!(status.code, Code::UnschedulableAndUnresolvable);
    assert_eq!(
        status.message(),
        "node(s) didn't match pod topology spread constraints (missing required label)"
    );
}

#[test]
fn terminating_pods_do_not_count_until_supposed() {
    let mut snap = Snapshot::default();
    let plugin = plugin(&mut snap, NAME, &Value::Null);
    let rows = zones(&mut snap);
    let mut leaving = app();
    leaving["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
    let id = cluster::pod(&mut snap, "a1", leaving);
    let pod = incoming(&mut snap, hard(1));
    assert_eq!(
        codes(&*plugin, &snap, &pod, &rows),
        Some(vec![Code::Success; 4])
    );
    let PreFilter::Run { mut filter, .. } = plugin.pre_filter(&snap, &pod) else {
        panic!("a filter")
    };
    // Taken off although it never counted: zone a has -1 pods, so zone b is one too many.
    filter.remove_pod(&snap, &snap.pods[id].clone(), rows[0]);
    assert_eq!(filter.status(&snap, rows[0]).code, Code::Success);
    assert_eq!(filter.status(&snap, rows[2]).code, Code::Unschedulable);
}

#[test]
fn too_few_domains_count_as_an_empty_one() {
    let mut snap = Snapshot::default();
    let plugin = plugin(&mut snap, NAME, &Value::Null);
    let rows = zones(&mut snap);
    for on in ["a1", "b1"] {
        cluster::pod(&mut snap, on, app());
    }
    let mut spread = hard(1);
    let pod = incoming(&mut snap, spread.clone());
    assert_eq!(
        codes(&*plugin, &snap, &pod, &rows),
        Some(vec![Code::Success; 4])
    );
    spread[0]["minDomains"] = 3.into();
    let pod = incoming(&mut snap, spread);
    assert_eq!(
        codes(&*plugin, &snap, &pod, &rows),
        Some(vec![Code::Unschedulable; 4])
    );
}

#[test]
fn nodes_without_a_key_are_ignored() {
    let mut snap = Snapshot::default();
    let plugin = plugin(&mut snap, NAME, &Value::Null);
    let mut rows = zones(&mut snap);
    rows.push(cluster::node(&mut snap, "bare", json!({HOSTNAME: "bare"})));
    for on in ["a1", "a1", "b1", "bare"] {
        cluster::pod(&mut snap, on, app());
    }
    let mut spread = hard(1);
    spread[0]["whenUnsatisfiable"] = "ScheduleAnyway".into();
    let pod = incoming(&mut snap, spread);
    // ln 4 for two zones: 2 · 1.386 and 1 · 1.386.
    assert_eq!(
        raw(&*plugin, &snap, &pod, &rows),
        Some(vec![3, 3, 1, 1, IGNORED])
    );
    assert_eq!(
        normalized(&*plugin, &snap, &pod, &rows),
        [33, 33, 100, 100, 0]
    );
}

#[test]
fn defaults_follow_the_owners_selector() {
    let mut snap = Snapshot::default();
    let plugin = plugin(&mut snap, NAME, &Value::Null);
    let mut rows = zones(&mut snap);
    rows.push(cluster::node(&mut snap, "bare", json!({HOSTNAME: "bare"})));
    for on in ["a1", "a1", "b1", "bare"] {
        cluster::pod(&mut snap, on, app());
    }
    let pod = incoming(&mut snap, json!([]));
    assert_eq!(raw(&*plugin, &snap, &pod, &rows), None);
    let service = json!({"metadata": {"name": "s", "namespace": "default"}, "spec": {"selector": {"app": "x"}}});
    snap.set(Kind::Service, service.to_string().as_bytes())
        .expect("a service");
    // Five hosts weigh ln 7, three zone values (one is the missing label) ln 5:
    // a1 2·1.946+2 + 2·1.609+4; a2 0+2 + 3.219+4; b1 1.946+2 + 1.609+4; b2 2 + 1.609+4; bare 1.946+2.
    assert_eq!(
        raw(&*plugin, &snap, &pod, &rows),
        Some(vec![13, 9, 10, 8, 4])
    );
    assert_eq!(
        normalized(&*plugin, &snap, &pod, &rows),
        [30, 61, 53, 69, 100]
    );
}

#[test]
fn pods_without_constraints_are_skipped() {
    let mut snap = Snapshot::default();
    let plugin = plugin(&mut snap, NAME, &arguments(2));
    let mut dice = Dice(1);
    for _ in 0..100 {
        cluster::change(&mut snap, &mut dice, Rules::Affinity);
    }
    let rows: Vec<Row> = live(&snap).collect();
    for (_, pod) in snap.pods.iter() {
        assert_eq!(codes(&*plugin, &snap, pod, &rows), None);
        assert_eq!(raw(&*plugin, &snap, pod, &rows), None);
    }
}

#[test]
fn wrong_arguments_are_refused() {
    let mut snap = Snapshot::default();
    let constructor = podium_core::plugins::constructor(NAME).expect("a plugin");
    let system = json!({"defaultingType": "System", "defaultConstraints": [{"maxSkew": 1}]});
    assert!(
        constructor(&mut snap, &system)
            .expect_err("refused")
            .starts_with("defaultingType")
    );
    assert!(constructor(&mut snap, &json!({"defaultingType": "Other"})).is_err());
    assert!(constructor(&mut snap, &json!({"defaultConstraints": 3})).is_err());
}
