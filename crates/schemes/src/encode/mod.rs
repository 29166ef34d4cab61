//! Values to plaintext polynomials and back.

mod canonical_embedding;
pub(crate) mod mixed_radix;
mod operand;
mod plaintext;
mod slot_codec;

pub use canonical_embedding::{CanonicalEmbedding, Complex};
pub use operand::{OperandValues, PlainOperand};
pub use plaintext::Plaintext;
pub use slot_codec::SlotCodec;
