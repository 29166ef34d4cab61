//! Values to plaintext polynomials and back.

mod canonical_embedding;
pub(crate) mod centred_values;
mod cyclic_dft;
mod double_double;
mod operand;
mod plaintext;
mod plaintext_residues;
mod rounding;
mod slot_codec;
mod wide_coefficients;
mod wide_complex;
mod wide_embedding;

pub use canonical_embedding::{CanonicalEmbedding, Complex};
pub use double_double::DoubleDouble;
pub use operand::{OperandValues, PlainOperand};
pub use plaintext::Plaintext;
pub use slot_codec::SlotCodec;
pub(crate) use wide_coefficients::WideCoefficients;
pub use wide_complex::WideComplex;
