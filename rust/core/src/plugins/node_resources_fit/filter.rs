//! Whether a node has enough left.

use super::super::lanes::{Run, SHORT, each_run};
use crate::plugin::{Affects, Filter, Reads, Rows};
use crate::resources::{EPHEMERAL_STORAGE, ResourceId};
use crate::snapshot::{Change, Nodes, Row, Snapshot};
use crate::status::{Code, Reason, Status};
use multiversion::multiversion;

const TOO_MANY_PODS: &str = "Too many pods";

/// Rows looked at together. Mostly all of them have room, which is found out cheaply; where one has not,
/// all are looked at again.
const RUN: usize = 64;

/// What a pod asks for: positive amounts only.
#[derive(Clone, Debug)]
pub(super) struct Needs(Box<[(ResourceId, i64)]>);

impl Needs {
    /// Reasons come in the order of `amounts`, scalar resources by name (upstream: at random).
    pub(super) fn new(snap: &Snapshot, mut amounts: Vec<(ResourceId, i64)>) -> Self {
        let scalars = amounts.partition_point(|(id, _)| *id <= EPHEMERAL_STORAGE);
        amounts[scalars..].sort_by_key(|(id, _)| snap.resources.name(*id));
        if crate::mutation::active(super::NAME) {
            amounts.iter_mut().for_each(|(_, need)| *need += 1);
        }
        Needs(amounts.into())
    }

    fn code(&self, snap: &Snapshot, row: Row) -> Code {
        let nodes = &snap.nodes;
        let mut code = pods_code(
            nodes.pod_count[row as usize],
            nodes.allowed_pods[row as usize],
        );
        for &(id, need) in &self.0 {
            code = code.max(need_code(
                need,
                nodes.allocatable(id, row),
                nodes.requested(id, row),
            ));
        }
        code
    }
}

fn pods_code(count: i64, allowed: i64) -> Code {
    if count >= allowed {
        Code::Unschedulable
    } else {
        Code::Success
    }
}

fn need_code(need: i64, allocatable: i64, requested: i64) -> Code {
    if need <= allocatable.wrapping_sub(requested) {
        Code::Success
    } else if need <= allocatable {
        Code::Unschedulable
    } else {
        Code::UnschedulableAndUnresolvable
    }
}

/// Columns of a run that is not consecutive.
#[derive(Debug, Default)]
struct Buffers {
    have: Vec<i64>,
    used: Vec<i64>,
}

impl Needs {
    /// Whether some row of the run is to be rejected.
    fn is_tight(&self, nodes: &Nodes, run: Run<'_>, buffers: &mut Buffers) -> bool {
        let have = run.of(&nodes.allowed_pods, &mut buffers.have);
        let used = run.of(&nodes.pod_count, &mut buffers.used);
        let mut tight = is_crowded(have, used);
        for &(id, need) in &self.0 {
            let (have, used) = buffers.of(nodes, id, run);
            tight |= is_short(need, have, used);
        }
        tight
    }

    fn mark(&self, nodes: &Nodes, run: Run<'_>, out: &mut [Code], buffers: &mut Buffers) {
        let mut marks = [0; RUN];
        let marks = &mut marks[..out.len()];
        let have = run.of(&nodes.allowed_pods, &mut buffers.have);
        let used = run.of(&nodes.pod_count, &mut buffers.used);
        for ((allowed, count), mark) in have.iter().zip(used).zip(&mut *marks) {
            *mark = if count >= allowed { SHORT_OF } else { 0 };
        }
        for &(id, need) in &self.0 {
            let (have, used) = buffers.of(nodes, id, run);
            mark(need, have, used, marks);
        }
        write(marks, out);
    }
}

impl Buffers {
    fn of<'b>(
        &'b mut self,
        nodes: &'b Nodes,
        id: ResourceId,
        run: Run<'_>,
    ) -> (&'b [i64], &'b [i64]) {
        let at = usize::from(id.0);
        let have = run.of(&nodes.allocatable[at], &mut self.have);
        (have, run.of(&nodes.requested[at], &mut self.used))
    }
}

impl Filter for Needs {
    fn filter(&self, snap: &Snapshot, rows: Rows<'_>, out: &mut [Code]) {
        if rows.len() <= SHORT {
            return rows.judge(out, |row| self.code(snap, row));
        }
        let mut buffers = Buffers::default();
        each_run(rows, RUN, out, |run, out| {
            if self.is_tight(&snap.nodes, run, &mut buffers) {
                self.mark(&snap.nodes, run, out, &mut buffers);
            }
        });
    }

    fn status(&self, snap: &Snapshot, row: Row) -> Status {
        let nodes = &snap.nodes;
        let mut status = Status::default();
        let mut add = |code: Code, reason: &dyn Fn() -> Reason| {
            if code != Code::Success {
                status.code = status.code.max(code);
                status.reasons.push(reason());
            }
        };
        let pods = pods_code(
            nodes.pod_count[row as usize],
            nodes.allowed_pods[row as usize],
        );
        add(pods, &|| TOO_MANY_PODS.into());
        for &(id, need) in &self.0 {
            let code = need_code(need, nodes.allocatable(id, row), nodes.requested(id, row));
            add(code, &|| {
                format!("Insufficient {}", snap.resources.name(id)).into()
            });
        }
        status
    }

    /// One bit per reason: pods first, then the amounts in order.
    fn reason_class(&self, snap: &Snapshot, row: Row) -> Option<u64> {
        let nodes = &snap.nodes;
        let at = row as usize;
        let pods = pods_code(nodes.pod_count[at], nodes.allowed_pods[at]);
        let short = |(id, need): &(ResourceId, i64)| {
            let code = need_code(
                *need,
                nodes.allocatable(*id, row),
                nodes.requested(*id, row),
            );
            u64::from(code != Code::Success)
        };
        let crowded = u64::from(pods != Code::Success);
        let bits = |bits, need| (bits << 1) | short(need);
        (self.0.len() < 64).then(|| self.0.iter().fold(crowded, bits))
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

    fn boxed_clone(&self) -> Box<dyn Filter> {
        Box::new(self.clone())
    }
}

/// Marks of a row: it has too little left, and it would have too little if it were empty.
const SHORT_OF: i64 = 1;
const NEVER: i64 = 2;

/// Whether some lane has as many pods as are allowed.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw", "x86_64+avx2"))]
fn is_crowded(allowed: &[i64], count: &[i64]) -> bool {
    let mut any = 0i64;
    for (allowed, count) in allowed.iter().zip(count) {
        any |= if count >= allowed { -1 } else { 0 };
    }
    any != 0
}

/// Whether some lane has less than `need` left.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw", "x86_64+avx2"))]
fn is_short(need: i64, have: &[i64], used: &[i64]) -> bool {
    let mut any = 0i64;
    for (have, used) in have.iter().zip(used) {
        any |= if need > have.wrapping_sub(*used) {
            -1
        } else {
            0
        };
    }
    any != 0
}

#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw", "x86_64+avx2"))]
fn mark(need: i64, have: &[i64], used: &[i64], marks: &mut [i64]) {
    for ((have, used), mark) in have.iter().zip(used).zip(marks) {
        let short = if need > *have {
            SHORT_OF | NEVER
        } else {
            SHORT_OF
        };
        *mark |= if need > have.wrapping_sub(*used) {
            short
        } else {
            0
        };
    }
}

#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw", "x86_64+avx2"))]
fn write(marks: &[i64], out: &mut [Code]) {
    for (mark, code) in marks.iter().zip(out) {
        let rejected = if mark & NEVER == 0 {
            Code::Unschedulable
        } else {
            Code::UnschedulableAndUnresolvable
        };
        let judged = if *mark == 0 { Code::Success } else { rejected };
        *code = if *code == Code::Success {
            judged
        } else {
            *code
        };
    }
}
