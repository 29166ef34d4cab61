//! Phase 1: HE programs to limb programs.
//!
//! [`choose`] finds parameters for a program on a [`Target`]; [`lower`] places
//! levels, picks a key-switch variant for every key, orders the homomorphic
//! operations so that those that share a hint stand together, and emits one
//! procedure per operation, level and variant and one call per operation.
//!
//! [`split`] rewrites the limb program for vectors shorter than its polynomials.
//!
//! Deliberately not here: what an operation emits (`schemes::emit`), and how the
//! limb program is scheduled (`compiler`).

mod chain;
mod choose;
mod emission;
mod error;
mod explain;
mod lowered;
mod naming;
mod order;
mod split;
mod target;
mod variant;

pub use choose::{Wish, choose, estimate};
pub use error::LowerError;
pub use explain::ExplainRow;
pub use lowered::{InputUse, Lowered, OutputUse, PlainEncoding, PlainUse, lower};
pub use split::split;
pub use target::{Costs, Target};
