//! numpy arrays to slot values and back.

use std::collections::BTreeMap;

use cyclotron_session::Values;
use numpy::{PyArray1, PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::CyclotronError;

/// The values of a one-dimensional array of float64 or int64.
pub(crate) fn values(name: &str, array: &Bound<'_, PyAny>) -> PyResult<Values> {
    let wrong = |what: String| {
        CyclotronError::new_err(format!(
            "`{name}` must be a one-dimensional numpy array of float64 or int64, not {what}"
        ))
    };
    if let Ok(array) = array.cast::<PyArray1<f64>>() {
        return Ok(Values::Real(array.readonly().as_array().to_vec()));
    }
    if let Ok(array) = array.cast::<PyArray1<i64>>() {
        return Ok(Values::Integers(array.readonly().as_array().to_vec()));
    }
    if let Ok(array) = array.cast::<PyArrayDyn<f64>>() {
        return Err(wrong(format!("one of {} dimensions", array.ndim())));
    }
    let kind = match array.getattr("dtype") {
        Ok(dtype) => format!("one of {dtype}"),
        Err(_) => array.get_type().to_string(),
    };
    Err(wrong(kind))
}

/// Slot values by name.
pub(crate) fn named_values(dict: &Bound<'_, PyDict>) -> PyResult<BTreeMap<String, Values>> {
    dict.iter()
        .map(|(name, array)| {
            let name: String = name.extract()?;
            let values = values(&name, &array)?;
            Ok((name, values))
        })
        .collect()
}

/// Slot values as an array.
pub(crate) fn array<'py>(py: Python<'py>, values: Values) -> Bound<'py, PyAny> {
    match values {
        Values::Real(values) => PyArray1::from_vec(py, values).into_any(),
        Values::Integers(values) => PyArray1::from_vec(py, values).into_any(),
    }
}
