//! The side that has the secret key.

use std::collections::BTreeMap;
use std::sync::Arc;

use cyclotron_ring::prf::Seed;
use cyclotron_schemes::{
    Context, Scheme, SecretKey, SwitchKey, centred, decrypt_integers, decrypt_real, decrypt_wide,
    encrypt_secret,
};
use cyclotron_wire::{decode_secret_key, encode_secret_key};
use rayon::prelude::*;

use crate::encryption::{encrypt_inputs, encryption_seed};
use crate::encryptor::PublicKey;
use crate::error::SessionError;
use crate::interface::check_names;
use crate::plan::Plan;
use crate::stored::{EvaluationKeys, StoredCiphertext, same_parameters};
use crate::values::Values;

/// Makes keys, encrypts and decrypts.
#[derive(Debug)]
pub struct Client {
    context: Arc<Context>,
    secret: SecretKey,
    deterministic: bool,
}

impl Client {
    /// A client with a new secret key: from the operating system's randomness,
    /// or from a seed. With a seed everything that the client makes is
    /// repeatable, and equal inputs give equal ciphertexts: for tests only.
    ///
    /// # Errors
    /// Insecure parameters, or no randomness.
    pub fn generate(context: Arc<Context>, seed: Option<[u8; 32]>) -> Result<Self, SessionError> {
        let secret = match seed {
            Some(seed) => SecretKey::from_seed(&context, &Seed::from_bytes(seed))?,
            None => SecretKey::random(&context)?,
        };
        Ok(Client {
            context,
            secret,
            deterministic: seed.is_some(),
        })
    }

    /// Parameters, ring and tables.
    #[must_use]
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// Exactly the key-switch keys that a program needs.
    ///
    /// # Errors
    /// A program of other parameters, or a key that these do not allow.
    pub fn evaluation_keys(&self, plan: &Plan) -> Result<EvaluationKeys, SessionError> {
        same_parameters("the program", &self.context, plan.params())?;
        let make = |&spec| {
            let key = SwitchKey::new(&self.context, &self.secret, spec)?;
            Ok((spec, Arc::new(key)))
        };
        let keys: Result<Vec<_>, SessionError> =
            plan.interface().keys.par_iter().map(make).collect();
        Ok(EvaluationKeys::Decoded {
            context: Arc::clone(&self.context),
            keys: keys?.into_iter().collect(),
        })
    }

    /// Encrypts every encrypted input of a program at the level and scale that
    /// the program takes.
    ///
    /// # Errors
    /// Missing or unknown names, values that do not encode, a program of other
    /// parameters.
    pub fn encrypt(
        &self,
        plan: &Plan,
        values: &BTreeMap<String, Values>,
    ) -> Result<BTreeMap<String, StoredCiphertext>, SessionError> {
        let root = self.deterministic.then(|| self.secret.seed());
        encrypt_inputs(&self.context, plan, values, |name, plaintext| {
            let seed = encryption_seed(root, name)?;
            Ok(encrypt_secret(
                &self.context,
                &self.secret,
                plaintext,
                &seed,
            )?)
        })
    }

    /// The public key, under which an [`Encryptor`](crate::Encryptor) encrypts. It is the
    /// same whenever it is asked for.
    ///
    /// # Errors
    /// Parameters that are not secure without special primes.
    pub fn public_key(&self) -> Result<PublicKey, SessionError> {
        Ok(PublicKey::Decoded {
            context: Arc::clone(&self.context),
            key: Arc::new(cyclotron_schemes::PublicKey::new(
                &self.context,
                &self.secret,
            )?),
        })
    }

    /// Decrypts outputs of a program: all slots, real numbers (CKKS) or
    /// integers in `(-t/2, t/2]` (BGV).
    ///
    /// # Errors
    /// A name that the program does not output, a ciphertext of other
    /// parameters, bytes that do not decode.
    pub fn decrypt(
        &self,
        plan: &Plan,
        outputs: &BTreeMap<String, StoredCiphertext>,
    ) -> Result<BTreeMap<String, Values>, SessionError> {
        decrypted(plan, outputs, |stored| self.decrypt_one(stored))
    }

    /// Decrypts outputs of a CKKS program with 106 bits instead of 53: for scales at
    /// which a slot has more digits than f64. Takes about four times as long.
    ///
    /// # Errors
    /// As [`Self::decrypt`]; a BGV program, slots beyond 2^995.
    pub fn decrypt_wide(
        &self,
        plan: &Plan,
        outputs: &BTreeMap<String, StoredCiphertext>,
    ) -> Result<BTreeMap<String, Values>, SessionError> {
        decrypted(plan, outputs, |stored| {
            let ciphertext = stored.open(&self.context)?;
            let slots = decrypt_wide(&self.context, &self.secret, &ciphertext)?;
            Ok(Values::Wide(slots.into_iter().map(|z| z.re).collect()))
        })
    }

    /// Decrypts one ciphertext; as [`Self::decrypt`].
    ///
    /// # Errors
    /// As [`Self::decrypt`].
    pub fn decrypt_one(&self, stored: &StoredCiphertext) -> Result<Values, SessionError> {
        let ciphertext = stored.open(&self.context)?;
        Ok(match self.context.params().scheme {
            Scheme::Ckks => Values::Real(decrypt_real(&self.context, &self.secret, &ciphertext)?),
            Scheme::Bgv => {
                let slots = decrypt_integers(&self.context, &self.secret, &ciphertext)?;
                Values::Integers(centred(&slots, self.context.params().plaintext_modulus))
            }
        })
    }

    /// The secret key with its parameters: whoever has these bytes can decrypt.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        encode_secret_key(&self.context, &self.secret, self.deterministic)
    }

    /// A client from its bytes.
    ///
    /// # Errors
    /// [`SessionError::Wire`], or parameters that are not valid.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SessionError> {
        let (params, seed, deterministic) = decode_secret_key(bytes)?;
        let context = Arc::new(Context::new(Arc::new(params))?);
        let secret = SecretKey::from_seed(&context, &seed)?;
        Ok(Client {
            context,
            secret,
            deterministic,
        })
    }
}

/// Decrypts ciphertexts that are outputs of a program.
fn decrypted(
    plan: &Plan,
    outputs: &BTreeMap<String, StoredCiphertext>,
    decrypt: impl Fn(&StoredCiphertext) -> Result<Values, SessionError> + Sync,
) -> Result<BTreeMap<String, Values>, SessionError> {
    let named = &plan.interface().outputs;
    let known: Vec<&str> = named.iter().map(|output| output.name.as_str()).collect();
    check_names("output", &known, outputs.keys())?;
    outputs
        .par_iter()
        .map(|(name, stored)| Ok((name.clone(), decrypt(stored)?)))
        .collect()
}
