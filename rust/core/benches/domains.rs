//! What a pod costs in PodTopologySpread and InterPodAffinity alone: microseconds a pod to follow the
//! pods placed since the last of its class, to normalise by group, to judge and score all rows densely,
//! and to make everything anew. `cargo bench -p podium-core --bench domains [-- NODES PODS]`
#![allow(clippy::print_stdout, reason = "it prints a table")]

use podium_core::normalize::Extremes;
use podium_core::object;
use podium_core::plugin::{Affects, Filter, Plugin, Point, PreFilter, PreScore, Rows, Score};
use podium_core::plugins;
use podium_core::snapshot::{Change, Generation, Kind, Pod, PodId, Row, Snapshot};
use podium_core::status::Code;
use serde_json::{Value, json};
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

const SCENARIOS: [&str; 5] = ["spread", "anti", "prefspread", "affinity", "deployment"];
const PLUGINS: [&str; 2] = ["PodTopologySpread", "InterPodAffinity"];
const HOSTNAME: &str = "kubernetes.io/hostname";
const ZONE: &str = "topology.kubernetes.io/zone";

fn main() {
    let numbers: Vec<usize> = std::env::args().filter_map(|a| a.parse().ok()).collect();
    let nodes = numbers.first().copied().unwrap_or(5000);
    let pods = numbers.get(1).copied().unwrap_or(20_000);
    println!("{nodes} nodes, {pods} pods; microseconds a pod");
    println!(
        "scenario    plugin              follow  normalise  dense    anew     made anew  flips/pod"
    );
    for scenario in SCENARIOS {
        for name in PLUGINS {
            let pods = if scenario == "anti" {
                pods.min(nodes * 4 / 5)
            } else {
                pods
            };
            Run::new(scenario, name, nodes).measure(pods);
        }
    }
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    let middle = times.get(times.len() / 2);
    middle.map_or(0.0, |time| time.as_secs_f64() * 1e6)
}

fn template(scenario: &str, class: usize) -> Value {
    let app = format!("a{class}");
    let selector = json!({"matchLabels": {"app": app}});
    let spread = |when: &str| json!([{"maxSkew": 5, "topologyKey": ZONE, "whenUnsatisfiable": when, "labelSelector": selector}]);
    let mut pod = json!({
        "metadata": {"namespace": "default", "labels": {"app": app}},
        "spec": {"containers": [{"resources": {"requests": {"cpu": "100m", "memory": "500Mi"}}}]},
    });
    match scenario {
        "spread" => pod["spec"]["topologySpreadConstraints"] = spread("DoNotSchedule"),
        "prefspread" => pod["spec"]["topologySpreadConstraints"] = spread("ScheduleAnyway"),
        "anti" => {
            pod["spec"]["affinity"]["podAntiAffinity"] = json!({"requiredDuringSchedulingIgnoredDuringExecution":
                    [{"topologyKey": HOSTNAME, "labelSelector": selector}]});
        }
        "affinity" => {
            let term = json!({"topologyKey": ZONE, "labelSelector": selector});
            pod["spec"]["affinity"]["podAffinity"] = json!({"preferredDuringSchedulingIgnoredDuringExecution":
                    [{"weight": 1, "podAffinityTerm": term}]});
        }
        _ => {
            pod["metadata"]["ownerReferences"] = json!([
                {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": app, "controller": true}
            ]);
        }
    }
    pod
}

struct Run {
    title: String,
    snap: Snapshot,
    plugin: Arc<dyn Plugin>,
    templates: Vec<object::Pod>,
    classes: Vec<Option<Class>>,
    dice: u64,
    /// Per step and pod; the median is shown, which other work on the machine hardly moves.
    times: [Vec<Duration>; 4],
    anew: usize,
    flips: usize,
}

/// What is remembered of a class.
struct Class {
    pod: Pod,
    seen: Generation,
    filter: Option<Box<dyn Filter>>,
    score: Option<Box<dyn Score>>,
    codes: Vec<Code>,
    /// Group of the score per row, and feasible rows per group.
    of_row: Vec<u32>,
    feasible: Vec<u32>,
}

impl Run {
    fn new(scenario: &str, name: &str, nodes: usize) -> Self {
        let mut snap = Snapshot::default();
        let constructor = plugins::constructor(name).expect("a native plugin");
        let plugin = constructor(&mut snap, &Value::Null).expect("valid arguments");
        for i in 0..nodes {
            let name = format!("node-{i:05}");
            let json = json!({"metadata": {"name": name, "labels":
                {HOSTNAME: name, ZONE: format!("z{}", i % 10)}}});
            let node: object::Node = serde_json::from_value(json).expect("a node");
            snap.set_node(&node);
        }
        let classes = if scenario == "deployment" { 100 } else { 1 };
        for class in 0..classes {
            let set = json!({"metadata": {"namespace": "default", "name": format!("a{class}")},
                "spec": {"selector": {"matchLabels": {"app": format!("a{class}")}}}});
            snap.set(Kind::ReplicaSet, set.to_string().as_bytes())
                .expect("a ReplicaSet");
        }
        let pod = |class| serde_json::from_value(template(scenario, class)).expect("a pod");
        Run {
            title: format!("{scenario:<11} {name:<18}"),
            templates: (0..classes).map(pod).collect(),
            classes: (0..classes).map(|_| None).collect(),
            snap,
            plugin,
            dice: 1,
            times: Default::default(),
            anew: 0,
            flips: 0,
        }
    }

    fn roll(&mut self, sides: usize) -> usize {
        self.dice = self
            .dice
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        ((u128::from(self.dice) * sides as u128) >> 64) as usize
    }

    fn measure(mut self, pods: usize) {
        let mut placed = 0;
        for turn in 0..pods {
            let at = turn % self.classes.len();
            let id = self.snap.add_pod(&self.templates[at]);
            let class = self.up_to_date(at, id);
            if turn % 100 == 0 {
                self.dense(&class);
            }
            if let Some(row) = self.choose(&class) {
                self.snap.place(id, row);
                placed += 1;
            }
            self.classes[at] = Some(class);
        }
        let [follow, normalise, dense, anew] = self.times.map(median);
        println!(
            "{} {follow:>7.3}  {normalise:>9.3}  {dense:>6.2}  {anew:>7.1}  {:>9}  {:>9.1}   {placed} placed",
            self.title,
            self.anew,
            self.flips as f64 / pods as f64,
        );
    }

    fn choose(&mut self, class: &Class) -> Option<Row> {
        let tries = 20 * self.snap.nodes.len();
        let groups = class.filter.as_ref().and_then(|f| f.groups());
        let fits =
            |row: &usize| groups.is_none_or(|g| g.values[g.of_row[*row] as usize] == Code::Success);
        let mut rows = (0..tries).map(|_| self.roll(self.snap.nodes.len()));
        rows.find(fits).map(|row| row as Row)
    }

    fn up_to_date(&mut self, at: usize, id: PodId) -> Class {
        let Some(mut class) = self.classes[at].take() else {
            return self.make(self.snap.pods[id].clone());
        };
        let start = Instant::now();
        let changes = self.snap.changes.since(class.seen).unwrap_or_default();
        let (snap, plugin) = (&self.snap, &*self.plugin);
        let Some(flips) = class.follow(snap, plugin, changes) else {
            return self.make(class.pod);
        };
        self.flips += flips;
        class.seen = snap.changes.now();
        self.times[0].push(start.elapsed());
        let start = Instant::now();
        black_box(class.normalised());
        self.times[1].push(start.elapsed());
        class
    }

    fn make(&mut self, pod: Pod) -> Class {
        let start = Instant::now();
        let all: Vec<Row> = (0..self.snap.nodes.len() as Row).collect();
        let filter = match self.plugin.pre_filter(&self.snap, &pod) {
            PreFilter::Run { filter, .. } => Some(filter),
            _ => None,
        };
        let fits = |row: &Row| {
            let groups = filter.as_ref().and_then(|f| f.groups());
            groups.is_none_or(|g| g.values[g.of_row[*row as usize] as usize] == Code::Success)
        };
        let rows: Vec<Row> = all.into_iter().filter(fits).collect();
        let score = match self.plugin.pre_score(&self.snap, &pod, &rows) {
            PreScore::Run(score) => Some(score),
            _ => None,
        };
        let (mut feasible, mut of_row) = (Vec::new(), Vec::new());
        if let Some(groups) = score.as_ref().and_then(|s| s.groups()) {
            of_row.extend(groups.of_row);
            feasible.resize(groups.values.len(), 0);
            for row in &rows {
                feasible[groups.of_row[*row as usize] as usize] += 1;
            }
        }
        let codes = filter
            .as_ref()
            .and_then(|f| f.groups())
            .map(|g| g.values.to_vec());
        self.times[3].push(start.elapsed());
        self.anew += 1;
        Class {
            seen: self.snap.changes.now(),
            codes: codes.unwrap_or_default(),
            pod,
            filter,
            score,
            of_row,
            feasible,
        }
    }

    fn dense(&mut self, class: &Class) {
        let len = self.snap.nodes.len();
        let mut codes = vec![Code::Success; len];
        let mut raw = vec![0; len];
        let start = Instant::now();
        if let Some(filter) = &class.filter {
            filter.filter(&self.snap, Rows::All(len), &mut codes);
        }
        if let Some(score) = &class.score {
            score.score(&self.snap, Rows::All(len), &mut raw);
        }
        black_box((&codes, &raw));
        self.times[2].push(start.elapsed());
    }
}

impl Class {
    /// Follows as an engine does that works by groups; how many rows' feasibility flipped, `None` if
    /// something must be made anew.
    fn follow(
        &mut self,
        snap: &Snapshot,
        plugin: &dyn Plugin,
        changes: &[Change],
    ) -> Option<usize> {
        let mut flipped = 0;
        for change in changes {
            let Change::Placed { row, .. } = change else {
                continue;
            };
            match &mut self.filter {
                None => self.sleeps(snap, plugin, change, Point::Filter)?,
                Some(filter) => match filter.follow(snap, change) {
                    Affects::Nothing => {}
                    Affects::All => return None,
                    affects => flipped += self.recode(*row, affects)?,
                },
            }
            match &mut self.score {
                None => self.sleeps(snap, plugin, change, Point::Score)?,
                Some(score) => match score.follow(snap, change) {
                    Affects::Nothing => {}
                    Affects::All => return None,
                    _ => self.regroup(*row)?,
                },
            }
        }
        Some(flipped)
    }

    /// Takes over the codes of groups that changed.
    fn recode(&mut self, row: Row, affects: Affects) -> Option<usize> {
        let groups = self.filter.as_ref()?.groups()?;
        let per_group = groups.of_row.len() / groups.values.len();
        let own = groups.of_row[row as usize] as usize;
        let range = match affects {
            Affects::Node => own..own + 1,
            _ => 0..groups.values.len(),
        };
        let mut flipped = 0;
        for (before, now) in self.codes[range.clone()]
            .iter_mut()
            .zip(&groups.values[range])
        {
            flipped += usize::from(before != now) * per_group;
            *before = *now;
        }
        Some(flipped)
    }

    /// Takes over the group of a row; `None` if there are new groups.
    fn regroup(&mut self, row: Row) -> Option<()> {
        let groups = self.score.as_ref()?.groups()?;
        if groups.values.len() != self.feasible.len() {
            return None;
        }
        let group = &mut self.of_row[row as usize];
        self.feasible[*group as usize] -= 1;
        *group = groups.of_row[row as usize];
        self.feasible[*group as usize] += 1;
        Some(())
    }

    fn sleeps(
        &self,
        snap: &Snapshot,
        plugin: &dyn Plugin,
        change: &Change,
        at: Point,
    ) -> Option<()> {
        let Change::Placed { template, .. } = change else {
            return Some(());
        };
        (!plugin.wakes(snap, template, &self.pod, at)).then_some(())
    }

    /// Normalised score per group.
    fn normalised(&self) -> Vec<i64> {
        let Some((score, groups)) = self.score.as_ref().and_then(|s| Some((s, s.groups()?))) else {
            return Vec::new();
        };
        let some = groups
            .values
            .iter()
            .zip(&self.feasible)
            .filter(|(_, n)| **n > 0);
        let extremes = Extremes::of(some.map(|(value, _)| *value));
        let form = score.normalize();
        groups
            .values
            .iter()
            .map(|v| form.apply(*v, extremes))
            .collect()
    }
}
