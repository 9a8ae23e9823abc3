//! Members of many shapes: what is searched, and that it ends.

use crate::scene::Scene;
use podium_core::snapshot::PodId;
use proptest::prelude::*;
use rustc_hash::FxHashSet;
use serde_json::{Value, json};

type Shape = (u64, u64);

fn amounts((cpu, gpu): Shape) -> Value {
    json!({"cpu": cpu.to_string(), "x.com/gpu": gpu.to_string()})
}

fn anti(key: &str) -> Value {
    let term = json!({"topologyKey": key, "labelSelector": {"matchLabels": {"app": "x"}}});
    json!({"labels": {"app": "x"}, "affinity":
        {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}})
}

fn scene(nodes: &[Shape]) -> Scene {
    let mut scene = Scene::new();
    for (at, shape) in nodes.iter().enumerate() {
        let name = format!("n{at}");
        let zone = format!("z{}", at % 3);
        let labels = json!({"kubernetes.io/hostname": name, "zone": zone});
        scene.node(&name, amounts(*shape), labels);
    }
    scene
}

/// Whether `need` of the shapes fit, by trying everything.
fn exists(shapes: &[Shape], need: usize, nodes: &mut Vec<Shape>) -> bool {
    fn step(
        shapes: &[Shape],
        need: usize,
        nodes: &mut Vec<Shape>,
        seen: &mut FxHashSet<(usize, usize, Vec<Shape>)>,
    ) -> bool {
        if need == 0 {
            return true;
        }
        if shapes.len() < need {
            return false;
        }
        let mut sorted = nodes.clone();
        sorted.sort_unstable();
        if !seen.insert((shapes.len(), need, sorted)) {
            return false;
        }
        let (shape, rest) = (shapes[0], &shapes[1..]);
        for at in 0..nodes.len() {
            let before = nodes[at];
            if before.0 < shape.0 || before.1 < shape.1 {
                continue;
            }
            nodes[at] = (before.0 - shape.0, before.1 - shape.1);
            let found = step(rest, need - 1, nodes, seen);
            nodes[at] = before;
            if found {
                return true;
            }
        }
        step(rest, need, nodes, seen)
    }
    step(shapes, need, nodes, &mut FxHashSet::default())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn eight_members_on_six_nodes_are_placed_wherever_they_can_be(
        mut nodes in proptest::collection::vec((4u64..20, 2u64..9), 2..7),
        shapes in proptest::collection::vec((1u64..14, 0u64..7), 4..9),
        surplus in 0usize..3,
    ) {
        let mut scene = scene(&nodes);
        let members: Vec<PodId> =
            shapes.iter().map(|shape| scene.pod(amounts(*shape), json!({}))).collect();
        let need = members.len() - surplus;
        let gang = scene.gang(&members, need);
        let found = scene.engine.try_group(gang, 0);
        prop_assert_eq!(found.is_ok(), exists(&shapes, need, &mut nodes));
        prop_assert!(found.err().is_none_or(|shortage| !shortage.gave_up), "it is certain");
    }
}

/// Numbers below a bound, from a seed.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(0x5851_f42d_4c95_7f2d)
            .wrapping_add(0x1405_7b7e_f767_814f);
        (self.0 >> 33) % bound
    }

    /// `parts` numbers from 1 up with a sum.
    fn split(&mut self, sum: u64, parts: usize) -> Vec<u64> {
        let mut all = vec![1; parts];
        for _ in parts as u64..sum {
            all[self.below(parts as u64) as usize] += 1;
        }
        // Uneven ones are harder.
        for _ in 0..sum {
            let (from, to) = (
                self.below(parts as u64) as usize,
                self.below(parts as u64) as usize,
            );
            if all[from] > 1 {
                all[from] -= 1;
                all[to] += 1;
            }
        }
        all
    }
}

/// Members that fill nodes, but for a little on each.
fn filling(draw: &mut Draw, nodes: &[Shape], per_node: usize) -> Vec<Shape> {
    let mut shapes: Vec<Shape> = Vec::new();
    for (cpu, gpu) in nodes {
        let cpus = draw.split(cpu - 2, per_node);
        shapes.extend(cpus.into_iter().zip(draw.split(gpu - 1, per_node)));
    }
    for at in (1..shapes.len()).rev() {
        shapes.swap(at, draw.below(at as u64 + 1) as usize);
    }
    shapes
}

#[test]
fn sixty_shapes_that_nearly_fill_twenty_nodes_are_placed() {
    for seed in 0..10 {
        let mut draw = Draw(seed);
        let nodes: Vec<Shape> = (0..20).map(|_| (24 + draw.below(16), 8)).collect();
        let mut scene = scene(&nodes);
        let shapes = filling(&mut draw, &nodes, 3);
        let members: Vec<PodId> = shapes
            .iter()
            .map(|shape| scene.pod(amounts(*shape), json!({})))
            .collect();
        let gang = scene.gang(&members, members.len());
        assert!(scene.engine.try_group(gang, 0).is_ok(), "seed {seed}");
    }
}

#[test]
fn what_sums_forbid_is_known_without_a_search() {
    // 21 members of which each node takes one; 9 that take more than half of 8 nodes; 40 that take one GPU
    // each of 39; three members of which a node takes two.
    let half: Vec<Shape> = (0..9).map(|at| (5, at % 3)).collect();
    let single: Vec<Shape> = (0..40).map(|at| (1 + at % 4, 1)).collect();
    let third: Vec<Shape> = (0..9).map(|at| (1 + at % 3, 3)).collect();
    let cases: [(&[Shape], usize, u64, Value); 4] = [
        (
            &[(1, 0), (2, 0), (3, 0)],
            20,
            8,
            anti("kubernetes.io/hostname"),
        ),
        (&half, 8, 8, json!({})),
        (&single, 13, 3, json!({})),
        (&third, 4, 8, json!({})),
    ];
    for (shapes, count, gpu, more) in cases {
        let mut scene = scene(&vec![(9, gpu); count]);
        let shapes = shapes.iter().cycle().take(shapes.len().max(count + 1));
        let members: Vec<PodId> = shapes
            .map(|shape| scene.pod(amounts(*shape), more.clone()))
            .collect();
        let gang = scene.gang(&members, members.len());
        let shortage = scene.engine.try_group(gang, 0).expect_err("no room");
        assert!(!shortage.gave_up, "{}", shortage.message);
    }
}

#[test]
fn a_search_that_was_given_up_says_so_and_is_not_repeated_as_it_was() {
    // One GPU more than there is, but never by sums alone.
    let mut draw = Draw(3);
    let nodes: Vec<Shape> = vec![(31, 31); 12];
    let mut shapes = Vec::new();
    for (cpu, gpu) in &nodes {
        shapes.extend(draw.split(*cpu, 4).into_iter().zip(draw.split(*gpu, 4)));
    }
    let mut scene = scene(&nodes);
    let members: Vec<PodId> = shapes
        .iter()
        .map(|shape| scene.pod(amounts(*shape), json!({})))
        .collect();
    let gang = scene.gang(&members, members.len());
    let budget = |scene: &Scene| scene.engine.request_of(gang, 0).budget;
    let whole = budget(&scene);
    for halvings in 1..4 {
        let (places, shortage) = scene.engine.place_group(gang, 0);
        let shortage = shortage.expect("too hard");
        assert!(places.is_empty() && shortage.gave_up);
        assert!(
            shortage.message.ends_with("was given up."),
            "{}",
            shortage.message
        );
        assert_eq!(budget(&scene), whole >> halvings);
    }
    // Another member may change everything.
    let one = scene.pod(amounts((1, 1)), json!({}));
    scene.engine.snap.groups.join(gang, one, 0);
    assert_eq!(budget(&scene), whole);
}
