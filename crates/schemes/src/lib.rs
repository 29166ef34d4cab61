//! CKKS and BGV: parameters, security, keys, encoding, encryption, and each
//! operation as an emitter of limb instructions.

pub mod emit;
mod error;
mod key_spec;
mod params;
mod scheme;

pub use error::{ParameterError, SchemeError};
pub use key_spec::{KeySpec, KeyTarget, KeyVariant};
pub use params::{ERROR_BOUND, Parameters, ParamsHash, SIGMA};
pub use scheme::{Scheme, SecretKind};
