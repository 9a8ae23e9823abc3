//! The tenants' half of `podium._core.Engine`.

use crate::engine::Engine;
use crate::errors::core_error;
use numpy::PyReadonlyArray1;
use podium_core::drf::{DrfError, Tenant};
use podium_core::queue::{Entity, Nanos};
use podium_core::reclaim::Spared;
use podium_core::snapshot::{PodId, Tenants};
use podium_core::tenancy::TenantTree;
use pyo3::prelude::*;

/// Name, parent, weight, used per resource, dominant resource, its use and capacity.
type Row = (
    u32,
    String,
    Option<String>,
    (u32, u32),
    Vec<(String, i64)>,
    Option<String>,
    i64,
    i64,
);

fn refused(error: DrfError) -> PyErr {
    core_error(error.to_string())
}

/// Whose pods are not taken, from handles of pods and of tenants.
pub(crate) fn spared(
    pods: &PyReadonlyArray1<'_, u32>,
    tenants: &PyReadonlyArray1<'_, u32>,
) -> Spared {
    let pods = pods.as_array();
    let tenants = tenants.as_array();
    Spared {
        pods: pods.iter().map(|&id| PodId(id)).collect(),
        tenants: tenants.iter().map(|&id| Tenant(id)).collect(),
    }
}

#[pymethods]
impl Engine {
    /// Replaces all tenants. `handles` are pods or queued groups, `positions` those of their tenants in the
    /// tree. Returns the tenants' handles.
    fn set_tenants(
        &self,
        tree: &[u8],
        handles: PyReadonlyArray1<'_, u32>,
        positions: PyReadonlyArray1<'_, u32>,
    ) -> PyResult<Vec<u32>> {
        let tree: TenantTree = serde_json::from_slice(tree)
            .map_err(|error| core_error(format!("tenants: {error}")))?;
        let (handles, positions) = (handles.as_array(), positions.as_array());
        if handles.len() != positions.len() {
            return Err(core_error("handles and positions differ in length".into()));
        }
        let assigned: Vec<(Entity, usize)> = handles
            .iter()
            .zip(positions)
            .map(|(&handle, &position)| (Entity(handle), position as usize))
            .collect();
        let tenants = self
            .lock()?
            .set_tenants(&tree, &assigned)
            .map_err(refused)?;
        Ok(tenants.iter().map(|tenant| tenant.0).collect())
    }

    #[pyo3(signature = (name, parent = None))]
    fn add_tenant(&self, name: &str, parent: Option<u32>) -> PyResult<u32> {
        let tenant = self.lock()?.add_tenant(name, parent.map(Tenant));
        Ok(tenant.map_err(refused)?.0)
    }

    /// Says whose pods (or queued groups) these are.
    fn assign_tenants(
        &self,
        handles: PyReadonlyArray1<'_, u32>,
        tenants: PyReadonlyArray1<'_, u32>,
    ) -> PyResult<()> {
        let mut engine = self.lock()?;
        for (&handle, &tenant) in handles.as_array().iter().zip(tenants.as_array()) {
            engine
                .assign_tenant(Entity(handle), Tenant(tenant))
                .map_err(refused)?;
        }
        Ok(())
    }

    /// Pods of other tenants that must go so that a pod fits, and the row; None if nobody owes it that much.
    fn reclaim(
        &self,
        py: Python<'_>,
        pod: u32,
        spared_pods: PyReadonlyArray1<'_, u32>,
        spared_tenants: PyReadonlyArray1<'_, u32>,
    ) -> PyResult<Option<(u32, Vec<u32>)>> {
        let spared = spared(&spared_pods, &spared_tenants);
        let found = self.run(py, move |engine| engine.reclaim(PodId(pod), &spared))?;
        Ok(found.map(|found| (found.row, found.victims.iter().map(|id| id.0).collect())))
    }

    /// The row that has to lose least before the pod fits.
    #[pyo3(signature = (pod, kept = None))]
    fn roomiest(&self, py: Python<'_>, pod: u32, kept: Option<u32>) -> PyResult<Option<u32>> {
        self.run(py, move |engine| engine.roomiest(PodId(pod), kept))
    }

    /// Nominates the pod and keeps the space from pods of any priority, the system-critical ones aside.
    fn keep_space(&self, pod: u32, row: u32) -> PyResult<()> {
        self.lock()?.keep_space(PodId(pod), row);
        Ok(())
    }

    /// Tries again what the plugin rejected, whatever events it waits for.
    fn wake_rejected(&self, plugin: &str, now: Nanos) -> PyResult<()> {
        let mut engine = self.lock()?;
        if let Some(bit) = engine.plugin_bit(plugin) {
            engine.queue.wake_rejected(1 << bit, now);
        }
        Ok(())
    }

    /// Every tenant and inner queue by handle, with what it uses.
    fn tenants(&self) -> PyResult<Vec<Row>> {
        let mut engine = self.lock()?;
        engine.snap.refresh_tenants();
        let snap = &engine.snap;
        let Some(tenants) = &snap.tenants else {
            return Ok(Vec::new());
        };
        let resource = |at: usize| {
            let name = snap.resources.iter().nth(at).map_or("", |(_, name)| name);
            name.to_owned()
        };
        let all = tenants.shares.tenants();
        all.map(|tenant| row(tenants, tenant, resource).map_err(refused))
            .collect()
    }

    /// The tenants that wait with something active, first to last.
    fn tenant_order(&self) -> PyResult<Vec<u32>> {
        let mut engine = self.lock()?;
        engine.snap.refresh_tenants();
        let engine = &mut *engine;
        let Some(tenants) = engine.snap.tenants.as_deref_mut() else {
            return Ok(Vec::new());
        };
        engine.queue.show_heads(&mut tenants.shares);
        let order = tenants.shares.order();
        Ok(order.iter().map(|tenant| tenant.0).collect())
    }

    /// Why the tenant of a pod or queued group may not have what it asks for; None if it may.
    fn tenant_refusal(&self, handle: u32) -> PyResult<Option<String>> {
        let refusal = self.lock()?.refused_to_tenant(Entity(handle));
        Ok(refusal.map(|rejection| rejection.status.message()))
    }
}

fn row(
    tenants: &Tenants,
    tenant: Tenant,
    resource: impl Fn(usize) -> String,
) -> Result<Row, DrfError> {
    let shares = &tenants.shares;
    let parent = shares.parent(tenant)?;
    let parent = parent.map(|parent| shares.name(parent)).transpose()?;
    let weight = shares.weight(tenant)?;
    let used = shares.used(tenant)?.iter().enumerate();
    let share = shares.share(tenant)?;
    Ok((
        tenant.0,
        shares.name(tenant)?.to_owned(),
        parent.map(str::to_owned),
        (weight.numerator(), weight.denominator()),
        used.filter(|(_, amount)| **amount != 0)
            .map(|(at, amount)| (resource(at), *amount))
            .collect(),
        share.resource.map(resource),
        share.used,
        share.capacity,
    ))
}
