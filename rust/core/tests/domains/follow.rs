//! What an engine remembers, kept as it may keep it: from the answers of `follow` alone.

use podium_core::normalize::IGNORED;
use podium_core::plugin::{
    Affects, Filter, KeyWriter, Plugin, Point, PreFilter, PreScore, Rows, Score,
};
use podium_core::snapshot::{Change, Generation, Pod, Row, Snapshot};
use podium_core::status::Code;
use std::collections::BTreeSet;
use std::sync::Arc;

/// One role of a plugin for one pod, with a result per row.
trait Role: Sized {
    type Value: Copy + PartialEq + std::fmt::Debug + Default;
    const POINT: Point;
    fn make(plugin: &dyn Plugin, snap: &Snapshot, pod: &Pod, feasible: &[Row]) -> Option<Self>;
    fn follow(&mut self, snap: &Snapshot, change: &Change) -> Affects;
    fn feasible(&mut self, snap: &Snapshot, entered: &[Row], left: &[Row]) -> Affects;
    fn values(&self, snap: &Snapshot, rows: Rows<'_>) -> Vec<Self::Value>;
    /// Group and value per row.
    fn grouped(&self) -> (Vec<u32>, Vec<Self::Value>);
    fn layout(&self) -> usize;
}

impl Role for Box<dyn Filter> {
    type Value = Code;
    const POINT: Point = Point::Filter;

    fn make(plugin: &dyn Plugin, snap: &Snapshot, pod: &Pod, _: &[Row]) -> Option<Self> {
        match plugin.pre_filter(snap, pod) {
            PreFilter::Run {
                filter,
                nodes: None,
            } => Some(filter),
            PreFilter::Skip => None,
            other => panic!("{other:?}"),
        }
    }

    fn follow(&mut self, snap: &Snapshot, change: &Change) -> Affects {
        (**self).follow(snap, change)
    }

    fn feasible(&mut self, _: &Snapshot, _: &[Row], _: &[Row]) -> Affects {
        Affects::Nothing
    }

    fn values(&self, snap: &Snapshot, rows: Rows<'_>) -> Vec<Code> {
        let mut out = vec![Code::Success; rows.len()];
        self.filter(snap, rows, &mut out);
        out
    }

    fn grouped(&self) -> (Vec<u32>, Vec<Code>) {
        let groups = self.groups().expect("groups");
        let value = |g: &u32| groups.values[*g as usize];
        (
            groups.of_row.to_vec(),
            groups.of_row.iter().map(value).collect(),
        )
    }

    fn layout(&self) -> usize {
        self.groups().expect("groups").layout
    }
}

impl Role for Box<dyn Score> {
    type Value = i64;
    const POINT: Point = Point::Score;

    fn make(plugin: &dyn Plugin, snap: &Snapshot, pod: &Pod, feasible: &[Row]) -> Option<Self> {
        match plugin.pre_score(snap, pod, feasible) {
            PreScore::Run(score) => Some(score),
            PreScore::Skip => None,
            PreScore::Reject(status) => panic!("{status:?}"),
        }
    }

    fn follow(&mut self, snap: &Snapshot, change: &Change) -> Affects {
        (**self).follow(snap, change)
    }

    fn feasible(&mut self, snap: &Snapshot, entered: &[Row], left: &[Row]) -> Affects {
        (**self).feasible(snap, entered, left)
    }

    fn values(&self, snap: &Snapshot, rows: Rows<'_>) -> Vec<i64> {
        let mut out = vec![IGNORED; rows.len()];
        self.score(snap, rows, &mut out);
        out
    }

    fn grouped(&self) -> (Vec<u32>, Vec<i64>) {
        let groups = self.groups().expect("groups");
        let value = |g: &u32| groups.values[*g as usize];
        (
            groups.of_row.to_vec(),
            groups.of_row.iter().map(value).collect(),
        )
    }

    fn layout(&self) -> usize {
        self.groups().expect("groups").layout
    }
}

struct Remembered<R: Role> {
    role: Option<R>,
    values: Vec<R::Value>,
    of_row: Vec<u32>,
    layout: usize,
    remade: usize,
}

impl<R: Role> Remembered<R> {
    fn new(plugin: &dyn Plugin, snap: &Snapshot, pod: &Pod, feasible: &[Row]) -> Self {
        let mut new = Remembered {
            role: None,
            values: Vec::new(),
            of_row: Vec::new(),
            layout: 0,
            remade: 0,
        };
        new.remake(plugin, snap, pod, feasible);
        new
    }

    fn remake(&mut self, plugin: &dyn Plugin, snap: &Snapshot, pod: &Pod, feasible: &[Row]) {
        self.remade += 1;
        self.role = R::make(plugin, snap, pod, feasible);
        self.values.clear();
        self.of_row.clear();
        if let Some(role) = &self.role {
            self.values = role.values(snap, Rows::All(snap.nodes.len()));
            self.of_row = role.grouped().0;
            self.layout = role.layout();
        }
    }

    /// Catches up on `changes` and then on the feasible set; makes anew what must be.
    fn catch_up(
        &mut self,
        plugin: &dyn Plugin,
        (snap, changes): (&Snapshot, &[Change]),
        pod: &Pod,
        (entered, left, feasible): (&[Row], &[Row], &[Row]),
    ) {
        let Some(role) = &mut self.role else {
            let wakes = changes.iter().any(|change| match change {
                Change::Placed { template, .. } | Change::Removed { template, .. } => {
                    plugin.wakes(snap, template, pod, R::POINT)
                }
                Change::Node { .. } | Change::Storage => false,
                Change::World => true,
            });
            // A node that gets labels or goes can end a Skip too; engines make anew where nodes change.
            let nodes = changes.iter().any(|c| matches!(c, Change::Node { .. }));
            if wakes || nodes {
                self.remake(plugin, snap, pod, feasible);
            }
            return;
        };
        let mut stale = BTreeSet::new();
        let mut regroup = BTreeSet::new();
        let all = 0..snap.nodes.len() as Row;
        let mut every = false;
        for change in changes {
            let row = match change {
                Change::Placed { row, .. }
                | Change::Removed { row, .. }
                | Change::Node { row, .. } => {
                    regroup.insert(*row);
                    Some(*row)
                }
                _ => None,
            };
            match (role.follow(snap, change), row) {
                (Affects::Nothing, _) => {}
                (Affects::Node, Some(row)) => drop(stale.insert(row)),
                (Affects::Domain(key), Some(row)) => {
                    let domains = snap.topology.domains(key);
                    stale.extend(domains.of(row).map_or(&[][..], |d| domains.rows(d)));
                }
                (Affects::Every, _) => every = true,
                (Affects::All, _) => return self.remake(plugin, snap, pod, feasible),
                (affects, None) => panic!("{affects:?} of {change:?}"),
            }
        }
        match role.feasible(snap, entered, left) {
            Affects::Nothing => {}
            Affects::All => return self.remake(plugin, snap, pod, feasible),
            _ => every = true,
        }
        if every {
            stale.extend(all.clone());
        }
        if std::mem::replace(&mut self.layout, role.layout()) != role.layout() {
            regroup.extend(all);
        }
        let rows: Vec<Row> = stale.into_iter().collect();
        for (row, value) in rows.iter().zip(role.values(snap, Rows::List(&rows))) {
            self.values[*row as usize] = value;
        }
        let (groups, _) = role.grouped();
        for row in regroup {
            self.of_row[row as usize] = groups[row as usize];
        }
    }

    /// Fails unless everything equals what is made anew.
    fn check(
        &self,
        plugin: &dyn Plugin,
        snap: &Snapshot,
        pod: &Pod,
        feasible: &[Row],
        rows: &[Row],
    ) {
        let fresh = Self::new(plugin, snap, pod, feasible);
        assert_eq!(self.role.is_some(), fresh.role.is_some(), "skipped or not");
        let Some(role) = &self.role else { return };
        let (groups, by_group) = role.grouped();
        for &row in rows {
            let at = row as usize;
            assert_eq!(self.values[at], fresh.values[at], "row {row}");
            assert_eq!(by_group[at], fresh.values[at], "row {row} by its group");
            assert_eq!(self.of_row[at], groups[at], "group of row {row}");
            let listed = role.values(snap, Rows::List(&[row]));
            assert_eq!(listed[0], fresh.values[at], "row {row} alone");
        }
    }
}

/// A plugin's two roles for one pod.
pub(crate) struct Follower {
    plugin: Arc<dyn Plugin>,
    pod: Pod,
    key: KeyWriter,
    seen: Generation,
    feasible: BTreeSet<Row>,
    filter: Remembered<Box<dyn Filter>>,
    score: Remembered<Box<dyn Score>>,
}

impl Follower {
    pub(crate) fn new(plugin: &Arc<dyn Plugin>, snap: &Snapshot, pod: &Pod) -> Self {
        let feasible: BTreeSet<Row> = live(snap).collect();
        let list: Vec<Row> = feasible.iter().copied().collect();
        Follower {
            key: key(&**plugin, snap, pod),
            seen: snap.changes.now(),
            filter: Remembered::new(&**plugin, snap, pod, &list),
            score: Remembered::new(&**plugin, snap, pod, &list),
            feasible,
            plugin: Arc::clone(plugin),
            pod: pod.clone(),
        }
    }

    /// Follows to the present, the feasible set being the live rows that `keep` names, and checks.
    pub(crate) fn step(&mut self, snap: &Snapshot, keep: impl Fn(Row) -> bool) {
        let plugin = Arc::clone(&self.plugin);
        let now: BTreeSet<Row> = live(snap).filter(|row| keep(*row)).collect();
        let list: Vec<Row> = now.iter().copied().collect();
        let entered: Vec<Row> = now.difference(&self.feasible).copied().collect();
        let left: Vec<Row> = self.feasible.difference(&now).copied().collect();
        let changes = snap.changes.since(self.seen).expect("a short log").to_vec();
        let key = key(&*plugin, snap, &self.pod);
        if key == self.key {
            let flips = (&*entered, &*left, &*list);
            self.filter
                .catch_up(&*plugin, (snap, &changes), &self.pod, flips);
            self.score
                .catch_up(&*plugin, (snap, &changes), &self.pod, flips);
        } else {
            self.filter.remake(&*plugin, snap, &self.pod, &list);
            self.score.remake(&*plugin, snap, &self.pod, &list);
        }
        (self.key, self.seen, self.feasible) = (key, snap.changes.now(), now);
        let all: Vec<Row> = live(snap).collect();
        self.filter.check(&*plugin, snap, &self.pod, &list, &all);
        self.score.check(&*plugin, snap, &self.pod, &list, &list);
    }

    /// How often the filter and the score had to be made.
    pub(crate) fn remade(&self) -> (usize, usize) {
        (self.filter.remade, self.score.remade)
    }
}

fn key(plugin: &dyn Plugin, snap: &Snapshot, pod: &Pod) -> KeyWriter {
    let mut key = KeyWriter::default();
    plugin.key(snap, pod, &mut key);
    key
}

pub(crate) fn live(snap: &Snapshot) -> impl Iterator<Item = Row> + '_ {
    let rows = snap.nodes.live.iter().enumerate();
    rows.filter(|(_, live)| **live).map(|(row, _)| row as Row)
}
