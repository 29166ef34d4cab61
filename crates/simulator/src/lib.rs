//! Executes schedules cycle by cycle on the values of the limbs.
//!
//! The simulator does what the hardware would do with the streams, right or
//! wrong. Nothing stalls and nothing is repaired: a register file that writes
//! what a link delivers in a cycle in which nothing arrives writes zeros; a
//! read that starts before a value has arrived sees what was there before, word
//! by word; a unit or port that is started while it is busy gives zeros, and so does
//! an entry with an access that the banks of a register file cannot serve. Each
//! such event is also reported as a [`Violation`]. Only entries that no hardware
//! could even decode (a slot, unit or link that does not exist) are errors.
//!
//! # How
//! Times do not depend on values, so the streams are first turned into a graph:
//! which entry takes which stream, and which writes each read sees. Chunks are
//! taken at the finest grain, a word: word i of N of an entry that starts at t
//! with occupancy o moves at `t + o i / N`. A read that sees one write whole
//! shares its buffer; a mixture is put together word by word. Then the entries
//! that the outputs need are computed, in the order of their cycles, several at a
//! time where they are independent: one kernel call each, and the result does
//! not depend on the number of threads.
//!
//! # Conventions where hardware would be undefined
//! Nothing on a port, two streams on it, a busy port or unit, a slot that was
//! never written: zeros. Operands that must be canonical but belong to another
//! prime are reduced first. A result that would depend on itself (through chunks
//! of two overlapping entries) sees zeros instead.
//!
//! This crate shares no code with the compiler and none with the checker.

mod activity;
mod contents;
mod energy;
mod error;
mod evaluate;
mod graph;
mod layout;
mod order;
mod perfetto;
mod perfetto_format;
mod simulate;
mod streams;
mod trace;
mod turns;
mod values;
mod violation;

pub use activity::{Activity, Counts, count};
pub use energy::{Energy, EnergyLine, energy};
pub use error::{EntryFault, SimError};
pub use perfetto::perfetto_trace;
pub use simulate::{Options, Simulation, simulate};
pub use violation::{Violation, ViolationKind};
