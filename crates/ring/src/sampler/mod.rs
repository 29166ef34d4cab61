//! Random residues, secrets and errors from a [`Prf`](crate::prf::Prf) stream.
//!
//! What is drawn depends on the stream only: not on the SIMD path, and for
//! residues not on the width of the words that hold them.

mod gaussian;
mod ternary;
mod uniform;

pub use gaussian::{Gaussian, gaussian};
pub use ternary::{ternary, ternary_sparse};
pub use uniform::uniform;
