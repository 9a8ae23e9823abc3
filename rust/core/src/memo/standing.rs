//! What every node says to a pod of a class that none takes, followed from failure to failure, so that the
//! next one costs what changed and not a look at all nodes.

use super::Memo;
use crate::cycle;
use crate::diagnosis::Diagnosis;
use crate::filtering::{FEASIBLE, LEFT_OUT, NO_NODE, Verdict};
use crate::plugin::Rows;
use crate::snapshot::{Row, Snapshot};
use crate::status::{Code, Reason, Status};
use crate::trial::Refused;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The number of an answer in a list; [`SILENT`] is where no filter has anything against the row.
type Number = u32;
const SILENT: Number = 0;

/// Which filter rejects a row, its class of reasons, and the code.
type Class = (Verdict, u64, Code);

/// Invariant: but for `stale` rows, what is kept of a row is what the filters, and the pods nominated to
/// it, say of it now.
#[derive(Debug, Default)]
pub(super) struct Standing {
    /// Per row the number of its answer; empty until somebody asks.
    of_row: Vec<Number>,
    codes: Vec<Code>,
    answers: Vec<Answer>,
    of_class: FxHashMap<Class, Number>,
    /// Rows to ask again.
    stale: Vec<Row>,
}

#[derive(Debug)]
struct Answer {
    refused: Refused,
    rows: usize,
}

impl Standing {
    pub(super) fn follow(&mut self, rows: impl Iterator<Item = Row>) {
        if self.of_row.is_empty() || crate::mutation::active("failures: standing") {
            return;
        }
        self.stale.extend(rows);
        if self.stale.len() > self.of_row.len() {
            // Nobody has asked for long; asking all rows costs no more.
            *self = Standing::default();
        }
    }

    pub(super) fn codes(&self) -> &[Code] {
        &self.codes
    }

    fn number(&mut self, refused: &Refused) -> Number {
        let same = |answer: &Answer| {
            answer.refused.plugin == refused.plugin && answer.refused.status == refused.status
        };
        let known = self.answers.iter().position(same);
        let number = known.unwrap_or_else(|| {
            let refused = refused.clone();
            self.answers.push(Answer { refused, rows: 0 });
            self.answers.len() - 1
        });
        number as Number
    }

    fn set(&mut self, row: Row, number: Number, code: Code) {
        let before = std::mem::replace(&mut self.of_row[row as usize], number);
        self.answers[before as usize].rows -= 1;
        self.answers[number as usize].rows += 1;
        self.codes[row as usize] = code;
    }

    /// The same counts with another answer for one row.
    fn rows_but(&self, other: Option<(Row, Number)>) -> Vec<usize> {
        let mut rows: Vec<usize> = self.answers.iter().map(|answer| answer.rows).collect();
        if let Some((row, number)) = other {
            rows[self.of_row[row as usize] as usize] -= 1;
            rows[number as usize] += 1;
        }
        rows
    }

    fn diagnosis(&self, nodes: usize, other: Option<(Row, Number)>) -> Diagnosis {
        let mut reasons: BTreeMap<&Reason, usize> = BTreeMap::new();
        let mut plugins = Vec::new();
        let rows = self.rows_but(other);
        for (answer, rows) in self.answers.iter().zip(rows).skip(1) {
            if rows > 0 {
                plugins.push(answer.refused.plugin);
                for reason in &answer.refused.status.reasons {
                    *reasons.entry(reason).or_default() += rows;
                }
            }
        }
        plugins.sort_unstable();
        plugins.dedup();
        let reasons = reasons.into_iter();
        Diagnosis {
            nodes,
            judged: nodes,
            reasons: reasons
                .map(|(reason, rows)| (reason.clone(), rows))
                .collect(),
            plugins,
            ..Diagnosis::default()
        }
    }
}

impl Memo {
    /// Brings what the rows say up to date. `None` where that takes a look at all of them: an answer may
    /// change with what is on other rows, or the memo is not to serve again.
    pub(super) fn stand(&mut self, snap: &Snapshot) -> Option<&Standing> {
        let mut parts = self.filters.parts.iter();
        if self.index.is_none()
            || self.filters.nodes.is_some()
            || parts.any(|part| part.filter.counts_pods())
        {
            return None;
        }
        let mut standing = std::mem::take(&mut self.failures.standing);
        match standing.of_row.is_empty() {
            true => standing = self.stand_anew(snap),
            false => self.ask_again(snap, &mut standing),
        }
        self.failures.standing = standing;
        Some(&self.failures.standing)
    }

    /// Why no node takes a pod; `apart` is a row that answers it otherwise than the others of its class.
    pub(super) fn condensed(
        &mut self,
        snap: &Snapshot,
        apart: Option<(Row, Option<&Refused>)>,
    ) -> Option<Diagnosis> {
        self.stand(snap)?;
        let mut standing = std::mem::take(&mut self.failures.standing);
        let other = apart.map(|(row, refused)| {
            let (number, _) = match refused {
                Some(refused) => (standing.number(refused), refused.status.code),
                None => self.answer_alone(snap, &mut standing, row),
            };
            (row, number)
        });
        let found = standing.diagnosis(snap.nodes.count(), other);
        self.failures.standing = standing;
        Some(found)
    }

    fn stand_anew(&self, snap: &Snapshot) -> Standing {
        let verdicts = self.verdicts();
        let codes = cycle::codes(snap, &self.filters, &verdicts, &[]);
        let silent = Answer {
            refused: Refused::default(),
            rows: verdicts.len(),
        };
        let mut standing = Standing {
            of_row: vec![SILENT; verdicts.len()],
            answers: vec![silent],
            codes,
            ..Standing::default()
        };
        for (row, verdict) in verdicts.into_iter().enumerate() {
            let code = standing.codes[row];
            if code != Code::Success {
                let row = row as Row;
                let number = self.number_of(snap, &mut standing, row, (verdict, code));
                standing.set(row, number, code);
            }
        }
        for (row, refused) in &self.failures.crowd.refused {
            let number = standing.number(refused);
            standing.set(*row, number, refused.status.code);
        }
        standing
    }

    fn ask_again(&self, snap: &Snapshot, standing: &mut Standing) {
        let mut rows = std::mem::take(&mut standing.stale);
        rows.sort_unstable();
        rows.dedup();
        if snap.nodes.len() > standing.of_row.len() {
            let more = snap.nodes.len() - standing.of_row.len();
            standing.answers[SILENT as usize].rows += more;
            standing.of_row.resize(snap.nodes.len(), SILENT);
            standing.codes.resize(snap.nodes.len(), Code::Success);
        }
        for row in rows.drain(..) {
            let (number, code) = match self.failures.crowd.refusal(row) {
                Some(refused) => (standing.number(refused), refused.status.code),
                None => self.answer_alone(snap, standing, row),
            };
            standing.set(row, number, code);
        }
        standing.stale = rows;
    }

    /// What the filters say of a row without the pods nominated there.
    fn answer_alone(&self, snap: &Snapshot, standing: &mut Standing, row: Row) -> (Number, Code) {
        let verdict = self.verdict(row);
        if matches!(verdict, FEASIBLE | NO_NODE | LEFT_OUT) {
            return (SILENT, Code::Success);
        }
        let mut code = [Code::Success];
        let filter = &self.filters.parts[verdict as usize].filter;
        filter.filter(snap, Rows::List(&[row]), &mut code);
        let number = self.number_of(snap, standing, row, (verdict, code[0]));
        (number, code[0])
    }

    fn number_of(
        &self,
        snap: &Snapshot,
        standing: &mut Standing,
        row: Row,
        (verdict, code): (Verdict, Code),
    ) -> Number {
        let part = &self.filters.parts[verdict as usize];
        let class = part.filter.reason_class(snap, row);
        let class = class.map(|class| (verdict, class, code));
        if let Some(known) = class.and_then(|class| standing.of_class.get(&class)) {
            return *known;
        }
        let status: Status = part.filter.status(snap, row);
        let number = standing.number(&Refused {
            plugin: part.plugin.name(),
            status: status.into(),
        });
        if let Some(class) = class {
            standing.of_class.insert(class, number);
        }
        number
    }
}
