//! Class `podium._core.Quantity`: exact Kubernetes quantities for Python.
use std::cmp::Ordering;
use std::hash::{DefaultHasher, Hash, Hasher};

use podium_core::quantity;
use pyo3::basic::CompareOp;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyString};

/// An exact Kubernetes quantity.
#[pyclass(frozen, module = "podium._core", name = "Quantity")]
#[derive(Debug)]
pub(crate) struct Quantity {
    inner: quantity::Quantity,
}

fn parse(text: &str) -> PyResult<quantity::Quantity> {
    quantity::Quantity::parse(text).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Reads what a manifest may hold: a string, an integer or a float. A boolean is none of them.
fn convert(value: &Bound<'_, PyAny>) -> PyResult<quantity::Quantity> {
    if let Ok(quantity) = value.cast::<Quantity>() {
        return Ok(quantity.get().inner.clone());
    }
    if let Ok(text) = value.cast::<PyString>() {
        return parse(&text.to_cow()?);
    }
    let number = value.is_instance_of::<PyInt>() || value.is_instance_of::<PyFloat>();
    if !number || value.is_instance_of::<PyBool>() {
        let kind = value.get_type().name()?.to_string();
        return Err(PyTypeError::new_err(format!(
            "a quantity is a str, int or float, not {kind}"
        )));
    }
    parse(&value.str()?.to_cow()?)
}

/// Combines with another operand; what is no quantity gets the chance to decide itself.
fn combine(
    left: &quantity::Quantity,
    right: &Bound<'_, PyAny>,
    apply: fn(&mut quantity::Quantity, &quantity::Quantity),
) -> PyResult<Py<PyAny>> {
    let py = right.py();
    let right = match convert(right) {
        Ok(right) => right,
        Err(error) if error.is_instance_of::<PyTypeError>(py) => return Ok(py.NotImplemented()),
        Err(error) => return Err(error),
    };
    let mut result = left.clone();
    apply(&mut result, &right);
    Ok(Py::new(py, Quantity::from(result))?.into_any())
}

impl From<quantity::Quantity> for Quantity {
    fn from(inner: quantity::Quantity) -> Self {
        Self { inner }
    }
}

#[pymethods]
impl Quantity {
    #[new]
    fn new(value: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(convert(value)?.into())
    }

    fn value(&self) -> i64 {
        self.inner.value()
    }

    fn milli_value(&self) -> i64 {
        self.inner.milli_value()
    }

    fn fits(&self, scale: i32) -> bool {
        self.inner.fits(scale)
    }

    fn is_integer(&self) -> bool {
        self.inner.is_integer()
    }

    fn is_zero(&self) -> bool {
        self.inner.is_zero()
    }

    fn sign(&self) -> i32 {
        match self.inner.sign() {
            Ordering::Less => -1,
            Ordering::Equal => 0,
            Ordering::Greater => 1,
        }
    }

    fn round_up(&self, scale: i32) -> Self {
        let mut rounded = self.inner.clone();
        rounded.round_up(scale);
        rounded.into()
    }

    fn __add__(&self, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        combine(&self.inner, other, quantity::Quantity::add)
    }

    fn __radd__(&self, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        combine(&self.inner, other, quantity::Quantity::add)
    }

    fn __sub__(&self, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        combine(&self.inner, other, quantity::Quantity::sub)
    }

    fn __rsub__(&self, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let mut negative = self.inner.clone();
        negative.neg();
        combine(&negative, other, quantity::Quantity::add)
    }

    fn __neg__(&self) -> Self {
        let mut negative = self.inner.clone();
        negative.neg();
        negative.into()
    }

    fn __bool__(&self) -> bool {
        !self.inner.is_zero()
    }

    fn __float__(&self) -> f64 {
        self.inner.to_f64()
    }

    fn __str__(&self) -> String {
        self.inner.to_string()
    }

    fn __repr__(&self) -> String {
        format!("Quantity('{}')", self.inner)
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.inner.hash(&mut hasher);
        hasher.finish()
    }

    /// Only quantities compare: an equal integer would need an equal hash.
    fn __richcmp__(&self, other: PyRef<'_, Self>, op: CompareOp) -> bool {
        op.matches(self.inner.cmp(&other.inner))
    }

    fn __reduce__(slf: &Bound<'_, Self>) -> PyResult<(Py<PyAny>, (String,))> {
        Ok((
            slf.get_type().into_any().unbind(),
            (slf.get().inner.to_string(),),
        ))
    }
}
