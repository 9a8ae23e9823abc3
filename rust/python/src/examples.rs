//! Pods that are like others before them, on `podium._core.Engine`.

use crate::engine::Engine;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use podium_core::engine;
use podium_core::selector::Labels;
use podium_core::snapshot::PodId;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

/// Adds pods by `add`, which takes an example, name, uid and what else the pod at a place has.
fn add_each<'py>(
    py: Python<'py>,
    engine: &mut engine::Engine,
    (examples, names, uids): (
        &PyReadonlyArray1<'py, u32>,
        &Bound<'py, PyList>,
        &Bound<'py, PyList>,
    ),
    mut add: impl FnMut(&mut engine::Engine, usize, usize, (&str, &str)) -> PyResult<PodId>,
) -> PyResult<Bound<'py, PyArray1<u32>>> {
    let examples = examples.as_array();
    if names.len() != examples.len() || uids.len() != examples.len() {
        return Err(PyValueError::new_err("the lists differ in length"));
    }
    let mut ids = Vec::with_capacity(examples.len());
    for (at, ((example, name), uid)) in examples.iter().zip(names).zip(uids).enumerate() {
        let example = *example as usize;
        if example >= engine.snap.examples() {
            return Err(PyValueError::new_err(format!(
                "no example {example} is kept"
            )));
        }
        let (name, uid) = (name.cast::<PyString>()?, uid.cast::<PyString>()?);
        let own = (name.to_str()?, uid.to_str()?);
        ids.push(add(engine, at, example, own)?.0);
    }
    Ok(ids.into_pyarray(py))
}

fn labels_of(given: &Bound<'_, PyAny>, engine: &mut engine::Engine) -> PyResult<Labels> {
    if given.is_none() {
        return Ok(Labels::default());
    }
    let interner = &mut engine.snap.interner;
    let mut pairs = Vec::new();
    for (key, value) in given.cast::<PyDict>()? {
        let (key, value) = (key.cast::<PyString>()?, value.cast::<PyString>()?);
        pairs.push((
            interner.intern(key.to_str()?),
            interner.intern(value.to_str()?),
        ));
    }
    Ok(Labels::of(pairs))
}

#[pymethods]
impl Engine {
    /// Keeps what pending pods, just added, say, in this order.
    fn keep_examples(&self, pods: PyReadonlyArray1<'_, u32>) -> PyResult<()> {
        let mut engine = self.lock()?;
        for pod in pods.as_array() {
            let id = Self::pod(&engine, *pod)?;
            engine.snap.keep_example(id);
        }
        Ok(())
    }

    fn forget_examples(&self) -> PyResult<()> {
        self.lock()?.snap.forget_examples();
        Ok(())
    }

    /// Pending pods that differ from examples in name and uid alone.
    fn add_pods_like<'py>(
        &self,
        py: Python<'py>,
        examples: PyReadonlyArray1<'py, u32>,
        names: &Bound<'py, PyList>,
        uids: &Bound<'py, PyList>,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let mut engine = self.lock()?;
        let of = (&examples, names, uids);
        add_each(py, &mut engine, of, |engine, _, example, (name, uid)| {
            Ok(engine.snap.add_pod_like(example, name, uid))
        })
    }

    /// Pending pods that differ from examples in name, uid, labels and annotations alone.
    fn add_pods_labelled<'py>(
        &self,
        py: Python<'py>,
        examples: PyReadonlyArray1<'py, u32>,
        names: &Bound<'py, PyList>,
        uids: &Bound<'py, PyList>,
        labels: &Bound<'py, PyList>,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let mut engine = self.lock()?;
        let of = (&examples, names, uids);
        add_each(py, &mut engine, of, |engine, at, example, (name, uid)| {
            let labels = labels_of(&labels.get_item(at)?, engine)?;
            let added = engine.snap.add_pod_labelled(example, labels, name, uid);
            added.ok_or_else(|| {
                let why = "affinity or spread of example {example} may be made of its labels";
                PyValueError::new_err(why.replace("{example}", &example.to_string()))
            })
        })
    }
}
