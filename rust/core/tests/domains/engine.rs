//! Classes of pods whose results domain-valued plugins share.

use crate::cluster;
use podium_core::engine::{Engine, Outcome, Settings};
use podium_core::pick::Choose;
use podium_core::snapshot::{Kind, PodId};
use serde_json::{Value, json};

fn engine(plugin: &str) -> Engine {
    let mut engine = Engine::new(Settings {
        choose: Choose::Seeded(0),
        sample: false,
    });
    let profile = json!({
        "schedulerName": "s", "preFilter": [plugin], "filter": [plugin],
        "preScore": [plugin], "score": [[plugin, 1]],
    });
    let added = engine.add_profile(profile.to_string().as_bytes());
    added.expect("a profile");
    engine
}

fn pending(engine: &mut Engine, mut json: Value, app: &str) -> PodId {
    json["metadata"]["labels"] = json!({"app": app});
    json["spec"]["schedulerName"] = "s".into();
    cluster::pod(&mut engine.snap, "", json)
}

/// The nodes that pods get, `None` where there is none.
fn rows(engine: &mut Engine, pods: &[PodId]) -> Vec<Option<u32>> {
    let place = |pod: &PodId| match engine.schedule(*pod, 0) {
        Outcome::Placed { row, .. } => Some(row),
        Outcome::Unschedulable(_) => None,
        Outcome::Failed(message) => panic!("{message}"),
    };
    pods.iter().map(place).collect()
}

#[test]
fn a_new_term_tells_pods_apart() {
    let mut engine = engine("InterPodAffinity");
    cluster::node(
        &mut engine.snap,
        "n",
        json!({"kubernetes.io/hostname": "n"}),
    );
    let pods: Vec<_> = ["x", "y", "x", "y"]
        .map(|app| pending(&mut engine, json!({}), app))
        .to_vec();
    assert_eq!(rows(&mut engine, &pods), [Some(0); 4]);
    let term = json!({"topologyKey": "kubernetes.io/hostname",
        "labelSelector": {"matchLabels": {"app": "x"}}});
    let shy = json!({"spec": {"affinity": {"podAntiAffinity":
        {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}});
    cluster::pod(&mut engine.snap, "n", shy);
    assert_eq!(rows(&mut engine, &pods), [None, Some(0), None, Some(0)]);
}

#[test]
fn a_new_owner_selector_tells_pods_apart() {
    let mut engine = engine("PodTopologySpread");
    for name in ["a", "b"] {
        cluster::node(
            &mut engine.snap,
            name,
            json!({"kubernetes.io/hostname": name}),
        );
    }
    let on = |engine: &mut Engine, node: &str, app: &str| {
        cluster::pod(
            &mut engine.snap,
            node,
            json!({"metadata": {"labels": {"app": app}}}),
        );
    };
    on(&mut engine, "a", "x");
    on(&mut engine, "b", "y");
    let pods: Vec<_> = ["x", "y"]
        .map(|app| pending(&mut engine, json!({}), app))
        .to_vec();
    rows(&mut engine, &pods);
    for app in ["x", "y"] {
        let service = json!({"metadata": {"name": app, "namespace": "default"},
            "spec": {"selector": {"app": app}}});
        let set = engine
            .snap
            .set(Kind::Service, service.to_string().as_bytes());
        set.expect("a Service");
    }
    assert_eq!(rows(&mut engine, &pods), [Some(1), Some(0)]);
}
