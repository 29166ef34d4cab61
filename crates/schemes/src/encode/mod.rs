//! Values to plaintext polynomials and back.

mod canonical_embedding;
pub(crate) mod centred_values;
mod cyclic_dft;
mod operand;
mod plaintext;
mod slot_codec;
mod wide_coefficients;

pub use canonical_embedding::{CanonicalEmbedding, Complex};
pub use operand::{OperandValues, PlainOperand};
pub use plaintext::Plaintext;
pub use slot_codec::SlotCodec;
pub(crate) use wide_coefficients::WideCoefficients;
