//! Gangs with members about which the caller asks plugins of its own.

use crate::scene::Scene;
use podium_core::engine::Engine;
use podium_core::gang::{GangPreemption, Kind, RespectBudgets, Said};
use podium_core::snapshot::{PodId, Row};
use proptest::prelude::*;
use serde_json::json;
use std::sync::Arc;

/// What the caller's plugins would say: nodes by kind, and how many members a node takes at most.
struct Rule {
    kinds: Vec<(PodId, Kind)>,
    rows: Vec<Vec<Row>>,
    most: Vec<usize>,
}

impl Rule {
    fn kind(&self, pod: PodId) -> Kind {
        let known = self.kinds.iter().find(|(own, _)| *own == pod);
        known.expect("a member").1
    }

    fn accepts(&self, pod: PodId, row: Row, placed: &[(PodId, Row)]) -> bool {
        let there = placed.iter().filter(|(_, at)| *at == row).count();
        self.rows[self.kind(pod)].contains(&row) && there < self.most[row as usize]
    }

    fn arrangement_exists(
        &self,
        engine: &mut Engine,
        members: &[PodId],
        placed: &mut Vec<(PodId, Row)>,
    ) -> bool {
        let Some((pod, rest)) = members.split_first() else {
            return true;
        };
        for name in engine.feasible(*pod) {
            let symbol = engine.snap.interner.get(&name).expect("a node's name");
            let row = engine.snap.nodes.row(symbol).expect("a node");
            if !self.accepts(*pod, row, placed) {
                continue;
            }
            engine.snap.place(*pod, row);
            placed.push((*pod, row));
            let found = self.arrangement_exists(engine, rest, placed);
            placed.pop();
            engine.snap.unplace(*pod);
            if found {
                return true;
            }
        }
        false
    }

    /// Goes through places one after the other; tells `said` of those that are refused.
    fn stands(&self, places: &[(PodId, Row)], said: &mut Said) -> bool {
        let mut placed = Vec::new();
        for &(pod, row) in places {
            if self.accepts(pod, row, &placed) {
                placed.push((pod, row));
                continue;
            }
            let mut beside = vec![0; self.rows.len()];
            for (other, _) in placed.iter().filter(|(_, at)| *at == row) {
                beside[self.kind(*other)] += 1;
            }
            said.refuse(self.kind(pod), row, beside);
        }
        placed.len() == places.len()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn an_arrangement_is_found_exactly_where_there_is_one(
        nodes in proptest::collection::vec((1u64..6, 1u64..6, 1usize..4), 1..4),
        shapes in proptest::collection::vec((1u64..4, 1u64..4, 0usize..3), 1..6),
        left in proptest::collection::vec(proptest::collection::vec(any::<bool>(), 3), 3),
    ) {
        let mut scene = Scene::new();
        for (at, (cpu, gpu, _)) in nodes.iter().enumerate() {
            let amounts = json!({"cpu": cpu.to_string(), "x.com/gpu": gpu.to_string()});
            scene.node(&format!("n{at}"), amounts, json!({}));
        }
        let members: Vec<PodId> = shapes
            .iter()
            .map(|(cpu, gpu, _)| {
                scene.pod(json!({"cpu": cpu.to_string(), "x.com/gpu": gpu.to_string()}), json!({}))
            })
            .collect();
        let rows = |kind: &Vec<bool>| -> Vec<Row> {
            (0..nodes.len()).filter(|at| kind[*at]).map(|at| at as Row).collect()
        };
        let rule = Rule {
            kinds: members.iter().copied().zip(shapes.iter().map(|(.., kind)| *kind)).collect(),
            rows: left.iter().map(rows).collect(),
            most: nodes.iter().map(|(.., most)| *most).collect(),
        };
        let gang = scene.gang(&members, members.len());
        let expected = rule.arrangement_exists(&mut scene.engine, &members, &mut Vec::new());
        let before = scene.engine.fingerprint();
        let mut said = Said::new(rule.kinds.clone(), rule.rows.clone());
        let mut rounds = 0;
        let found = loop {
            let Ok(places) = scene.engine.arrange_group(gang, 0, &Arc::new(said.clone())) else {
                break false;
            };
            rounds += 1;
            prop_assert!(rounds < 200, "every refusal leaves fewer arrangements");
            if rule.stands(&places, &mut said) {
                break true;
            }
        };
        prop_assert_eq!(found, expected);
        prop_assert_eq!(scene.engine.fingerprint(), before);
    }
}

#[test]
fn victims_leave_where_the_callers_plugins_let_the_gang_go() {
    let mut scene = Scene::new();
    for name in ["a", "b"] {
        scene.node(name, json!({"cpu": "1"}), json!({}));
    }
    let low: Vec<PodId> = (0..2)
        .map(|_| scene.pod(json!({"cpu": "1"}), json!({})))
        .collect();
    for (row, pod) in low.iter().enumerate() {
        scene.engine.snap.place(*pod, row as Row);
    }
    let one = scene.pod(json!({"cpu": "1"}), json!({"priority": 10}));
    let gang = scene.gang(&[one], 1);
    for row in [0, 1] {
        let said = Arc::new(Said::new([(one, 0)], vec![vec![row]]));
        let found = scene
            .engine
            .preempt_group_hearing(gang, 0, RespectBudgets::Rank, &said);
        let GangPreemption::Nominate(victims) = found else {
            panic!("there is room on row {row}: {found:?}");
        };
        assert_eq!(victims.places, [(one, row)]);
        assert_eq!(victims.pods, [low[row as usize]]);
    }
    let nowhere = Arc::new(Said::new([(one, 0)], vec![Vec::new()]));
    let found = scene
        .engine
        .preempt_group_hearing(gang, 0, RespectBudgets::Rank, &nowhere);
    assert!(matches!(found, GangPreemption::Helpless { .. }));
}
