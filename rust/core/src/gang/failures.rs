//! What the domains say that had no room for a group: the one that came nearest speaks for all.

use super::Request;
use super::domains::Domain;
use super::greedy::Refused;
use super::shortage::Shortage;
use super::transaction::Transaction;
use crate::cycle::Judged;
use crate::diagnosis::Diagnosis;
use crate::engine::{Engine, Outcome};
use crate::filtering::NO_NODE;
use crate::snapshot::{PodId, Row};

/// Stands for what may make another domain: nodes that come or get the label.
pub(super) const TOPOLOGY: &str = "Gang";

pub(super) struct Failures {
    domains: usize,
    nearest: Option<Box<Shortage>>,
    /// Whose events can help, in whatever domain.
    plugins: Vec<&'static str>,
}

impl Failures {
    /// `domains` is how many the topology keys make.
    pub(super) fn new(domains: usize) -> Self {
        Failures {
            domains,
            nearest: None,
            plugins: Vec::new(),
        }
    }

    /// Notes why a domain has no room; `tx` holds the members that found places there.
    pub(super) fn hear(
        &mut self,
        engine: &mut Engine,
        request: &Request,
        refused: &Refused,
        tx: &Transaction,
        domain: &Domain,
    ) {
        if let Outcome::Unschedulable(diagnosis) = &refused.1 {
            self.plugins.extend(&diagnosis.plugins);
        }
        let nearest = self.nearest.as_ref().map(|nearest| nearest.placeable);
        let placeable = Shortage::placeable(request, tx);
        if nearest.is_none_or(|nearest| nearest < placeable) {
            self.nearest = Some(Shortage::new(engine, request, refused, tx, domain));
        }
    }

    pub(super) fn end(mut self, engine: &Engine, request: &Request) -> Box<Shortage> {
        let Some(mut shortage) = self.nearest else {
            return Shortage::of_domains(&engine.snap, request);
        };
        if !shortage.failed {
            self.plugins.extend(&shortage.plugins);
            self.plugins.extend((self.domains > 0).then_some(TOPOLOGY));
            self.plugins.sort_unstable();
            self.plugins.dedup();
            shortage.plugins = self.plugins;
        }
        shortage.domains = self.domains;
        shortage
    }
}

/// What all filters, and the caller's plugins, say of some nodes, ascending, and of no others.
pub(super) fn diagnose_within(
    engine: &mut Engine,
    request: &Request,
    pod: PodId,
    tx: &Transaction,
    rows: &[Row],
) -> Option<Diagnosis> {
    let (_, profile) = engine.profile_of(pod)?;
    let mut judged = match Judged::new(&mut engine.snap, &profile, pod) {
        Ok(judged) => judged,
        Err(rejection) => return Some(Diagnosis::of_rejection(&rejection, rows.len())),
    };
    let is_within = |row: Row| rows.binary_search(&row).is_ok();
    for (row, verdict) in judged.verdicts.iter_mut().enumerate() {
        if !is_within(row as Row) {
            *verdict = NO_NODE;
        }
    }
    judged.crowded.retain(|(row, _)| is_within(*row));
    let mut diagnosis = judged.diagnosis(&engine.snap);
    let said = &request.said;
    if let Some(kind) = said.kind(pod) {
        let company = |row: Row| tx.on(row).filter_map(|pod| said.kind(pod));
        let refused = rows.iter().filter(|row| judged.is_feasible(**row));
        let refused = refused.filter(|row| !said.allows(kind, **row, || company(**row)));
        let count = refused.count();
        if count > 0 {
            let reason = "node(s) were refused by other plugins".into();
            diagnosis.reasons.push((reason, count));
        }
    }
    Some(diagnosis)
}
