//! Preemption that remembers dry runs decides as one that remembers nothing, whatever happens in between, and
//! a dry run leaves no trace.

use podium_core::engine::{Engine, Settings};
use podium_core::object;
use podium_core::pick::Choose;
use podium_core::preempt::Preemption;
use podium_core::snapshot::{Kind, PodId, Row};
use proptest::prelude::*;
use serde_json::{Value, json};

const NODES: usize = 6;
const PLUGINS: [&str; 6] = [
    "NodeUnschedulable",
    "TaintToleration",
    "NodePorts",
    "NodeResourcesFit",
    "PodTopologySpread",
    "InterPodAffinity",
];

fn engine() -> Engine {
    let mut engine = Engine::new(Settings {
        choose: Choose::Seeded(7),
        sample: false,
    });
    let profile = json!({
        "schedulerName": "s", "preFilter": PLUGINS, "filter": PLUGINS,
        "postFilter": ["DefaultPreemption"],
        "args": {"DefaultPreemption":
            {"minCandidateNodesPercentage": 30, "minCandidateNodesAbsolute": 2}},
    });
    let added = engine.add_profile(profile.to_string().as_bytes());
    added.expect("a profile");
    engine
}

fn node(name: usize, cordoned: bool, cpu: i64) -> object::Node {
    let node = json!({
        "metadata": {"name": format!("n{name}"), "labels": {"zone": format!("z{}", name % 2)}},
        "spec": {"unschedulable": cordoned},
        "status": {"allocatable": {"cpu": cpu.to_string(), "pods": "9"}},
    });
    serde_json::from_value(node).expect("a node")
}

#[derive(Clone, Debug)]
struct Shape {
    priority: i32,
    cpu: i64,
    port: Option<u16>,
    started: Option<u8>,
    app: &'static str,
    /// Constraint that makes filters count pods elsewhere.
    spread: bool,
}

impl Shape {
    fn pod(&self, number: usize, on: Option<usize>) -> Value {
        let ports: Vec<_> = self
            .port
            .map(|port| json!({"hostPort": port}))
            .into_iter()
            .collect();
        let spread = json!([{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": self.app}}}]);
        json!({
            "metadata": {"name": format!("p{number}"), "namespace": "default",
                "uid": format!("u{number}"), "labels": {"app": self.app}},
            "spec": {
                "schedulerName": "s", "priority": self.priority,
                "nodeName": on.map_or(String::new(), |node| format!("n{node}")),
                "topologySpreadConstraints": if self.spread { spread } else { json!([]) },
                "containers": [{"name": "c", "ports": ports,
                    "resources": {"requests": {"cpu": self.cpu.to_string()}}}],
            },
            "status": {"startTime": self.started.map(|hour| format!("2026-01-01T{hour:02}:00:00Z"))},
        })
    }
}

fn shape(priorities: std::ops::Range<i32>, spread: bool) -> impl Strategy<Value = Shape> {
    (
        priorities,
        1..4i64,
        prop::option::weighted(0.3, 80..83u16),
        prop::option::of(0..5u8),
        prop::sample::select(vec!["x", "y"]),
        prop::bool::weighted(if spread { 0.3 } else { 0.0 }),
    )
        .prop_map(|(priority, cpu, port, started, app, spread)| Shape {
            priority,
            cpu,
            port,
            started,
            app,
            spread,
        })
}

#[derive(Clone, Debug)]
enum Event {
    Arrives(usize, Shape),
    Leaves(usize),
    Starts(usize, u8),
    NodeChanges(usize, bool, i64),
    NodeLeaves(usize),
    Budget(i32, &'static str),
    NoBudget,
    /// A pod of one of the classes must preempt; its nomination is kept or not.
    Preempts(usize, bool),
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        4 => (0..NODES, shape(0..4, false)).prop_map(|(node, shape)| Event::Arrives(node, shape)),
        2 => any::<usize>().prop_map(Event::Leaves),
        1 => (any::<usize>(), 0..5u8).prop_map(|(pod, hour)| Event::Starts(pod, hour)),
        1 => (0..NODES, any::<bool>(), 2..8i64)
            .prop_map(|(node, cordoned, cpu)| Event::NodeChanges(node, cordoned, cpu)),
        1 => (0..NODES).prop_map(Event::NodeLeaves),
        1 => (0..3, prop::sample::select(vec!["x", "y"])).prop_map(|(left, app)| Event::Budget(left, app)),
        1 => Just(Event::NoBudget),
        8 => (0..3usize, any::<bool>()).prop_map(|(class, kept)| Event::Preempts(class, kept)),
    ]
}

/// One engine and what was put into it.
struct World {
    engine: Engine,
    /// Pods on nodes, with their shape, number and node.
    pods: Vec<(PodId, Shape, usize, usize)>,
    made: usize,
}

impl World {
    fn new() -> Self {
        let mut engine = engine();
        for name in 0..NODES {
            engine.snap.set_node(&node(name, false, 6));
        }
        World {
            engine,
            pods: Vec::new(),
            made: 0,
        }
    }

    fn add(&mut self, shape: &Shape, on: Option<usize>) -> PodId {
        self.made += 1;
        let json = shape.pod(self.made, on).to_string();
        self.engine.add_pod_json(json.as_bytes()).expect("a pod")
    }

    fn apply(&mut self, event: &Event, classes: &[Shape]) -> Option<Option<Preemption>> {
        match event {
            Event::Arrives(on, shape) => {
                let pod = self.add(shape, Some(*on));
                self.pods.push((pod, shape.clone(), self.made, *on));
            }
            Event::Leaves(at) if !self.pods.is_empty() => {
                let (pod, ..) = self.pods.swap_remove(at % self.pods.len());
                self.engine.remove_pod(pod);
            }
            Event::Starts(at, hour) if !self.pods.is_empty() => {
                let at = at % self.pods.len();
                let (pod, shape, number, on) = &mut self.pods[at];
                shape.started = Some(*hour);
                let source = serde_json::from_value(shape.pod(*number, Some(*on)));
                self.engine.snap.update_pod(*pod, &source.expect("a pod"));
            }
            Event::NodeChanges(name, cordoned, cpu) => {
                self.engine.snap.set_node(&node(*name, *cordoned, *cpu));
            }
            Event::NodeLeaves(name) => {
                self.engine.snap.remove_node(&format!("n{name}"));
            }
            Event::Budget(left, app) => {
                let budget = json!({"metadata": {"name": "b", "namespace": "default"},
                    "spec": {"selector": {"matchLabels": {"app": app}}},
                    "status": {"disruptionsAllowed": left}});
                let set = self
                    .engine
                    .snap
                    .set(Kind::PodDisruptionBudget, budget.to_string().as_bytes());
                set.expect("a budget");
            }
            Event::NoBudget => {
                self.engine
                    .snap
                    .remove(Kind::PodDisruptionBudget, "default", "b");
            }
            Event::Preempts(class, kept) => {
                let pod = self.add(&classes[*class], None);
                let before = self.books();
                self.engine.schedule(pod, 0);
                let found = self.engine.preempt(pod, 0);
                assert_eq!(self.books(), before, "a dry run leaves no trace");
                match &found {
                    Some(Preemption::Nominate { row, .. }) if *kept => {
                        let node = self.engine.snap.nodes.name(*row);
                        self.engine.snap.nominate(pod, Some(node));
                    }
                    _ => self.engine.remove_pod(pod),
                }
                return Some(found);
            }
            Event::Leaves(_) | Event::Starts(..) => {}
        }
        None
    }

    /// Everything that a dry run touches.
    fn books(&self) -> Value {
        let nodes = &self.engine.snap.nodes;
        let row = |row: Row| {
            let at = row as usize;
            let requested: Vec<i64> = nodes.requested.iter().map(|column| column[at]).collect();
            let pods: Vec<u32> = nodes.pods[at].iter().map(|pod| pod.0).collect();
            let ports = format!("{:?}", nodes.ports[at]);
            let nonzero = [nodes.nonzero[0][at], nodes.nonzero[1][at]];
            json!([
                requested,
                nonzero,
                nodes.pod_count[at],
                pods,
                ports,
                nodes.version(row)
            ])
        };
        let rows: Vec<Value> = (0..nodes.len() as Row).map(row).collect();
        let pods = self.engine.snap.pods.iter();
        let on: Vec<Value> = pods.map(|(id, pod)| json!([id.0, pod.row])).collect();
        json!([rows, on, self.engine.snap.changes.now()])
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn remembering_changes_nothing(
        classes in prop::collection::vec(shape(2..6, true), 3),
        events in prop::collection::vec(event(), 1..60),
    ) {
        let mut remembering = World::new();
        let mut forgetful = World::new();
        for event in &events {
            let found = remembering.apply(event, &classes);
            forgetful.engine.set_memo_budget(0);
            let expected = forgetful.apply(event, &classes);
            prop_assert_eq!(format!("{found:?}"), format!("{expected:?}"));
        }
    }
}
