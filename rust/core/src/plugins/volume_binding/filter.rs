use super::claims::Claims;
use super::find::{Finder, Found};
use crate::plugin::{Affects, Filter, Rows};
use crate::snapshot::{Change, Row, Snapshot};
use crate::status::{Code, Status};
use std::sync::Arc;

#[derive(Clone, Debug)]
pub(super) struct Reachable(Arc<Claims>);

impl Reachable {
    pub(super) fn new(claims: Claims) -> Self {
        Reachable(Arc::new(claims))
    }
}

impl Filter for Reachable {
    fn filter(&self, snap: &Snapshot, rows: Rows<'_>, out: &mut [Code]) {
        let finder = Finder::new(snap, &self.0, rows.len());
        let mut found = Found::default();
        rows.judge(out, |row| finder.code(row, &mut found));
    }

    fn can_fail(&self) -> bool {
        true
    }

    fn status(&self, snap: &Snapshot, row: Row) -> Status {
        Finder::new(snap, &self.0, 1).status(row, &mut Found::default())
    }

    fn follow(&mut self, _: &Snapshot, change: &Change) -> Affects {
        follow(change)
    }

    fn boxed_clone(&self) -> Box<dyn Filter> {
        Box::new(self.clone())
    }
}

/// Pods change nothing here, and domains are numbered before any node is in them.
pub(super) fn follow(change: &Change) -> Affects {
    match change {
        Change::Node { .. } => Affects::Node,
        Change::Storage => Affects::All,
        Change::Placed { .. } | Change::Removed { .. } | Change::World => Affects::Nothing,
    }
}
