//! Versioned formats for parameters, keys, ciphertexts and programs, safe on
//! hostile bytes.
//!
//! Every object is a [`frame`]: a 64-byte header and a body. A decoder computes
//! the length that the parameters imply and compares it with the bytes that
//! are there before it allocates anything; it then checks every residue, and
//! only then makes a value. Halves that come from a public seed are stored as
//! that seed. Bytes of a secret key are refused wherever something else is
//! expected.

mod ciphertext;
mod cursor;
mod error;
pub mod frame;
mod keys;
mod parameters;
mod program;

pub use ciphertext::{CiphertextFields, decode_ciphertext, encode_ciphertext, inspect_ciphertext};
pub use error::WireError;
pub use frame::{FORMAT_VERSION, HEADER_BYTES, Header, Kind, ParamsHash};
pub use keys::{
    decode_evaluation_keys, decode_public_key, decode_secret_key, encode_evaluation_keys,
    encode_public_key, encode_secret_key,
};
pub use parameters::{decode_parameters, encode_parameters, parameters_of};
pub use program::{decode_limb_program, decode_program, encode_limb_program, encode_program};
