//! Phase 3 in the order of the plan.
//!
//! Takes the steps of the movement plan in order and gives each the earliest
//! cycle at which everything that it occupies is free: units, ports, slots,
//! channels. Resources are calendars with gaps ([`crate::calendar`]), so a
//! later step may run before an earlier one wherever nothing forbids it.
//!
//! - A *load* takes the first free channel and bank slot.
//! - An *instruction* goes to the cluster where it costs least
//!   ([`cluster_choice`]): waiting, transfers of operands now and of its result
//!   later, and values that it pushes out of the register file. Missing
//!   operands come from a bank or another cluster, as late as does not delay it.
//! - A value stays in every register file that it reached until its slot is
//!   needed. It is written back to the scratchpad when its only copy goes, or
//!   when nothing but a bank can pass it on.
//! - Slots are reused chunk by chunk: a result may overwrite its operand.
//!
//! Placement moves no vector off-chip or on-chip-from-off-chip that the plan
//! does not. Every step can be placed at some cycle, so it ends.

mod cluster_choice;
pub(crate) mod network;
pub(crate) mod path;
pub(crate) mod placer;
pub(crate) mod register_file;
pub(crate) mod residents;
pub(crate) mod scratchpad;
pub(crate) mod streams;
mod transfers;

use std::ops::ControlFlow;

use cyclotron_isa::{FlatProgram, MovementPlan, Schedule};
use cyclotron_machine::Resolved;

use crate::error::CompileError;
use crate::stats::PlacementStats;
use placer::Placer;

/// Places a movement plan of a legalized program on a machine, in its order.
pub(crate) fn place_in_order(
    flat: &FlatProgram,
    plan: &MovementPlan,
    machine: &Resolved,
    progress: &mut dyn FnMut(f64) -> ControlFlow<()>,
) -> Result<(Schedule, PlacementStats), CompileError> {
    Placer::new(flat, plan, machine)?.run(progress)
}
