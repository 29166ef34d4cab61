//! The side that may encrypt and do nothing else.

use std::collections::BTreeMap;
use std::sync::Arc;

use cyclotron_session::{Encryptor, PublicKey};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::client::seed_bytes;
use crate::error::raise;
use crate::parameters::PyParameters;
use crate::plan::PyPlan;
use crate::stored::{PyCiphertext, encrypted};

/// A public encryption key. Whoever has it can encrypt; only the client that made it
/// can decrypt.
#[pyclass(name = "PublicKey", module = "cyclotron._native", frozen)]
#[derive(Debug)]
pub struct PyPublicKey {
    pub(crate) key: PublicKey,
}

#[pymethods]
impl PyPublicKey {
    /// The key with its parameters: a seed, and N words for each data prime.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &py.detach(|| self.key.to_bytes()))
    }

    /// A key from its bytes; `FormatError` if they are damaged or something else.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        let key = py.detach(|| PublicKey::from_bytes(data)).map_err(raise)?;
        Ok(PyPublicKey { key })
    }

    fn __repr__(&self) -> String {
        format!("PublicKey(parameters {})", self.key.params().hash().short())
    }
}

/// Encrypts under a public key, for programs with `public_key=True`. The key must be of
/// these parameters (`KeyMismatchError`). A seed of 32 bytes makes ciphertexts
/// repeatable, for tests.
#[pyclass(name = "Encryptor", module = "cyclotron._native", frozen)]
#[derive(Debug)]
pub struct PyEncryptor {
    encryptor: Arc<Encryptor>,
}

#[pymethods]
impl PyEncryptor {
    #[new]
    #[pyo3(signature = (parameters, public_key, seed=None))]
    fn new(
        py: Python<'_>,
        parameters: &PyParameters,
        public_key: &PyPublicKey,
        seed: Option<&[u8]>,
    ) -> PyResult<Self> {
        let seed = seed_bytes(seed)?;
        let make = || Encryptor::new(parameters.context()?, &public_key.key, seed);
        Ok(PyEncryptor {
            encryptor: Arc::new(py.detach(make).map_err(raise)?),
        })
    }

    /// Encrypts every encrypted input of a program: by name, float64 or int64 arrays of at
    /// most as many values as there are slots, or pairs of float64 arrays (numbers of 106 bits).
    fn encrypt(
        &self,
        py: Python<'_>,
        plan: &PyPlan,
        values: &Bound<'_, PyDict>,
    ) -> PyResult<BTreeMap<String, PyCiphertext>> {
        encrypted(py, values, |values| {
            self.encryptor.encrypt(&plan.plan, values)
        })
    }
}
