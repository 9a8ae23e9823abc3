//! Required terms and the node selector.

use super::{REASON, REASON_ENFORCED, follow};
use crate::intern::Symbol;
use crate::plugin::{Affects, Filter, Reads, Rows};
use crate::plugins::label_tables;
use crate::snapshot::{Change, Row, Snapshot};
use crate::status::{Code, Status};
use crate::template::{NodeTerm, NodeTerms, Template};
use std::sync::Arc;

#[derive(Clone, Debug)]
pub(super) struct Required {
    pub(super) added: Option<Arc<[NodeTerm]>>,
    pub(super) template: Arc<Template>,
    pub(super) pin: Option<Symbol>,
}

impl Required {
    fn reason(&self, snap: &Snapshot, row: Row) -> Option<&'static str> {
        let (name, labels) = (snap.nodes.name(row), &snap.nodes.info(row).labels);
        let enforced = self.added.as_ref().is_none_or(|terms| {
            terms
                .iter()
                .any(|term| term.matches(name, labels, None, &snap.interner))
        });
        let terms: &NodeTerms = &self.template.node_affinity;
        if !enforced {
            Some(REASON_ENFORCED)
        } else if !terms.accepts(name, labels, self.pin, &snap.interner) {
            Some(REASON)
        } else {
            None
        }
    }
}

impl Required {
    /// Whether each row is accepted; `None` if that must be asked row by row.
    fn accepted(&self, snap: &Snapshot, rows: usize) -> Option<Vec<bool>> {
        let terms: &NodeTerms = &self.template.node_affinity;
        let mut mask = vec![true; rows];
        if let Some(requirements) = &terms.selector {
            label_tables::narrow(snap, requirements, &mut mask)?;
        }
        let own = terms.required.as_deref();
        for terms in own.into_iter().chain(self.added.as_deref()) {
            let mut any = vec![false; rows];
            for term in terms {
                let matching = label_tables::matching(snap, term, rows)?;
                any.iter_mut().zip(matching).for_each(|(any, m)| *any |= m);
            }
            mask.iter_mut()
                .zip(any)
                .for_each(|(cell, any)| *cell &= any);
        }
        Some(mask)
    }
}

impl Filter for Required {
    fn filter(&self, snap: &Snapshot, rows: Rows<'_>, out: &mut [Code]) {
        if let Rows::All(len) = rows
            && let Some(mask) = self.accepted(snap, len)
        {
            return rows.judge(out, |row| match mask[row as usize] {
                true => Code::Success,
                false => Code::UnschedulableAndUnresolvable,
            });
        }
        rows.judge(out, |row| match self.reason(snap, row) {
            Some(_) => Code::UnschedulableAndUnresolvable,
            None => Code::Success,
        });
    }

    fn status(&self, snap: &Snapshot, row: Row) -> Status {
        self.reason(snap, row)
            .map_or_else(Status::default, Status::unresolvable)
    }

    fn follow(&mut self, _: &Snapshot, change: &Change) -> Affects {
        follow(change)
    }

    fn reads(&self) -> Reads {
        Reads::Node
    }

    fn boxed_clone(&self) -> Box<dyn Filter> {
        Box::new(self.clone())
    }
}
