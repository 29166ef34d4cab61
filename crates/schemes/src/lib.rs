//! CKKS and BGV: parameters, security, keys, encoding, encryption, and each
//! operation as an emitter of limb instructions.
//!
//! The client side in a few lines:
//!
//! ```
//! use std::sync::Arc;
//! use cyclotron_schemes::{
//!     ChoiceRequest, Context, Plaintext, SecretKey, WordClass, choose, decrypt_real,
//!     encrypt_secret, random_seed,
//! };
//!
//! let params = choose(&ChoiceRequest::ckks(2, 40.0, WordClass::WORD_64))?;
//! let context = Context::new(Arc::new(params))?;
//! let secret = SecretKey::random(&context)?;
//! let top = context.params().levels();
//! let plain = Plaintext::encode_real(&context, &[0.5, -1.25], top, context.scale_at(top))?;
//! let ciphertext = encrypt_secret(&context, &secret, &plain, &random_seed()?)?;
//! let values = decrypt_real(&context, &secret, &ciphertext)?;
//! assert!((values[1] + 1.25).abs() < 1e-6);
//! # Ok::<(), cyclotron_schemes::SchemeError>(())
//! ```
//!
//! Evaluation is not here: every homomorphic operation is emitted as limb
//! instructions ([`emit`]), which the runtime, the interpreter and the
//! simulator execute.

mod chain;
mod choose;
mod ciphertext;
mod context;
mod decrypt;
pub mod emit;
mod encode;
mod encrypt;
mod error;
mod error_poly;
mod key_spec;
mod keys;
#[cfg(test)]
mod known_answers;
mod limbs;
mod literal;
mod params;
mod provider;
mod scheme;
mod security;
mod switch_key;
mod validate;

pub use chain::{Chain, ChainRequest, MAX_PRIME_BITS_64, MAX_SCALE_DEVIATION, find as find_chain};
pub use choose::{ChoiceRequest, WordClass, choose};
pub use ciphertext::Ciphertext;
pub use context::Context;
pub use decrypt::{
    NoiseMeasure, centred, decrypt_complex, decrypt_integers, decrypt_real, decrypt_wide,
    factor_ratio, measure_noise,
};
pub use encode::{
    CanonicalEmbedding, Complex, DoubleDouble, OperandValues, PlainOperand, Plaintext, SlotCodec,
    WideComplex,
};
pub use encrypt::{encrypt_public, encrypt_secret, expand_mask};
pub use error::{ParameterError, SchemeError};
pub use key_spec::{KeySpec, KeyTarget, KeyVariant};
pub use keys::{PublicKey, SecretKey, random_seed};
pub use limbs::{AnyLimb, AnyRing, ClientWord, Limbs};
pub use literal::ParametersLiteral;
pub use params::{ERROR_BOUND, Parameters, ParamsHash, SIGMA};
pub use provider::ProgramInputs;
pub use scheme::{Scheme, SecretKind};
pub use security::{Security, estimate, max_log_modulus, security_of};
pub use switch_key::SwitchKey;
