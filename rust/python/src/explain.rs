//! An explanation as plain Python objects.

use podium_core::explain::Explanation;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

pub(crate) fn to_dict<'py>(py: Python<'py>, source: &Explanation) -> PyResult<Bound<'py, PyDict>> {
    let answer = PyDict::new(py);
    answer.set_item("state", source.state)?;
    answer.set_item("message", &source.message)?;
    answer.set_item("feasible", &source.feasible)?;
    answer.set_item("plugins", &source.plugins)?;
    let nodes = PyDict::new(py);
    for (node, rejection) in &source.nodes {
        let entry = PyDict::new(py);
        entry.set_item("plugin", rejection.plugin)?;
        let reasons: Vec<&str> = rejection.status.reasons.iter().map(AsRef::as_ref).collect();
        entry.set_item("reasons", reasons)?;
        entry.set_item("code", rejection.status.code.name())?;
        nodes.set_item(node, entry)?;
    }
    answer.set_item("nodes", nodes)?;
    answer.set_item("totals", &source.totals)?;
    let scores = PyList::empty(py);
    for part in &source.scores {
        scores.append((
            part.plugin,
            part.weight,
            part.raw.clone(),
            part.normalized.clone(),
        ))?;
    }
    answer.set_item("scores", scores)?;
    Ok(answer)
}
