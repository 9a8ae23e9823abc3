//! Required terms: the incoming pod's affinity and anti-affinity, and the anti-affinity of pods on nodes.

use super::rule::{Rule, Which};
use super::tally::Tally;
use crate::intern::Symbol;
use crate::plugin::{Affects, Filter, GroupId, Groups, Rows};
use crate::plugins::partition::domain_of;
use crate::snapshot::{Change, DomainId, NO_DOMAIN, Pod, Row, Snapshot};
use crate::status::{Code, Status};
use crate::template::Template;
use std::sync::Arc;

const REASON_AFFINITY: &str = "node(s) didn't match pod affinity rules";
const REASON_ANTI: &str = "node(s) didn't match pod anti-affinity rules";
const REASON_EXISTING: &str = "node(s) didn't satisfy existing pods anti-affinity rules";

/// What was found about a node, in upstream's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Finding {
    Fits,
    /// No pod that the affinity terms select is near.
    Affinity,
    /// A pod that an anti-affinity term selects is near.
    Anti,
    /// A pod is near that does not want the incoming one.
    Existing,
}

impl Finding {
    fn code(self) -> Code {
        match self {
            Finding::Fits => Code::Success,
            Finding::Affinity => Code::UnschedulableAndUnresolvable,
            Finding::Anti | Finding::Existing => Code::Unschedulable,
        }
    }
}

/// Pods per topology key and domain that matter, and what follows for each group of rows.
#[derive(Clone, Debug)]
pub(super) struct Hard {
    rule: Arc<Rule>,
    /// Pods that all affinity terms select, once per term.
    affinity: Tally,
    /// Pods that an anti-affinity term selects.
    anti: Tally,
    /// Anti-affinity terms of pods on nodes that select the incoming pod.
    existing: Tally,
    /// Per group; out of date once a hypothetical pod was told of.
    codes: Vec<Code>,
    hypothetical: bool,
    /// Such terms of hypothetical pods over keys that no column has: key, domain, number.
    beyond: Vec<(Symbol, DomainId, i64)>,
    /// Columns whose count changed; empty between calls.
    touched: Vec<usize>,
}

impl Hard {
    /// `None` if neither the pod nor any pod on a node has anything to say.
    pub(super) fn new(snap: &Snapshot, template: &Template) -> Option<Self> {
        let rule = Arc::new(Rule::new(snap, template)?);
        let columns = rule.partition.keys().len();
        let mut filter = Hard {
            affinity: Tally::new(columns),
            anti: Tally::new(columns),
            existing: Tally::new(columns),
            codes: vec![Code::Success; rule.partition.len()],
            hypothetical: false,
            beyond: Vec::new(),
            touched: Vec::new(),
            rule: Arc::clone(&rule),
        };
        for (_, peer) in snap.peers.met_by(rule.has_terms()) {
            let key = &peer.key;
            rule.each(
                snap,
                (key.namespace, &key.labels, &key.terms),
                |which, key| {
                    for (row, count) in peer.all() {
                        filter.add(which, key, row, i64::from(count));
                    }
                },
            );
            filter.touched.clear();
        }
        if !rule.has_terms() && filter.existing.is_zero() {
            return None;
        }
        filter.revalue_all();
        Some(filter)
    }

    /// Counts a pod in its domain of `key`; false if no column has the key.
    fn add(&mut self, which: Which, key: Symbol, row: Row, delta: i64) -> bool {
        let Some(column) = self.rule.column(key) else {
            return false;
        };
        let Some(group) = self.rule.partition.group(row) else {
            return false;
        };
        let domain = self.rule.partition.cells(group)[column];
        if domain != NO_DOMAIN {
            let len = self.rule.partition.domains(column);
            let tally = match which {
                Which::Affinity => &mut self.affinity,
                Which::Anti => &mut self.anti,
                Which::Existing => &mut self.existing,
            };
            tally.add((column, len), domain, delta);
            self.touched.push(column);
        }
        true
    }

    fn judge(&self, group: GroupId) -> Finding {
        let rule = &*self.rule;
        let cells = rule.partition.cells(group);
        let mut near = true;
        for &column in &rule.affinity_columns {
            match cells[column] {
                NO_DOMAIN => return Finding::Affinity,
                domain => near &= self.affinity.get(column, domain) > 0,
            }
        }
        let first = rule.own && self.affinity.is_zero();
        if !near && !first {
            return Finding::Affinity;
        }
        let counted = |tally: &Tally, column: usize| {
            cells[column] != NO_DOMAIN && tally.get(column, cells[column]) > 0
        };
        if rule.anti_columns.iter().any(|c| counted(&self.anti, *c)) {
            return Finding::Anti;
        }
        let symmetric = !crate::mutation::active(super::NAME);
        if symmetric && (0..cells.len()).any(|c| counted(&self.existing, c)) {
            return Finding::Existing;
        }
        Finding::Fits
    }

    fn judge_row(&self, snap: &Snapshot, row: Row) -> Finding {
        let Some(group) = self.rule.partition.group(row) else {
            return Finding::Fits;
        };
        let refused = |(key, domain, count): &(Symbol, DomainId, i64)| {
            *count > 0 && snap.topology.domains(*key).of(row) == Some(*domain)
        };
        match self.judge(group) {
            Finding::Fits if self.beyond.iter().any(refused) => Finding::Existing,
            finding => finding,
        }
    }

    fn revalue(&mut self, group: GroupId) -> bool {
        let code = self.judge(group).code();
        std::mem::replace(&mut self.codes[group as usize], code) != code
    }

    fn revalue_all(&mut self) -> Affects {
        let mut changed = false;
        for group in 0..self.codes.len() as GroupId {
            changed |= self.revalue(group);
        }
        if changed {
            Affects::Every
        } else {
            Affects::Nothing
        }
    }

    /// A pod came to or left a node.
    fn follow_pod(
        &mut self,
        snap: &Snapshot,
        template: &Template,
        row: Row,
        delta: i64,
    ) -> Affects {
        if crate::mutation::active("follow: InterPodAffinity filter") {
            return Affects::Nothing;
        }
        let lonely = self.affinity.is_zero();
        let mut known = true;
        let rule = Arc::clone(&self.rule);
        let pod = (template.namespace, &template.labels, &template.affinity);
        rule.each(snap, pod, |which, key| {
            known &= self.add(which, key, row, delta)
        });
        if !known || (!self.rule.has_terms() && self.existing.is_zero()) {
            return Affects::All;
        }
        let mut touched = std::mem::take(&mut self.touched);
        let affects = if self.rule.own && lonely != self.affinity.is_zero() {
            self.revalue_all()
        } else {
            touched.sort_unstable();
            touched.dedup();
            self.revalue_domains(snap, &touched, row)
        };
        touched.clear();
        self.touched = touched;
        affects
    }

    fn revalue_domains(&mut self, snap: &Snapshot, columns: &[usize], row: Row) -> Affects {
        let rule = Arc::clone(&self.rule);
        let Some(group) = rule.partition.group(row) else {
            return Affects::All;
        };
        let mut affects = Affects::Nothing;
        for &column in columns {
            let mut changed = false;
            for group in rule
                .partition
                .within(column, rule.partition.cells(group)[column])
            {
                changed |= self.revalue(*group);
            }
            if changed {
                affects = affects.and(domain_of(snap, rule.partition.keys()[column], row));
            }
        }
        affects
    }

    fn suppose(&mut self, snap: &Snapshot, template: &Template, row: Row, delta: i64) {
        self.hypothetical = true;
        let rule = Arc::clone(&self.rule);
        let pod = (template.namespace, &template.labels, &template.affinity);
        rule.each(snap, pod, |which, key| {
            if self.add(which, key, row, delta) {
                return;
            }
            let Some(domain) = snap.topology.domains(key).of(row) else {
                return;
            };
            let same = |(k, d, _): &&mut (Symbol, DomainId, i64)| (*k, *d) == (key, domain);
            match self.beyond.iter_mut().find(same) {
                Some((_, _, count)) => *count += delta,
                None => self.beyond.push((key, domain, delta)),
            }
        });
        self.touched.clear();
    }
}

impl Filter for Hard {
    fn filter(&self, snap: &Snapshot, rows: Rows<'_>, out: &mut [Code]) {
        match self.groups() {
            Some(groups) => groups.judge(rows, out),
            None => rows.judge(out, |row| self.judge_row(snap, row).code()),
        }
    }

    fn status(&self, snap: &Snapshot, row: Row) -> Status {
        let reason = match self.judge_row(snap, row) {
            Finding::Fits => return Status::default(),
            Finding::Affinity => return Status::unresolvable(REASON_AFFINITY),
            Finding::Anti => REASON_ANTI,
            Finding::Existing => REASON_EXISTING,
        };
        Status::unschedulable(reason)
    }

    fn counts_pods(&self) -> bool {
        true
    }

    fn add_pod(&mut self, snap: &Snapshot, pod: &Pod, row: Row) {
        self.suppose(snap, &pod.template, row, 1);
    }

    fn remove_pod(&mut self, snap: &Snapshot, pod: &Pod, row: Row) {
        self.suppose(snap, &pod.template, row, -1);
    }

    fn follow(&mut self, snap: &Snapshot, change: &Change) -> Affects {
        match change {
            Change::Placed { row, template, .. } => self.follow_pod(snap, template, *row, 1),
            Change::Removed { row, template, .. } => self.follow_pod(snap, template, *row, -1),
            Change::Node { row, .. } if self.rule.partition.holds(snap, *row, 0) => Affects::Node,
            Change::Node { .. } => Affects::All,
            Change::Storage => Affects::Nothing,
            Change::World if self.rule.holds(snap) => Affects::Nothing,
            Change::World => Affects::All,
        }
    }

    fn groups(&self) -> Option<Groups<'_, Code>> {
        (!self.hypothetical).then(|| Groups {
            of_row: self.rule.partition.of_rows(),
            values: &self.codes,
            layout: 0,
        })
    }

    fn boxed_clone(&self) -> Box<dyn Filter> {
        Box::new(self.clone())
    }
}
