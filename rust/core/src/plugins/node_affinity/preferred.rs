//! Preferred terms: a node scores the weights of those that match it.

use super::{NAME, follow};
use crate::normalize::Normalize;
use crate::plugin::{Affects, Reads, Rows, Score};
use crate::plugins::label_tables;
use crate::snapshot::{Change, Snapshot};
use crate::template::PreferredTerm;

#[derive(Clone, Debug)]
pub(super) struct Preferred {
    pub(super) terms: Box<[PreferredTerm]>,
}

impl Preferred {
    /// Scores all rows; `None` if that must be done row by row.
    fn score_all(&self, snap: &Snapshot, out: &mut [i64]) -> Option<()> {
        out.fill(0);
        for preferred in &self.terms {
            let mask = label_tables::matching(snap, &preferred.term, out.len())?;
            for (score, matches) in out.iter_mut().zip(mask) {
                *score += i64::from(matches) * weight(preferred);
            }
        }
        Some(())
    }
}

fn weight(term: &PreferredTerm) -> i64 {
    match crate::mutation::active(NAME) {
        true => 1,
        false => i64::from(term.weight),
    }
}

impl Score for Preferred {
    fn score(&self, snap: &Snapshot, rows: Rows<'_>, out: &mut [i64]) {
        if let Rows::All(len) = rows
            && self.score_all(snap, &mut out[..len]).is_some()
        {
            return;
        }
        rows.each(out, |row, score| {
            let (name, labels) = (snap.nodes.name(row), &snap.nodes.info(row).labels);
            let matching = self
                .terms
                .iter()
                .filter(|p| p.term.matches(name, labels, None, &snap.interner));
            *score = matching.map(weight).sum();
        });
    }

    fn normalize(&self) -> Normalize {
        Normalize::Max
    }

    fn follow(&mut self, _: &Snapshot, change: &Change) -> Affects {
        follow(change)
    }

    fn reads(&self) -> Reads {
        Reads::Node
    }

    fn boxed_clone(&self) -> Box<dyn Score> {
        Box::new(self.clone())
    }
}
