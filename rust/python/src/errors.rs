//! Errors of the core as Python exceptions; the classes are those of `podium.errors`.

use pyo3::import_exception;
use pyo3::prelude::*;

import_exception!(podium.errors, CoreError);

pub(crate) fn core_error(message: String) -> PyErr {
    CoreError::new_err(message)
}

/// A panic in the core: what it left behind cannot be trusted.
pub(crate) fn poisoned() -> PyErr {
    core_error(
        "the engine failed earlier and is unusable; build a new one from the state".to_owned(),
    )
}
