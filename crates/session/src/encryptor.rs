//! The side that may encrypt and do nothing else.

use std::collections::BTreeMap;
use std::sync::Arc;

use cyclotron_ring::prf::Seed;
use cyclotron_schemes::{Context, Parameters, encrypt_public};
use cyclotron_wire::{Kind, decode_public_key, encode_public_key, frame, parameters_of};

use crate::encryption::{encrypt_inputs, encryption_seed};
use crate::error::SessionError;
use crate::plan::Plan;
use crate::stored::{StoredCiphertext, same_parameters};
use crate::values::Values;

/// A public encryption key as it travels: decoded, or bytes that wait for the
/// parameters of whoever uses them.
#[derive(Debug, Clone)]
pub enum PublicKey {
    /// With the context that it was made in.
    Decoded {
        /// Its parameters and ring.
        context: Arc<Context>,
        /// The key.
        key: Arc<cyclotron_schemes::PublicKey>,
    },
    /// As bytes whose frame and parameters have been checked.
    Bytes {
        /// The bytes.
        bytes: Arc<[u8]>,
        /// The parameters that they name.
        params: Arc<Parameters>,
    },
}

impl PublicKey {
    /// Takes bytes, and checks their frame and parameters.
    ///
    /// # Errors
    /// [`SessionError::Wire`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SessionError> {
        frame::open(bytes, Kind::PublicKey, None)?;
        Ok(PublicKey::Bytes {
            params: Arc::new(parameters_of(bytes)?),
            bytes: bytes.into(),
        })
    }

    /// The bytes: a seed of 32, and a limb of N words for each data prime.
    #[must_use]
    pub fn to_bytes(&self) -> Arc<[u8]> {
        match self {
            PublicKey::Decoded { context, key } => encode_public_key(context, key).into(),
            PublicKey::Bytes { bytes, .. } => Arc::clone(bytes),
        }
    }

    /// The parameters.
    #[must_use]
    pub fn params(&self) -> &Arc<Parameters> {
        match self {
            PublicKey::Decoded { context, .. } => context.params(),
            PublicKey::Bytes { params, .. } => params,
        }
    }

    /// The key, for use with `context`.
    ///
    /// # Errors
    /// [`SessionError::OtherParameters`], or bytes that do not decode.
    pub fn open(
        &self,
        context: &Context,
    ) -> Result<Arc<cyclotron_schemes::PublicKey>, SessionError> {
        match self {
            PublicKey::Decoded { key, .. } => {
                same_parameters("the public key", context, self.params())?;
                Ok(Arc::clone(key))
            }
            PublicKey::Bytes { bytes, .. } => Ok(Arc::new(decode_public_key(context, bytes)?)),
        }
    }
}

/// Encrypts under a public key; cannot decrypt, not even what it encrypted.
#[derive(Debug)]
pub struct Encryptor {
    context: Arc<Context>,
    key: Arc<cyclotron_schemes::PublicKey>,
    seed: Option<Seed>,
}

impl Encryptor {
    /// An encryptor with its own parameters, which the key must be of. With a seed its
    /// ciphertexts are repeatable, and equal inputs give equal ones: for tests only.
    ///
    /// # Errors
    /// [`SessionError::OtherParameters`], or a stored key that does not decode.
    pub fn new(
        context: Arc<Context>,
        key: &PublicKey,
        seed: Option<[u8; 32]>,
    ) -> Result<Self, SessionError> {
        Ok(Encryptor {
            key: key.open(&context)?,
            context,
            seed: seed.map(Seed::from_bytes),
        })
    }

    /// Encrypts every encrypted input of a program at the level and scale that the
    /// program takes. The ciphertexts take twice the bytes of those that a client makes:
    /// no polynomial is a seed.
    ///
    /// # Errors
    /// [`SessionError::SecretKeyOnly`] if the program's noise was not planned for it;
    /// missing or unknown names, values that do not encode, a program of other parameters.
    pub fn encrypt(
        &self,
        plan: &Plan,
        values: &BTreeMap<String, Values>,
    ) -> Result<BTreeMap<String, StoredCiphertext>, SessionError> {
        let graph = &plan.interface().graph;
        if !graph.public_key {
            return Err(SessionError::SecretKeyOnly {
                program: graph.name.clone(),
            });
        }
        encrypt_inputs(&self.context, plan, values, |name, plaintext| {
            let seed = encryption_seed(self.seed.as_ref(), name)?;
            Ok(encrypt_public(&self.context, &self.key, plaintext, &seed)?)
        })
    }
}
