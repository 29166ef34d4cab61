//! Ciphertexts and evaluation keys as they travel: decoded, or bytes that wait
//! for the parameters of whoever uses them.
//!
//! Bytes from outside are not expanded with parameters from outside: a few
//! forged bytes could ask for gigabytes of tables. Their frame is checked at
//! once, their limbs when an evaluator or a client takes them.

use std::collections::BTreeMap;
use std::sync::Arc;

use cyclotron_schemes::{Ciphertext, Context, KeySpec, Parameters, SwitchKey};
use cyclotron_wire::{
    CiphertextFields, Kind, decode_ciphertext, decode_evaluation_keys, encode_ciphertext,
    encode_evaluation_keys, frame, inspect_ciphertext, parameters_of,
};

use crate::error::SessionError;

/// A ciphertext.
#[derive(Debug, Clone)]
pub enum StoredCiphertext {
    /// With the context that it was made in. Made in this crate only, of words that
    /// were computed here or checked.
    #[non_exhaustive]
    Decoded {
        /// Its parameters and ring.
        context: Arc<Context>,
        /// The ciphertext.
        ciphertext: Arc<Ciphertext>,
    },
    /// As bytes whose frame, parameters and length have been checked.
    Bytes {
        /// The bytes.
        bytes: Arc<[u8]>,
        /// The parameters that they name.
        params: Arc<Parameters>,
        /// Level, scale and factor.
        fields: CiphertextFields,
    },
}

impl StoredCiphertext {
    /// Takes bytes, and checks everything but the residues.
    ///
    /// # Errors
    /// [`SessionError::Wire`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SessionError> {
        let (params, fields) = inspect_ciphertext(bytes)?;
        Ok(StoredCiphertext::Bytes {
            bytes: bytes.into(),
            params: Arc::new(params),
            fields,
        })
    }

    /// The bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Arc<[u8]> {
        match self {
            StoredCiphertext::Decoded {
                context,
                ciphertext,
            } => encode_ciphertext(context, ciphertext).into(),
            StoredCiphertext::Bytes { bytes, .. } => Arc::clone(bytes),
        }
    }

    /// The parameters.
    #[must_use]
    pub fn params(&self) -> &Arc<Parameters> {
        match self {
            StoredCiphertext::Decoded { context, .. } => context.params(),
            StoredCiphertext::Bytes { params, .. } => params,
        }
    }

    /// Number of limbs of each polynomial.
    #[must_use]
    pub fn level(&self) -> usize {
        match self {
            StoredCiphertext::Decoded { ciphertext, .. } => ciphertext.level,
            StoredCiphertext::Bytes { fields, .. } => fields.level,
        }
    }

    /// log2 of the scale; 0 for BGV.
    #[must_use]
    pub fn scale_bits(&self) -> f64 {
        match self {
            StoredCiphertext::Decoded { ciphertext, .. } => ciphertext.scale.log2(),
            StoredCiphertext::Bytes { fields, .. } => fields.scale.log2(),
        }
    }

    /// The ciphertext, for use with `context`.
    ///
    /// # Errors
    /// [`SessionError::OtherParameters`], or bytes that do not decode.
    pub fn open(&self, context: &Context) -> Result<Arc<Ciphertext>, SessionError> {
        match self {
            StoredCiphertext::Decoded { ciphertext, .. } => {
                same_parameters("the ciphertext", context, self.params())?;
                Ok(Arc::clone(ciphertext))
            }
            StoredCiphertext::Bytes { bytes, .. } => {
                Ok(Arc::new(decode_ciphertext(context, bytes)?))
            }
        }
    }
}

/// Key-switch keys.
#[derive(Debug, Clone)]
pub enum EvaluationKeys {
    /// With the context that they were made in.
    Decoded {
        /// Their parameters and ring.
        context: Arc<Context>,
        /// The keys.
        keys: BTreeMap<KeySpec, Arc<SwitchKey>>,
    },
    /// As bytes whose frame and parameters have been checked.
    Bytes {
        /// The bytes.
        bytes: Arc<[u8]>,
        /// The parameters that they name.
        params: Arc<Parameters>,
    },
}

impl EvaluationKeys {
    /// Takes bytes, and checks their frame and parameters.
    ///
    /// # Errors
    /// [`SessionError::Wire`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SessionError> {
        frame::open(bytes, Kind::EvaluationKeys, None)?;
        Ok(EvaluationKeys::Bytes {
            params: Arc::new(parameters_of(bytes)?),
            bytes: bytes.into(),
        })
    }

    /// The bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Arc<[u8]> {
        match self {
            EvaluationKeys::Decoded { context, keys } => {
                let keys = keys.values().map(|key| &**key);
                let bytes = encode_evaluation_keys(context, keys);
                bytes.expect("the keys are this context's").into()
            }
            EvaluationKeys::Bytes { bytes, .. } => Arc::clone(bytes),
        }
    }

    /// The parameters.
    #[must_use]
    pub fn params(&self) -> &Arc<Parameters> {
        match self {
            EvaluationKeys::Decoded { context, .. } => context.params(),
            EvaluationKeys::Bytes { params, .. } => params,
        }
    }

    /// The keys, for use with `context`.
    ///
    /// # Errors
    /// [`SessionError::OtherParameters`], or bytes that do not decode.
    pub fn open(
        &self,
        context: &Context,
    ) -> Result<BTreeMap<KeySpec, Arc<SwitchKey>>, SessionError> {
        match self {
            EvaluationKeys::Decoded { keys, .. } => {
                same_parameters("the set of evaluation keys", context, self.params())?;
                Ok(keys.clone())
            }
            EvaluationKeys::Bytes { bytes, .. } => {
                let keys = decode_evaluation_keys(context, bytes)?;
                Ok(keys
                    .into_iter()
                    .map(|key| (key.spec(), Arc::new(key)))
                    .collect())
            }
        }
    }
}

/// Whether an object's parameters are those of the context.
pub(crate) fn same_parameters(
    what: &'static str,
    context: &Context,
    params: &Parameters,
) -> Result<(), SessionError> {
    let (expected, found) = (context.hash(), params.hash());
    if expected == found {
        return Ok(());
    }
    Err(SessionError::OtherParameters {
        what,
        expected: expected.short(),
        found: found.short(),
    })
}
