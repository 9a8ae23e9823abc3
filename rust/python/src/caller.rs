//! The half of `podium._core.Engine` for cycles that plugins written in Python take part in.

use crate::engine::{Decision, Engine, Eviction};
use crate::errors::core_error;
use crate::explain;
use numpy::{Element, IntoPyArray, PyArray1, PyArrayMethods, PyReadonlyArray1};
use podium_core::caller;
use podium_core::preempt::{self, Candidate};
use podium_core::snapshot::{PodId, Row};
use podium_core::status::{Code, Reason, Status};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Plugin, code, reasons.
pub(crate) type Refusal = (&'static str, u8, Vec<String>);

/// Plugin, code, reasons, and the only nodes it leaves.
type Step = (&'static str, u8, Vec<String>, Option<Vec<String>>);

/// Reasons, each with how many nodes gave it, and the plugins that did.
type Reasons = (Vec<(String, usize)>, Vec<&'static str>);

/// Rows to try, how many candidates are enough, and what preemption comes to if nothing is to be tried.
type Plan = (Vec<Row>, usize, Option<Py<Eviction>>);

/// What the native plugins say of a pod. See the stub.
#[pyclass(frozen, module = "podium._core")]
#[derive(Debug)]
pub(crate) struct Opened(caller::Opened);

#[pymethods]
impl Opened {
    #[getter]
    fn steps(&self) -> Vec<Step> {
        let step = |s: &caller::Step| {
            let (code, reasons) = parts(&s.status);
            (s.plugin, code, reasons, s.nodes.clone())
        };
        self.0.steps.iter().map(step).collect()
    }

    #[getter]
    fn first<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i16>> {
        PyArray1::from_slice(py, &self.0.first)
    }

    /// Which nodes no native plugin rejects.
    #[getter]
    fn passed<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<bool>> {
        let passed: Vec<bool> = self.0.first.iter().map(|place| *place < 0).collect();
        let passed = passed.into_pyarray(py);
        passed.readwrite().make_nonwriteable();
        passed
    }

    /// How many those are.
    #[getter]
    fn count(&self) -> usize {
        self.0
            .first
            .iter()
            .map(|place| usize::from(*place < 0))
            .sum()
    }

    /// The greatest place in `first`.
    #[getter]
    fn last(&self) -> i16 {
        self.0.first.iter().fold(-1, |last, place| last.max(*place))
    }

    #[getter]
    fn crowded(&self) -> Vec<(usize, Refusal)> {
        let crowded = |c: &caller::Crowded| {
            let (code, reasons) = parts(&c.refused.status);
            (c.at, (c.refused.plugin, code, reasons))
        };
        self.0.crowded.iter().map(crowded).collect()
    }

    #[getter]
    fn contested(&self) -> Vec<usize> {
        self.0.contested.clone()
    }

    #[getter]
    fn failed(&self) -> Option<&str> {
        self.0.failed.as_deref()
    }
}

pub(crate) fn refusal(plugin: &'static str, status: &Status) -> Refusal {
    let (code, reasons) = parts(status);
    (plugin, code, reasons)
}

fn parts(status: &Status) -> (u8, Vec<String>) {
    let reasons = status.reasons.iter().map(ToString::to_string);
    (status.code as u8, reasons.collect())
}

fn code(number: u8) -> PyResult<Code> {
    const CODES: [Code; 7] = [
        Code::Success,
        Code::Error,
        Code::Unschedulable,
        Code::UnschedulableAndUnresolvable,
        Code::Wait,
        Code::Skip,
        Code::Pending,
    ];
    let known = CODES.get(number as usize).copied();
    known.ok_or_else(|| PyValueError::new_err(format!("{number} is no status code")))
}

fn status(number: u8, reasons: Vec<String>) -> PyResult<Status> {
    let reasons = reasons.into_iter().map(Reason::from).collect();
    Ok(Status {
        code: code(number)?,
        reasons,
    })
}

/// The elements of an array with one per node.
pub(crate) fn per_node<'a, T: Element>(
    array: &'a PyReadonlyArray1<'_, T>,
    nodes: usize,
) -> PyResult<&'a [T]> {
    match array.as_slice() {
        Ok(slice) if slice.len() == nodes => Ok(slice),
        Ok(slice) => Err(PyValueError::new_err(format!(
            "an array has {} elements, there are {nodes} nodes",
            slice.len()
        ))),
        Err(_) => Err(PyValueError::new_err("an array must be contiguous")),
    }
}

impl Engine {
    fn live_row(engine: &podium_core::engine::Engine, row: u32) -> PyResult<Row> {
        match engine.snap.nodes.live.get(row as usize) {
            Some(true) => Ok(row),
            _ => Err(PyKeyError::new_err(format!("row {row} is no node"))),
        }
    }
}

#[pymethods]
impl Engine {
    fn open(&self, py: Python<'_>, pod: u32) -> PyResult<Opened> {
        let opened = self.run(py, |engine| {
            Self::pod(engine, pod).map(|id| engine.open(id))
        })?;
        Ok(Opened(opened?))
    }

    /// How the cycle ends where there is no node at all, None where there is one.
    fn no_nodes(&self) -> PyResult<Option<Decision>> {
        Ok(self.lock()?.no_nodes().map(Decision::from))
    }

    fn reasons(&self, pod: u32, within: PyReadonlyArray1<'_, bool>) -> PyResult<Reasons> {
        let mut engine = self.lock()?;
        let id = Self::pod(&engine, pod)?;
        let within = per_node(&within, engine.snap.nodes.count())?;
        let diagnosis = engine.reasons(id, within);
        let reasons = diagnosis.reasons.iter();
        let reasons = reasons.map(|(reason, count)| (reason.to_string(), *count));
        Ok((reasons.collect(), diagnosis.plugins))
    }

    fn codes<'py>(&self, py: Python<'py>, pod: u32) -> PyResult<Bound<'py, PyArray1<u8>>> {
        let mut engine = self.lock()?;
        let id = Self::pod(&engine, pod)?;
        let codes: Vec<u8> = engine.codes(id).into_iter().map(|c| c as u8).collect();
        Ok(codes.into_pyarray(py))
    }

    /// What the native plugins have against one row.
    fn native_status(&self, pod: u32, row: u32) -> PyResult<Option<Refusal>> {
        let mut engine = self.lock()?;
        let id = Self::pod(&engine, pod)?;
        let row = Self::live_row(&engine, row)?;
        let found = match engine.judge(id) {
            Some(Ok(judged)) => judged.status(&engine.snap, row),
            Some(Err(rejection)) => Some((rejection.plugin, rejection.status)),
            None => None,
        };
        Ok(found.map(|(plugin, status)| {
            let (code, reasons) = parts(&status);
            (plugin, code, reasons)
        }))
    }

    fn sampled<'py>(
        &self,
        py: Python<'py>,
        pod: u32,
        feasible: PyReadonlyArray1<'py, bool>,
    ) -> PyResult<Bound<'py, PyArray1<bool>>> {
        let mut engine = self.lock()?;
        let id = Self::pod(&engine, pod)?;
        let feasible = per_node(&feasible, engine.snap.nodes.count())?;
        Ok(engine.sampled(id, feasible).into_pyarray(py))
    }

    /// The row of the best node of `within`, by the native scores and those given with their weights.
    fn best<'py>(
        &self,
        pod: u32,
        within: PyReadonlyArray1<'py, bool>,
        scores: Vec<(PyReadonlyArray1<'py, i64>, i64)>,
    ) -> PyResult<Option<Row>> {
        let mut engine = self.lock()?;
        let id = Self::pod(&engine, pod)?;
        let within = per_node(&within, engine.snap.nodes.count())?;
        let totals = engine.native_totals(id, within);
        let mut totals = totals.map_err(|status| core_error(status.message()))?;
        for (scores, weight) in &scores {
            let own = per_node(scores, within.len())?;
            for (total, own) in totals.iter_mut().zip(own) {
                *total = total.wrapping_add(own.wrapping_mul(*weight));
            }
        }
        let attempt = u64::from(engine.queue.attempts(id));
        Ok(engine.winner(id, attempt, within, &totals))
    }

    /// The native scores of the nodes of `within`, in the form of `explain`.
    fn explain_within<'py>(
        &self,
        py: Python<'py>,
        pod: u32,
        within: PyReadonlyArray1<'py, bool>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let explanation = {
            let engine = self.lock()?;
            let id = Self::pod(&engine, pod)?;
            let within = per_node(&within, engine.snap.nodes.count())?;
            podium_core::explain::ranked_within(&engine, id, within)
        };
        explain::to_dict(py, &explanation)
    }

    fn begin_overlay(&self) -> PyResult<()> {
        self.lock()?.begin_overlay();
        Ok(())
    }

    /// The refusal of a native plugin at Reserve, if there is one.
    fn place_in_overlay(&self, pod: u32, row: u32) -> PyResult<Option<Refusal>> {
        let mut engine = self.lock()?;
        let id = Self::pod(&engine, pod)?;
        let row = Self::live_row(&engine, row)?;
        let refused = engine.place_in_overlay(id, row).err();
        Ok(refused.map(|(plugin, status)| refusal(plugin, &status)))
    }

    fn evict_in_overlay(&self, pod: u32) -> PyResult<()> {
        let mut engine = self.lock()?;
        let id = Self::pod(&engine, pod)?;
        engine.evict_in_overlay(id);
        Ok(())
    }

    fn end_overlay(&self) -> PyResult<()> {
        self.lock()?.end_overlay();
        Ok(())
    }

    fn begin_trial(&self, pod: u32) -> PyResult<bool> {
        let mut engine = self.lock()?;
        let id = Self::pod(&engine, pod)?;
        Ok(engine.begin_trial(id))
    }

    fn try_with(&self, pod: u32, row: u32) -> PyResult<()> {
        let mut engine = self.lock()?;
        let id = Self::pod(&engine, pod)?;
        let row = Self::live_row(&engine, row)?;
        engine.try_with(id, row);
        Ok(())
    }

    fn try_without(&self, pod: u32) -> PyResult<()> {
        let mut engine = self.lock()?;
        let id = Self::pod(&engine, pod)?;
        engine.try_without(id);
        Ok(())
    }

    fn try_row(&self, row: u32) -> PyResult<Option<Refusal>> {
        let mut engine = self.lock()?;
        let row = Self::live_row(&engine, row)?;
        let refused = engine.try_row(row).err();
        Ok(refused.map(|refused| {
            let (code, reasons) = parts(&refused.status);
            (refused.plugin, code, reasons)
        }))
    }

    fn restart_trial(&self) -> PyResult<()> {
        self.lock()?.restart_trial();
        Ok(())
    }

    fn end_trial(&self) -> PyResult<()> {
        self.lock()?.end_trial();
        Ok(())
    }

    fn plan_preemption(
        &self,
        py: Python<'_>,
        pod: u32,
        attempt: u64,
        codes: PyReadonlyArray1<'_, u8>,
    ) -> PyResult<Option<Plan>> {
        let mut engine = self.lock()?;
        let id = Self::pod(&engine, pod)?;
        let given: Vec<Code> = codes
            .as_array()
            .iter()
            .map(|number| code(*number))
            .collect::<PyResult<_>>()?;
        let codes = match engine.live_rows() {
            None => given,
            Some(rows) => {
                let mut codes = vec![Code::Success; engine.snap.nodes.len()];
                for (row, code) in rows.into_iter().zip(given) {
                    codes[row as usize] = code;
                }
                codes
            }
        };
        if codes.len() != engine.snap.nodes.len() {
            return Err(PyValueError::new_err("as many codes as nodes"));
        }
        match engine.plan_preemption(id, attempt, &codes) {
            None => Ok(None),
            Some(Ok(plan)) => Ok(Some((plan.rows, plan.wanted, None))),
            Some(Err(end)) => {
                let end = Py::new(py, Eviction::from(end))?;
                Ok(Some((Vec::new(), 0, Some(end))))
            }
        }
    }

    /// Pods on a row of lower priority than this one.
    fn pods_below(&self, pod: u32, row: u32) -> PyResult<Vec<u32>> {
        let engine = self.lock()?;
        let id = Self::pod(&engine, pod)?;
        let row = Self::live_row(&engine, row)?;
        let priority = |id: PodId| engine.snap.pods[id].template.priority;
        let pods = engine.snap.nodes.pods[row as usize].iter();
        let below = pods.filter(|other| priority(**other) < priority(id));
        Ok(below.map(|other| other.0).collect())
    }

    /// Pods nominated to a row that this one may not push aside.
    fn nominated_above(&self, pod: u32, row: u32) -> PyResult<Vec<u32>> {
        let engine = self.lock()?;
        let id = Self::pod(&engine, pod)?;
        let row = Self::live_row(&engine, row)?;
        let pods = engine.snap.nominated_above(row, id).into_iter();
        Ok(pods.map(|pod| pod.0).collect())
    }

    /// Pods nominated to a node.
    fn nominated_to(&self, node: &str) -> PyResult<Vec<u32>> {
        let engine = self.lock()?;
        let name = engine.snap.interner.get(node);
        let pods = name.map(|name| engine.snap.nominated_to(name));
        Ok(pods.into_iter().flatten().map(|pod| pod.0).collect())
    }

    /// Victims by importance: those whose eviction violates a budget, and the others.
    fn rank_victims(&self, victims: Vec<u32>) -> PyResult<(Vec<u32>, Vec<u32>)> {
        let engine = self.lock()?;
        let mut pods = Vec::with_capacity(victims.len());
        for victim in victims {
            pods.push(Self::pod(&engine, victim)?);
        }
        preempt::sort_by_importance(&engine.snap, &mut pods);
        let (violating, others) = preempt::split_by_budgets(&engine.snap, &pods);
        let handles = |pods: Vec<PodId>| pods.into_iter().map(|pod| pod.0).collect();
        Ok((handles(violating), handles(others)))
    }

    /// The most important first.
    fn by_importance(&self, pods: Vec<u32>) -> PyResult<Vec<u32>> {
        let engine = self.lock()?;
        let mut ids = Vec::with_capacity(pods.len());
        for pod in pods {
            ids.push(Self::pod(&engine, pod)?);
        }
        preempt::sort_by_importance(&engine.snap, &mut ids);
        Ok(ids.into_iter().map(|pod| pod.0).collect())
    }

    /// Candidates are row, victims, violations; statuses those of nodes that are none.
    fn conclude_preemption(
        &self,
        candidates: Vec<(Row, Vec<u32>, usize)>,
        statuses: Vec<(u8, Vec<String>)>,
    ) -> PyResult<Eviction> {
        let engine = self.lock()?;
        let candidate = |(row, victims, violations): (Row, Vec<u32>, usize)| Candidate {
            row,
            victims: victims.into_iter().map(PodId).collect(),
            violations,
        };
        let statuses: Vec<Status> = statuses
            .into_iter()
            .map(|(number, reasons)| status(number, reasons))
            .collect::<PyResult<_>>()?;
        let candidates = candidates.into_iter().map(candidate).collect();
        Ok(engine.conclude_preemption(candidates, &statuses).into())
    }
}
