//! PodTopologySpread pod by pod and label by label, as slow as it can be.

use crate::cluster::HOSTNAME;
use crate::follow::live;
use podium_core::go_log::go_log;
use podium_core::intern::Symbol;
use podium_core::normalize::IGNORED;
use podium_core::selector::Labels;
use podium_core::snapshot::{Pod, Row, Snapshot};
use podium_core::status::Code;
use podium_core::template::{SpreadConstraint, Toleration, TolerationOperator};
use std::collections::BTreeMap;

type Label = Option<Symbol>;

fn labels(snap: &Snapshot, row: Row) -> &Labels {
    &snap.nodes.info(row).labels
}

fn included(snap: &Snapshot, row: Row, pod: &Pod, constraint: &SpreadConstraint) -> bool {
    let template = &pod.template;
    let name = snap.nodes.name(row);
    let terms = &template.node_affinity;
    let accepted = terms.accepts(name, labels(snap, row), pod.pin, &snap.interner);
    let tolerated = snap.nodes.info(row).taints.iter().all(|taint| {
        let tolerates = |t: &Toleration| {
            (t.key == Symbol::EMPTY || t.key == taint.key)
                && (t.effect == Symbol::EMPTY
                    || snap.interner.text(t.effect) == taint.effect.text())
                && (t.operator == TolerationOperator::Exists || t.value == taint.value)
        };
        !taint.effect.repels() || template.tolerations.iter().any(tolerates)
    });
    (!constraint.honor_affinity || accepted) && (!constraint.honor_taints || tolerated)
}

fn count_on(snap: &Snapshot, row: Row, pod: &Pod, constraint: &SpreadConstraint) -> i64 {
    if constraint.selector.is_empty() {
        return 0;
    }
    let on_node = snap.nodes.pods[row as usize]
        .iter()
        .map(|id| &snap.pods[*id]);
    let counted = on_node.filter(|other| {
        let labels = &other.template.labels;
        !other.terminating
            && other.template.namespace == pod.template.namespace
            && constraint.selector.matches(labels, &snap.interner)
    });
    counted.count() as i64
}

fn has_all(snap: &Snapshot, row: Row, constraints: &[SpreadConstraint]) -> bool {
    constraints
        .iter()
        .all(|c| labels(snap, row).get(c.topology_key).is_some())
}

/// Codes of all live rows; `extra` pods are counted as upstream's AddPod does, with their sign.
pub(crate) fn filter(
    snap: &Snapshot,
    pod: &Pod,
    constraints: &[SpreadConstraint],
    extra: &[(Row, Pod, i64)],
) -> BTreeMap<Row, Code> {
    let counts = constraints.iter().map(|c| {
        let mut counts: BTreeMap<Label, i64> = BTreeMap::new();
        let rows = live(snap).filter(|row| has_all(snap, *row, constraints));
        for row in rows.filter(|row| included(snap, *row, pod, c)) {
            let label = labels(snap, row).get(c.topology_key);
            *counts.entry(label).or_default() += count_on(snap, row, pod, c);
        }
        for (row, other, sign) in extra {
            let counted = has_all(snap, *row, constraints)
                && other.template.namespace == pod.template.namespace
                && c.selector.matches(&other.template.labels, &snap.interner)
                && included(snap, *row, pod, c);
            if counted {
                let label = labels(snap, *row).get(c.topology_key);
                *counts.entry(label).or_default() += sign;
            }
        }
        counts
    });
    let counts: Vec<_> = counts.collect();
    let judge = |row: Row| {
        for (c, counts) in constraints.iter().zip(&counts) {
            let Some(label) = labels(snap, row).get(c.topology_key) else {
                return Code::UnschedulableAndUnresolvable;
            };
            let fewest = counts
                .values()
                .copied()
                .min()
                .unwrap_or(i64::from(i32::MAX));
            let few = (counts.len() as i64) < i64::from(c.min_domains);
            let own = c.selector.matches(&pod.template.labels, &snap.interner);
            let skew = counts.get(&Some(label)).copied().unwrap_or(0) + i64::from(own)
                - if few { 0 } else { fewest };
            if skew > i64::from(c.max_skew) {
                return Code::Unschedulable;
            }
        }
        Code::Success
    };
    live(snap).map(|row| (row, judge(row))).collect()
}

/// Raw scores of the feasible rows.
pub(crate) fn score(
    snap: &Snapshot,
    pod: &Pod,
    (constraints, require_all): (&[SpreadConstraint], bool),
    feasible: &[Row],
) -> Vec<i64> {
    let hostname = snap.interner.get(HOSTNAME);
    let is_host = |c: &SpreadConstraint| Some(c.topology_key) == hostname;
    let ignored = |row: Row| require_all && !has_all(snap, row, constraints);
    let value = |row: Row, c: &SpreadConstraint| {
        labels(snap, row)
            .get(c.topology_key)
            .unwrap_or(Symbol::EMPTY)
    };
    let scored: Vec<Row> = feasible
        .iter()
        .copied()
        .filter(|row| !ignored(*row))
        .collect();
    let mut pairs = Vec::new();
    for c in constraints {
        let mut counts: BTreeMap<Symbol, i64> = BTreeMap::new();
        if !is_host(c) {
            counts.extend(scored.iter().map(|row| (value(*row, c), 0)));
        }
        let size = if is_host(c) {
            scored.len()
        } else {
            counts.len()
        };
        for row in live(snap).filter(|row| !ignored(*row) && included(snap, *row, pod, c)) {
            if let Some(count) = counts.get_mut(&value(row, c)) {
                *count += count_on(snap, row, pod, c);
            }
        }
        pairs.push((counts, go_log((size + 2) as f64)));
    }
    let raw = |row: &Row| {
        if ignored(*row) {
            return IGNORED;
        }
        let mut sum = 0.0;
        for (c, (counts, weight)) in constraints.iter().zip(&pairs) {
            let Some(label) = labels(snap, *row).get(c.topology_key) else {
                continue;
            };
            let count = if is_host(c) {
                count_on(snap, *row, pod, c)
            } else {
                counts[&label]
            };
            sum += count as f64 * weight + f64::from(c.max_skew - 1);
        }
        sum.round() as i64
    };
    feasible.iter().map(raw).collect()
}
