//! The half of `podium._core.Engine` for cycles that go by remembered answers of Python plugins.

use crate::caller::per_node;
use crate::engine::Engine;
use crate::errors::core_error;
use crate::queue::{Batch, Done};
use numpy::{IntoPyArray, PyArray1, PyArrayMethods, PyReadonlyArray1};
use podium_core::queue::Nanos;
use podium_core::snapshot::{PodId, Row};
use podium_core::told::Concern;
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use std::time::Instant;

/// The range of a score after normalisation.
const MIN: i64 = 0;
const MAX: i64 = 100;

/// A plugin's scores and its weight.
type Weighted<'py> = (PyReadonlyArray1<'py, i64>, i64);

/// The position of the first score that counts and is not within `low..=high`.
#[pyfunction]
pub(crate) fn first_outside(
    scores: PyReadonlyArray1<'_, i64>,
    counts: PyReadonlyArray1<'_, bool>,
    low: i64,
    high: i64,
) -> Option<usize> {
    let (scores, counts) = (scores.as_array(), counts.as_array());
    let outside = |(score, counts): (&i64, &bool)| *counts & ((*score < low) | (*score > high));
    if let (Some(scores), Some(counts)) = (scores.as_slice(), counts.as_slice()) {
        // A pass without branches, which the compiler vectorises, before the one that says where.
        let pairs = scores.iter().zip(counts);
        if !pairs.fold(false, |any, pair| any | outside(pair)) {
            return None;
        }
    }
    scores.iter().zip(counts).position(outside)
}

/// Where `asked` is true and `mask` is not, read-only; `None` if that is nowhere.
#[pyfunction]
pub(crate) fn refused<'py>(
    py: Python<'py>,
    asked: PyReadonlyArray1<'_, bool>,
    mask: PyReadonlyArray1<'_, bool>,
) -> PyResult<Option<Bound<'py, PyArray1<bool>>>> {
    let (asked, mask) = (asked.as_array(), mask.as_array());
    if asked.len() != mask.len() {
        return Err(PyValueError::new_err("arrays of equal length"));
    }
    let refuses = |(asked, mask): (&bool, &bool)| *asked & !*mask;
    if let (Some(asked), Some(mask)) = (asked.as_slice(), mask.as_slice()) {
        let pairs = asked.iter().zip(mask);
        if !pairs.fold(false, |any, pair| any | refuses(pair)) {
            return Ok(None);
        }
    }
    let out: Vec<bool> = asked.iter().zip(mask).map(refuses).collect();
    if !out.contains(&true) {
        return Ok(None);
    }
    let out = out.into_pyarray(py);
    out.readwrite().make_nonwriteable();
    Ok(Some(out))
}

#[pymethods]
impl Engine {
    /// Says what Python plugins mean to pods: see the stub.
    #[pyo3(signature = (pods, kind, concerned, table = None, up_to_node = false))]
    fn set_concern(
        &self,
        pods: PyReadonlyArray1<'_, u32>,
        kind: u32,
        concerned: bool,
        table: Option<u32>,
        up_to_node: bool,
    ) -> PyResult<()> {
        let concern = match (concerned, table) {
            (false, _) => Some(Concern::Nothing),
            (true, table) if up_to_node => Some(Concern::UpToNode(table)),
            (true, table) => table.map(Concern::Table),
        };
        let mut engine = self.lock()?;
        for &pod in pods.as_array() {
            let id = Self::pod(&engine, pod)?;
            engine.set_concern(id, concern, kind);
        }
        Ok(())
    }

    /// Takes what plugins say of the rows that were asked for, and goes on with the pod and the batch. None
    /// if some score is out of range where the plugins accept the row: then nothing is remembered.
    fn resume(
        &self,
        py: Python<'_>,
        batch: &Batch,
        accepts: Vec<PyReadonlyArray1<'_, bool>>,
        scores: Vec<Weighted<'_>>,
        limit: usize,
        now: Nanos,
    ) -> PyResult<Option<Batch>> {
        let id = PodId(batch.stopped().unwrap_or(u32::MAX));
        let rows = self.lock()?.asked_rows(id);
        let rows = rows.ok_or_else(|| core_error("this batch asked for nothing".to_owned()))?;
        let mut accepted = vec![true; rows];
        for mask in &accepts {
            for (all, own) in accepted.iter_mut().zip(per_node(mask, rows)?) {
                *all &= own;
            }
        }
        let mut totals = vec![0i64; rows];
        for (scores, weight) in &scores {
            let scores = per_node(scores, rows)?;
            let mut pairs = scores.iter().zip(&accepted);
            if pairs.any(|(score, counts)| *counts && !(MIN..=MAX).contains(score)) {
                return Ok(None);
            }
            for (total, own) in totals.iter_mut().zip(scores) {
                *total = total.wrapping_add(own.wrapping_mul(*weight));
            }
        }
        let mut done = Done::after(batch);
        let done = self.run(py, move |engine| {
            let start = Instant::now();
            engine.answer(id, &accepted, &totals);
            match engine.run_popped(id, now) {
                Ok(row) => {
                    done.placed.pods.push((id, row));
                    if done.placed.timed {
                        done.placed.nanos.push(start.elapsed().as_nanos() as u64);
                    }
                    done.run(engine, limit, now);
                }
                Err(stopped) => done.stopped = Some(stopped),
            }
            done
        })?;
        Batch::new(py, done).map(Some)
    }

    /// Says that Python plugins may see something else on these rows.
    fn touch(&self, rows: Vec<Row>) -> PyResult<()> {
        let mut engine = self.lock()?;
        if let Some(row) = rows
            .iter()
            .find(|row| **row as usize >= engine.snap.nodes.len())
        {
            return Err(PyKeyError::new_err(format!("row {row} is no node")));
        }
        for row in rows {
            engine.snap.touch(row);
        }
        Ok(())
    }
}
