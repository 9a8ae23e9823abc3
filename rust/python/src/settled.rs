//! Pods that are on nodes already, on `podium._core.Engine`.

use crate::engine::Engine;
use crate::errors::core_error;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use podium_core::engine;
use podium_core::snapshot::{Own, PodId, PodParts};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

/// Metadata, spec and status as JSON.
type Whole<'py> = [Bound<'py, PyBytes>; 3];

#[pymethods]
impl Engine {
    /// See the stub for the contract.
    #[expect(
        clippy::too_many_arguments,
        reason = "one row per pod in parallel lists"
    )]
    fn add_settled<'py>(
        &self,
        py: Python<'py>,
        examples: PyReadonlyArray1<'py, u32>,
        names: &Bound<'py, PyList>,
        uids: &Bound<'py, PyList>,
        nodes: &Bound<'py, PyList>,
        starts: &Bound<'py, PyList>,
        wholes: Vec<Whole<'py>>,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let examples = examples.as_array();
        let lists = [names, uids, nodes, starts];
        if lists.iter().any(|list| list.len() != examples.len()) {
            return Err(PyValueError::new_err("the lists differ in length"));
        }
        let mut wholes = wholes.iter();
        let mut engine = self.lock()?;
        let mut ids = Vec::with_capacity(examples.len());
        for (at, example) in examples.iter().enumerate() {
            let example = *example as usize;
            let id = if example < engine.snap.settled() {
                add_like(&mut engine, example, lists, at)?
            } else {
                let whole = wholes
                    .next()
                    .ok_or_else(|| PyValueError::new_err("fewer pods than new examples"))?;
                add_whole(&mut engine, example, whole)?
            };
            ids.push(id.0);
        }
        Ok(ids.into_pyarray(py))
    }

    fn forget_settled(&self) -> PyResult<()> {
        self.lock()?.snap.forget_settled();
        Ok(())
    }
}

/// Adds the pod whose own name, uid, node and start are at a place of the lists.
fn add_like<'py>(
    engine: &mut engine::Engine,
    example: usize,
    lists: [&Bound<'py, PyList>; 4],
    at: usize,
) -> PyResult<PodId> {
    let [name, uid, node, start] = lists.map(|list| list.get_item(at));
    let (name, uid, node, start) = (name?, uid?, node?, start?);
    let start = match start.is_none() {
        true => None,
        false => Some(start.cast::<PyString>()?.to_str()?),
    };
    let own = Own {
        name: name.cast::<PyString>()?.to_str()?,
        uid: uid.cast::<PyString>()?.to_str()?,
        node: node.cast::<PyString>()?.to_str()?,
        start,
    };
    Ok(engine.snap.add_settled_like(example, own))
}

/// Adds a pod from its JSON, and keeps it if its example is the next one.
fn add_whole(engine: &mut engine::Engine, example: usize, whole: &Whole<'_>) -> PyResult<PodId> {
    let [metadata, spec, status] = whole.each_ref().map(|part| part.as_bytes());
    let parts = PodParts {
        metadata,
        spec,
        status,
    };
    let is_next = example == engine.snap.settled();
    let added = engine.snap.add_settled(parts, is_next);
    added.map_err(|error| core_error(format!("pod: {error}")))
}
