//! Executes limb programs on CPU threads.
//!
//! A procedure is planned once: its instructions are joined and cut into tasks
//! (see `rewrite`) with counts of the sources that they wait for. A run admits calls in the program's order
//! and hands ready tasks to workers by priority, so that instructions of one
//! call and of independent calls run side by side. A value's buffer is free
//! again after its last reader, and is taken by a later result; the working
//! set of a call therefore stays in the cache.
//!
//! Input limbs are asked of the provider when a call that needs them is next,
//! and dropped after their last use.
//!
//! Invariants: one task writes a value, before any reads it; a buffer is
//! reused only when no reference to it is left (`Arc::into_inner`); results do
//! not depend on the number of threads.

mod compute;
mod engine;
mod error;
mod plan;
mod pool;
mod queue;
mod rewrite;
mod run;
mod value;

pub use engine::{Engine, MAX_THREADS, Progress, RunStats};
pub use error::RuntimeError;
pub use plan::Prepared;
