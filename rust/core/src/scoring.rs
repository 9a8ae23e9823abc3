//! PreScore, Score and NormalizeScore of one pod over its feasible rows.

use crate::normalize::{Extremes, IGNORED, MAX_SCORE};
use crate::plugin::{PreScore, Rows, Score};
use crate::profile::Profile;
use crate::snapshot::{Pod, Row, Snapshot};
use crate::status::Status;

/// One score plugin's part in a total.
#[derive(Debug)]
pub struct Part {
    pub plugin: &'static str,
    pub weight: i64,
    pub score: Box<dyn Score>,
}

/// One plugin's scores for the feasible rows, in their order.
#[derive(Clone, Debug)]
pub struct Scores {
    pub plugin: &'static str,
    pub weight: i64,
    pub raw: Vec<i64>,
    pub normalized: Vec<i64>,
}

impl Scores {
    /// The raw score of the `at`-th row as upstream shows it: 0 for a node left out of normalisation.
    pub fn raw_shown(&self, at: usize) -> i64 {
        match self.raw[at] {
            IGNORED => 0,
            raw => raw,
        }
    }
}

/// Runs PreScore: the plugins that take part, in Score order.
pub fn parts(
    snap: &Snapshot,
    profile: &Profile,
    pod: &Pod,
    feasible: &[Row],
) -> Result<Vec<Part>, (&'static str, Status)> {
    let mut parts = Vec::new();
    if profile.score.is_empty() {
        return Ok(parts);
    }
    let failed = |name, status: Status| {
        let why = status.message();
        let message = format!("running PreScore plugin \"{name}\": {why}");
        (name, Status::error(message))
    };
    for plugin in &profile.pre_score_only {
        if let PreScore::Reject(status) = plugin.pre_score(snap, pod, feasible) {
            return Err(failed(plugin.name(), status));
        }
    }
    for (plugin, weight) in &profile.score {
        match plugin.pre_score(snap, pod, feasible) {
            PreScore::Skip => {}
            PreScore::Reject(status) => return Err(failed(plugin.name(), status)),
            PreScore::Run(score) => {
                parts.push(Part {
                    plugin: plugin.name(),
                    weight: *weight,
                    score,
                });
            }
        }
    }
    Ok(parts)
}

/// Raw and normalised scores of every part.
pub fn score(snap: &Snapshot, parts: &[Part], feasible: &[Row]) -> Result<Vec<Scores>, Status> {
    let mut all = Vec::with_capacity(parts.len());
    for part in parts {
        let mut raw = vec![0; feasible.len()];
        part.score.score(snap, Rows::List(feasible), &mut raw);
        let extremes = Extremes::of(raw.iter().copied());
        let form = part.score.normalize();
        let normalized: Vec<_> = raw.iter().map(|s| form.apply(*s, extremes)).collect();
        if let Some(wrong) = normalized.iter().find(|s| !(0..=MAX_SCORE).contains(*s)) {
            let plugin = part.plugin;
            return Err(Status::error(format!(
                "plugin \"{plugin}\" returns an invalid score {wrong}, it should in the range of [0, {MAX_SCORE}] after normalizing"
            )));
        }
        all.push(Scores {
            plugin: part.plugin,
            weight: part.weight,
            raw,
            normalized,
        });
    }
    Ok(all)
}

/// Weighted sums, in the order of the feasible rows.
pub fn totals(scores: &[Scores], feasible: usize) -> Vec<i64> {
    let mut totals = vec![0i64; feasible];
    for part in scores {
        for (total, score) in totals.iter_mut().zip(&part.normalized) {
            *total = total.wrapping_add(score.wrapping_mul(part.weight));
        }
    }
    totals
}
