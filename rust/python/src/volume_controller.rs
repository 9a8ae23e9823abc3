//! Class `podium._core.VolumeController`: storage of a cluster in memory and the controllers that act on it.

use crate::errors::{core_error, poisoned};
use podium_core::snapshot::volumes::BindAction;
use podium_core::volume_controller::{Changed, Controller};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::{Mutex, MutexGuard};

/// Kind, namespace, name, and the object as it is now; None if it was deleted.
type Change<'py> = (&'static str, String, String, Option<Bound<'py, PyBytes>>);

#[pyclass(frozen, module = "podium._core")]
#[derive(Debug, Default)]
pub(crate) struct VolumeController {
    inner: Mutex<Controller>,
}

impl VolumeController {
    fn lock(&self) -> PyResult<MutexGuard<'_, Controller>> {
        self.inner.lock().map_err(|_| poisoned())
    }
}

#[pymethods]
impl VolumeController {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    fn apply(&self, kind: &str, json: &[u8]) -> PyResult<()> {
        self.lock()?
            .apply(kind, json)
            .map_err(|e| core_error(e.to_string()))
    }

    fn remove(&self, kind: &str, namespace: &str, name: &str) -> PyResult<()> {
        self.lock()?.remove(kind, namespace, name);
        Ok(())
    }

    fn write(&self, action: &[u8]) -> PyResult<()> {
        let action: BindAction =
            serde_json::from_slice(action).map_err(|e| core_error(e.to_string()))?;
        self.lock()?
            .write(&action)
            .map_err(|e| core_error(e.to_string()))
    }

    fn settle<'py>(&self, py: Python<'py>) -> PyResult<Vec<Change<'py>>> {
        let changed = self
            .lock()?
            .settle()
            .map_err(|e| core_error(e.to_string()))?;
        let change = |c: Changed| {
            let json = c
                .object
                .map(|object| PyBytes::new(py, object.to_string().as_bytes()));
            (c.kind, c.namespace, c.name, json)
        };
        Ok(changed.into_iter().map(change).collect())
    }
}
