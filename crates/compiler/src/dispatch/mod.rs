//! Phase 3 by the clock: a list scheduler.
//!
//! The clock advances in steps of about one vector. At each, cones ([`cones`]) whose
//! operands are on the chip or will be soon are looked at in the order of their
//! priority, and those that can start within the lookahead are issued, all their
//! instructions at once.
//!
//! - A *cone* is what is computed for one reader only. It goes where it can start
//!   first, with a cost for every value that must be brought.
//! - An operand that is missing comes from a bank or another cluster just before it is
//!   read, or joins a stream of the same value to a third cluster (multicast). Most policies
//!   let arrivals begin only in the first 8 of every 132 cycles ([`transfer`]): a transfer needs
//!   a gap of a vector's length on several ports at once, and such gaps are rare where each
//!   port's transfers begin at any cycle. Nothing is brought before all that an instruction
//!   needs can be.
//! - A result that leaves its cone is written to a bank at once. From then on its copy in
//!   the register file is worth something, but may go at any time: it occupies a slot
//!   from its write to its last known read, and a later read extends that if the slot is
//!   still free ([`occupancy`]). So every interval that others must respect has an end.
//!   Slots are given when all is placed ([`copies`]).
//! - Loads are issued in the plan's order as bank slots and channels are free.
//!
//! Instructions need not keep to the plan's order, so in a small scratchpad it
//! may get stuck; the caller then places the plan in its order.

mod choose;
mod cones;
mod copies;
mod engine;
mod gangs;
mod inner;
mod issue;
mod memory;
mod occupancy;
mod policy;
mod records;
mod stays;
mod tasks;
mod transfer;

use std::ops::ControlFlow;
use std::sync::atomic::AtomicU64;

use cyclotron_isa::{FlatProgram, MovementPlan, Schedule};
use cyclotron_machine::Resolved;

use crate::error::CompileError;
use crate::stats::PlacementStats;
use engine::Engine;
pub(crate) use policy::Policy;

/// Places a movement plan; `None` if it got stuck, or takes more than `most` cycles, which
/// may become fewer meanwhile.
pub(crate) fn dispatch(
    flat: &FlatProgram,
    plan: &MovementPlan,
    machine: &Resolved,
    (policy, most): (Policy, &AtomicU64),
    progress: &mut dyn FnMut(f64) -> ControlFlow<()>,
) -> Result<Option<(Schedule, PlacementStats)>, CompileError> {
    Engine::new(flat, plan, machine, policy)?.run(most, progress)
}
