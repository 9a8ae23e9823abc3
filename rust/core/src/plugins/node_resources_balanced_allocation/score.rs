use super::super::lanes::{LANES, Run, SHORT, each_run};
use super::super::resource_spec::Scored;
use super::dense::{Lanes, approximate, exact};
use crate::plugin::{Affects, Reads, Rows, Score};
use crate::snapshot::{Change, Nodes, Row, Snapshot};

/// A configured resource and how much of it the pod requests.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) resource: Scored,
    pub(super) request: i64,
}

#[derive(Clone, Debug)]
pub(super) struct Balance {
    parts: Box<[Part]>,
}

/// Score where the pod changes nothing, as with fewer than two resources.
pub(super) const LEVEL: i64 = 75;

impl Balance {
    pub(super) fn new(parts: impl Iterator<Item = Part>) -> Self {
        let counted = parts.filter(|part| part.resource.concerns(part.request));
        Balance {
            parts: counted.collect(),
        }
    }

    /// Upstream's arithmetic for one node; the reference of the dense forms.
    fn one(&self, nodes: &Nodes, row: Row) -> i64 {
        let evenness = |with: bool| {
            let fractions = self.parts.iter().filter_map(|part| {
                let id = part.resource.id;
                let allocatable = nodes.allocatable(id, row);
                let more = if with { part.request } else { 0 };
                let requested = nodes.requested(id, row).wrapping_add(more);
                let fraction = requested as f64 / allocatable as f64;
                (allocatable != 0).then_some(if fraction > 1.0 { 1.0 } else { fraction })
            });
            ((1.0 - deviation(fractions)) * 100.0) as i64
        };
        let gain = evenness(true).wrapping_sub(evenness(false));
        50 + gain.wrapping_add(50) / 2
    }

    fn run(&self, nodes: &Nodes, run: Run<'_>, out: &mut [i64], memory: &mut Memory) {
        let [first, second] = &mut memory.buffers;
        let a = first.lanes(self.parts[0], nodes, run);
        let b = second.lanes(self.parts[1], nodes, run);
        if !memory.doubtful {
            let doubts = approximate(a, b, out);
            let count = |out: &[i64]| out.iter().filter(|score| **score < 0).count();
            // Deciding one lane exactly costs as much as a dozen lanes at a time. Where pods and nodes have
            // one shape, most values are in doubt, in the next runs too.
            memory.doubtful = !doubts.all && doubts.some && count(out) > out.len() / 12;
            if !doubts.all && !memory.doubtful {
                if doubts.some {
                    self.settle(nodes, run, out, |score| score < 0);
                }
                return;
            }
        }
        if !exact(a, b, out) {
            self.settle(nodes, run, out, |_| true);
        }
    }

    fn settle(&self, nodes: &Nodes, run: Run<'_>, out: &mut [i64], open: impl Fn(i64) -> bool) {
        for (lane, score) in out.iter_mut().enumerate() {
            if open(*score) {
                *score = self.one(nodes, run.row(lane));
            }
        }
    }
}

/// Standard deviation of the fractions, by upstream's two formulas.
fn deviation(fractions: impl Iterator<Item = f64> + Clone) -> f64 {
    let (mut count, mut total, mut last_two) = (0, 0.0, [0.0; 2]);
    for fraction in fractions.clone() {
        count += 1;
        total += fraction;
        last_two = [last_two[1], fraction];
    }
    match count {
        0 | 1 => 0.0,
        2 => ((last_two[0] - last_two[1]) / 2.0).abs(),
        _ => {
            let mean = total / f64::from(count);
            let squares = fractions.fold(0.0, |sum, f| sum + (f - mean) * (f - mean));
            (squares / f64::from(count)).sqrt()
        }
    }
}

impl Score for Balance {
    fn score(&self, snap: &Snapshot, rows: Rows<'_>, out: &mut [i64]) {
        let nodes = &snap.nodes;
        match self.parts.len() {
            0 | 1 => out[..rows.len()].fill(LEVEL),
            2 if rows.len() > SHORT => {
                let mut memory = Memory::default();
                each_run(rows, LANES, out, |run, out| {
                    self.run(nodes, run, out, &mut memory);
                });
            }
            _ => rows.each(out, |row, cell| *cell = self.one(nodes, row)),
        }
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

/// What is kept from one run of a call to the next.
#[derive(Debug, Default)]
struct Memory {
    buffers: [Buffers; 2],
    /// Approximating is not worth it here.
    doubtful: bool,
}

#[derive(Debug, Default)]
struct Buffers {
    allocatable: Vec<i64>,
    percent: Vec<f64>,
    used: Vec<i64>,
}

impl Buffers {
    fn lanes<'b>(&'b mut self, part: Part, nodes: &'b Nodes, run: Run<'_>) -> Lanes<'b> {
        let at = usize::from(part.resource.id.0);
        Lanes {
            allocatable: run.of(&nodes.allocatable[at], &mut self.allocatable),
            percent: run.of(&nodes.percent[at], &mut self.percent),
            used: run.of(&nodes.requested[at], &mut self.used),
            request: part.request,
        }
    }
}
