//! Stands, among the native plugins, for those of the caller whose answers are remembered ([`crate::snapshot::Tables`]).
//!
//! It has something to say only of pods that have a table at the moment, so it is in every profile that needs the
//! caller, and no configuration names it.

use crate::plugin::{Affects, Filter, KeyWriter, Plugin, PreFilter, PreScore, Reads, Rows, Score};
use crate::snapshot::{Change, Pod, Row, Snapshot, TableId};
use crate::status::{Code, Status};
use crate::template::Template;
use std::hash::Hash;
use std::sync::Arc;

const NAME: &str = "Told";

#[derive(Clone, Debug)]
struct Told;

pub fn told() -> Arc<dyn Plugin> {
    Arc::new(Told)
}

impl Plugin for Told {
    fn name(&self) -> &'static str {
        NAME
    }

    fn key(&self, _: &Snapshot, pod: &Pod, key: &mut KeyWriter) {
        pod.told.hash(key);
    }

    fn pre_filter(&self, _: &Snapshot, pod: &Pod) -> PreFilter {
        pod.told.map_or(PreFilter::Skip, |table| PreFilter::Run {
            filter: Box::new(Answers { table }),
            nodes: None,
        })
    }

    fn pre_score(&self, _: &Snapshot, pod: &Pod, _: &[Row]) -> PreScore {
        pod.told.map_or(PreScore::Skip, |table| {
            PreScore::Run(Box::new(Answers { table }))
        })
    }

    fn affects(&self, _: &Snapshot, _: &Template, pod: &Pod) -> Affects {
        match pod.told {
            Some(_) => Affects::Node,
            None => Affects::Nothing,
        }
    }
}

#[derive(Clone, Debug)]
struct Answers {
    table: TableId,
}

/// What a change concerns: a table has been asked again for its row.
fn concerns(change: &Change) -> Affects {
    match change.row() {
        Some(_) => Affects::Node,
        None => Affects::Nothing,
    }
}

impl Filter for Answers {
    fn filter(&self, snap: &Snapshot, rows: Rows<'_>, out: &mut [Code]) {
        let accepted = snap.told.accepted(self.table);
        rows.judge(out, |row| match accepted.get(row as usize) {
            Some(true) => Code::Success,
            _ => Code::Unschedulable,
        });
    }

    fn status(&self, snap: &Snapshot, row: Row) -> Status {
        match snap.told.accepted(self.table).get(row as usize) {
            Some(true) => Status::default(),
            _ => Status::unschedulable("node(s) were rejected by other plugins"),
        }
    }

    fn follow(&mut self, _: &Snapshot, change: &Change) -> Affects {
        concerns(change)
    }

    fn reads(&self) -> Reads {
        Reads::Row
    }

    fn boxed_clone(&self) -> Box<dyn Filter> {
        Box::new(self.clone())
    }
}

impl Score for Answers {
    fn score(&self, snap: &Snapshot, rows: Rows<'_>, out: &mut [i64]) {
        let scores = snap.told.scores(self.table);
        rows.each(out, |row, cell| {
            *cell = scores.get(row as usize).copied().unwrap_or(0);
        });
    }

    fn follow(&mut self, _: &Snapshot, change: &Change) -> Affects {
        concerns(change)
    }

    fn reads(&self) -> Reads {
        Reads::Row
    }

    fn boxed_clone(&self) -> Box<dyn Score> {
        Box::new(self.clone())
    }
}
