//! What holds whatever has happened.

use crate::history::{CLAIMS, NODES, PLUGINS, PODS, Stage, a_claim, history, last};
use crate::support::{Judged, World, on, pod, with};
use podium_core::overlay::Overlay;
use podium_core::plugin::{Affects, Filter, Plugin, PreFilter, Rows};
use podium_core::snapshot::{Change, PodId, Row};
use podium_core::status::Code;
use proptest::prelude::*;
use serde_json::json;

/// What is remembered of one plugin and pod.
enum Memory {
    Run(Box<dyn Filter>, Vec<Code>),
    Other(Judged),
}

impl Memory {
    fn new(stage: &Stage, plugin: &dyn Plugin, pod: PodId) -> Self {
        let snap = &stage.world.snap;
        match plugin.pre_filter(snap, &snap.pods[pod]) {
            PreFilter::Run { filter, .. } => {
                let mut codes = vec![Code::Success; snap.nodes.len()];
                filter.filter(snap, Rows::All(codes.len()), &mut codes);
                Memory::Run(filter, codes)
            }
            PreFilter::Skip => Memory::Other(Judged::Skip),
            PreFilter::Reject(status) => {
                Memory::Other(Judged::Rejected(status.code, status.message()))
            }
        }
    }

    /// Follows changes as the engine does; false if it must be made anew.
    fn follow(
        &mut self,
        stage: &Stage,
        plugin: &dyn Plugin,
        pod: PodId,
        changes: &[Change],
    ) -> bool {
        let snap = &stage.world.snap;
        let subject = &snap.pods[pod];
        let reads_storage = plugin.reads_storage(subject);
        for change in changes {
            let row = match change {
                Change::Storage if reads_storage => return false,
                Change::Storage => continue,
                Change::World => return false,
                Change::Node { row, .. } => *row,
                Change::Placed { row, template, .. } | Change::Removed { row, template, .. } => {
                    let concerned = plugin.affects(snap, template, subject) != Affects::Nothing;
                    if concerned && matches!(self, Memory::Other(_)) {
                        return false;
                    }
                    *row
                }
            };
            let Memory::Run(filter, codes) = self else {
                continue;
            };
            if codes.len() != snap.nodes.len() {
                return false;
            }
            match filter.follow(snap, change) {
                Affects::Nothing => {}
                Affects::Node => {
                    let mut code = [Code::Success];
                    filter.filter(snap, Rows::List(&[row]), &mut code);
                    codes[row as usize] = code[0];
                }
                Affects::Every => {
                    codes.fill(Code::Success);
                    filter.filter(snap, Rows::All(codes.len()), codes);
                }
                Affects::Domain(_) | Affects::All => return false,
            }
        }
        true
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// What a plugin remembers and keeps up to date is what it would find out afresh.
    #[test]
    fn following_is_as_good_as_starting_afresh(events in history()) {
        let mut stage = Stage::new();
        let mut memories = Vec::new();
        for (at, _) in PLUGINS.iter().enumerate() {
            for pod in 0..PODS {
                let memory = Memory::new(&stage, &*stage.plugins[at], stage.pods[pod]);
                memories.push((at, stage.pods[pod], memory));
            }
        }
        for event in &events {
            let before = stage.world.snap.changes.now();
            stage.play(event);
            let changes = stage.world.snap.changes.since(before).expect("kept").to_vec();
            for (at, pod, memory) in &mut memories {
                let plugin = &*stage.plugins[*at];
                if !memory.follow(&stage, plugin, *pod, &changes) {
                    *memory = Memory::new(&stage, plugin, *pod);
                }
                let fresh = Memory::new(&stage, plugin, *pod);
                let live = &stage.world.snap.nodes.live;
                match (&*memory, &fresh) {
                    (Memory::Run(_, kept), Memory::Run(_, fresh)) => {
                        for (row, live) in live.iter().enumerate().filter(|(_, live)| **live) {
                            prop_assert!(*live);
                            prop_assert_eq!(kept[row], fresh[row], "{} on row {}", PLUGINS[*at], row);
                        }
                    }
                    (Memory::Other(kept), Memory::Other(fresh)) => prop_assert_eq!(kept, fresh),
                    _ => prop_assert!(false, "{}: skipped or not", PLUGINS[*at]),
                }
            }
        }
    }

    /// A cluster that came to its present state by detours judges like one that was set up in it: dense,
    /// by list and row by row (which `statuses` compares).
    #[test]
    fn detours_leave_no_trace(events in history()) {
        let mut stage = Stage::new();
        for event in &events {
            stage.play(event);
        }
        for pod in 0..PODS {
            stage.plugins[2].unreserve(&mut stage.world.snap, stage.pods[pod]);
            while stage.world.snap.volumes.assumptions.reservation(stage.pods[pod]).is_some() {
                stage.plugins[2].unreserve(&mut stage.world.snap, stage.pods[pod]);
            }
        }
        let mut plain = Stage::new();
        for event in last(&events) {
            plain.play(event);
        }
        for (pod, id) in stage.pods.iter().enumerate() {
            let node = stage.world.snap.pods[*id].row.map(|row| stage.world.snap.nodes.name(row));
            if let Some(name) = node.map(|name| stage.world.snap.interner.text(name).to_owned()) {
                plain.place(pod, name[1..].parse().expect("a number"));
            }
        }
        for (here, there) in stage.plugins.iter().zip(&plain.plugins) {
            for pod in 0..PODS {
                let one = stage.judge(&**here, stage.pods[pod]);
                let other = plain.judge(&**there, plain.pods[pod]);
                let (one, other) = (by_node(&stage, one), by_node(&plain, other));
                prop_assert_eq!(one, other, "{} of p{}", here.name(), pod);
            }
        }
    }

    /// Undoing an overlay restores every promise, index and judgement.
    #[test]
    fn overlays_leave_no_trace(events in history(), tried in prop::collection::vec((0..PODS, 0..NODES), 1..8)) {
        let mut stage = Stage::new();
        for event in &events {
            stage.play(event);
        }
        let before = trace(&stage);
        let mut overlay = Overlay::default();
        for (pod, node) in tried {
            let (Some(row), pod) = (stage.row(node), stage.pods[pod]) else { continue };
            overlay.evict(&mut stage.world.snap, pod);
            overlay.place(&mut stage.world.snap, pod, row);
            let reserved = overlay.reserve(&mut stage.world.snap, &stage.plugins[2], pod, row);
            drop(reserved);
        }
        overlay.discard(&mut stage.world.snap);
        prop_assert_eq!(trace(&stage), before);
    }
}

/// All that reservations can change, and all judgements.
fn trace(stage: &Stage) -> String {
    let volumes = &stage.world.snap.volumes;
    let text = |symbol| stage.world.snap.interner.text(symbol).to_owned();
    let mut trace = format!("{:?}", volumes.assumptions);
    let namespace = stage.world.snap.interner.get("default").expect("known");
    let profiles = stage
        .pods
        .iter()
        .map(|pod| stage.world.snap.pods[*pod].template.scheduler_name);
    for view in profiles.map(|profile| volumes.view(profile)) {
        for class in ["manual", "csi"] {
            let class = stage.world.snap.interner.get(class).expect("known");
            let free: Vec<_> = view
                .free(class)
                .map(|(_, volume)| text(volume.name))
                .collect();
            trace += &format!(" {free:?}");
        }
        for n in 0..CLAIMS {
            let Some(name) = stage.world.snap.interner.get(&format!("c{n}")) else {
                continue;
            };
            let claimed = view.claimed_by((namespace, name));
            let claimed: Vec<_> = claimed.map(|(_, volume)| text(volume.name)).collect();
            trace += &format!(" {claimed:?} {:?}", view.selected_node((namespace, name)));
        }
    }
    for plugin in &stage.plugins {
        for pod in &stage.pods {
            trace += &format!(" {:?}", stage.judge(&**plugin, *pod));
        }
    }
    trace
}

/// A node's name, and its code and reasons.
type Named = (String, (Code, String));

/// Statuses by node name: rows may differ.
fn by_node(stage: &Stage, judged: Judged) -> (Judged, Vec<Named>) {
    let Judged::Rows(rows) = judged else {
        return (judged, Vec::new());
    };
    let nodes = &stage.world.snap.nodes;
    let rows = rows
        .into_iter()
        .enumerate()
        .filter(|(row, _)| nodes.live[*row]);
    let name = |row: usize| {
        stage
            .world
            .snap
            .interner
            .text(nodes.name(row as Row))
            .to_owned()
    };
    let mut list: Vec<_> = rows.map(|(row, status)| (name(row), status)).collect();
    list.sort_by(|a, b| a.0.cmp(&b.0));
    (Judged::Rows(Vec::new()), list)
}

/// As kube-scheduler counts, which tests/parity has recorded (`claim-on-a-node-that-*`): a pod that arrives
/// counts wherever it says it is; a node that goes takes the uses of its pods along.
#[test]
fn a_bound_pod_holds_its_claims_until_its_node_goes() {
    let mut world = World::default();
    world.claim(&with(a_claim(0, 1, 0, None, true), json!({})));
    let user = world.pod(&with(pod("user", &["c0"]), on("late")));
    world.node("n", &[]);
    let new = world.pod(&pod("new", &["c0"]));
    let is_held = |judged| matches!(judged, Judged::Rows(rows) if !rows.is_empty());
    assert!(is_held(world.judge("VolumeRestrictions", new)));
    world.node("late", &[]);
    assert!(is_held(world.judge("VolumeRestrictions", new)));
    world.snap.remove_node("late");
    assert_eq!(world.judge("VolumeRestrictions", new), Judged::Skip);
    world.snap.remove_pod(user);
}
