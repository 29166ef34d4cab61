//! Parameters.

use std::sync::{Arc, OnceLock};

use cyclotron_session::{
    Context, DEFAULT_PRECISION_BITS, Parameters, SessionError, Wish, choose_parameters, keyswitch,
};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::error::raise;
use crate::graph::PyGraph;
use crate::machine::PyMachine;

/// Validated parameters.
#[pyclass(name = "Parameters", module = "cyclotron._native", frozen)]
#[derive(Debug)]
pub struct PyParameters {
    pub(crate) params: Arc<Parameters>,
    context: OnceLock<Arc<Context>>,
}

impl PyParameters {
    pub(crate) fn new(params: Arc<Parameters>) -> Self {
        PyParameters {
            params,
            context: OnceLock::new(),
        }
    }

    /// The context that everything made from this object shares.
    pub(crate) fn context(&self) -> Result<Arc<Context>, SessionError> {
        if let Some(context) = self.context.get() {
            return Ok(Arc::clone(context));
        }
        let context = Arc::new(Context::new(Arc::clone(&self.params))?);
        Ok(Arc::clone(self.context.get_or_init(|| context)))
    }
}

#[pymethods]
impl PyParameters {
    /// The smallest parameters that keep a program's levels, precision and security.
    #[staticmethod]
    #[pyo3(signature = (graph, *, machine, precision_bits, security=128, levels, word_bits, allow_insecure, keyswitch=None))]
    #[expect(
        clippy::too_many_arguments,
        reason = "keyword arguments of the Python interface"
    )]
    fn choose(
        py: Python<'_>,
        graph: &PyGraph,
        machine: Option<&PyMachine>,
        precision_bits: Option<f64>,
        security: u32,
        levels: Option<usize>,
        word_bits: Option<u32>,
        allow_insecure: Option<String>,
        keyswitch: Option<&str>,
    ) -> PyResult<Self> {
        let graph = graph.get();
        let wish = Wish {
            precision_bits: precision_bits.unwrap_or(DEFAULT_PRECISION_BITS),
            security,
            levels,
            scale_bits: None,
            allow_insecure,
        };
        let machine = machine.map(|machine| &machine.machine);
        let only = self::keyswitch(keyswitch).map_err(raise)?;
        let params = py.detach(|| choose_parameters(&graph, &wish, machine, word_bits, only));
        Ok(Self::new(Arc::new(params.map_err(raise)?)))
    }

    /// Parameters from a literal in JSON.
    #[staticmethod]
    #[pyo3(signature = (text_json, allow_insecure))]
    fn from_literal(text_json: &str, allow_insecure: Option<&str>) -> PyResult<Self> {
        let params = Parameters::from_json(text_json, allow_insecure);
        Ok(Self::new(Arc::new(
            params.map_err(|error| raise(error.into()))?,
        )))
    }

    /// Everything about them.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let params = &self.params;
        let security = params.security();
        let dict = PyDict::new(py);
        dict.set_item("scheme", params.scheme.name())?;
        dict.set_item("log_n", params.log_n)?;
        dict.set_item("slots", params.slots())?;
        dict.set_item("levels", params.levels())?;
        dict.set_item("moduli", &params.moduli)?;
        dict.set_item("special_moduli", &params.special)?;
        dict.set_item("log_q", params.log_q())?;
        dict.set_item("log_qp", params.log_qp())?;
        dict.set_item("scale_bits", params.scale_bits)?;
        dict.set_item("plaintext_modulus", params.plaintext_modulus)?;
        dict.set_item("base_limbs", params.base_limbs)?;
        dict.set_item("digit_limbs", params.digit_limbs)?;
        dict.set_item("word_bits", params.word_bits)?;
        dict.set_item("secret", params.secret.to_string())?;
        dict.set_item("sigma", params.sigma)?;
        dict.set_item("security_wished", params.wished_security)?;
        dict.set_item("security_bits", security.bits)?;
        dict.set_item("security_method", security.method)?;
        dict.set_item("insecure_reason", params.insecure.as_deref())?;
        dict.set_item("hash", params.hash().to_string())?;
        Ok(dict)
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &cyclotron_wire::encode_parameters(&self.params))
    }

    #[staticmethod]
    fn from_bytes(data: &[u8]) -> PyResult<Self> {
        let params = cyclotron_wire::decode_parameters(data);
        Ok(Self::new(Arc::new(
            params.map_err(|error| raise(error.into()))?,
        )))
    }

    fn __repr__(&self) -> String {
        self.params.describe()
    }
}
