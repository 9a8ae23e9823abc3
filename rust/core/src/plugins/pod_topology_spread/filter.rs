//! DoNotSchedule: no domain may have `maxSkew` pods more than the one that has the fewest.

use super::{Constraints, minimum::Minimum};
use crate::plugin::{Affects, Filter, GroupId, Groups, Rows};
use crate::plugins::inclusion::Inclusion;
use crate::plugins::partition::{Partition, domain_of};
use crate::snapshot::{Change, DomainId, NO_DOMAIN, Pod, Row, Snapshot};
use crate::status::{Code, Status};
use crate::template::{SpreadConstraint, Template};
use std::sync::Arc;

const REASON: &str = "node(s) didn't match pod topology spread constraints";
const REASON_LABEL: &str =
    "node(s) didn't match pod topology spread constraints (missing required label)";

/// Pods per domain of each constraint, and what follows from them for each group of rows.
#[derive(Clone, Debug)]
pub(super) struct HardSpread {
    rule: Arc<Rule>,
    /// Per constraint and domain.
    counts: Vec<Vec<i64>>,
    /// Per constraint.
    minimums: Vec<Minimum>,
    /// Per group; out of date once a hypothetical pod was told of.
    codes: Vec<Code>,
    hypothetical: bool,
}

/// What does not depend on pods on nodes.
#[derive(Debug)]
struct Rule {
    constraints: Constraints,
    inclusion: Inclusion,
    /// Per constraint: 1 if the pod counts itself.
    own: Vec<i64>,
    /// The column of a constraint is its index.
    partition: Partition,
    /// Per constraint and domain: some node that counts is in it.
    eligible: Vec<Vec<bool>>,
    /// Per constraint: how many domains are eligible.
    domains: Vec<usize>,
}

impl Rule {
    fn new(snap: &Snapshot, pod: &Pod, constraints: Constraints, inclusion: Inclusion) -> Self {
        let list = &constraints.list;
        let keys: Vec<_> = list.iter().map(|c| c.topology_key).collect();
        let partition = Partition::new(snap, &keys, |row| inclusion.facts(snap, row));
        let columns = 0..keys.len();
        let mut eligible: Vec<_> = columns.map(|c| vec![false; partition.domains(c)]).collect();
        for group in 0..partition.len() as GroupId {
            for (index, constraint) in list.iter().enumerate() {
                if let Some(domain) = counted_in(&partition, group, index, constraint) {
                    eligible[index][domain as usize] = true;
                }
            }
        }
        let matches =
            |c: &SpreadConstraint| c.selector.matches(&pod.template.labels, &snap.interner);
        Rule {
            own: list.iter().map(|c| i64::from(matches(c))).collect(),
            domains: eligible
                .iter()
                .map(|e| e.iter().filter(|e| **e).count())
                .collect(),
            eligible,
            partition,
            inclusion,
            constraints,
        }
    }
}

/// The domain in which a constraint counts the pods of a group's nodes: only those nodes count that have
/// all topology keys and pass the constraint's node inclusion policies.
fn counted_in(
    partition: &Partition,
    group: GroupId,
    index: usize,
    constraint: &SpreadConstraint,
) -> Option<DomainId> {
    let cells = partition.cells(group);
    let needed = Inclusion::needed(constraint);
    let counts = partition.facts(group) & needed == needed && !cells.contains(&NO_DOMAIN);
    counts.then(|| cells[index])
}

impl HardSpread {
    pub(super) fn new(
        snap: &Snapshot,
        pod: &Pod,
        constraints: Constraints,
        inclusion: Inclusion,
    ) -> Self {
        let rule = Rule::new(snap, pod, constraints, inclusion);
        let mut counts: Vec<_> = rule.eligible.iter().map(|e| vec![0; e.len()]).collect();
        let list = &rule.constraints.list;
        rule.constraints.count(snap, |index, row, count| {
            let group = rule.partition.group(row);
            let domain = group.and_then(|g| counted_in(&rule.partition, g, index, &list[index]));
            if let Some(domain) = domain {
                counts[index][domain as usize] += count;
            }
        });
        let minimums = counts
            .iter()
            .zip(&rule.eligible)
            .map(|(c, e)| Minimum::of(c, e));
        let mut filter = HardSpread {
            minimums: minimums.collect(),
            counts,
            codes: vec![Code::Success; rule.partition.len()],
            rule: Arc::new(rule),
            hypothetical: false,
        };
        filter.revalue_all();
        filter
    }

    /// By its constraints in order.
    fn judge(&self, group: GroupId) -> Code {
        let cells = self.rule.partition.cells(group);
        for (index, constraint) in self.rule.constraints.list.iter().enumerate() {
            if cells[index] == NO_DOMAIN {
                return Code::UnschedulableAndUnresolvable;
            }
            // Too few domains count as one that has no pod.
            let minimum = match self.rule.domains[index] < constraint.min_domains.max(0) as usize {
                true => 0,
                false => self.minimums[index].value,
            };
            let count = self.counts[index][cells[index] as usize];
            let allowed =
                i64::from(constraint.max_skew) - i64::from(crate::mutation::active(super::NAME));
            if count + self.rule.own[index] - minimum > allowed {
                return Code::Unschedulable;
            }
        }
        Code::Success
    }

    fn code(&self, row: Row) -> Code {
        match self.rule.partition.group(row) {
            Some(group) if self.hypothetical => self.judge(group),
            Some(group) => self.codes[group as usize],
            None => Code::Success,
        }
    }

    fn revalue(&mut self, group: GroupId) -> bool {
        let code = self.judge(group);
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

    fn revalue_domain(&mut self, snap: &Snapshot, index: usize, row: Row) -> Affects {
        let rule = Arc::clone(&self.rule);
        let Some(group) = rule.partition.group(row) else {
            return Affects::All;
        };
        let mut changed = false;
        for group in rule
            .partition
            .within(index, rule.partition.cells(group)[index])
        {
            changed |= self.revalue(*group);
        }
        match changed {
            true => domain_of(snap, rule.constraints.list[index].topology_key, row),
            false => Affects::Nothing,
        }
    }

    /// Changes one domain's count; whether the minimum moved.
    fn add(&mut self, index: usize, domain: DomainId, delta: i64) -> bool {
        let count = &mut self.counts[index][domain as usize];
        let before = *count;
        *count += delta;
        let change = (domain as usize, before);
        self.minimums[index].follow(&self.counts[index], &self.rule.eligible[index], change)
    }

    /// A pod came to or left a node.
    fn follow_pod(
        &mut self,
        snap: &Snapshot,
        template: &Template,
        row: Row,
        delta: i64,
    ) -> Affects {
        if crate::mutation::active("follow: PodTopologySpread filter") {
            return Affects::Nothing;
        }
        if self
            .rule
            .constraints
            .counting(snap, template)
            .next()
            .is_none()
        {
            return Affects::Nothing;
        }
        let rule = Arc::clone(&self.rule);
        let mut affects = Affects::Nothing;
        for (index, constraint) in rule.constraints.counting(snap, template) {
            let Some(group) = rule.partition.group(row) else {
                return Affects::All;
            };
            let Some(domain) = counted_in(&rule.partition, group, index, constraint) else {
                continue;
            };
            affects = affects.and(match self.add(index, domain, delta) {
                true => self.revalue_all(),
                false => self.revalue_domain(snap, index, row),
            });
        }
        affects
    }

    /// Upstream's `updateWithPod`, which counts terminating pods and those that an empty selector matches.
    fn suppose(&mut self, snap: &Snapshot, pod: &Pod, row: Row, delta: i64) {
        let rule = Arc::clone(&self.rule);
        let template = &pod.template;
        let Some(group) = rule.partition.group(row) else {
            return;
        };
        if template.namespace != rule.constraints.namespace {
            return;
        }
        self.hypothetical = true;
        for (index, constraint) in rule.constraints.list.iter().enumerate() {
            let matches = constraint
                .selector
                .matches(&template.labels, &snap.interner);
            let domain = counted_in(&rule.partition, group, index, constraint);
            if let Some(domain) = domain.filter(|_| matches) {
                self.add(index, domain, delta);
            }
        }
    }
}

impl Filter for HardSpread {
    fn filter(&self, _: &Snapshot, rows: Rows<'_>, out: &mut [Code]) {
        match self.groups() {
            Some(groups) => groups.judge(rows, out),
            None => rows.judge(out, |row| self.code(row)),
        }
    }

    fn status(&self, _: &Snapshot, row: Row) -> Status {
        match self.code(row) {
            Code::Success => Status::default(),
            Code::UnschedulableAndUnresolvable => Status::unresolvable(REASON_LABEL),
            code => Status::new(code, REASON),
        }
    }

    fn counts_pods(&self) -> bool {
        true
    }

    fn add_pod(&mut self, snap: &Snapshot, pod: &Pod, row: Row) {
        self.suppose(snap, pod, row, 1);
    }

    fn remove_pod(&mut self, snap: &Snapshot, pod: &Pod, row: Row) {
        self.suppose(snap, pod, row, -1);
    }

    fn follow(&mut self, snap: &Snapshot, change: &Change) -> Affects {
        match change {
            Change::Placed { terminating, .. } | Change::Removed { terminating, .. }
                if *terminating =>
            {
                Affects::Nothing
            }
            Change::Placed { row, template, .. } => self.follow_pod(snap, template, *row, 1),
            Change::Removed { row, template, .. } => self.follow_pod(snap, template, *row, -1),
            Change::Node { row, .. } => {
                let facts = self.rule.inclusion.facts(snap, *row);
                match self.rule.partition.holds(snap, *row, facts) {
                    true => Affects::Node,
                    false => Affects::All,
                }
            }
            Change::Storage => Affects::Nothing,
            Change::World if self.rule.constraints.hold(snap) => Affects::Nothing,
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
