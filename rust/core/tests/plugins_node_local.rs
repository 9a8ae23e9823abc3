//! TaintToleration, NodeAffinity, NodePorts, ImageLocality and NodeDeclaredFeatures: upstream's rules.

mod common;

use common::{add_pod, filter, plugin, refusal, score, scores, set_node, statuses};
use podium_core::normalize::{Extremes, Normalize};
use podium_core::plugin::PreFilter;
use podium_core::snapshot::{PodId, Snapshot};
use podium_core::status::Code;
use serde_json::{Value, json};

const TAINTS: &str = "TaintToleration";
const AFFINITY: &str = "NodeAffinity";
const PORTS: &str = "NodePorts";
const IMAGES: &str = "ImageLocality";
const FEATURES: &str = "NodeDeclaredFeatures";

/// Nodes `n0`, `n1`, … of these bodies, and a pending pod.
fn cluster(nodes: &[Value], spec: Value) -> (Snapshot, PodId) {
    let mut snap = Snapshot::default();
    for (index, body) in nodes.iter().enumerate() {
        set_node(&mut snap, &format!("n{index}"), body.clone());
    }
    let pod = add_pod(&mut snap, "pending", spec);
    (snap, pod)
}

/// Messages per node, empty where the node is accepted; `None` where the plugin skips the pod.
fn messages(name: &str, args: Value, nodes: &[Value], spec: Value) -> Option<Vec<String>> {
    let (mut snap, pod) = cluster(nodes, spec);
    let plugin = plugin(&mut snap, name, args);
    let filter = filter(&snap, &plugin, pod)?;
    let statuses = statuses(&snap, filter.as_ref());
    Some(statuses.iter().map(|status| status.message()).collect())
}

/// Raw scores per node.
fn raw(name: &str, args: Value, nodes: &[Value], spec: Value) -> Option<Vec<i64>> {
    let (mut snap, pod) = cluster(nodes, spec);
    let plugin = plugin(&mut snap, name, args);
    let score = score(&snap, &plugin, pod)?;
    Some(scores(&snap, score.as_ref()))
}

fn tainted(taints: &[(&str, &str, &str)]) -> Value {
    let taint = |(key, value, effect): &(&str, &str, &str)| json!({"key": key, "value": value, "effect": effect});
    json!({"spec": {"taints": taints.iter().map(taint).collect::<Vec<_>>()}})
}

#[test]
fn untolerated_taints_repel() {
    let nodes = [
        tainted(&[]),
        tainted(&[("a", "1", "NoSchedule")]),
        tainted(&[("a", "2", "NoExecute")]),
        tainted(&[("b", "", "PreferNoSchedule"), ("c", "", "Unknown")]),
        tainted(&[("a", "1", "NoSchedule"), ("b", "", "NoSchedule")]),
    ];
    let rejected = |tolerations: Value| -> Vec<usize> {
        let found = messages(
            TAINTS,
            Value::Null,
            &nodes,
            json!({"tolerations": tolerations}),
        );
        let found = found.expect("never skipped").into_iter().enumerate();
        let rejected = found.filter(|(_, message)| !message.is_empty());
        rejected
            .map(|(node, message)| {
                assert_eq!(message, "node(s) had untolerated taint(s)");
                node
            })
            .collect()
    };
    assert_eq!(rejected(json!([])), [1, 2, 4]);
    assert_eq!(rejected(json!([{"key": "a", "value": "1"}])), [2, 4]);
    assert_eq!(rejected(json!([{"key": "a", "operator": "Exists"}])), [4]);
    assert_eq!(
        rejected(json!([{"key": "a", "operator": "Exists", "effect": "NoExecute"}])),
        [1, 4]
    );
    assert_eq!(rejected(json!([{"operator": "Exists"}])), [] as [usize; 0]);
    // An empty key means any key, also with Equal; Gt and Lt compare numbers (whether they may be used at
    // all is for whoever loads the pods), and what is no number tolerates nothing.
    assert_eq!(rejected(json!([{"value": "1"}])), [2, 4]);
    assert_eq!(
        rejected(json!([{"key": "a", "operator": "Gt", "value": "1"}])),
        [1, 4]
    );
    assert_eq!(
        rejected(json!([{"key": "a", "operator": "Lt", "value": "x"}])),
        [1, 2, 4]
    );
}

#[test]
fn untolerated_soft_taints_are_counted() {
    let nodes = [
        tainted(&[]),
        tainted(&[
            ("a", "", "PreferNoSchedule"),
            ("b", "", "PreferNoSchedule"),
            ("c", "", "NoSchedule"),
        ]),
        tainted(&[("a", "", "PreferNoSchedule")]),
    ];
    let raw = |tolerations: Value| {
        raw(
            TAINTS,
            Value::Null,
            &nodes,
            json!({"tolerations": tolerations}),
        )
    };
    assert_eq!(raw(json!([])), Some(vec![0, 2, 1]));
    let one = json!({"key": "a", "operator": "Exists", "effect": "PreferNoSchedule"});
    assert_eq!(raw(json!([one])), Some(vec![0, 1, 0]));
    assert_eq!(
        raw(json!([{"key": "a", "operator": "Exists", "effect": "NoSchedule"}])),
        Some(vec![0, 2, 1])
    );
    let extremes = Extremes { min: 0, max: 2 };
    let normalized = [0, 2, 1].map(|s| Normalize::ReverseMax.apply(s, extremes));
    assert_eq!(normalized, [100, 0, 50]);
}

fn labelled(labels: Value) -> Value {
    json!({"metadata": {"labels": labels}})
}

fn required(terms: Value) -> Value {
    json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}})
}

/// Which nodes NodeAffinity accepts.
fn accepted(nodes: &[Value], spec: Value) -> Vec<usize> {
    let found = messages(AFFINITY, Value::Null, nodes, spec).expect("not skipped");
    for message in found.iter().filter(|m| !m.is_empty()) {
        assert_eq!(message, "node(s) didn't match Pod's node affinity/selector");
    }
    (0..found.len())
        .filter(|node| found[*node].is_empty())
        .collect()
}

#[test]
fn selector_and_required_terms_decide() {
    let nodes = [
        labelled(json!({"a": "1", "z": "x"})),
        labelled(json!({"a": "20"})),
        labelled(json!({"b": "v"})),
    ];
    let expression = |key: &str, operator: &str, values: Value| json!([{"matchExpressions": [{"key": key, "operator": operator, "values": values}]}]);
    let by = |key, operator, values| accepted(&nodes, required(expression(key, operator, values)));
    assert_eq!(by("a", "In", json!(["1", "2"])), [0]);
    assert_eq!(by("a", "NotIn", json!(["1"])), [1, 2]);
    assert_eq!(by("a", "Exists", json!([])), [0, 1]);
    assert_eq!(by("a", "DoesNotExist", json!([])), [2]);
    assert_eq!(by("a", "Gt", json!(["3"])), [1]);
    assert_eq!(by("a", "Lt", json!(["3"])), [0]);
    // A value that is no number, one too many, an unknown operator: the term matches nothing.
    assert_eq!(by("b", "Gt", json!(["3"])), [] as [usize; 0]);
    assert_eq!(by("a", "Gt", json!(["3", "4"])), [] as [usize; 0]);
    assert_eq!(by("a", "Like", json!(["1"])), [] as [usize; 0]);
    assert_eq!(
        accepted(&nodes, json!({"nodeSelector": {"a": "1", "z": "x"}})),
        [0]
    );
    assert_eq!(accepted(&nodes, json!({"nodeSelector": {}})), [0, 1, 2]);
    // Terms are alternatives, empty ones match nothing, and so does a list of none.
    assert_eq!(accepted(&nodes, required(json!([{}]))), [] as [usize; 0]);
    assert_eq!(accepted(&nodes, required(json!([]))), [] as [usize; 0]);
    let either = json!([{}, {"matchExpressions": [{"key": "b", "operator": "Exists"}]}]);
    assert_eq!(accepted(&nodes, required(either)), [2]);
    let mut both = required(expression("a", "Exists", json!([])));
    both["nodeSelector"] = json!({"a": "20"});
    assert_eq!(accepted(&nodes, both), [1]);
    assert_eq!(
        messages(AFFINITY, Value::Null, &nodes, json!({"containers": []})),
        None
    );
}

#[test]
fn fields_name_nodes() {
    let nodes = [json!({}), json!({}), json!({})];
    let field = |operator: &str, name: &str| json!({"key": "metadata.name", "operator": operator, "values": [name]});
    let named = |terms: Value| -> Result<Option<Vec<String>>, String> {
        let (mut snap, pod) = cluster(&nodes, required(terms));
        let affinity = plugin(&mut snap, AFFINITY, Value::Null);
        let text = |symbol: &_| snap.interner.text(*symbol).to_owned();
        match affinity.pre_filter(&snap, &snap.pods[pod]) {
            PreFilter::Run { nodes, .. } => Ok(nodes.map(|names| names.iter().map(text).collect())),
            PreFilter::Reject(status) => {
                assert_eq!(status.code, Code::UnschedulableAndUnresolvable);
                Err(status.message())
            }
            PreFilter::Skip => panic!("skipped"),
        }
    };
    let owned = |names: &[&str]| {
        Ok(Some(
            names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>(),
        ))
    };
    let one = json!([{"matchFields": [field("In", "n1")]}]);
    assert_eq!(named(one.clone()), owned(&["n1"]));
    assert_eq!(accepted(&nodes, required(one)), [1]);
    let two = json!([{"matchFields": [field("In", "n1")]}, {"matchFields": [field("In", "n7"), field("In", "n7")]}]);
    assert_eq!(named(two), owned(&["n1", "n7"]));
    let clash = json!([{"matchFields": [field("In", "n1"), field("In", "n2")]}]);
    assert_eq!(named(clash), Err("pod affinity terms conflict".to_owned()));
    let open =
        json!([{"matchFields": [field("In", "n1")]}, {"matchFields": [field("NotIn", "n1")]}]);
    assert_eq!(named(open.clone()), Ok(None));
    assert_eq!(accepted(&nodes, required(open)), [0, 1, 2]);
}

#[test]
fn pods_that_differ_in_their_pin_differ_in_their_key() {
    let pinned = |name: &str| {
        required(
            json!([{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]}]),
        )
    };
    let (mut snap, pod) = cluster(&[json!({}), json!({})], pinned("n0"));
    let other = add_pod(&mut snap, "other", pinned("n1"));
    let affinity = plugin(&mut snap, AFFINITY, Value::Null);
    assert_eq!(snap.pods[pod].template, snap.pods[other].template);
    let key = |pod: PodId| {
        let mut key = Default::default();
        affinity.key(&snap, &snap.pods[pod], &mut key);
        key
    };
    assert_ne!(key(pod), key(other));
}

#[test]
fn preferred_terms_add_their_weights() {
    let nodes = [
        labelled(json!({"a": "1", "b": "1"})),
        labelled(json!({"a": "1"})),
        labelled(json!({})),
    ];
    let term = |weight: i32, key: &str| json!({"weight": weight, "preference": {"matchExpressions": [{"key": key, "operator": "Exists"}]}});
    let prefers = |terms: Value| json!({"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": terms}}});
    let raw = |args: Value, spec: Value| raw(AFFINITY, args, &nodes, spec);
    assert_eq!(
        raw(
            Value::Null,
            prefers(json!([term(3, "a"), term(5, "b"), {"weight": 9, "preference": {}}]))
        ),
        Some(vec![8, 3, 0])
    );
    assert_eq!(raw(Value::Null, prefers(json!([]))), Some(vec![0, 0, 0]));
    assert_eq!(raw(Value::Null, json!({})), None);
    let added = json!({"addedAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [term(7, "b")]}});
    assert_eq!(raw(added.clone(), json!({})), Some(vec![7, 0, 0]));
    assert_eq!(
        raw(added, prefers(json!([term(3, "a")]))),
        Some(vec![10, 3, 0])
    );
}

#[test]
fn added_affinity_is_enforced_first() {
    let nodes = [
        labelled(json!({"a": "1"})),
        labelled(json!({"b": "1"})),
        labelled(json!({"a": "1", "b": "1"})),
    ];
    let exists = |key: &str| json!([{"matchExpressions": [{"key": key, "operator": "Exists"}]}]);
    let added = |terms: Value| json!({"addedAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}});
    let enforced = "node(s) didn't match scheduler-enforced node affinity";
    let own = "node(s) didn't match Pod's node affinity/selector";
    assert_eq!(
        messages(AFFINITY, added(exists("a")), &nodes, required(exists("b"))),
        Some(vec![own.to_owned(), enforced.to_owned(), String::new()])
    );
    assert!(messages(AFFINITY, added(exists("a")), &nodes, json!({})).is_some());
    let message = refusal(
        AFFINITY,
        added(json!([{"matchExpressions": [{"key": "a", "operator": "In"}]}])),
    );
    assert!(message.contains("nodeSelectorTerms[0]"), "{message}");
}

fn bound(node: &str, ports: Value) -> Value {
    json!({"nodeName": node, "containers": [{"name": "c", "ports": ports}]})
}

#[test]
fn ports_collide_by_address_protocol_and_number() {
    let used = [
        json!([{"hostPort": 80}]),
        json!([{"hostPort": 80, "hostIP": "10.0.0.1"}]),
        json!([{"hostPort": 80, "protocol": "UDP"}]),
        json!([{"hostPort": 81}, {"containerPort": 80}]),
    ];
    let collides = |wanted: Value| {
        let mut snap = Snapshot::default();
        for (index, ports) in used.iter().enumerate() {
            let name = format!("n{index}");
            set_node(&mut snap, &name, json!({}));
            add_pod(&mut snap, &name, bound(&name, ports.clone()));
        }
        let pod = add_pod(&mut snap, "pending", bound("", wanted));
        let ports = plugin(&mut snap, PORTS, Value::Null);
        let filter = filter(&snap, &ports, pod)?;
        let statuses = statuses(&snap, filter.as_ref());
        let rejected = statuses.iter().enumerate().filter(|(_, s)| {
            assert!(matches!(s.code, Code::Success | Code::Unschedulable));
            s.message() == "node(s) didn't have free ports for the requested pod ports"
        });
        Some(rejected.map(|(node, _)| node).collect::<Vec<_>>())
    };
    assert_eq!(collides(json!([{"hostPort": 80}])), Some(vec![0, 1]));
    assert_eq!(
        collides(json!([{"hostPort": 80, "hostIP": "10.0.0.1"}])),
        Some(vec![0, 1])
    );
    assert_eq!(
        collides(json!([{"hostPort": 80, "hostIP": "10.0.0.2"}])),
        Some(vec![0])
    );
    assert_eq!(
        collides(json!([{"hostPort": 80, "protocol": "UDP"}, {"hostPort": 81}])),
        Some(vec![2, 3])
    );
    assert_eq!(collides(json!([{"containerPort": 80}])), None);
}

#[test]
fn a_shared_port_is_free_when_either_pod_leaves() {
    let (mut snap, pod) = cluster(&[json!({})], bound("", json!([{"hostPort": 80}])));
    let first = add_pod(&mut snap, "first", bound("n0", json!([{"hostPort": 80}])));
    add_pod(&mut snap, "second", bound("n0", json!([{"hostPort": 80}])));
    let ports = plugin(&mut snap, PORTS, Value::Null);
    let codes = |snap: &Snapshot| {
        statuses(snap, filter(snap, &ports, pod).expect("ports").as_ref())[0].code
    };
    assert_eq!(codes(&snap), Code::Unschedulable);
    snap.remove_pod(first);
    assert_eq!(codes(&snap), Code::Success);
}

const MIB: i64 = 1 << 20;

fn with_images(images: &[(&str, i64)]) -> Value {
    let image = |(name, mib): &(&str, i64)| json!({"names": [name], "sizeBytes": mib * MIB});
    json!({"status": {"images": images.iter().map(image).collect::<Vec<_>>()}})
}

#[test]
fn images_on_the_node_score_by_size_and_spread() {
    let nodes = [
        with_images(&[("a:latest", 500), ("r/b:1", 140)]),
        with_images(&[("r/b:1", 140)]),
        with_images(&[("huge:1", 40_000)]),
        with_images(&[("a:latest", 77), ("small:1", 20)]),
    ];
    let containers = |images: &[&str]| {
        let container = |image: &&str| json!({"name": "c", "image": image});
        json!({"containers": images.iter().map(container).collect::<Vec<_>>()})
    };
    let raw = |spec: Value| raw(IMAGES, Value::Null, &nodes, spec).expect("never skipped");
    // The size is that of the first node to report the name: 500 · 2/4 = 250 of 23 to 1000.
    assert_eq!(raw(containers(&["a"])), [23, 0, 0, 23]);
    // 250 + 70 and 70, of 23 to 2000.
    assert_eq!(raw(containers(&["a", "r/b:1"])), [15, 2, 0, 11]);
    // An image named twice counts twice: 140 of 23 to 2000.
    assert_eq!(raw(containers(&["r/b:1", "r/b:1"])), [5, 5, 0, 0]);
    assert_eq!(raw(containers(&["huge:1"])), [0, 0, 100, 0]);
    assert_eq!(raw(containers(&["small:1"])), [0, 0, 0, 0]);
    assert_eq!(raw(containers(&["nowhere"])), [0, 0, 0, 0]);
    // Since 1.37 image volumes count for sum and limit: 250 + 70 of 23 to 2000.
    let mut volume = containers(&["a"]);
    volume["volumes"] = json!([{"name": "v", "image": {"reference": "r/b:1"}}]);
    assert_eq!(raw(volume), [15, 2, 0, 11]);
}

#[test]
fn an_image_that_left_its_last_node_forgets_its_size() {
    let spec = json!({"containers": [{"name": "c", "image": "a:1"}]});
    let (mut snap, pod) = cluster(&[with_images(&[("a:1", 100)]), with_images(&[])], spec);
    let images = plugin(&mut snap, IMAGES, Value::Null);
    let raw = |snap: &Snapshot| {
        scores(
            snap,
            score(snap, &images, pod).expect("never skipped").as_ref(),
        )
    };
    // (100 · 1/2 − 23) / 977 and (500 · 1/2 − 23) / 977.
    assert_eq!(raw(&snap), [2, 0]);
    set_node(&mut snap, "n0", with_images(&[("a:1", 500)]));
    assert_eq!(raw(&snap), [23, 0]);
    set_node(&mut snap, "n1", with_images(&[("a:1", 900)]));
    set_node(&mut snap, "n0", with_images(&[]));
    assert_eq!(
        raw(&snap),
        [0, 23],
        "the second node came while the first had it"
    );
}

#[test]
fn declared_features_must_cover_the_required_ones() {
    let declares = |features: &[&str]| json!({"status": {"declaredFeatures": features}});
    let nodes = [
        declares(&[]),
        declares(&["UserNamespacesHostNetworkSupport", "Other"]),
        declares(&[
            "UserNamespacesHostNetworkSupport",
            "RestartAllContainersOnContainerExits",
        ]),
    ];
    let rejected = "node(s) didn't match Pod's required features".to_owned();
    let user = json!({"hostNetwork": true, "hostUsers": false});
    let judge = |spec: Value| messages(FEATURES, Value::Null, &nodes, spec);
    assert_eq!(
        judge(user),
        Some(vec![rejected.clone(), String::new(), String::new()])
    );
    let both = json!({"hostNetwork": true, "hostUsers": false, "containers": [
        {"name": "c", "restartPolicyRules": [{"action": "RestartAllContainers"}]}]});
    assert_eq!(
        judge(both),
        Some(vec![rejected.clone(), rejected, String::new()])
    );
    assert_eq!(judge(json!({"hostNetwork": true})), None);
}
