//! What share of a node's resources is used or left once the pod is there.

use super::super::lanes::{LANES, Run, SHORT, each_run, float, floor, integer, is_exact, nearest};
use super::super::resource_spec::Scored;
use super::strategy::{Strategy, Usage};
use crate::plugin::{Affects, Reads, Rows, Score};
use crate::resources::{CPU, MEMORY};
use crate::snapshot::{Change, Column, Nodes, Row, Snapshot};
use multiversion::multiversion;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub(super) struct Allocation {
    parts: Box<[Part]>,
    strategy: Arc<Strategy>,
}

/// A resource that counts for the pod, and how much of it.
#[derive(Clone, Copy, Debug)]
struct Part {
    resource: Scored,
    request: i64,
}

impl Part {
    /// Of cpu and memory, pods on nodes count with defaults where they request nothing.
    fn used(self, nodes: &Nodes) -> &Column {
        match self.resource.id {
            CPU => &nodes.nonzero[0],
            MEMORY => &nodes.nonzero[1],
            id => &nodes.requested[usize::from(id.0)],
        }
    }

    fn usage(self, nodes: &Nodes, row: Row) -> Usage {
        Usage {
            allocatable: nodes.allocatable(self.resource.id, row),
            requested: self.used(nodes)[row as usize].wrapping_add(self.request),
            weight: self.resource.weight,
        }
    }
}

/// Score of a lane that the dense form cannot decide.
const UNKNOWN: i64 = i64::MIN;

impl Allocation {
    pub(super) fn new(
        scored: impl Iterator<Item = (Scored, i64)>,
        strategy: Arc<Strategy>,
    ) -> Self {
        let counted = scored.filter(|(resource, request)| resource.concerns(*request));
        Allocation {
            parts: counted
                .map(|(resource, request)| Part { resource, request })
                .collect(),
            strategy,
        }
    }

    fn one(&self, nodes: &Nodes, row: Row) -> i64 {
        let usages = self.parts.iter().map(|part| part.usage(nodes, row));
        self.strategy
            .score(usages.filter(|usage| usage.allocatable != 0))
    }

    /// Scores a run in floating point; lanes outside its domain in integers.
    fn run(&self, nodes: &Nodes, run: Run<'_>, out: &mut [i64], buffers: &mut Buffers) {
        let mut sums = [0.0; LANES];
        let sums = &mut sums[..out.len()];
        let mut bits = 0;
        match &*self.strategy {
            Strategy::Ratio(curve) => {
                let mut weights = [0.0; LANES];
                for part in &self.parts {
                    let mut percents = [0.0; LANES];
                    let percents = &mut percents[..out.len()];
                    bits |= buffers.lanes(*part, nodes, run).add_used(1.0, percents);
                    let weight = part.resource.weight as f64;
                    add_curve(curve.table(), weight, percents, sums, &mut weights);
                }
                rounded_mean(sums, &weights, out);
            }
            strategy => {
                let mut total = 0;
                for part in &self.parts {
                    let weight = part.resource.weight;
                    total += weight;
                    let lanes = buffers.lanes(*part, nodes, run);
                    bits |= match strategy {
                        Strategy::Least => lanes.add_left(weight as f64, sums),
                        _ => lanes.add_used(weight as f64, sums),
                    };
                }
                mean(sums, total as f64, out);
            }
        }
        let exact = is_exact(bits);
        for (lane, score) in out.iter_mut().enumerate() {
            if !exact || *score == UNKNOWN {
                *score = self.one(nodes, run.row(lane));
            }
        }
    }
}

impl Score for Allocation {
    fn score(&self, snap: &Snapshot, rows: Rows<'_>, out: &mut [i64]) {
        if rows.len() <= SHORT {
            return rows.each(out, |row, cell| *cell = self.one(&snap.nodes, row));
        }
        if self.parts.is_empty() {
            return out[..rows.len()].fill(0);
        }
        let mut buffers = Buffers::default();
        each_run(rows, LANES, out, |run, out| {
            self.run(&snap.nodes, run, out, &mut buffers)
        });
    }

    fn follow(&mut self, _: &Snapshot, change: &Change) -> Affects {
        match change {
            Change::Placed { .. } | Change::Removed { .. } | Change::Node { .. } => Affects::Node,
            Change::Storage | Change::World => Affects::Nothing,
        }
    }

    fn reads(&self) -> Reads {
        Reads::Row
    }

    fn boxed_clone(&self) -> Box<dyn Score> {
        Box::new(self.clone())
    }
}

#[derive(Debug, Default)]
struct Buffers {
    used: Vec<i64>,
    percent: Vec<f64>,
}

/// One resource over a run.
struct Lanes<'a> {
    used: &'a [i64],
    /// Percent of the node that one unit is; NaN where only integers decide.
    percent: &'a [f64],
    request: i64,
}

impl Buffers {
    fn lanes<'b>(&'b mut self, part: Part, nodes: &'b Nodes, run: Run<'_>) -> Lanes<'b> {
        let column = &nodes.percent[usize::from(part.resource.id.0)];
        Lanes {
            used: run.of(part.used(nodes), &mut self.used),
            percent: run.of(column, &mut self.percent),
            request: part.request,
        }
    }
}

/// Between the error of a percentage and half of its smallest step. A percentage of d units is a whole
/// number of steps of 1/d; below PERCENT_LIMIT = 2^43 a step is more than 2^-43, and two roundings of at
/// most 100 (and one of the difference) err by less than 0.54 · 2^-44.
const MARGIN: f64 = 1.0 / (1u64 << 44) as f64;

/// Makes rounding to the nearest integer a floor.
const FLOOR: f64 = 0.5 - MARGIN;

impl Lanes<'_> {
    /// Adds weight · floor(percentage left), 0 where more is used than there is. Returns the OR of all
    /// amounts: the sums mean nothing unless it is exact.
    fn add_left(&self, weight: f64, sums: &mut [f64]) -> i64 {
        add_left(self.used, self.percent, self.request, weight, sums)
    }

    /// Adds weight · floor(percentage used), 100 where more is used than there is.
    fn add_used(&self, weight: f64, sums: &mut [f64]) -> i64 {
        add_used(self.used, self.percent, self.request, weight, sums)
    }
}

// Comparisons are written so that NaN passes through them.

#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw", "x86_64+avx2"))]
fn add_left(used: &[i64], percent: &[f64], request: i64, weight: f64, sums: &mut [f64]) -> i64 {
    let mut bits = 0;
    for ((used, percent), sum) in used.iter().zip(percent).zip(sums) {
        let amount = used.wrapping_add(request);
        bits |= amount;
        let left = (100.0 - FLOOR) - float(amount) * percent;
        let left = if left < -FLOOR { -FLOOR } else { left };
        *sum += nearest(left) * weight;
    }
    bits
}

#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw", "x86_64+avx2"))]
fn add_used(used: &[i64], percent: &[f64], request: i64, weight: f64, sums: &mut [f64]) -> i64 {
    let mut bits = 0;
    for ((used, percent), sum) in used.iter().zip(percent).zip(sums) {
        let amount = used.wrapping_add(request);
        bits |= amount;
        let share = float(amount) * percent;
        let share = if share > 100.0 { 100.0 } else { share };
        *sum += nearest(share - FLOOR) * weight;
    }
    bits
}

/// floor(sum / total); a sum plus one half is at least half a step of 1/total away from the next whole
/// quotient, far more than the error of multiplying by the reciprocal.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw", "x86_64+avx2"))]
fn mean(sums: &[f64], total: f64, out: &mut [i64]) {
    let step = 1.0 / total;
    for (sum, score) in sums.iter().zip(out) {
        let mean = integer((sum + 0.5) * step - 0.5);
        *score = if sum.is_nan() { UNKNOWN } else { mean };
    }
}

/// Adds weight · curve(percentage) to `sums`, and the weight to `weights` where the curve is above zero.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw", "x86_64+avx2"))]
fn add_curve(
    curve: &[f64; 128],
    weight: f64,
    percents: &[f64],
    sums: &mut [f64],
    weights: &mut [f64],
) {
    for ((percent, sum), weights) in percents.iter().zip(sums).zip(weights) {
        let score = curve[(integer(*percent) & 127) as usize];
        let counted = if score > 0.0 { weight } else { 0.0 };
        *sum += score * weight;
        *weights += if percent.is_nan() { f64::NAN } else { counted };
    }
}

/// sum / weights, half away from zero; 0 without weights. Both are integers so small that a quotient which
/// is not exactly between two integers is far from it.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw", "x86_64+avx2"))]
fn rounded_mean(sums: &[f64], weights: &[f64], out: &mut [i64]) {
    for ((sum, weights), score) in sums.iter().zip(weights).zip(out) {
        let mean = integer(floor(sum / weights + 0.5));
        let mean = if *weights == 0.0 { 0 } else { mean };
        *score = if weights.is_nan() { UNKNOWN } else { mean };
    }
}
