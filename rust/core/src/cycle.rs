//! One scheduling cycle of one pod, up to the choice of a node.

use crate::diagnosis::Diagnosis;
use crate::filtering::{FEASIBLE, Filters, LEFT_OUT, NO_NODE, Rejection, Verdict};
use crate::pick;
use crate::plugin::Rows;
use crate::profile::Profile;
use crate::scoring::{self, Scores};
use crate::snapshot::{PodId, Row, Snapshot};
use crate::status::{Code, Status};
use crate::trial::{Refused, Trial};

/// Nodes judged for one pod.
#[derive(Debug)]
pub struct Judged {
    pub filters: Filters,
    pub verdicts: Vec<Verdict>,
    /// Rows that pods nominated there keep the pod from, ascending.
    pub crowded: Vec<(Row, Refused)>,
    /// Rows that could not be judged, ascending. The cycle ends at the first that it comes to.
    pub failed: Vec<Row>,
}

impl Judged {
    /// Runs all filters on all nodes.
    pub fn new(snap: &mut Snapshot, profile: &Profile, pod: PodId) -> Result<Self, Rejection> {
        let filters = Filters::new(snap, profile, &snap.pods[pod])?;
        let (mut verdicts, mut codes) = (Vec::new(), Vec::new());
        filters.judge_all(snap, &mut verdicts, &mut codes);
        if let Some(row) = nominated_outside(snap, &filters, pod) {
            match filters.judge(snap, row, 0) {
                FEASIBLE => {}
                verdict => verdicts[row as usize] = verdict,
            }
        }
        let crowded = crowded(snap, &filters, pod);
        let failed = failed(filters.failed(snap, &verdicts), &crowded);
        let mut judged = Judged {
            filters,
            verdicts,
            crowded,
            failed,
        };
        judged.note_nominated(snap, pod);
        Ok(judged)
    }

    /// Upstream judges the pod's own nominated node before all others. A failure there does not count: the
    /// node is as if it had not been tried.
    fn note_nominated(&mut self, snap: &Snapshot, pod: PodId) {
        if let Some(row) = nominated_outside(snap, &self.filters, pod)
            && let Ok(at) = self.failed.binary_search(&row)
        {
            self.failed.remove(at);
            self.verdicts[row as usize] = LEFT_OUT;
            self.crowded.retain(|(crowded, _)| *crowded != row);
        }
        let tried = self.tried(snap, pod);
        if let Some((plugin, _)) = tried.and_then(|row| self.status(snap, row)) {
            self.filters.tried_in_vain(plugin);
        }
    }

    /// The pod's own nominated node, where it has a status of its own.
    pub fn tried(&self, snap: &Snapshot, pod: PodId) -> Option<Row> {
        let row = snap.nodes.row(snap.pods[pod].nominated?)?;
        let judged = self.verdicts[row as usize] != LEFT_OUT || self.crowding(row).is_some();
        (judged && !self.has_failed(row)).then_some(row)
    }

    pub fn has_failed(&self, row: Row) -> bool {
        self.failed.binary_search(&row).is_ok()
    }

    /// Why the cycle ends without a decision: the status of the first of `rows` that could not be judged.
    pub fn failure(&self, snap: &Snapshot, rows: &[Row]) -> Option<Status> {
        if self.failed.is_empty() {
            return None;
        }
        let row = rows.iter().find(|row| self.has_failed(**row))?;
        self.status(snap, *row).map(|(_, status)| status)
    }

    fn crowding(&self, row: Row) -> Option<&Refused> {
        let at = self.crowded.binary_search_by_key(&row, |(r, _)| *r).ok()?;
        Some(&self.crowded[at].1)
    }

    pub fn is_feasible(&self, row: Row) -> bool {
        self.verdicts[row as usize] == FEASIBLE && self.crowding(row).is_none()
    }

    /// Feasible rows in node order.
    pub fn feasible(&self, snap: &Snapshot) -> Vec<Row> {
        snap.order
            .rows()
            .iter()
            .copied()
            .filter(|row| self.is_feasible(*row))
            .collect()
    }

    pub fn diagnosis(&self, snap: &Snapshot) -> Diagnosis {
        Diagnosis::of_verdicts(snap, &self.filters, &self.verdicts, &self.crowded)
    }

    /// Why a row is rejected; `None` if it is not.
    pub fn status(&self, snap: &Snapshot, row: Row) -> Option<(&'static str, Status)> {
        if let Some(refused) = self.crowding(row) {
            return Some((refused.plugin, Status::clone(&refused.status)));
        }
        self.filters.status(snap, row, self.verdicts[row as usize])
    }

    pub fn codes(&self, snap: &Snapshot) -> Vec<Code> {
        codes(snap, &self.filters, &self.verdicts, &self.crowded)
    }
}

/// The row of the pod's own nominated node where PreFilter results leave it out: kube-scheduler tries that
/// node before it looks at those results, and keeps the status.
fn nominated_outside(snap: &Snapshot, filters: &Filters, pod: PodId) -> Option<Row> {
    filters.nodes.as_ref()?;
    let row = snap.nodes.row(snap.pods[pod].nominated?)?;
    (!filters.rows(snap).contains(&row)).then_some(row)
}

/// Rows where the pods nominated there leave no room for `pod`, ascending.
pub fn crowded(snap: &mut Snapshot, filters: &Filters, pod: PodId) -> Vec<(Row, Refused)> {
    let mut rows = snap.rows_nominated_above(pod);
    if filters.nodes.is_some() {
        let mut looked_at = filters.rows(snap);
        looked_at.extend(nominated_outside(snap, filters, pod));
        rows.retain(|row| looked_at.contains(row));
    }
    if rows.is_empty() {
        return Vec::new();
    }
    let mut trial = Trial::new(snap, filters, pod);
    let judged = rows
        .into_iter()
        .filter_map(|row| Some((row, trial.judge(snap, row).err()?)));
    let crowded = judged.collect();
    trial.end(snap);
    crowded
}

/// Rows that could not be judged, ascending, given those that cannot be without the pods nominated there.
pub fn failed(mut failed: Vec<Row>, crowded: &[(Row, Refused)]) -> Vec<Row> {
    for (row, refused) in crowded {
        match (failed.binary_search(row), refused.status.code) {
            (Err(at), Code::Error) => failed.insert(at, *row),
            (Ok(at), code) if code != Code::Error => drop(failed.remove(at)),
            _ => {}
        }
    }
    failed
}

/// The code of each row's status; `Success` where it is feasible or no node.
pub fn codes(
    snap: &Snapshot,
    filters: &Filters,
    verdicts: &[Verdict],
    crowded: &[(Row, Refused)],
) -> Vec<Code> {
    let mut rejected: Vec<Vec<Row>> = vec![Vec::new(); filters.parts.len()];
    let mut codes = vec![Code::Success; verdicts.len()];
    for (row, (verdict, code)) in verdicts.iter().zip(&mut codes).enumerate() {
        match *verdict {
            FEASIBLE | NO_NODE => {}
            LEFT_OUT => *code = Code::UnschedulableAndUnresolvable,
            index => rejected[usize::from(index)].push(row as Row),
        }
    }
    for (part, rows) in filters.parts.iter().zip(rejected) {
        let mut own = vec![Code::Success; rows.len()];
        part.filter.filter(snap, Rows::List(&rows), &mut own);
        for (row, code) in rows.into_iter().zip(own) {
            codes[row as usize] = code;
        }
    }
    for (row, refused) in crowded {
        codes[*row as usize] = refused.status.code;
    }
    codes
}

/// kube-scheduler's adaptive sample: how many feasible nodes are enough among `nodes`.
pub fn sample_size(percentage: i32, nodes: usize) -> usize {
    const FEWEST: usize = 100;
    if nodes < FEWEST {
        return nodes;
    }
    let adaptive = || (50 - nodes as i64 / 125).max(5);
    let percentage = if percentage == 0 {
        adaptive()
    } else {
        i64::from(percentage)
    };
    let wanted = nodes as i64 * percentage / 100;
    usize::try_from(wanted).unwrap_or(0).max(FEWEST)
}

/// The feasible rows that kube-scheduler would have found, and how far it would have come.
#[derive(Clone, Debug)]
pub struct Sample {
    pub rows: Vec<Row>,
    /// Nodes looked at: what the rotating start advances by.
    pub processed: usize,
    /// The node that could not be judged, where the walk came to one.
    pub failed: Option<Row>,
}

/// Walks the nodes from `start` and stops at the first feasible one beyond `enough`, or at one that could
/// not be judged, of which `look` says nothing. `tried` was looked at before and rejected: it counts as a
/// node looked at wherever the walk ends.
pub fn sample(
    look: impl Fn(Row) -> Option<bool>,
    rows: &[Row],
    start: usize,
    enough: usize,
    tried: Option<Row>,
) -> Sample {
    let mut found = Vec::new();
    let mut rejected = usize::from(tried.is_some());
    let mut failed = None;
    for i in 0..rows.len() {
        let row = rows[(start + i) % rows.len()];
        let Some(is_feasible) = look(row) else {
            failed = Some(row);
            break;
        };
        if !is_feasible {
            rejected += usize::from(tried != Some(row));
        } else if found.len() == enough {
            break;
        } else {
            found.push(row);
        }
    }
    Sample {
        processed: found.len() + rejected,
        rows: found,
        failed,
    }
}

/// Scores of the feasible rows and their weighted sums.
#[derive(Clone, Debug)]
pub struct Ranking {
    pub scores: Vec<Scores>,
    pub totals: Vec<i64>,
}

pub fn rank(
    snap: &Snapshot,
    profile: &Profile,
    pod: PodId,
    feasible: &[Row],
) -> Result<Ranking, Status> {
    let parts = scoring::parts(snap, profile, &snap.pods[pod], feasible).map_err(|(_, s)| s)?;
    let scores = scoring::score(snap, &parts, feasible)?;
    let totals = scoring::totals(&scores, feasible.len());
    Ok(Ranking { scores, totals })
}

/// The position of the winner: the heap's root, or one of the best by `draw` in order of rows.
pub fn winner(totals: &[i64], rows: &[Row], draw: Option<u64>) -> Option<usize> {
    let Some(draw) = draw else {
        return pick::heap_root(totals);
    };
    let best = totals.iter().copied().max()?;
    let mut ties: Vec<usize> = (0..totals.len()).filter(|i| totals[*i] == best).collect();
    ties.sort_unstable_by_key(|i| rows[*i]);
    ties.get(pick::scaled(draw, ties.len() as u64) as usize)
        .copied()
}
