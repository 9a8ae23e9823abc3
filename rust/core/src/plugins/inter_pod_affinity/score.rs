//! Preferred terms: the sum of the weights of all terms, the pod's own and those of pods on nodes, that
//! bring the two together in a domain of a node. A required affinity term of a pod on a node has the
//! weight of `hardPodAffinityWeight`.

use super::terms::{Seen, Term};
use crate::intern::Symbol;
use crate::normalize::Normalize;
use crate::plugin::{Affects, GroupId, Groups, Rows, Score};
use crate::plugins::partition::{Partition, domain_of};
use crate::selector::Labels;
use crate::snapshot::{Change, NO_DOMAIN, Row, Snapshot};
use crate::template::{PodTerms, Template, WeightedTerm};
use std::sync::Arc;

/// Sums of weights per topology key and domain, and the raw score that follows for each group of rows.
#[derive(Clone, Debug)]
pub(super) struct Soft {
    rule: Arc<Rule>,
    partition: Arc<Partition>,
    /// Per column and domain.
    sums: Vec<Vec<i64>>,
    /// How often a term brought the pod together with one on a node that has the term's key.
    entries: i64,
    /// Per group.
    values: Vec<i64>,
    /// Columns whose sum changed; empty between calls.
    touched: Vec<usize>,
}

/// What depends on neither pods on nodes nor nodes.
#[derive(Debug)]
struct Rule {
    /// The pod's own terms, those of anti-affinity with negative weight.
    own: Vec<(Term, i32)>,
    sources: PodTerms,
    seen: Seen,
    hard_weight: i32,
}

fn resolve(sources: &PodTerms, snap: &Snapshot) -> Vec<(Term, i32)> {
    signed(&sources.preferred, &sources.preferred_anti)
        .map(|(w, weight)| (Term::new(&w.term, snap), weight))
        .collect()
}

/// Weighted terms of affinity and anti-affinity with the sign of their effect.
fn signed<'a>(
    affinity: &'a [WeightedTerm],
    anti: &'a [WeightedTerm],
) -> impl Iterator<Item = (&'a WeightedTerm, i32)> {
    let attract = affinity.iter().map(|w| (w, w.weight));
    attract.chain(anti.iter().map(|w| (w, w.weight.wrapping_neg())))
}

impl Rule {
    fn holds(&self, snap: &Snapshot) -> bool {
        self.seen.holds(snap) && self.own == resolve(&self.sources, snap)
    }

    /// Calls `add` with key and weight of each term between the incoming pod and one on a node.
    fn each(
        &self,
        snap: &Snapshot,
        (namespace, labels, terms): (Symbol, &Labels, &PodTerms),
        mut add: impl FnMut(Symbol, i64),
    ) {
        for (term, weight) in &self.own {
            if term.selects_labels(snap, namespace, labels) {
                add(term.key, i64::from(*weight));
            }
        }
        if self.hard_weight > 0 {
            for term in terms.required.iter().filter(|t| self.seen.by(t, snap)) {
                add(term.topology_key, i64::from(self.hard_weight));
            }
        }
        for (weighted, weight) in signed(&terms.preferred, &terms.preferred_anti) {
            if self.seen.by(&weighted.term, snap) {
                add(weighted.term.topology_key, i64::from(weight));
            }
        }
    }
}

impl Soft {
    /// `None` if no term, of the pod or of pods on nodes, brings it together with any of them.
    pub(super) fn new(snap: &Snapshot, template: &Template, hard_weight: i32) -> Option<Self> {
        let sources = PodTerms {
            preferred: template.affinity.preferred.clone(),
            preferred_anti: template.affinity.preferred_anti.clone(),
            ..PodTerms::default()
        };
        let rule = Rule {
            own: resolve(&sources, snap),
            sources,
            seen: Seen::new(snap, template),
            hard_weight,
        };
        let mut keys: Vec<Symbol> = Vec::new();
        let mut found = Vec::new();
        for (_, peer) in snap.peers.met_by(!rule.own.is_empty()) {
            let key = &peer.key;
            rule.each(
                snap,
                (key.namespace, &key.labels, &key.terms),
                |key, weight| {
                    let column = keys.iter().position(|k| *k == key).unwrap_or_else(|| {
                        keys.push(key);
                        keys.len() - 1
                    });
                    found.push((column, weight, peer));
                },
            );
        }
        if found.is_empty() {
            return None;
        }
        let partition = Partition::new(snap, &keys, |_| 0);
        let columns = 0..keys.len();
        let mut score = Soft {
            sums: columns.map(|c| vec![0; partition.domains(c)]).collect(),
            values: vec![0; partition.len()],
            partition: Arc::new(partition),
            rule: Arc::new(rule),
            entries: 0,
            touched: Vec::new(),
        };
        for (column, weight, peer) in found {
            for (row, count) in peer.all() {
                score.add(column, row, weight, i64::from(count));
            }
        }
        score.touched.clear();
        for group in 0..score.values.len() as GroupId {
            score.revalue(group);
        }
        (score.entries != 0).then_some(score)
    }

    /// Counts `count` pods on a row.
    fn add(&mut self, column: usize, row: Row, weight: i64, count: i64) {
        let Some(group) = self.partition.group(row) else {
            return;
        };
        let domain = self.partition.cells(group)[column];
        if domain != NO_DOMAIN {
            let sum = &mut self.sums[column][domain as usize];
            *sum = sum.wrapping_add(weight.wrapping_mul(count));
            self.entries += count;
            self.touched.push(column);
        }
    }

    fn revalue(&mut self, group: GroupId) -> bool {
        let cells = self.partition.cells(group).iter().zip(&self.sums);
        let present = cells.filter(|(domain, _)| **domain != NO_DOMAIN);
        let value = present.fold(0i64, |sum, (domain, sums)| {
            sum.wrapping_add(sums[*domain as usize])
        });
        std::mem::replace(&mut self.values[group as usize], value) != value
    }

    /// A pod came to or left a node.
    fn follow_pod(
        &mut self,
        snap: &Snapshot,
        template: &Template,
        row: Row,
        delta: i64,
    ) -> Affects {
        if crate::mutation::active("follow: InterPodAffinity score") {
            return Affects::Nothing;
        }
        let rule = Arc::clone(&self.rule);
        let partition = Arc::clone(&self.partition);
        let mut known = partition.group(row).is_some();
        let mut any = false;
        let pod = (template.namespace, &template.labels, &template.affinity);
        rule.each(snap, pod, |key, weight| {
            any = true;
            match partition.keys().iter().position(|k| *k == key) {
                Some(column) => self.add(column, row, weight, delta),
                None => known = false,
            }
        });
        if !any {
            return Affects::Nothing;
        }
        let Some(group) = partition.group(row).filter(|_| known && self.entries != 0) else {
            return Affects::All;
        };
        let mut touched = std::mem::take(&mut self.touched);
        touched.sort_unstable();
        touched.dedup();
        let mut affects = Affects::Nothing;
        for &column in &touched {
            let mut changed = false;
            for group in partition.within(column, partition.cells(group)[column]) {
                changed |= self.revalue(*group);
            }
            if changed {
                affects = affects.and(domain_of(snap, partition.keys()[column], row));
            }
        }
        touched.clear();
        self.touched = touched;
        affects
    }
}

impl Score for Soft {
    fn score(&self, _: &Snapshot, rows: Rows<'_>, out: &mut [i64]) {
        self.all().write(rows, out);
    }

    fn normalize(&self) -> Normalize {
        Normalize::Range
    }

    fn follow(&mut self, snap: &Snapshot, change: &Change) -> Affects {
        match change {
            Change::Placed { row, template, .. } => self.follow_pod(snap, template, *row, 1),
            Change::Removed { row, template, .. } => self.follow_pod(snap, template, *row, -1),
            Change::Node { row, .. } if self.partition.holds(snap, *row, 0) => Affects::Node,
            Change::Node { .. } => Affects::All,
            Change::Storage => Affects::Nothing,
            Change::World if self.rule.holds(snap) => Affects::Nothing,
            Change::World => Affects::All,
        }
    }

    fn groups(&self) -> Option<Groups<'_, i64>> {
        Some(self.all())
    }

    fn boxed_clone(&self) -> Box<dyn Score> {
        Box::new(self.clone())
    }
}

impl Soft {
    fn all(&self) -> Groups<'_, i64> {
        Groups {
            of_row: self.partition.of_rows(),
            values: &self.values,
            layout: 0,
        }
    }
}
