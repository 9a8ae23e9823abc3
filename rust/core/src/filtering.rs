//! PreFilter and Filter of one pod over all rows.

use crate::intern::Symbol;
use crate::plugin::{Filter, Plugin, PreFilter, Rows};
use crate::profile::Profile;
use crate::snapshot::{Pod, Row, Snapshot};
use crate::status::{Code, Status};
use std::sync::Arc;

/// Which filter rejects a row: its index in [`Filters::parts`], or one of the constants.
pub type Verdict = u8;

/// Every filter accepts the row.
pub const FEASIBLE: Verdict = u8::MAX;
/// The row is no node.
pub const NO_NODE: Verdict = u8::MAX - 1;
/// A PreFilter result left the row out.
pub const LEFT_OUT: Verdict = u8::MAX - 2;

/// The filters that have something to say about a pod, in Filter order.
#[derive(Debug, Default)]
pub struct Filters {
    pub parts: Vec<Part>,
    /// Nodes that PreFilter results restrict the pod to (some may not exist), and the plugins that did.
    pub nodes: Option<Vec<Symbol>>,
    pub restricted_by: Vec<&'static str>,
}

#[derive(Debug)]
pub struct Part {
    pub plugin: Arc<dyn Plugin>,
    pub filter: Arc<dyn Filter>,
}

impl Part {
    /// The filter for changing; one that is shared with a copy becomes the part's own first.
    pub fn filter_mut(&mut self) -> &mut dyn Filter {
        if Arc::get_mut(&mut self.filter).is_none() {
            self.filter = Arc::from(self.filter.boxed_clone());
        }
        Arc::get_mut(&mut self.filter).expect("a filter of which there is one reference")
    }
}

/// All nodes are rejected before any is looked at.
#[derive(Clone, Debug)]
pub struct Rejection {
    pub plugin: &'static str,
    pub status: Status,
    /// Plugins whose node sets have no node in common.
    pub restricted_by: Vec<&'static str>,
}

impl Filters {
    /// Runs the PreFilter plugins: an unresolvable rejection or an error ends the run, a plain one
    /// only after the others have had their say.
    pub fn new(snap: &Snapshot, profile: &Profile, pod: &Pod) -> Result<Self, Rejection> {
        let mut filters = Filters {
            parts: Vec::new(),
            nodes: None,
            restricted_by: Vec::new(),
        };
        let mut rejection = None;
        let mut made = Vec::new();
        for plugin in &profile.pre_filter {
            let reject = |status| Rejection {
                plugin: plugin.name(),
                status,
                restricted_by: Vec::new(),
            };
            match plugin.pre_filter(snap, pod) {
                PreFilter::Skip => {}
                PreFilter::Reject(status) if status.code == Code::Unschedulable => {
                    rejection = Some(reject(status));
                }
                PreFilter::Reject(status) => return Err(reject(status)),
                PreFilter::Run { filter, nodes } => {
                    made.push((plugin.name(), filter));
                    if let Some(nodes) = nodes {
                        filters.restrict(plugin.name(), nodes)?;
                    }
                }
            }
        }
        if let Some(rejection) = rejection {
            return Err(rejection);
        }
        for plugin in &profile.filter {
            if let Some(at) = made.iter().position(|(name, _)| *name == plugin.name()) {
                let (_, filter) = made.swap_remove(at);
                filters.parts.push(Part {
                    plugin: Arc::clone(plugin),
                    filter: Arc::from(filter),
                });
            }
        }
        Ok(filters)
    }

    fn restrict(&mut self, plugin: &'static str, nodes: Vec<Symbol>) -> Result<(), Rejection> {
        self.restricted_by.push(plugin);
        self.nodes = Some(match self.nodes.take() {
            None => nodes,
            Some(before) => before
                .into_iter()
                .filter(|name| nodes.contains(name))
                .collect(),
        });
        if self.nodes.as_ref().is_some_and(|names| !names.is_empty()) {
            return Ok(());
        }
        let mut restricted_by = self.restricted_by.clone();
        restricted_by.sort_unstable();
        let status = Status::unresolvable(match restricted_by.as_slice() {
            [one] => format!("node(s) didn't satisfy plugin {one}"),
            all => format!(
                "node(s) didn't satisfy plugin(s) [{}] simultaneously",
                all.join(" ")
            ),
        });
        Err(Rejection {
            plugin,
            status,
            restricted_by,
        })
    }

    /// Judges every row into `verdicts`; `codes` is a buffer.
    pub fn judge_all(&self, snap: &Snapshot, verdicts: &mut Vec<Verdict>, codes: &mut Vec<Code>) {
        let live = &snap.nodes.live;
        verdicts.clear();
        if self.nodes.is_some() {
            verdicts.extend(
                live.iter()
                    .map(|live| if *live { LEFT_OUT } else { NO_NODE }),
            );
            for row in self.rows(snap) {
                verdicts[row as usize] = self.judge(snap, row, 0);
            }
            return;
        }
        verdicts.extend(
            live.iter()
                .map(|live| if *live { FEASIBLE } else { NO_NODE }),
        );
        codes.clear();
        // A row that is no node is rejected from the start, so no filter looks at it.
        codes.extend(
            live.iter()
                .map(|live| if *live { Code::Success } else { Code::Skip }),
        );
        for (index, part) in self.parts.iter().enumerate() {
            part.filter.filter(snap, Rows::All(live.len()), codes);
            for (verdict, code) in verdicts.iter_mut().zip(codes.iter()) {
                let first = *verdict == FEASIBLE && *code != Code::Success;
                *verdict = if first { index as Verdict } else { *verdict };
            }
        }
    }

    /// The rows of the nodes that PreFilter results left, if they left out any.
    pub fn rows(&self, snap: &Snapshot) -> Vec<Row> {
        let names = self.nodes.iter().flatten();
        names.filter_map(|name| snap.nodes.row(*name)).collect()
    }

    /// Judges one node by the parts from `first` on.
    pub fn judge(&self, snap: &Snapshot, row: Row, first: usize) -> Verdict {
        let rejects = |part: &Part| {
            let mut code = [Code::Success];
            part.filter.filter(snap, Rows::List(&[row]), &mut code);
            code[0] != Code::Success
        };
        let tail = self.parts[first..].iter().position(rejects);
        tail.map_or(FEASIBLE, |offset| (first + offset) as Verdict)
    }

    /// The plugin that rejects a row and why; `None` where the row is feasible or no node.
    pub fn status(
        &self,
        snap: &Snapshot,
        row: Row,
        verdict: Verdict,
    ) -> Option<(&'static str, Status)> {
        match verdict {
            FEASIBLE | NO_NODE => None,
            LEFT_OUT => Some((self.restricted_by.first().copied()?, self.absent())),
            index => {
                let part = &self.parts[index as usize];
                let name = part.plugin.name();
                let status = part.filter.status(snap, row);
                if status.code != Code::Error {
                    return Some((name, status));
                }
                let message = status.message();
                let message = format!("running \"{name}\" filter plugin: {message}");
                Some((name, Status::error(message)))
            }
        }
    }

    /// Rows that a filter could not judge, ascending.
    pub fn failed(&self, snap: &Snapshot, verdicts: &[Verdict]) -> Vec<Row> {
        let mut failed = Vec::new();
        let parts = self.parts.iter().enumerate();
        for (index, part) in parts.filter(|(_, part)| part.filter.can_fail()) {
            let rejected = verdicts.iter().enumerate();
            let rows: Vec<Row> = rejected
                .filter(|(_, verdict)| usize::from(**verdict) == index)
                .map(|(row, _)| row as Row)
                .collect();
            let mut codes = vec![Code::Success; rows.len()];
            part.filter.filter(snap, Rows::List(&rows), &mut codes);
            let judged = rows.into_iter().zip(codes);
            failed.extend(
                judged
                    .filter(|(_, code)| *code == Code::Error)
                    .map(|(row, _)| row),
            );
        }
        failed.sort_unstable();
        failed
    }

    /// Whether what is remembered of a class does not do for one of its pods: a node may be one that cannot
    /// be judged, or the pod's own nominated node is judged although a node set leaves it out.
    pub fn must_be_afresh(&self, pod: &Pod) -> bool {
        let can_fail = |part: &Part| part.filter.can_fail();
        self.parts.iter().any(can_fail) || self.nodes.is_some() && pod.nominated.is_some()
    }

    /// The pod's nominated node was tried first, and a plugin rejected it. Upstream names that plugin among
    /// those whose PreFilter results left nodes out.
    pub fn tried_in_vain(&mut self, plugin: &'static str) {
        if self.nodes.is_some() && !self.restricted_by.contains(&plugin) {
            self.restricted_by.push(plugin);
        }
    }

    /// A copy whose filters can be told of hypothetical pods; they are shared until then.
    pub fn copy(&self) -> Filters {
        let part = |p: &Part| Part {
            plugin: Arc::clone(&p.plugin),
            filter: Arc::clone(&p.filter),
        };
        Filters {
            parts: self.parts.iter().map(part).collect(),
            nodes: self.nodes.clone(),
            restricted_by: self.restricted_by.clone(),
        }
    }

    /// The status of nodes that a PreFilter result leaves out.
    pub fn absent(&self) -> Status {
        let mut names = self.restricted_by.clone();
        names.sort_unstable();
        Status::unresolvable(format!(
            "node(s) didn't satisfy plugin(s) [{}]",
            names.join(" ")
        ))
    }
}
