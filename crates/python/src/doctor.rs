//! What this computer offers.

use cyclotron_ring::Simd;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Instruction sets, cores and versions.
#[pyfunction]
pub(crate) fn doctor(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("version", env!("CARGO_PKG_VERSION"))?;
    let used = Simd::detect().map_or_else(|error| error.to_string(), |simd| simd.name().to_owned());
    dict.set_item("simd", used)?;
    let available: Vec<_> = Simd::available().into_iter().map(Simd::name).collect();
    dict.set_item("simd_available", available)?;
    dict.set_item(
        "cores",
        std::thread::available_parallelism().map_or(1, usize::from),
    )?;
    dict.set_item("format_version", cyclotron_wire::FORMAT_VERSION)?;
    Ok(dict)
}
