//! Phase 3 in the order of the plan.
//!
//! The plan is cut into segments ([`segment`]), which are placed on all threads ([`line`])
//! and joined ([`join`]). A placer takes the steps of a segment in order and gives each the
//! earliest cycle at which everything that it occupies is free: units, ports, slots,
//! channels. Resources are calendars with gaps ([`crate::calendar`]), so a
//! later step may run before an earlier one wherever nothing forbids it.
//!
//! - Where a value lies in the scratchpad and off-chip follows from the order of the plan
//!   alone ([`segmenter`]), so that segments agree on it.
//! - An *instruction* goes to the cluster where it costs least
//!   ([`cluster_choice`]): waiting, transfers of operands now and of its result
//!   later, and values that it pushes out of the register file. Missing
//!   operands come from a bank or another cluster, as late as does not delay it.
//! - A value stays in every register file that it reached until its slot is
//!   needed. It is written back to the scratchpad when its only copy goes,
//!   when nothing but a bank can pass it on, and at the end of a segment.
//! - Slots are reused chunk by chunk: a result may overwrite its operand.
//!
//! Placement moves no vector off-chip or on-chip-from-off-chip that the plan
//! does not. Every step can be placed at some cycle, so it ends. The size of segments
//! depends on the program alone, so the schedule does not depend on threads.

mod cluster_choice;
mod join;
pub(crate) mod line;
pub(crate) mod network;
pub(crate) mod path;
pub(crate) mod placer;
pub(crate) mod register_file;
pub(crate) mod residents;
pub(crate) mod scratchpad;
mod segment;
mod segmenter;
pub(crate) mod streams;
#[cfg(test)]
mod tests;
mod transfers;

use std::cell::RefCell;
use std::ops::ControlFlow;

use cyclotron_isa::{FlatProgram, MovementPlan, Schedule};
use cyclotron_machine::Resolved;

use crate::error::{CompileError, proceed};
use crate::stats::PlacementStats;
use line::{Sink, place_steps};

/// About so many instructions are in a segment.
const SEGMENT: usize = 1 << 15;

/// Instructions of each segment of a program: all of them are equally long.
pub(crate) fn segment_size(flat: &FlatProgram) -> usize {
    let segments = (flat.len() + SEGMENT / 2) / SEGMENT;
    flat.len().div_ceil(segments.max(1))
}

/// Places a movement plan of a legalized program on a machine, in its order.
pub(crate) fn place_in_order(
    flat: &FlatProgram,
    plan: &MovementPlan,
    machine: &Resolved,
    progress: &mut dyn FnMut(f64) -> ControlFlow<()>,
) -> Result<(Schedule, PlacementStats), CompileError> {
    let progress = RefCell::new(progress);
    let report = |part| (progress.borrow_mut())(part);
    let plan = |sink: &mut Sink<'_>| {
        let part = |placed| placed as f64 / plan.steps.len() as f64;
        proceed(sink(&plan.steps, &mut |placed| report(part(placed))))
    };
    let placed = place_steps(flat, machine, segment_size(flat), plan, &mut |part| {
        report(part)
    });
    placed.map(|((), schedule, stats)| (schedule, stats))
}
