//! The side that has the secret key.

use std::collections::BTreeMap;
use std::sync::Arc;

use cyclotron_program::{Graph, HeOp, MEASURED_MARGIN, Node};
use cyclotron_ring::prf::Seed;
use cyclotron_schemes::{
    Context, Scheme, SecretKey, SwitchKey, centred, decrypt_integers, decrypt_real, encrypt_secret,
    random_seed,
};
use cyclotron_wire::{decode_secret_key, encode_secret_key};
use rayon::prelude::*;

use crate::error::SessionError;
use crate::interface::{FRESH_FACTOR, check_names};
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
        same_parameters("the program", &self.context, plan.params())?;
        let inputs = &plan.interface().inputs;
        let known: Vec<&str> = inputs.iter().map(|input| input.name.as_str()).collect();
        check_names("encrypted input", &known, values.keys())?;
        let encrypt = |input: &cyclotron_lower::InputUse| {
            let name = &input.name;
            let given = values.get(name).ok_or_else(|| SessionError::MissingInput {
                kind: "encrypted input",
                name: name.clone(),
            })?;
            check_magnitude(&plan.interface().graph, name, given)?;
            let (level, scale) = (input.level, input.scale);
            let plaintext = given.encode(&self.context, name, level, scale, FRESH_FACTOR)?;
            let seed = self.encryption_seed(name)?;
            let ciphertext = encrypt_secret(&self.context, &self.secret, &plaintext, &seed)?;
            let stored = StoredCiphertext::Decoded {
                context: Arc::clone(&self.context),
                ciphertext: Arc::new(ciphertext),
            };
            Ok((name.clone(), stored))
        };
        inputs.par_iter().map(encrypt).collect()
    }

    /// Fresh randomness for one encryption, or a repeatable seed. Encryption
    /// hashes the plaintext into it, so that a repeated seed shows at most that
    /// two plaintexts are equal.
    fn encryption_seed(&self, name: &str) -> Result<Seed, SessionError> {
        if !self.deterministic {
            return Ok(random_seed()?);
        }
        let hash = blake3::hash(name.as_bytes());
        let mut ids = [0; 4];
        for (id, chunk) in ids.iter_mut().zip(hash.as_bytes().chunks_exact(8)) {
            *id = chunk
                .iter()
                .fold(0, |word, &byte| word << 8 | u64::from(byte));
        }
        Ok(self.secret.seed().derive("encryption", &ids))
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
        let known: Vec<&str> = plan
            .interface()
            .outputs
            .iter()
            .map(|output| output.name.as_str())
            .collect();
        check_names("output", &known, outputs.keys())?;
        let decrypt = |(name, stored): (&String, &StoredCiphertext)| {
            Ok((name.clone(), self.decrypt_one(stored)?))
        };
        outputs.par_iter().map(decrypt).collect()
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

/// Refuses CKKS inputs beyond what the program was calibrated for: its values
/// could outgrow their modulus, and the result would be wrong without a sign.
fn check_magnitude(graph: &Graph, name: &str, given: &Values) -> Result<(), SessionError> {
    let Values::Real(values) = given else {
        return Ok(());
    };
    let is_input = |node: &Node| matches!(node.op, HeOp::Input { .. });
    let measured = graph.nodes.iter().zip(&graph.measured);
    let largest = measured
        .filter(|(node, _)| is_input(node))
        .fold(0.0, |m: f64, (_, &v)| m.max(v));
    let limit = MEASURED_MARGIN * largest;
    match values.iter().position(|v| v.abs() > limit) {
        Some(slot) if largest > 0.0 && graph.scheme == cyclotron_program::Scheme::Ckks => {
            Err(SessionError::Values {
                name: name.to_owned(),
                why: format!(
                    "slot {slot} is {}; the program was compiled for inputs of at most {limit}: \
                     compile it with samples as large as this",
                    values[slot]
                ),
            })
        }
        _ => Ok(()),
    }
}
