//! Module `podium._core`: converts between Python and `podium-core`. No scheduling logic.

use pyo3::prelude::*;

mod drf;
mod engine;
mod errors;
mod explain;
mod quantity;
mod queue;
mod volume_controller;

#[pymodule(name = "_core")]
mod core_module {
    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "a Python module constant")]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_export]
    use crate::drf::FairShares;
    #[pymodule_export]
    use crate::engine::{Decision, Engine, Eviction};
    #[pymodule_export]
    use crate::quantity::Quantity;
    #[pymodule_export]
    use crate::queue::Batch;
    #[pymodule_export]
    use crate::volume_controller::VolumeController;
}
