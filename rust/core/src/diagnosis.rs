//! Why no node took a pod: kube-scheduler's FitError.

use crate::filtering::{FEASIBLE, Filters, LEFT_OUT, NO_NODE, Rejection, Verdict};
use crate::snapshot::{Row, Snapshot};
use crate::status::{Code, Reason, Status};
use crate::trial::Refused;
use std::collections::BTreeMap;

/// The whole text where there is no node at all.
pub const NO_NODES: &str = "no nodes available to schedule pods";

/// The reasons of all nodes, condensed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnosis {
    pub nodes: usize,
    /// How many nodes have a status of their own.
    pub judged: usize,
    /// Reason and how many nodes gave it, without order.
    pub reasons: Vec<(Reason, usize)>,
    /// A PreFilter plugin's message, which replaces the reasons.
    pub pre_filter: Option<String>,
    /// Plugins that rejected some node (or the pod as such): whose events can help it.
    pub plugins: Vec<&'static str>,
    /// Code of nodes that have no status of their own.
    pub absent: Option<Code>,
    /// There is no node at all.
    pub no_nodes: bool,
}

impl Diagnosis {
    pub fn of_rejection(rejection: &Rejection, nodes: usize) -> Self {
        let mut plugins = vec![rejection.plugin];
        plugins.extend(&rejection.restricted_by);
        plugins.sort_unstable();
        plugins.dedup();
        Diagnosis {
            nodes,
            judged: 0,
            reasons: Vec::new(),
            pre_filter: Some(rejection.status.message()),
            plugins,
            absent: Some(rejection.status.code),
            no_nodes: false,
        }
    }

    /// A rejection at Reserve or Permit, where one node was in question.
    pub fn of_refusal(plugin: &'static str, status: &Status) -> Self {
        let reasons = status
            .reasons
            .iter()
            .map(|reason| (reason.clone(), 1))
            .collect();
        Diagnosis {
            nodes: 1,
            reasons,
            plugins: vec![plugin],
            ..Diagnosis::default()
        }
    }

    /// `crowded` holds, ascending, the rows that fail only, or first, because of pods nominated there.
    pub fn of_verdicts(
        snap: &Snapshot,
        filters: &Filters,
        verdicts: &[Verdict],
        crowded: &[(Row, Refused)],
    ) -> Self {
        let mut counts: BTreeMap<Reason, usize> = BTreeMap::new();
        let mut plugins = Vec::new();
        let (mut nodes, mut left_out) = (0, 0);
        let mut alike = Alike::default();
        let mut waiting = crowded.iter().peekable();
        for (row, &verdict) in verdicts.iter().enumerate() {
            nodes += usize::from(verdict != NO_NODE);
            // Both are in order of rows.
            if waiting.next_if(|(r, _)| *r as usize == row).is_some() {
                continue;
            }
            match verdict {
                FEASIBLE | NO_NODE => {}
                LEFT_OUT => left_out += 1,
                index => {
                    let part = &filters.parts[index as usize];
                    let name = part.plugin.name();
                    if !plugins.contains(&name) {
                        plugins.push(name);
                    }
                    let row = row as Row;
                    match part.filter.reason_class(snap, row) {
                        Some(class) => alike.count((index, class), row),
                        None => count(&mut counts, part.filter.status(snap, row), 1),
                    }
                }
            }
        }
        for ((index, _), (row, rows)) in alike.classes {
            let filter = &filters.parts[index as usize].filter;
            count(&mut counts, filter.status(snap, row), rows);
        }
        let mut said: Vec<(&Vec<Reason>, usize)> = Vec::new();
        for (_, refused) in crowded {
            if !plugins.contains(&refused.plugin) {
                plugins.push(refused.plugin);
            }
            // Mostly all say the same.
            let reasons = &refused.status.reasons;
            match said.iter_mut().find(|(known, _)| *known == reasons) {
                Some((_, rows)) => *rows += 1,
                None => said.push((reasons, 1)),
            }
        }
        for (reasons, rows) in said {
            for reason in reasons {
                *counts.entry(reason.clone()).or_default() += rows;
            }
        }
        if left_out > 0 {
            for reason in filters.absent().reasons {
                *counts.entry(reason).or_default() += left_out;
            }
        }
        plugins.extend(filters.restricted_by.iter().filter(|_| left_out > 0));
        plugins.sort_unstable();
        plugins.dedup();
        let absent = (left_out > 0).then_some(Code::UnschedulableAndUnresolvable);
        Diagnosis {
            nodes,
            judged: nodes - left_out,
            reasons: counts.into_iter().collect(),
            pre_filter: None,
            plugins,
            absent,
            no_nodes: false,
        }
    }

    /// The text of a FailedScheduling event; `post_filter` is what preemption had to say.
    pub fn message(&self, post_filter: &str) -> String {
        if self.no_nodes {
            return NO_NODES.to_owned();
        }
        let mut text = format!("0/{} nodes are available:", self.nodes);
        match &self.pre_filter {
            Some(message) => text.push_str(&format!(" {message}.")),
            None => {
                let mut list: Vec<_> = self
                    .reasons
                    .iter()
                    .map(|(reason, count)| format!("{count} {reason}"))
                    .collect();
                list.sort_unstable();
                if !list.is_empty() {
                    text.push_str(&format!(" {}.", list.join(", ")));
                }
            }
        }
        if !post_filter.is_empty() {
            text.push_str(&format!(" {post_filter}"));
        }
        text
    }
}

fn count(counts: &mut BTreeMap<Reason, usize>, status: Status, rows: usize) {
    for reason in status.reasons {
        *counts.entry(reason).or_default() += rows;
    }
}

/// Rows that one filter rejects for the same reasons: the first of them, and how many there are.
#[derive(Default)]
struct Alike {
    /// A handful, so a list; the last one met comes first.
    classes: Vec<((Verdict, u64), (Row, usize))>,
}

impl Alike {
    fn count(&mut self, class: (Verdict, u64), row: Row) {
        match self.classes.iter().position(|(known, _)| *known == class) {
            Some(at) => {
                self.classes[at].1.1 += 1;
                self.classes.swap(0, at);
            }
            None => self.classes.push((class, (row, 1))),
        }
    }
}
