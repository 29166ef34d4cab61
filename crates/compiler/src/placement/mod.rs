//! Phase 3: every cycle of every component.
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
mod network;
mod path;
mod placer;
mod register_file;
mod residents;
mod scratchpad;
mod streams;
mod transfers;

use cyclotron_isa::{FlatProgram, MovementPlan, Schedule};
use cyclotron_machine::Resolved;

use crate::compile::Options;
use crate::error::CompileError;
use crate::stats::PlacementStats;
use placer::Placer;

/// Places a movement plan of a legalized program on a machine.
///
/// `progress` is called now and then with the fraction done, in `[0, 1]`.
///
/// # Errors
/// [`CompileError::DoesNotFit`] if a register file cannot hold one
/// instruction's operands; [`CompileError::Unsupported`] and
/// [`CompileError::Disconnected`] if the machine lacks an operation or a
/// connection.
pub fn place(
    flat: &FlatProgram,
    plan: &MovementPlan,
    machine: &Resolved,
    options: &Options,
    progress: &mut dyn FnMut(f64),
) -> Result<(Schedule, PlacementStats), CompileError> {
    Placer::new(flat, plan, machine, options)?.run(progress)
}
