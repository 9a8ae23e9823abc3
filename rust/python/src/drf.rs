//! `FairShares`: the fair-share books and heap, by resource index and tenant handle.

use std::cmp::Ordering;
use std::sync::{Mutex, MutexGuard};

use numpy::{PyArray1, PyReadonlyArray2};
use podium_core::drf::{
    Bound as LimitBound, DrfError, FairShares as Core, Filling, Head, Limit, Limits, Tenant, Weight,
};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyFloat;

use crate::errors::CoreError;

/// A refusal: (which limit, tenant, resource, amount or None for unlimited).
type Refusal = Option<(&'static str, u32, usize, Option<i64>)>;

/// Limits as Python has them: (capability, guarantee, deserved).
type LimitLists<'py> = (
    Vec<Bound<'py, PyAny>>,
    Vec<Bound<'py, PyAny>>,
    Vec<Bound<'py, PyAny>>,
);

#[pyclass(frozen, module = "podium._core")]
pub(crate) struct FairShares {
    inner: Mutex<Core>,
}

#[pymethods]
impl FairShares {
    #[new]
    fn new(capacity: &Bound<'_, PyAny>) -> PyResult<Self> {
        let inner = Core::new(&amounts("capacity", capacity)?).map_err(refused)?;
        Ok(Self {
            inner: Mutex::new(inner),
        })
    }

    fn capacity(&self, py: Python<'_>) -> PyResult<Vec<i64>> {
        Ok(self.lock(py)?.capacity().to_vec())
    }

    fn set_capacity(&self, py: Python<'_>, capacity: &Bound<'_, PyAny>) -> PyResult<()> {
        let capacity = amounts("capacity", capacity)?;
        self.lock(py)?.set_capacity(&capacity).map_err(refused)
    }

    fn set_resource_weights(&self, py: Python<'_>, weights: Vec<Bound<'_, PyAny>>) -> PyResult<()> {
        let weights: Vec<Weight> = weights.iter().map(weight_of).collect::<PyResult<_>>()?;
        self.lock(py)?
            .set_resource_weights(&weights)
            .map_err(refused)
    }

    #[pyo3(signature = (name, parent=None))]
    fn add(&self, py: Python<'_>, name: &str, parent: Option<u32>) -> PyResult<u32> {
        let tenant = self
            .lock(py)?
            .add(name, parent.map(Tenant))
            .map_err(refused)?;
        Ok(tenant.0)
    }

    fn remove(&self, py: Python<'_>, tenant: u32) -> PyResult<()> {
        self.lock(py)?.remove(Tenant(tenant)).map_err(refused)
    }

    fn find(&self, py: Python<'_>, name: &str) -> PyResult<Option<u32>> {
        Ok(self.lock(py)?.find(name).map(|tenant| tenant.0))
    }

    fn name(&self, py: Python<'_>, tenant: u32) -> PyResult<String> {
        Ok(self
            .lock(py)?
            .name(Tenant(tenant))
            .map_err(refused)?
            .to_owned())
    }

    fn tenants(&self, py: Python<'_>) -> PyResult<Vec<u32>> {
        Ok(self.lock(py)?.tenants().map(|tenant| tenant.0).collect())
    }

    fn parent(&self, py: Python<'_>, tenant: u32) -> PyResult<Option<u32>> {
        let parent = self.lock(py)?.parent(Tenant(tenant)).map_err(refused)?;
        Ok(parent.map(|parent| parent.0))
    }

    fn set_parent(&self, py: Python<'_>, tenant: u32, parent: Option<u32>) -> PyResult<()> {
        let mut core = self.lock(py)?;
        core.set_parent(Tenant(tenant), parent.map(Tenant))
            .map_err(refused)
    }

    fn weight(&self, py: Python<'_>, tenant: u32) -> PyResult<(u32, u32)> {
        let weight = self.lock(py)?.weight(Tenant(tenant)).map_err(refused)?;
        Ok((weight.numerator(), weight.denominator()))
    }

    fn set_weight(
        &self,
        py: Python<'_>,
        tenant: u32,
        weight: Option<Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let weight = weight.as_ref().map(weight_of).transpose()?;
        self.lock(py)?
            .set_weight(Tenant(tenant), weight)
            .map_err(refused)
    }

    fn limits<'py>(&self, py: Python<'py>, tenant: u32) -> PyResult<LimitLists<'py>> {
        let limits = self
            .lock(py)?
            .limits(Tenant(tenant))
            .map_err(refused)?
            .clone();
        let list = |limits: &[Limit]| {
            limits
                .iter()
                .map(|limit| from_limit(py, *limit))
                .collect::<PyResult<_>>()
        };
        Ok((
            list(&limits.capability)?,
            list(&limits.guarantee)?,
            list(&limits.deserved)?,
        ))
    }

    #[pyo3(signature = (tenant, *, capability=Vec::new(), guarantee=Vec::new(), deserved=Vec::new()))]
    fn set_limits(
        &self,
        py: Python<'_>,
        tenant: u32,
        capability: Vec<Bound<'_, PyAny>>,
        guarantee: Vec<Bound<'_, PyAny>>,
        deserved: Vec<Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let limits = Limits {
            capability: to_limits("capability", &capability)?,
            guarantee: to_limits("guarantee", &guarantee)?,
            deserved: to_limits("deserved", &deserved)?,
        };
        self.lock(py)?
            .set_limits(Tenant(tenant), limits)
            .map_err(refused)
    }

    fn charge(&self, py: Python<'_>, tenant: u32, request: &Bound<'_, PyAny>) -> PyResult<()> {
        let request = amounts("request", request)?;
        self.lock(py)?
            .charge(Tenant(tenant), &request)
            .map_err(refused)
    }

    fn refund(&self, py: Python<'_>, tenant: u32, request: &Bound<'_, PyAny>) -> PyResult<()> {
        let request = amounts("refund", request)?;
        self.lock(py)?
            .refund(Tenant(tenant), &request)
            .map_err(refused)
    }

    fn used(&self, py: Python<'_>, tenant: u32) -> PyResult<Vec<i64>> {
        Ok(self
            .lock(py)?
            .used(Tenant(tenant))
            .map_err(refused)?
            .to_vec())
    }

    fn total(&self, py: Python<'_>) -> PyResult<Vec<i64>> {
        Ok(self.lock(py)?.total().to_vec())
    }

    fn admits(&self, py: Python<'_>, tenant: u32, request: &Bound<'_, PyAny>) -> PyResult<Refusal> {
        let request = amounts("request", request)?;
        let refusal = self
            .lock(py)?
            .admits(Tenant(tenant), &request)
            .map_err(refused)?;
        Ok(refusal.map(from_refusal))
    }

    fn releases(
        &self,
        py: Python<'_>,
        tenant: u32,
        loss: &Bound<'_, PyAny>,
        to: u32,
    ) -> PyResult<Refusal> {
        let loss = amounts("loss", loss)?;
        let refusal = self
            .lock(py)?
            .releases(Tenant(tenant), &loss, Tenant(to))
            .map_err(refused)?;
        Ok(refusal.map(from_refusal))
    }

    #[pyo3(signature = (tenant, time, sequence=0, *, band=0))]
    fn set_head(
        &self,
        py: Python<'_>,
        tenant: u32,
        time: i64,
        sequence: u64,
        band: i32,
    ) -> PyResult<()> {
        let head = Head {
            band,
            time,
            sequence,
        };
        self.lock(py)?
            .set_head(Tenant(tenant), head)
            .map_err(refused)
    }

    fn clear_head(&self, py: Python<'_>, tenant: u32) -> PyResult<()> {
        self.lock(py)?.clear_head(Tenant(tenant)).map_err(refused)
    }

    fn head(&self, py: Python<'_>, tenant: u32) -> PyResult<Option<(i64, u64, i32)>> {
        let head = self.lock(py)?.head(Tenant(tenant)).map_err(refused)?;
        Ok(head.map(|head| (head.time, head.sequence, head.band)))
    }

    fn block(&self, py: Python<'_>, tenant: u32) -> PyResult<()> {
        self.lock(py)?.block(Tenant(tenant)).map_err(refused)
    }

    fn unblock(&self, py: Python<'_>, tenant: u32) -> PyResult<()> {
        self.lock(py)?.unblock(Tenant(tenant)).map_err(refused)
    }

    fn unblock_all(&self, py: Python<'_>) -> PyResult<()> {
        self.lock(py)?.unblock_all();
        Ok(())
    }

    fn is_blocked(&self, py: Python<'_>, tenant: u32) -> PyResult<bool> {
        self.lock(py)?.is_blocked(Tenant(tenant)).map_err(refused)
    }

    fn pick(&self, py: Python<'_>) -> PyResult<Option<u32>> {
        Ok(self.lock(py)?.pick().map(|tenant| tenant.0))
    }

    fn order(&self, py: Python<'_>) -> PyResult<Vec<u32>> {
        Ok(self
            .lock(py)?
            .order()
            .iter()
            .map(|tenant| tenant.0)
            .collect())
    }

    fn share(&self, py: Python<'_>, tenant: u32) -> PyResult<(Option<usize>, i64, i64)> {
        let share = self.lock(py)?.share(Tenant(tenant)).map_err(refused)?;
        Ok((share.resource, share.used, share.capacity))
    }

    fn weighted_share(&self, py: Python<'_>, tenant: u32) -> PyResult<f64> {
        self.lock(py)?
            .weighted_share(Tenant(tenant))
            .map_err(refused)
    }

    fn compare(&self, py: Python<'_>, a: u32, b: u32) -> PyResult<i8> {
        let order = self
            .lock(py)?
            .compare(Tenant(a), Tenant(b))
            .map_err(refused)?;
        Ok(match order {
            Ordering::Less => -1,
            Ordering::Equal => 0,
            Ordering::Greater => 1,
        })
    }

    #[pyo3(signature = (tenants, demands, *, most=None, limit=None))]
    fn fill<'py>(
        &self,
        py: Python<'py>,
        tenants: Vec<u32>,
        demands: PyReadonlyArray2<'py, i64>,
        most: Option<Vec<u64>>,
        limit: Option<usize>,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let tenants: Vec<Tenant> = tenants.into_iter().map(Tenant).collect();
        let demands: Vec<i64> = demands.as_array().iter().copied().collect();
        let filling = Filling {
            tenants: &tenants,
            demands: &demands,
            most: most.as_deref(),
            limit: limit.unwrap_or(usize::MAX),
        };
        let grants = py.detach(|| {
            let mut core = self.inner.lock().map_err(|_| poisoned())?;
            core.fill(&filling).map_err(refused)
        })?;
        Ok(PyArray1::from_vec(py, grants))
    }

    fn digest(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.lock(py)?.digest())
    }
}

impl FairShares {
    /// Waits detached: `fill` may hold the lock for long.
    fn lock(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, Core>> {
        self.inner.lock_py_attached(py).map_err(|_| poisoned())
    }
}

fn poisoned() -> PyErr {
    CoreError::new_err(
        "the fair shares are unusable: an earlier call failed half-way; build them anew",
    )
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "the shape that map_err calls"
)]
fn refused(error: DrfError) -> PyErr {
    CoreError::new_err(error.to_string())
}

/// Integers of any iterable; one beyond 64 bits is refused by name, as the core refuses what it would overflow.
fn amounts(what: &str, values: &Bound<'_, PyAny>) -> PyResult<Vec<i64>> {
    let mut amounts = Vec::new();
    for (resource, value) in values.try_iter()?.enumerate() {
        amounts.push(amount(what, resource, &value?)?);
    }
    Ok(amounts)
}

fn amount(what: &str, resource: usize, value: &Bound<'_, PyAny>) -> PyResult<i64> {
    value.extract().map_err(|_| {
        CoreError::new_err(format!(
            "{what} of resource {resource} is {value}: it must be an integer below 2**63"
        ))
    })
}

/// The weight of an int, Fraction, Decimal or float; a float means its shortest decimal form (0.1 is 1/10).
fn weight_of(value: &Bound<'_, PyAny>) -> PyResult<Weight> {
    let parts = ratio_of(value).and_then(|ratio| ratio.extract::<(u64, u64)>());
    let (numerator, denominator) = parts.map_err(|_| {
        CoreError::new_err(format!(
            "weight {value} must be a finite number, not negative, of at most 64 bits"
        ))
    })?;
    Weight::new(numerator, denominator).map_err(refused)
}

fn ratio_of<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if value.is_instance_of::<PyFloat>() {
        let fraction = value.py().import("fractions")?.getattr("Fraction")?;
        return fraction
            .call1((value.str()?,))?
            .call_method0("as_integer_ratio");
    }
    value.call_method0("as_integer_ratio")
}

/// None is unset, infinity unlimited.
fn to_limits(what: &str, values: &[Bound<'_, PyAny>]) -> PyResult<Vec<Limit>> {
    let limit = |(resource, value): (usize, &Bound<'_, PyAny>)| match value {
        value if value.is_none() => Ok(Limit::Unset),
        value
            if value
                .extract::<f64>()
                .is_ok_and(|number| number == f64::INFINITY) =>
        {
            Ok(Limit::Unlimited)
        }
        value => Ok(Limit::Finite(amount(what, resource, value)?)),
    };
    values.iter().enumerate().map(limit).collect()
}

fn from_limit(py: Python<'_>, limit: Limit) -> PyResult<Bound<'_, PyAny>> {
    Ok(match limit {
        Limit::Unset => py.None().into_bound(py),
        Limit::Unlimited => PyFloat::new(py, f64::INFINITY).into_any(),
        Limit::Finite(amount) => amount.into_pyobject(py)?.into_any(),
    })
}

fn from_refusal(refusal: podium_core::drf::Refusal) -> (&'static str, u32, usize, Option<i64>) {
    let bound = match refusal.bound {
        LimitBound::Capability => "capability",
        LimitBound::Guarantee => "guarantee",
        LimitBound::Deserved => "deserved",
    };
    (bound, refusal.tenant.0, refusal.resource, refusal.limit)
}
