//! InterPodAffinity pod by pod and label by label, as slow as it can be.

use crate::follow::live;
use podium_core::intern::Symbol;
use podium_core::selector::{Labels, Selector};
use podium_core::snapshot::{Pod, Row, Snapshot};
use podium_core::status::Code;
use podium_core::template::{AffinityTerm, WeightedTerm};
use std::collections::BTreeMap;

/// Topology key and value.
type Pair = (Symbol, Symbol);

fn label(snap: &Snapshot, row: Row, key: Symbol) -> Option<Symbol> {
    snap.nodes.info(row).labels.get(key)
}

fn selects_labels(snap: &Snapshot, term: &AffinityTerm, other: &Pod) -> bool {
    term.selector
        .matches(&other.template.labels, &snap.interner)
}

/// Whether a term of the incoming pod selects a pod: its namespace selector means existing objects.
fn own_selects(snap: &Snapshot, term: &AffinityTerm, other: &Pod) -> bool {
    let namespace = other.template.namespace;
    let mut objects = snap.namespaces().filter(|(name, _)| *name == namespace);
    let meant = match &term.namespace_selector {
        Selector::Nothing => false,
        all if all.is_empty() => true,
        some => objects.any(|(_, labels)| some.matches(labels, &snap.interner)),
    };
    (meant || term.namespaces.contains(&namespace)) && selects_labels(snap, term, other)
}

/// Whether a term of a pod on a node selects the incoming pod: by the labels of its namespace, if any.
fn selects_own(snap: &Snapshot, term: &AffinityTerm, pod: &Pod) -> bool {
    let namespace = pod.template.namespace;
    let object = snap.namespaces().find(|(name, _)| *name == namespace);
    let labels = object.map_or_else(Labels::default, |(_, labels)| labels.clone());
    let meant = term.namespaces.contains(&namespace)
        || term.namespace_selector.matches(&labels, &snap.interner);
    meant && selects_labels(snap, term, pod)
}

/// All pods on nodes with their row.
fn placed(snap: &Snapshot) -> impl Iterator<Item = (Row, &Pod)> {
    live(snap).flat_map(move |row| {
        let pods = snap.nodes.pods[row as usize].iter();
        pods.map(move |id| (row, &snap.pods[*id]))
    })
}

#[derive(Default)]
struct Counts {
    affinity: BTreeMap<Pair, i64>,
    anti: BTreeMap<Pair, i64>,
    existing: BTreeMap<Pair, i64>,
}

fn bump(snap: &Snapshot, map: &mut BTreeMap<Pair, i64>, (row, key): (Row, Symbol), by: i64) {
    if let Some(value) = label(snap, row, key) {
        let count = map.entry((key, value)).or_default();
        *count += by;
        if *count == 0 {
            map.remove(&(key, value));
        }
    }
}

impl Counts {
    fn add(&mut self, snap: &Snapshot, pod: &Pod, (row, other): (Row, &Pod), by: i64) {
        let (own, theirs) = (&pod.template.affinity, &other.template.affinity);
        for term in theirs
            .required_anti
            .iter()
            .filter(|t| selects_own(snap, t, pod))
        {
            bump(snap, &mut self.existing, (row, term.topology_key), by);
        }
        if own.required.iter().all(|t| own_selects(snap, t, other)) {
            for term in &own.required {
                bump(snap, &mut self.affinity, (row, term.topology_key), by);
            }
        }
        for term in own
            .required_anti
            .iter()
            .filter(|t| own_selects(snap, t, other))
        {
            bump(snap, &mut self.anti, (row, term.topology_key), by);
        }
    }
}

/// Code and index of the reason for all live rows; `None` if the filter is skipped.
pub(crate) fn filter(
    snap: &Snapshot,
    pod: &Pod,
    extra: &[(Row, Pod, i64)],
) -> Option<Vec<(Code, usize)>> {
    let mut counts = Counts::default();
    for (row, other) in placed(snap) {
        counts.add(snap, pod, (row, other), 1);
    }
    let own = &pod.template.affinity;
    if counts.existing.is_empty() && own.required.is_empty() && own.required_anti.is_empty() {
        return None;
    }
    for (row, other, by) in extra {
        counts.add(snap, pod, (*row, other), *by);
    }
    let positive = |map: &BTreeMap<Pair, i64>, row: Row, key: Symbol| {
        label(snap, row, key).is_some_and(|v| map.get(&(key, v)).is_some_and(|n| *n > 0))
    };
    let judge = |row: Row| {
        let has = |t: &AffinityTerm| label(snap, row, t.topology_key).is_some();
        let near = |t: &AffinityTerm| positive(&counts.affinity, row, t.topology_key);
        let alone =
            || counts.affinity.is_empty() && own.required.iter().all(|t| own_selects(snap, t, pod));
        if !own.required.iter().all(has) || !(own.required.iter().all(near) || alone()) {
            return (Code::UnschedulableAndUnresolvable, 1);
        }
        if own
            .required_anti
            .iter()
            .any(|t| positive(&counts.anti, row, t.topology_key))
        {
            return (Code::Unschedulable, 2);
        }
        let mut labels = snap.nodes.info(row).labels.iter();
        if labels.any(|(key, _)| positive(&counts.existing, row, key)) {
            return (Code::Unschedulable, 3);
        }
        (Code::Success, 0)
    };
    Some(live(snap).map(judge).collect())
}

/// Raw scores of `rows`; `None` if the score is skipped.
pub(crate) fn score(
    snap: &Snapshot,
    pod: &Pod,
    (hard_weight, own_terms_only): (i64, bool),
    rows: &[Row],
) -> Option<Vec<i64>> {
    let own = &pod.template.affinity;
    if own_terms_only && own.preferred.is_empty() && own.preferred_anti.is_empty() {
        return None;
    }
    let mut sums: BTreeMap<Pair, i64> = BTreeMap::new();
    let mut add = |row: Row, key: Symbol, weight: i64| {
        if let Some(value) = label(snap, row, key) {
            *sums.entry((key, value)).or_default() += weight;
        }
    };
    for (row, other) in placed(snap) {
        let theirs = &other.template.affinity;
        let sides = [(&own.preferred, 1), (&own.preferred_anti, -1)];
        for (list, sign) in sides {
            for WeightedTerm { weight, term } in list.iter() {
                if own_selects(snap, term, other) {
                    add(row, term.topology_key, i64::from(*weight) * sign);
                }
            }
        }
        for term in theirs.required.iter().filter(|t| selects_own(snap, t, pod)) {
            if hard_weight > 0 {
                add(row, term.topology_key, hard_weight);
            }
        }
        for (list, sign) in [(&theirs.preferred, 1), (&theirs.preferred_anti, -1)] {
            for WeightedTerm { weight, term } in list.iter() {
                if selects_own(snap, term, pod) {
                    add(row, term.topology_key, i64::from(*weight) * sign);
                }
            }
        }
    }
    let raw = |row: &Row| {
        let labels = snap.nodes.info(*row).labels.iter();
        labels.filter_map(|pair| sums.get(&pair)).sum()
    };
    (!sums.is_empty()).then(|| rows.iter().map(raw).collect())
}
