//! ScheduleAnyway: the fewer counted pods around a node, the better. A domain's count weighs
//! ln(number of domains + 2), so that keys with few domains do not drown those with many.

use super::hosts::Hosts;
use super::rule::{Place, Rule};
use super::weights::Weights;
use crate::normalize::{IGNORED, Normalize};
use crate::plugin::{Affects, GroupId, Groups, Rows, Score};
use crate::plugins::partition::domain_of;
use crate::snapshot::{Change, DomainId, NO_DOMAIN, Row, Snapshot};
use crate::template::Template;
use std::sync::Arc;

/// Pods per domain and node, and the raw scores that follow for each group of rows. Where a constraint
/// counts the pods of nodes, a group of the partition falls apart by them: see [`Hosts`].
#[derive(Clone, Debug)]
pub(super) struct SoftSpread {
    rule: Arc<Rule>,
    /// Per column and slot.
    counts: Vec<Vec<i64>>,
    hosts: Hosts,
    weights: Weights,
    /// Per group of the partition and host level.
    values: Vec<i64>,
}

impl SoftSpread {
    pub(super) fn new(snap: &Snapshot, rule: Rule, feasible: &[Row]) -> Self {
        let columns = 0..rule.partition.keys().len();
        let slots: Vec<usize> = columns.map(|c| rule.partition.domains(c) + 1).collect();
        let mut counts: Vec<_> = slots.iter().map(|n| vec![0; *n]).collect();
        let nodes = rule.places.iter().filter(|p| matches!(p, Place::Node(_)));
        let mut per_node = vec![vec![0; snap.nodes.len()]; nodes.count()];
        rule.constraints
            .count(snap, |index, row, count| match rule.places[index] {
                Place::Node(index) => per_node[index][row as usize] += count,
                Place::Column(column) => {
                    let group = rule.partition.group(row);
                    if let Some(slot) = group.and_then(|g| rule.counted_in(g, index, column)) {
                        counts[column][slot] += count;
                    }
                }
            });
        let mut score = SoftSpread {
            hosts: Hosts::new(&per_node, rule.partition.of_rows()),
            weights: Weights::new(&slots),
            rule: Arc::new(rule),
            counts,
            values: Vec::new(),
        };
        for row in feasible {
            score.weigh(*row, true);
        }
        score.weights.settle(&score.rule.places);
        score.revalue_all();
        score
    }

    /// A node came to or left the feasible set.
    fn weigh(&mut self, row: Row, entered: bool) -> Option<()> {
        let group = self.rule.partition.group(row)?;
        if !self.rule.ignores(group) {
            let columns = 0..self.counts.len();
            let slots = columns.map(|column| self.rule.slot(group, column));
            self.weights.count(slots, entered);
        }
        Some(())
    }

    /// The raw score of the nodes of a group of the partition that have these numbers of pods.
    fn value(&self, group: GroupId, on_node: &[i64]) -> i64 {
        if self.rule.ignores(group) {
            return IGNORED;
        }
        let cells = self.rule.partition.cells(group);
        let mut score = 0.0;
        for (index, constraint) in self.rule.constraints.list.iter().enumerate() {
            let count = match self.rule.places[index] {
                Place::Column(column) if cells[column] == NO_DOMAIN => continue,
                Place::Column(column) => self.counts[column][cells[column] as usize],
                Place::Node(_) if !self.rule.has_host(group) => continue,
                Place::Node(index) => on_node[index],
            };
            let tolerated = f64::from(constraint.max_skew.wrapping_sub(1));
            score += count as f64 * self.weights.of(index) + tolerated;
        }
        score.round() as i64
    }

    /// Computes the values of a group of the partition anew; whether any differs.
    fn revalue(&mut self, group: GroupId) -> bool {
        let mut changed = false;
        for level in 0..self.hosts.levels() {
            let value = self.value(group, self.hosts.level(level));
            let cell = &mut self.values[self.hosts.group(group, level) as usize];
            changed |= std::mem::replace(cell, value) != value;
        }
        changed
    }

    fn revalue_all(&mut self) -> Affects {
        let len = self.rule.partition.len();
        self.values.resize(len * self.hosts.width(), IGNORED);
        let mut changed = false;
        for group in 0..len as GroupId {
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
        if crate::mutation::active("follow: PodTopologySpread score") {
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
        for (index, _) in rule.constraints.counting(snap, template) {
            let Some(group) = rule.partition.group(row) else {
                return Affects::All;
            };
            affects = affects.and(match rule.places[index] {
                Place::Node(index) => self.move_row(group, row, index, delta),
                Place::Column(column) => match rule.counted_in(group, index, column) {
                    Some(slot) => self.add(snap, row, (column, slot), delta),
                    None => Affects::Nothing,
                },
            });
        }
        affects
    }

    fn move_row(&mut self, group: GroupId, row: Row, index: usize, delta: i64) -> Affects {
        let known = (self.hosts.levels(), self.hosts.width());
        self.hosts.shift(row, index, delta);
        if self.hosts.width() != known.1 {
            self.hosts.lay_out(self.rule.partition.of_rows());
            self.revalue_all();
            return Affects::Every;
        }
        self.hosts.regroup(row, group);
        if self.hosts.levels() != known.0 {
            self.revalue_all();
        }
        Affects::Node
    }

    fn add(
        &mut self,
        snap: &Snapshot,
        row: Row,
        (column, slot): (usize, usize),
        delta: i64,
    ) -> Affects {
        self.counts[column][slot] += delta;
        let rule = Arc::clone(&self.rule);
        if slot == rule.partition.domains(column) {
            // Nodes without the label count for no node's score.
            return Affects::Nothing;
        }
        let mut changed = false;
        for group in rule.partition.within(column, slot as DomainId) {
            changed |= self.revalue(*group);
        }
        if !changed {
            return Affects::Nothing;
        }
        let key = rule.partition.keys()[column];
        match snap.topology.domains(key).of(row) {
            Some(domain) if domain as usize == slot => domain_of(snap, key, row),
            // The node has no label and counts for those of the empty value.
            _ => Affects::Every,
        }
    }
}

impl Score for SoftSpread {
    fn score(&self, _: &Snapshot, rows: Rows<'_>, out: &mut [i64]) {
        self.groups_of().write(rows, out);
    }

    fn normalize(&self) -> Normalize {
        Normalize::Spread
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
            // Without nodes there is nothing to score.
            Change::Node { .. } if snap.nodes.is_empty() => Affects::All,
            Change::Node { row, .. } if self.rule.holds(snap, *row) => Affects::Node,
            Change::Node { .. } => Affects::All,
            Change::Storage => Affects::Nothing,
            Change::World if self.rule.constraints.hold(snap) => Affects::Nothing,
            Change::World => Affects::All,
        }
    }

    fn reads_feasible(&self) -> bool {
        true
    }

    fn feasible(&mut self, _: &Snapshot, entered: &[Row], left: &[Row]) -> Affects {
        if crate::mutation::active("feasible: PodTopologySpread") {
            return Affects::Nothing;
        }
        let gone = left.iter().map(|row| (*row, false));
        for (row, entered) in entered.iter().map(|row| (*row, true)).chain(gone) {
            if self.weigh(row, entered).is_none() {
                return Affects::All;
            }
        }
        match self.weights.settle(&Arc::clone(&self.rule).places) {
            true => self.revalue_all(),
            false => Affects::Nothing,
        }
    }

    fn groups(&self) -> Option<Groups<'_, i64>> {
        Some(self.groups_of())
    }

    fn boxed_clone(&self) -> Box<dyn Score> {
        Box::new(self.clone())
    }
}

impl SoftSpread {
    fn groups_of(&self) -> Groups<'_, i64> {
        Groups {
            of_row: self
                .hosts
                .of_rows()
                .unwrap_or(self.rule.partition.of_rows()),
            values: &self.values,
            layout: self.hosts.width(),
        }
    }
}
