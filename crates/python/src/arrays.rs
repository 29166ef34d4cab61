//! numpy arrays to slot values and back.

use std::collections::BTreeMap;

use cyclotron_session::Values;
use numpy::{PyArray1, PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{CyclotronError, raise};

/// Numbers of 106 bits: a pair of arrays, or an object with the two.
#[derive(FromPyObject)]
enum Wide<'py> {
    Pair(Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>),
    Numbers {
        high: Bound<'py, PyArray1<f64>>,
        low: Bound<'py, PyArray1<f64>>,
    },
}

/// The values of a one-dimensional array of float64 or int64, or numbers of 106 bits.
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
    if let Ok(Wide::Pair(high, low) | Wide::Numbers { high, low }) = array.extract() {
        let (high, low) = (high.readonly(), low.readonly());
        let (high, low) = (high.as_array().to_vec(), low.as_array().to_vec());
        return Values::wide(name, &high, &low).map_err(raise);
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

/// Slot values as an array; numbers of 106 bits as a pair of them.
pub(crate) fn array<'py>(py: Python<'py>, values: Values) -> PyResult<Bound<'py, PyAny>> {
    Ok(match values {
        Values::Real(values) => PyArray1::from_vec(py, values).into_any(),
        Values::Integers(values) => PyArray1::from_vec(py, values).into_any(),
        Values::Wide(values) => {
            let (high, low) = values.iter().map(|x| (x.hi, x.lo)).unzip();
            let parts = (PyArray1::from_vec(py, high), PyArray1::from_vec(py, low));
            parts.into_pyobject(py)?.into_any()
        }
    })
}
