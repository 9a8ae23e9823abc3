//! Numbers of pods on single nodes, for constraints over the hostname.

use crate::plugin::GroupId;
use crate::snapshot::Row;
use rustc_hash::FxHashMap;

/// A node's numbers, one per hostname constraint, are its level; few nodes have different ones. A group
/// of nodes with one level is numbered group · width + level.
#[derive(Clone, Debug)]
pub(super) struct Hosts {
    /// Numbers by level.
    levels: Vec<Box<[i64]>>,
    ids: FxHashMap<Box<[i64]>, usize>,
    of_row: Vec<u32>,
    /// Group by row, once there is any hostname constraint.
    grouped: Option<Vec<GroupId>>,
    /// At least the number of levels.
    width: usize,
}

impl Hosts {
    /// `counts` are per hostname constraint and row, `groups` the partition's per row.
    pub(super) fn new(counts: &[Vec<i64>], groups: &[GroupId]) -> Self {
        let mut hosts = Hosts {
            levels: Vec::new(),
            ids: FxHashMap::default(),
            of_row: Vec::new(),
            grouped: None,
            width: 1,
        };
        hosts.id(&vec![0; counts.len()]);
        if counts.is_empty() {
            return hosts;
        }
        hosts.width = 4;
        let mut numbers = Vec::with_capacity(counts.len());
        for row in 0..groups.len() {
            numbers.clear();
            numbers.extend(counts.iter().map(|c| c[row]));
            // Most nodes have no such pod; they are of the first level.
            let level = match numbers.iter().any(|count| *count != 0) {
                true => hosts.id(&numbers),
                false => 0,
            };
            hosts.of_row.push(level as u32);
        }
        hosts.lay_out(groups);
        hosts
    }

    fn id(&mut self, numbers: &[i64]) -> usize {
        if let Some(level) = self.ids.get(numbers) {
            return *level;
        }
        let level = self.levels.len();
        self.levels.push(numbers.into());
        self.ids.insert(numbers.into(), level);
        while self.width <= level {
            self.width *= 2;
        }
        level
    }

    /// Numbers all rows' groups, after the width changed.
    pub(super) fn lay_out(&mut self, groups: &[GroupId]) {
        let rows = groups.iter().zip(&self.of_row);
        let grouped = rows.map(|(group, level)| self.group(*group, *level as usize));
        self.grouped = Some(grouped.collect());
    }

    /// Changes one number of a row.
    pub(super) fn shift(&mut self, row: Row, index: usize, delta: i64) {
        let level = self.of_row[row as usize] as usize;
        let mut numbers = self.levels[level].clone();
        numbers[index] += delta;
        self.of_row[row as usize] = self.id(&numbers) as u32;
    }

    /// Numbers one row's group.
    pub(super) fn regroup(&mut self, row: Row, group: GroupId) {
        let group = self.group(group, self.of_row[row as usize] as usize);
        if let Some(grouped) = &mut self.grouped {
            grouped[row as usize] = group;
        }
    }

    pub(super) fn group(&self, group: GroupId, level: usize) -> GroupId {
        group * self.width as GroupId + level as GroupId
    }

    pub(super) fn of_rows(&self) -> Option<&[GroupId]> {
        self.grouped.as_deref()
    }

    pub(super) fn levels(&self) -> usize {
        self.levels.len()
    }

    pub(super) fn level(&self, level: usize) -> &[i64] {
        &self.levels[level]
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }
}
