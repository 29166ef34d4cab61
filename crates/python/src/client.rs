//! The side with the secret key.

use std::collections::BTreeMap;
use std::sync::Arc;

use cyclotron_session::{Client, Values};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::arrays;
use crate::encryptor::PyPublicKey;
use crate::error::{CyclotronError, raise};
use crate::parameters::PyParameters;
use crate::plan::PyPlan;
use crate::stored::{PyCiphertext, PyEvaluationKeys, ciphertexts, encrypted};

/// Makes keys, encrypts and decrypts.
#[pyclass(name = "Client", module = "cyclotron._native", frozen)]
#[derive(Debug)]
pub struct PyClient {
    client: Arc<Client>,
}

#[pymethods]
impl PyClient {
    /// A client with a new secret key; a seed of 32 bytes makes it repeatable, for tests.
    #[staticmethod]
    #[pyo3(signature = (parameters, seed))]
    fn generate(py: Python<'_>, parameters: &PyParameters, seed: Option<&[u8]>) -> PyResult<Self> {
        let seed = seed_bytes(seed)?;
        let client = py.detach(|| Client::generate(parameters.context()?, seed));
        Ok(PyClient {
            client: Arc::new(client.map_err(raise)?),
        })
    }

    /// Exactly the key-switch keys that a program needs.
    fn evaluation_keys(&self, py: Python<'_>, plan: &PyPlan) -> PyResult<PyEvaluationKeys> {
        let keys = py
            .detach(|| self.client.evaluation_keys(&plan.plan))
            .map_err(raise)?;
        Ok(PyEvaluationKeys::new(keys))
    }

    /// The public key, for an `Encryptor`; the same whenever it is asked for.
    fn public_key(&self, py: Python<'_>) -> PyResult<PyPublicKey> {
        let key = py.detach(|| self.client.public_key()).map_err(raise)?;
        Ok(PyPublicKey { key })
    }

    /// Encrypts every encrypted input of a program: by name, float64 or int64 arrays of at
    /// most as many values as there are slots, or pairs of float64 arrays (numbers of 106 bits).
    fn encrypt(
        &self,
        py: Python<'_>,
        plan: &PyPlan,
        values: &Bound<'_, PyDict>,
    ) -> PyResult<BTreeMap<String, PyCiphertext>> {
        encrypted(py, values, |values| self.client.encrypt(&plan.plan, values))
    }

    /// Decrypts outputs of a program, by name: all slots, float64 (CKKS) or int64 in
    /// `(-t/2, t/2]` (BGV). With `wide` (CKKS) numbers of 106 bits: pairs of arrays to add.
    #[pyo3(signature = (plan, outputs, wide=false))]
    fn decrypt<'py>(
        &self,
        py: Python<'py>,
        plan: &PyPlan,
        outputs: &Bound<'py, PyDict>,
        wide: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let outputs = ciphertexts(outputs)?;
        let decrypt = || match wide {
            true => self.client.decrypt_wide(&plan.plan, &outputs),
            false => self.client.decrypt(&plan.plan, &outputs),
        };
        let values: BTreeMap<String, Values> = py.detach(decrypt).map_err(raise)?;
        let dict = PyDict::new(py);
        for (name, values) in values {
            dict.set_item(name, arrays::array(py, values)?)?;
        }
        Ok(dict)
    }

    /// The secret key with its parameters: whoever has these bytes can decrypt.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.client.to_bytes())
    }

    /// A client from its bytes; `FormatError` if they are damaged or something else.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        let client = py.detach(|| Client::from_bytes(data)).map_err(raise)?;
        Ok(PyClient {
            client: Arc::new(client),
        })
    }

    fn __repr__(&self) -> String {
        format!(
            "Client(redacted, parameters {})",
            self.client.context().hash().short()
        )
    }
}

/// A seed from Python.
pub(crate) fn seed_bytes(seed: Option<&[u8]>) -> PyResult<Option<[u8; 32]>> {
    seed.map(<[u8; 32]>::try_from)
        .transpose()
        .map_err(|_| CyclotronError::new_err("a seed has 32 bytes; None takes fresh randomness"))
}
