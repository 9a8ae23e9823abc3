//! What is remembered of a class equals an evaluation from scratch, whatever happened in between.

use crate::cluster::{self, Dice, Rules};
use podium_core::cycle::{self, Judged};
use podium_core::diagnosis::Diagnosis;
use podium_core::memo::{Barred, Memo, Refusal};
use podium_core::memos::Memos;
use podium_core::pick::{NEVER, scaled};
use podium_core::profile::Profile;
use podium_core::snapshot::{PodId, Row, Snapshot};
use proptest::prelude::*;
use serde_json::{Value, json};

const PROBES: usize = 5;
const STEPS: usize = 60;

const FILTERS: [&str; 6] = [
    "NodeUnschedulable",
    "TaintToleration",
    "NodeAffinity",
    "NodeResourcesFit",
    "PodTopologySpread",
    "InterPodAffinity",
];

const SCORES: [(&str, i64); 6] = [
    ("NodeResourcesFit", 1),
    ("NodeResourcesBalancedAllocation", 1),
    ("TaintToleration", 3),
    ("NodeAffinity", 2),
    ("PodTopologySpread", 2),
    ("InterPodAffinity", 2),
];

/// All plugins, or only those for which rows have nothing to do with each other.
fn profile(snap: &mut Snapshot, plain: bool) -> Profile {
    let filters = if plain { &FILTERS[..4] } else { &FILTERS };
    let scores = if plain { &SCORES[..2] } else { &SCORES };
    let names: Vec<&str> = scores.iter().map(|(name, _)| *name).collect();
    let profile = json!({
        "schedulerName": "s", "preFilter": filters, "filter": filters, "preScore": names,
        "score": scores.iter().map(|(name, weight)| json!([name, weight])).collect::<Vec<_>>(),
    });
    Profile::new(snap, profile.to_string().as_bytes()).expect("a profile")
}

/// A pod with wishes and requests on top of the rules.
fn probe(dice: &mut Dice, rules: Rules) -> Value {
    let mut pod = cluster::random_pod(dice, rules);
    pod["metadata"]["deletionTimestamp"] = Value::Null;
    pod["spec"]["priority"] = dice.roll(3).into();
    let requests = json!({"cpu": format!("{}m", 100 * dice.roll(9)), "memory": "1Gi"});
    pod["spec"]["containers"] = json!([{"name": "c", "resources": {"requests": requests}}]);
    if dice.one_in(2) {
        let zone =
            json!({"key": cluster::ZONE, "operator": "In", "values": [dice.of(&["a", "b"])]});
        let liked =
            json!([{"weight": 1 + dice.roll(9), "preference": {"matchExpressions": [zone]}}]);
        pod["spec"]["affinity"]["nodeAffinity"] =
            json!({"preferredDuringSchedulingIgnoredDuringExecution": liked});
    }
    pod
}

/// Gives a node room for some pods: without, every filter would reject it.
fn equip(snap: &mut Snapshot, dice: &mut Dice) {
    let name = dice.roll(9);
    let cpu = 1 + dice.roll(4);
    let amounts =
        json!({"cpu": cpu.to_string(), "memory": "8Gi", "pods": (2 + dice.roll(6)).to_string()});
    let taints = match dice.roll(4) {
        0 => json!([{"key": "k", "effect": "PreferNoSchedule"}]),
        _ => json!([]),
    };
    let labels =
        json!({cluster::HOSTNAME: format!("h{name}"), cluster::ZONE: dice.of(&["a", "b"])});
    cluster::set_node(
        snap,
        json!({
            "metadata": {"name": format!("n{name}"), "labels": labels},
            "spec": {"taints": taints, "unschedulable": dice.one_in(8)},
            "status": {"allocatable": amounts},
        }),
    );
}

/// Every row's total, `NEVER` where a filter rejects it; `None` if the pod is rejected as such.
fn from_scratch(snap: &mut Snapshot, profile: &Profile, pod: PodId) -> Option<Vec<i64>> {
    let judged = Judged::new(snap, profile, pod).ok()?;
    let feasible = judged.feasible(snap);
    let mut totals = vec![NEVER; snap.nodes.len()];
    let ranking = cycle::rank(snap, profile, pod, &feasible).expect("scores");
    for (row, total) in feasible.iter().zip(ranking.totals) {
        totals[*row as usize] = total;
    }
    Some(totals)
}

fn check(snap: &mut Snapshot, profile: &Profile, memos: &mut Memos, pod: PodId, draw: u64) {
    snap.refresh();
    let expected = from_scratch(snap, profile, pod);
    match memos.get(snap, (0, profile), &snap.pods[pod]) {
        Err(Refusal::Rejected(_)) => assert_eq!(expected, None),
        Err(Refusal::Failed(status)) => panic!("{status:?}"),
        Ok((memo, scratch)) => {
            let expected = expected.expect("a pod that is not rejected as such");
            let barred = memo.crowd(snap, pod);
            check_failure(snap, profile, memo, (pod, &barred));
            if !memo.is_crowded(&barred) {
                assert_eq!(memo.totals(), expected);
            } else if memo.is_relative() {
                // An engine evaluates such a pod from scratch.
                return;
            }
            let best = expected.iter().max().filter(|total| **total != NEVER);
            let is_best = |(_, total): &(usize, &i64)| Some(*total) == best;
            let ties = expected.iter().enumerate().filter(is_best);
            let ties: Vec<Row> = ties.map(|(row, _)| row as Row).collect();
            let rank = scaled(draw, ties.len() as u64) as usize;
            assert_eq!(memo.pick(draw, &barred, scratch), ties.get(rank).copied());
            let feasible = expected.iter().filter(|total| **total != NEVER);
            assert_eq!(memo.open(&barred), feasible.count());
        }
    }
}

/// What would be said of the pod if it found no node, and what preemption would be told.
fn check_failure(
    snap: &mut Snapshot,
    profile: &Profile,
    memo: &mut Memo,
    (pod, barred): (PodId, &Barred),
) {
    let judged = Judged::new(snap, profile, pod).expect("a pod that is not rejected as such");
    assert_eq!(memo.codes(snap, barred), judged.codes(snap));
    assert_eq!(memo.crowded(barred).len(), judged.crowded.len());
    let sorted = |mut diagnosis: Diagnosis| {
        diagnosis.reasons.sort();
        diagnosis
    };
    let found = sorted(Diagnosis::clone(&memo.diagnosis(snap, pod, barred)));
    assert_eq!(found, sorted(judged.diagnosis(snap)));
}

/// Nominates a pending pod to a node, or takes that back.
fn nominate(snap: &mut Snapshot, dice: &mut Dice) {
    let pending = snap.pods.iter().filter(|(_, pod)| pod.row.is_none());
    let pending: Vec<PodId> = pending.map(|(id, _)| id).collect();
    if pending.is_empty() {
        return;
    }
    let node = snap.interner.intern(&format!("n{}", dice.roll(9)));
    let node = (!dice.one_in(3)).then_some(node);
    snap.nominate(dice.of(&pending), node);
}

/// As an engine does where it assumes a pod: one that is on a node waits for none.
fn settle(snap: &mut Snapshot) {
    let placed = snap.pods.iter().filter(|(_, pod)| pod.row.is_some());
    let placed = placed.filter(|(_, pod)| pod.nominated.is_some());
    let placed: Vec<PodId> = placed.map(|(id, _)| id).collect();
    placed.into_iter().for_each(|pod| snap.nominate(pod, None));
}

fn play(seed: u64, rules: Rules, budget: usize) {
    let mut dice = Dice(seed);
    let mut snap = Snapshot::default();
    let plain = dice.one_in(2);
    let profile = profile(&mut snap, plain);
    let mut memos = Memos::new(budget);
    for _ in 0..9 {
        equip(&mut snap, &mut dice);
    }
    let mut probes: Vec<PodId> = Vec::new();
    for _ in 0..PROBES {
        let json = probe(&mut dice, rules);
        probes.push(cluster::pod(&mut snap, "", json));
    }
    for _ in 0..STEPS {
        // Now and then so much changes that classes are forgotten, and their numbers go to others.
        let many = if dice.one_in(12) { 80 } else { 0 };
        for _ in 0..1 + dice.roll(3) + many {
            match dice.roll(7) {
                0 => equip(&mut snap, &mut dice),
                1 => nominate(&mut snap, &mut dice),
                _ => cluster::change(&mut snap, &mut dice, rules),
            }
        }
        settle(&mut snap);
        if many > 0 || dice.one_in(4) {
            memos.let_go_of_outdated(&snap);
        }
        probes.retain(|pod| snap.pods.get(*pod).is_some_and(|pod| pod.row.is_none()));
        for pod in probes.clone() {
            if !dice.one_in(3) {
                check(&mut snap, &profile, &mut memos, pod, dice.roll(u64::MAX));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn spread_classes_equal_from_scratch(seed: u64) {
        play(seed, Rules::Spread, usize::MAX >> 1);
    }

    #[test]
    fn affinity_classes_equal_from_scratch(seed: u64) {
        play(seed, Rules::Affinity, usize::MAX >> 1);
    }

    /// What was evicted is rebuilt exactly.
    #[test]
    fn a_small_budget_changes_nothing(seed: u64) {
        play(seed, Rules::Spread, 3_000);
    }
}
