//! What the benchmark driver measures, and how it talks.
//!
//! One process measures one suite with a fixed number of threads; the runner
//! (`cyclotron bench`) asks for one repetition after the other, in turns with
//! the drivers of peers. `benches/README.md` is the protocol.
//!
//! A suite lists its [`Case`]s. Everything that a case needs besides its work
//! (tables, keys, ciphertexts) is made at the first request and not timed.
//! Operations and programs run as a user runs them: a client, an evaluator and
//! a prepared plan of a program, which here is a single operation.

mod case;
mod client;
mod error;
mod graphs;
mod kernels;
mod limbwise;
mod operations;
mod programs;
mod protocol;
mod roofline;
mod sets;
mod transforms;
mod work;

pub use case::{Case, Checked, Description, Facts, Suite};
pub use error::DriverError;
pub use kernels::Kernels;
pub use operations::Operations;
pub use programs::Programs;
pub use protocol::serve;
pub use roofline::{Bound, Machine};
pub use work::Work;
