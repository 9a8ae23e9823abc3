//! Victims: only with a complete placement, whole gangs unless surplus, budgets last.

use crate::scene::Scene;
use podium_core::gang::{GangPreemption, Group, RespectBudgets, Victims};
use podium_core::snapshot::{Kind, PodId};
use serde_json::{Value, json};

fn cpu(amount: u64) -> Value {
    json!({"cpu": amount.to_string()})
}

/// `count` nodes of 4 CPUs.
fn cluster(count: usize) -> Scene {
    let mut scene = Scene::new();
    for at in 0..count {
        let name = format!("n{at}");
        scene.node(&name, cpu(4), json!({"rack": format!("r{}", at / 2)}));
    }
    scene
}

fn low(scene: &mut Scene, node: usize, size: u64) -> PodId {
    scene.pod(
        cpu(size),
        json!({"nodeName": format!("n{node}"), "priority": 1}),
    )
}

fn preemptor(
    scene: &mut Scene,
    members: usize,
    size: u64,
) -> (podium_core::gang::GroupId, Vec<PodId>) {
    let pods: Vec<PodId> = (0..members)
        .map(|_| scene.pod(cpu(size), json!({"priority": 100})))
        .collect();
    (scene.gang(&pods, members), pods)
}

fn nominated(scene: &mut Scene, gang: podium_core::gang::GroupId) -> Victims {
    let before = scene.engine.fingerprint();
    let found = scene.engine.preempt_group(gang, 0, RespectBudgets::Rank);
    assert_eq!(
        scene.engine.fingerprint(),
        before,
        "preemption only simulates"
    );
    match found {
        GangPreemption::Nominate(victims) => victims,
        other => panic!("{other:?}"),
    }
}

#[test]
fn no_more_victims_than_needed_and_all_members_have_places() {
    let mut scene = cluster(3);
    let pods: Vec<PodId> = (0..3)
        .flat_map(|n| [low(&mut scene, n, 2), low(&mut scene, n, 2)])
        .collect();
    let (gang, _) = preemptor(&mut scene, 2, 2);
    assert!(scene.engine.place_group(gang, 0).1.is_some());
    let found = nominated(&mut scene, gang);
    assert_eq!((found.places.len(), found.pods.len()), (2, 2));
    assert!(found.pods.iter().all(|pod| pods.contains(pod)));
}

#[test]
fn nobody_leaves_for_a_gang_that_does_not_fit_anyway() {
    let mut scene = cluster(2);
    low(&mut scene, 0, 4);
    let (gang, _) = preemptor(&mut scene, 3, 4);
    let found = scene.engine.preempt_group(gang, 0, RespectBudgets::Rank);
    assert!(
        matches!(found, GangPreemption::Helpless { .. }),
        "{found:?}"
    );
}

#[test]
fn a_gang_of_victims_leaves_as_a_whole_or_gives_up_its_surplus() {
    for (min, gone) in [(3, 3), (2, 1)] {
        let mut scene = cluster(3);
        let victims: Vec<PodId> = (0..3).map(|node| low(&mut scene, node, 4)).collect();
        scene.gang(&victims, min);
        let (gang, _) = preemptor(&mut scene, 1, 4);
        assert_eq!(
            nominated(&mut scene, gang).pods.len(),
            gone,
            "minimum {min}"
        );
    }
}

#[test]
fn the_priority_of_a_group_counts_for_its_members() {
    let mut scene = cluster(1);
    let pods = [low(&mut scene, 0, 4)];
    let mut group = Group::default();
    group.min = 1;
    group.priority = 1000;
    scene.gang_with(group, &[(pods[0], 0)]);
    let (gang, _) = preemptor(&mut scene, 1, 4);
    let found = scene.engine.preempt_group(gang, 0, RespectBudgets::Rank);
    assert!(
        matches!(found, GangPreemption::Helpless { .. }),
        "{found:?}"
    );
}

#[test]
fn a_single_pod_takes_whole_gangs_too() {
    let mut scene = cluster(3);
    let victims: Vec<PodId> = (0..3).map(|node| low(&mut scene, node, 4)).collect();
    scene.gang(&victims, 3);
    let lone = scene.pod(cpu(4), json!({"priority": 100}));
    match scene.engine.preempt(lone, 0) {
        Some(podium_core::preempt::Preemption::Nominate { victims, .. }) => {
            assert_eq!(victims.len(), 3)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_single_pod_takes_the_surplus_of_a_gang_alone() {
    let mut scene = cluster(3);
    let victims: Vec<PodId> = (0..3).map(|node| low(&mut scene, node, 4)).collect();
    scene.gang(&victims, 2);
    let lone = scene.pod(cpu(4), json!({"priority": 100}));
    match scene.engine.preempt(lone, 0) {
        Some(podium_core::preempt::Preemption::Nominate { victims, .. }) => {
            assert_eq!(victims.len(), 1)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn budgets_are_violated_last_and_never_where_they_are_respected() {
    let mut scene = cluster(2);
    let kept = scene.pod(
        cpu(4),
        json!({"nodeName": "n0", "priority": 1, "labels": {"app": "kept"}}),
    );
    let other = low(&mut scene, 1, 4);
    let budget = json!({"metadata": {"name": "b", "namespace": "d"},
        "spec": {"selector": {"matchLabels": {"app": "kept"}}}, "status": {"disruptionsAllowed": 0}});
    let set = scene
        .engine
        .snap
        .set(Kind::PodDisruptionBudget, budget.to_string().as_bytes());
    set.expect("a budget");
    let (one, _) = preemptor(&mut scene, 1, 4);
    let found = nominated(&mut scene, one);
    assert_eq!((found.pods, found.violations), (vec![other], 0));
    let (two, _) = preemptor(&mut scene, 2, 4);
    let found = nominated(&mut scene, two);
    assert_eq!((found.pods.len(), found.violations), (2, 1));
    assert!(found.pods.contains(&kept));
    let found = scene.engine.preempt_group(two, 0, RespectBudgets::Always);
    assert!(
        matches!(found, GangPreemption::Helpless { .. }),
        "{found:?}"
    );
}

#[test]
fn a_required_domain_holds_after_preemption() {
    let mut scene = cluster(4);
    for node in 0..4 {
        low(&mut scene, node, 3);
    }
    let pods: Vec<PodId> = (0..2)
        .map(|_| scene.pod(cpu(4), json!({"priority": 100})))
        .collect();
    let mut group = Group::default();
    group.min = 2;
    group.may_preempt = true;
    group.priority = 100;
    group.together = scene.together("rack", false);
    let gang = scene.gang_with(group, &[(pods[0], 0), (pods[1], 0)]);
    let found = nominated(&mut scene, gang);
    let rack = |row: u32| row / 2;
    assert_eq!(found.pods.len(), 2);
    assert_eq!(rack(found.places[0].1), rack(found.places[1].1));
}

#[test]
fn one_wave_nominated_members_wait_for_their_victims() {
    let mut scene = cluster(1);
    let leaving = json!({"metadata": {"name": "v", "namespace": "d", "uid": "v",
            "deletionTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"schedulerName": "s", "priority": 1, "nodeName": "n0",
            "containers": [{"name": "c", "resources": {"requests": {"cpu": "4"}}}]},
        "status": {"conditions": [{"type": "DisruptionTarget", "status": "True",
            "reason": "PreemptionByScheduler"}]}});
    scene
        .engine
        .add_pod_json(leaving.to_string().as_bytes())
        .expect("a pod");
    let (gang, pods) = preemptor(&mut scene, 1, 4);
    let node = scene.engine.snap.interner.get("n0");
    scene.engine.snap.nominate(pods[0], node);
    let found = scene.engine.preempt_group(gang, 0, RespectBudgets::Rank);
    assert!(
        matches!(found, GangPreemption::Ineligible { .. }),
        "{found:?}"
    );
}
