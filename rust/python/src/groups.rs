//! Groups in the queue, on `podium._core.Engine`. All else of the queue takes their handles as it takes pods'.

use crate::engine::Engine;
use crate::errors::core_error;
use podium_core::queue::{Entity, Nanos, Ticket};
use pyo3::prelude::*;

#[pymethods]
impl Engine {
    /// Puts a group into the queue; `tenant` is its lane, where tenants take turns.
    #[pyo3(signature = (group, json, since, tenant = 0))]
    fn enqueue_group(&self, group: u32, json: &[u8], since: Nanos, tenant: u32) -> PyResult<()> {
        let mut engine = self.lock()?;
        let ticket = Ticket::of_group(json, since, tenant, &mut engine.snap.resources)
            .map_err(|error| core_error(format!("group: {error}")))?;
        engine.queue.add(Entity(group), ticket);
        Ok(())
    }

    /// Takes over what changed of a queued group; its age and lane stay.
    fn amend_group(&self, group: u32, json: &[u8]) -> PyResult<()> {
        let mut engine = self.lock()?;
        let now = Ticket::of_group(json, 0, 0, &mut engine.snap.resources)
            .map_err(|error| core_error(format!("group: {error}")))?;
        engine.queue.amend(Entity(group), |ticket| {
            ticket.priority = now.priority;
            ticket.completing = now.completing;
            ticket.gated = now.gated;
            ticket.request = now.request;
        });
        Ok(())
    }
}
