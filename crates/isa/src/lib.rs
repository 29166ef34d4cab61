//! Limb programs, movement plans and schedules.
//!
//! A *limb* is one residue polynomial: N words modulo one prime. A
//! [`LimbProgram`] is SSA dataflow over limbs, compute only: a table of
//! [`Procedure`]s (one per homomorphic operation, level and variant) and the
//! ordered [`Call`]s to them. Its [`FlatProgram`] view lists every instruction
//! with its global priority. A [`MovementPlan`] adds loads, stores and
//! evictions; a [`Schedule`] holds one instruction stream per component.
//!
//! For the same inputs all three compute identical limbs, because every
//! instruction's result is an exact residue, in `[0, q)`, and may be expanded,
//! reordered or moved but never rounded.
//!
//! Deliberately not here: how homomorphic operations become limb instructions
//! (`schemes`), machine numbers (`machine`), and scheduling (`compiler`).

mod builder;
mod encoding;
mod entries;
mod error;
mod flat;
mod interpret;
pub mod kernel;
mod limb;
mod movement;
mod movement_interpret;
mod op;
pub mod part;
mod procedure;
mod program;
mod provider;
mod schedule;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod text;
mod verify;

pub use builder::{ProcedureBuilder, ProgramBuilder};
pub use encoding::{EncodingError, decode_streams, encode_streams};
pub use entries::{Entries, EntryIter};
pub use error::IsaError;
pub use flat::{FlatProgram, NONE};
pub use interpret::interpret;
pub use limb::{Domain, LimbType};
pub use movement::{MovementPlan, Step, Traffic, TrafficClass};
pub use movement_interpret::interpret_plan;
pub use op::{Op, OpShape};
pub use procedure::{Inst, InstView, Procedure};
pub use program::{Call, InputDecl, KeyDecl, LimbProgram, OutputDecl, Source};
pub use provider::{ExecuteError, InputProvider, ProviderError, fetch};
pub use schedule::{
    Component, DramContent, DramSlot, Entry, Link, NO_SLOT, Schedule, Stream, StreamOp,
};
pub use verify::verify;
