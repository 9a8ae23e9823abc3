//! Module `podium._core`: converts between Python and `podium-core`. No scheduling logic.

use pyo3::prelude::*;

mod caller;
mod drf;
mod engine;
mod errors;
mod examples;
mod explain;
mod gang;
mod groups;
mod quantity;
mod queue;
mod said;
mod settled;
mod tenants;
mod told;
mod views;
mod volume_controller;

/// Compiling pods makes many small objects; the system's allocator takes a third of that time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Lets one plugin make its deliberate mistake; the empty name none.
#[cfg(feature = "mutations")]
#[pyfunction]
fn set_mutation(name: &str) {
    podium_core::mutation::choose(name);
}

#[pymodule(name = "_core")]
mod core_module {
    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "a Python module constant")]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    #[cfg(feature = "mutations")]
    #[pymodule_export]
    use crate::set_mutation;

    #[pymodule_export]
    use crate::caller::Opened;
    #[pymodule_export]
    use crate::drf::FairShares;
    #[pymodule_export]
    use crate::engine::{Decision, Engine, Eviction};
    #[pymodule_export]
    use crate::gang::{GangEviction, Shortage};
    #[pymodule_export]
    use crate::quantity::Quantity;
    #[pymodule_export]
    use crate::queue::Batch;
    #[pymodule_export]
    use crate::said::Said;
    #[pymodule_export]
    use crate::told::{first_outside, refused};
    #[pymodule_export]
    use crate::views::Columns;
    #[pymodule_export]
    use crate::volume_controller::VolumeController;
}
