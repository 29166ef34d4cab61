//! Phase 2 by register pressure: what the greedy movement is compared with.
//!
//! Code scheduling that minimizes register usage, after Goodman and Hsu
//! (*Code Scheduling and Register Allocation in Large Basic Blocks*, 1988), with
//! the scratchpad's places as registers. [`order`] is their integrated prepass
//! scheduling: while places are plentiful the instruction with the longest way to
//! the end goes first, and when they are scarce the one that frees most.
//! [`allocate`] then loads operands when the order comes to them and, where a
//! place is needed, evicts the value whose next use is furthest.
//!
//! What the greedy movement knows and this does not: when loads arrive, how busy
//! units and channels are, and the priorities that keep uses of one hint together.

mod allocate;
mod order;

use std::ops::ControlFlow;

use cyclotron_isa::{FlatProgram, MovementPlan};
use cyclotron_machine::Resolved;

use crate::error::{CompileError, proceed};
use crate::movement::check_capacity;
use crate::placement::placer::result_delay;
use crate::topology::{Topology, op_timings};
use crate::uses::live_instructions;

/// The largest program that is scheduled by register pressure, in limb instructions.
pub const MOST_INSTRUCTIONS: usize = 1 << 20;
/// Places are scarce when fewer than this fraction of them is left.
const SCARCE: usize = 8;

/// Plans the off-chip movement of a legalized program by register pressure.
///
/// `progress` is called now and then with the fraction done, in `[0, 1]`.
/// Takes time n log n and some 100 bytes an instruction.
///
/// # Errors
/// [`CompileError::TooLarge`] for programs of more than [`MOST_INSTRUCTIONS`];
/// otherwise as [`crate::plan_movement`].
pub fn plan_by_pressure(
    flat: &FlatProgram,
    machine: &Resolved,
    progress: &mut dyn FnMut(f64) -> ControlFlow<()>,
) -> Result<MovementPlan, CompileError> {
    if flat.len() > MOST_INSTRUCTIONS {
        return Err(CompileError::TooLarge {
            what: "scheduling by register pressure",
            instructions: flat.len() as u64,
            most: MOST_INSTRUCTIONS as u64,
            fix: "take the default phase 2",
        });
    }
    let topology = Topology::new(machine)?;
    let timing = op_timings(flat, machine)?;
    let capacity = usize::try_from(topology.capacity).expect("a scratchpad fits memory");
    let live = live_instructions(flat);
    check_capacity(flat, &live, capacity)?;
    let mut pause = |part| proceed(progress(part));
    pause(0.0)?;
    let delay = |inst: usize| result_delay(timing[flat.op[inst] as usize], machine);
    let order = order::order(flat, &live, (capacity, capacity / SCARCE), delay, |done| {
        pause(done / 2.0)
    })?;
    let plan = allocate::allocate(flat, &order, capacity, |done| pause(0.5 + done / 2.0))?;
    pause(1.0)?;
    Ok(plan)
}
