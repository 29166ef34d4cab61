//! Phase 3 by the clock: a list scheduler.
//!
//! The clock advances in steps of about one vector. At each, instructions whose
//! operands are on the chip or will be soon are looked at in the order of their
//! priority, and those that can start within the lookahead are issued.
//!
//! - Instructions go to clusters in *cones* ([`cones`]): what is computed for one
//!   reader only stays in one cluster. A cone goes where it costs least: waiting,
//!   work that waits there already, transfers, a full register file.
//! - An operand that is missing comes from a bank or another cluster, or joins a
//!   stream of the same value to a third one (multicast).
//! - Register files are counted over time ([`occupancy`]); slots are given when
//!   all is placed ([`copies`]). What is missed least is pushed out if one is full.
//! - Loads are issued in the plan's order as bank slots and channels are free.
//!
//! Instructions need not keep to the plan's order, so in a small scratchpad it
//! may get stuck; the caller then places the plan in its order.

mod choose;
mod cones;
mod copies;
mod engine;
mod issue;
mod memory;
mod occupancy;
mod policy;
mod records;
mod stays;
mod tasks;
mod transfer;

use cyclotron_isa::{FlatProgram, MovementPlan, Schedule};
use cyclotron_machine::Resolved;

use crate::error::CompileError;
use crate::stats::PlacementStats;
use engine::Engine;
pub(crate) use policy::Policy;

/// Places a movement plan; `None` if it got stuck.
pub(crate) fn dispatch(
    flat: &FlatProgram,
    plan: &MovementPlan,
    machine: &Resolved,
    policy: Policy,
    progress: &mut dyn FnMut(f64),
) -> Result<Option<(Schedule, PlacementStats)>, CompileError> {
    Engine::new(flat, plan, machine, policy)?.run(progress)
}
