//! Read-only NumPy views of the core's columns, without a copy.
//!
//! The only unsafe code of the binding: an array shows the block that its base object keeps alive. A column
//! that is written while someone holds its block is copied first, so a view stays valid and constant.

use crate::engine::Engine;
use numpy::ndarray::ArrayView1;
use numpy::{IntoPyArray, PyArray1, PyArrayMethods, PyReadonlyArray1};
use podium_core::intern::Symbol;
use podium_core::resources::ResourceId;
use podium_core::snapshot::{Column, Row};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use std::sync::Arc;

/// Keeps a block alive for the arrays that show it.
#[pyclass(frozen, module = "podium._core")]
#[derive(Debug)]
struct Block(Arc<Vec<i64>>);

fn show(py: Python<'_>, block: Arc<Vec<i64>>) -> PyResult<Bound<'_, PyArray1<i64>>> {
    let owner = Bound::new(py, Block(block))?;
    let view = ArrayView1::from(owner.get().0.as_slice());
    // SAFETY: `owner` becomes the array's base object, so the block outlives the array; nobody writes to a
    // block that is shared, and the array is made read-only before Python sees it.
    let array = unsafe { PyArray1::borrow_from_array(&view, owner.clone().into_any()) };
    array.readwrite().make_nonwriteable();
    Ok(array)
}

/// The columns of all rows at one moment. See the stub.
#[pyclass(frozen, module = "podium._core")]
#[derive(Debug)]
pub(crate) struct Columns {
    allocatable: Vec<Arc<Vec<i64>>>,
    requested: Vec<Arc<Vec<i64>>>,
    nonzero: [Arc<Vec<i64>>; 2],
    allowed_pods: Arc<Vec<i64>>,
    pod_count: Arc<Vec<i64>>,
    live: Option<Vec<Row>>,
}

impl Columns {
    fn of<'py>(
        py: Python<'py>,
        columns: &[Arc<Vec<i64>>],
        resource: u16,
    ) -> PyResult<Option<Bound<'py, PyArray1<i64>>>> {
        let block = columns.get(resource as usize).map(Arc::clone);
        block.map(|block| show(py, block)).transpose()
    }
}

#[pymethods]
impl Columns {
    fn allocatable<'py>(
        &self,
        py: Python<'py>,
        resource: u16,
    ) -> PyResult<Option<Bound<'py, PyArray1<i64>>>> {
        Self::of(py, &self.allocatable, resource)
    }

    fn requested<'py>(
        &self,
        py: Python<'py>,
        resource: u16,
    ) -> PyResult<Option<Bound<'py, PyArray1<i64>>>> {
        Self::of(py, &self.requested, resource)
    }

    /// Cpu (0) and memory (1), with defaults for containers that request nothing.
    fn nonzero_requested<'py>(
        &self,
        py: Python<'py>,
        resource: u16,
    ) -> PyResult<Option<Bound<'py, PyArray1<i64>>>> {
        Self::of(py, &self.nonzero, resource)
    }

    fn allowed_pods<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        show(py, Arc::clone(&self.allowed_pods))
    }

    fn pod_count<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        show(py, Arc::clone(&self.pod_count))
    }

    /// Rows that are nodes, ascending; None where all are.
    fn live<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<i64>>> {
        let live = self.live.as_ref()?;
        let rows: Vec<i64> = live.iter().map(|row| i64::from(*row)).collect();
        Some(rows.into_pyarray(py))
    }

    /// How many rows there are, nodes or not.
    fn __len__(&self) -> usize {
        self.pod_count.len()
    }
}

#[pymethods]
impl Engine {
    /// The columns as they are now.
    fn columns(&self) -> PyResult<Columns> {
        let engine = self.lock()?;
        let nodes = &engine.snap.nodes;
        let blocks = |columns: &[Column]| columns.iter().map(Column::block).collect();
        Ok(Columns {
            allocatable: blocks(&nodes.allocatable),
            requested: blocks(&nodes.requested),
            nonzero: [nodes.nonzero[0].block(), nodes.nonzero[1].block()],
            allowed_pods: nodes.allowed_pods.block(),
            pod_count: nodes.pod_count.block(),
            live: engine.live_rows(),
        })
    }

    /// The number of a resource's column, None if no node and no pod has named it.
    fn resource(&self, name: &str) -> PyResult<Option<u16>> {
        let id = self.lock()?.snap.resources.get(name);
        Ok(id.map(|ResourceId(number)| number))
    }

    /// A label by row: which of the values each node has, −1 where it has none.
    fn label<'py>(
        &self,
        py: Python<'py>,
        key: &str,
    ) -> PyResult<(Bound<'py, PyArray1<i32>>, Vec<String>)> {
        let mut engine = self.lock()?;
        let key = engine.snap.ensure_topology_key(key);
        let domains = engine.snap.topology.domains(key);
        let rows = engine.snap.nodes.len() as Row;
        let code = |row: Row| domains.of(row).map_or(-1, |domain| domain as i32);
        let codes: Vec<i32> = (0..rows).map(code).collect();
        let text = |value: &Symbol| engine.snap.interner.text(*value).to_owned();
        let values = domains.values().iter().map(text).collect();
        Ok((codes.into_pyarray(py), values))
    }

    /// Names by row; empty where a row is no node.
    fn names(&self) -> PyResult<Vec<String>> {
        let engine = self.lock()?;
        let text = |name: &Symbol| engine.snap.interner.text(*name).to_owned();
        Ok(engine.snap.nodes.names.iter().map(text).collect())
    }

    /// The columns of some rows, as copies: what is remembered of other rows need not be looked at again.
    fn columns_at(&self, rows: PyReadonlyArray1<'_, u32>) -> PyResult<Columns> {
        let engine = self.lock()?;
        let nodes = &engine.snap.nodes;
        let rows = rows.as_array();
        if let Some(row) = rows.iter().find(|row| **row as usize >= nodes.len()) {
            return Err(PyKeyError::new_err(format!("row {row} is no node")));
        }
        let pick = |column: &Column| {
            let block = column.block();
            Arc::new(rows.iter().map(|row| block[*row as usize]).collect())
        };
        let picks = |columns: &[Column]| columns.iter().map(pick).collect();
        Ok(Columns {
            allocatable: picks(&nodes.allocatable),
            requested: picks(&nodes.requested),
            nonzero: [pick(&nodes.nonzero[0]), pick(&nodes.nonzero[1])],
            allowed_pods: pick(&nodes.allowed_pods),
            pod_count: pick(&nodes.pod_count),
            live: None,
        })
    }
}
