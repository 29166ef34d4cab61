//! Ciphertexts and evaluation keys.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use cyclotron_ring::{LimbBuf, Word};
use cyclotron_schemes::{Ciphertext, Context, Limbs};
use cyclotron_session::{EvaluationKeys, SessionError, StoredCiphertext, Values};
use numpy::{Element, PyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::arrays;
use crate::error::raise;

/// A ciphertext.
#[pyclass(name = "Ciphertext", module = "cyclotron._native", frozen)]
#[derive(Debug)]
pub struct PyCiphertext {
    stored: StoredCiphertext,
}

#[pymethods]
impl PyCiphertext {
    /// Number of limbs of each polynomial.
    #[getter]
    fn level(&self) -> usize {
        self.stored.level()
    }

    /// log2 of the scale; 0 for BGV.
    #[getter]
    fn scale_bits(&self) -> f64 {
        self.stored.scale_bits()
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &py.detach(|| self.stored.to_bytes()))
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        let stored = py
            .detach(|| StoredCiphertext::from_bytes(data))
            .map_err(raise)?;
        Ok(PyCiphertext { stored })
    }

    /// Every limb as (polynomial, position, modulus, words).
    fn limbs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let ciphertext = py.detach(|| opened(&self.stored)).map_err(raise)?;
        let moduli = &self.stored.params().moduli;
        let list = PyList::empty(py);
        for (index, poly) in ciphertext.polys.iter().enumerate() {
            match poly {
                Limbs::W32(limbs) => append(py, &list, index, limbs, moduli)?,
                Limbs::W64(limbs) => append(py, &list, index, limbs, moduli)?,
            }
        }
        Ok(list)
    }
}

fn append<W: Word + Element>(
    py: Python<'_>,
    list: &Bound<'_, PyList>,
    poly: usize,
    limbs: &[Arc<LimbBuf<W>>],
    moduli: &[u64],
) -> PyResult<()> {
    for (position, (limb, &modulus)) in limbs.iter().zip(moduli).enumerate() {
        list.append((poly, position, modulus, PyArray1::from_slice(py, limb)))?;
    }
    Ok(())
}

/// The ciphertext; one that came as bytes is decoded with the parameters that it names.
fn opened(stored: &StoredCiphertext) -> Result<Arc<Ciphertext>, SessionError> {
    match stored {
        StoredCiphertext::Decoded { ciphertext, .. } => Ok(Arc::clone(ciphertext)),
        StoredCiphertext::Bytes { params, .. } => stored.open(&Context::new(Arc::clone(params))?),
    }
}

/// Ciphertexts by name, from Python.
pub(crate) fn ciphertexts(
    dict: &Bound<'_, PyDict>,
) -> PyResult<BTreeMap<String, StoredCiphertext>> {
    dict.iter()
        .map(|(name, ciphertext)| {
            let ciphertext = ciphertext.cast::<PyCiphertext>()?;
            Ok((name.extract()?, ciphertext.get().stored.clone()))
        })
        .collect()
}

/// Ciphertexts by name, for Python.
pub(crate) fn named(made: BTreeMap<String, StoredCiphertext>) -> BTreeMap<String, PyCiphertext> {
    made.into_iter()
        .map(|(name, stored)| (name, PyCiphertext { stored }))
        .collect()
}

/// Encrypts values by name, as Python gives them, without holding the interpreter.
pub(crate) fn encrypted(
    py: Python<'_>,
    values: &Bound<'_, PyDict>,
    encrypt: impl FnOnce(
        &BTreeMap<String, Values>,
    ) -> Result<BTreeMap<String, StoredCiphertext>, SessionError>
    + Send,
) -> PyResult<BTreeMap<String, PyCiphertext>> {
    let values = arrays::named_values(values)?;
    let made = py.detach(|| encrypt(&values)).map_err(raise)?;
    Ok(named(made))
}

/// Key-switch keys.
#[pyclass(name = "EvaluationKeys", module = "cyclotron._native", frozen)]
#[derive(Debug)]
pub struct PyEvaluationKeys {
    pub(crate) keys: EvaluationKeys,
    bytes: OnceLock<Arc<[u8]>>,
}

impl PyEvaluationKeys {
    pub(crate) fn new(keys: EvaluationKeys) -> Self {
        PyEvaluationKeys {
            keys,
            bytes: OnceLock::new(),
        }
    }

    fn bytes(&self, py: Python<'_>) -> Arc<[u8]> {
        py.detach(|| Arc::clone(self.bytes.get_or_init(|| self.keys.to_bytes())))
    }
}

#[pymethods]
impl PyEvaluationKeys {
    /// Bytes that they take in a file.
    #[getter]
    fn size_bytes(&self, py: Python<'_>) -> usize {
        self.bytes(py).len()
    }

    /// BLAKE3 of the bytes, in hexadecimal.
    #[getter]
    fn hash(&self, py: Python<'_>) -> String {
        blake3::hash(&self.bytes(py)).to_hex().to_string()
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.bytes(py))
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        let keys = py
            .detach(|| EvaluationKeys::from_bytes(data))
            .map_err(raise)?;
        Ok(Self::new(keys))
    }
}
