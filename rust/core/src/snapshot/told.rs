//! What plugins of the caller's said of nodes, remembered.
//!
//! A table holds for all pods that those plugins cannot tell apart. What it says of a node is true until the
//! next change of its row, so the change log tells what must be asked again.

use super::nodes::Row;
use super::{Generation, PodId, Snapshot};
use rustc_hash::FxHashMap;

/// Number of a table: the caller has one for each kind of pod.
pub type TableId = u32;

/// Bytes that tables may take before all are forgotten.
const BUDGET: usize = 256 << 20;

#[derive(Debug, Default)]
pub(super) struct Table {
    /// Per row.
    accepts: Vec<bool>,
    scores: Vec<i64>,
    /// Up to where in the log the answers are true; `None`: nothing is known.
    seen: Option<Generation>,
}

/// Rows whose answers are asked for, and up to where in the log the answers will be true.
#[derive(Clone, Debug)]
pub struct Question {
    pub table: TableId,
    pub rows: Vec<Row>,
    asked: Generation,
}

#[derive(Debug, Default)]
pub struct Tables {
    tables: FxHashMap<TableId, Table>,
    bytes: usize,
}

impl Tables {
    /// Per row whether all plugins accept it; rows that nothing is known of are missing.
    pub fn accepted(&self, table: TableId) -> &[bool] {
        self.tables.get(&table).map_or(&[], |table| &table.accepts)
    }

    /// Per row the weighted sum of the scores, like [`Tables::accepted`].
    pub fn scores(&self, table: TableId) -> &[i64] {
        self.tables.get(&table).map_or(&[], |table| &table.scores)
    }

    fn forget(&mut self) {
        self.tables.clear();
        self.bytes = 0;
    }
}

impl Snapshot {
    /// What must be asked before a table is true of the present nodes; `None` if it is.
    pub fn outdated(&mut self, table: TableId) -> Option<Question> {
        if self.told.bytes > BUDGET {
            self.told.forget();
        }
        let asked = self.changes.now();
        let known = self.told.tables.entry(table).or_default();
        let changes = known.seen.and_then(|seen| self.changes.since(seen));
        let live = |row: &Row| self.nodes.live[*row as usize];
        let rows: Vec<Row> = match changes {
            Some(changes) => {
                let mut rows: Vec<Row> = changes.iter().filter_map(|c| c.row()).collect();
                rows.sort_unstable();
                rows.dedup();
                rows.retain(live);
                rows
            }
            None => (0..self.nodes.len() as Row).filter(live).collect(),
        };
        if rows.is_empty() {
            known.seen = Some(asked);
            return None;
        }
        Some(Question { table, rows, asked })
    }

    /// Takes the answers to a question, one per row.
    pub fn tell(&mut self, question: &Question, accepts: &[bool], scores: &[i64]) {
        let Some(table) = self.told.tables.get_mut(&question.table) else {
            return;
        };
        let more = self.nodes.len().saturating_sub(table.accepts.len());
        self.told.bytes += more * (size_of::<bool>() + size_of::<i64>());
        table.accepts.resize(self.nodes.len(), false);
        table.scores.resize(self.nodes.len(), 0);
        let answers = accepts.iter().zip(scores);
        for (&row, (accepts, score)) in question.rows.iter().zip(answers) {
            table.accepts[row as usize] = *accepts;
            table.scores[row as usize] = *score;
        }
        table.seen = Some(question.asked);
    }

    /// Lets a pod's cycle go by a table.
    pub(crate) fn go_by(&mut self, pod: PodId, table: Option<TableId>) {
        if let Some(pod) = self.pods.get_mut(pod) {
            pod.told = table;
        }
    }

    /// Says that the caller's plugins may see something else on a row.
    pub fn touch(&mut self, row: Row) {
        self.changes.push(super::Change::Node { row, noted: false });
    }
}
