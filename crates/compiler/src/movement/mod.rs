//! Phase 2: which value is in the scratchpad when, and all off-chip traffic.
//!
//! A greedy list scheduler on a simplified machine: one scratchpad of all
//! slots, the chip's functional units attached to it directly, and the off-chip
//! channels with their bandwidth. An instruction is *ready* when its operands
//! are in the scratchpad; among ready ones the first in program order goes.
//! Loads are issued as bandwidth frees, the value that is read first before
//! others. When a place is needed, the value whose next use is furthest goes;
//! a value that exists nowhere else is stored first.
//!
//! Two rules keep decoupled execution from thrashing the scratchpad:
//! - *Do no harm*: nothing is evicted to make room for something that is
//!   needed later than it.
//! - *Headroom*: loads and instructions that are further ahead of the oldest
//!   unissued instruction than the memory's latency takes to hide may only use
//!   free places, and leave some of them free.
//!
//! The oldest unissued instruction may always proceed, so the plan ends.
//!
//! Deliberately not here: where in the scratchpad a value lies, and everything
//! on the chip (`placement`).

mod evictions;
mod issue;
pub(crate) mod ledger;
mod loads;
mod mover;
pub(crate) mod victims;

use std::ops::ControlFlow;

use cyclotron_isa::{FlatProgram, MovementPlan, Step};
use cyclotron_machine::Resolved;

use crate::error::CompileError;
use crate::topology::Topology;
use crate::uses::distinct_sources;
use mover::Mover;

/// Plans the off-chip movement of a legalized program.
///
/// `progress` is called now and then with the fraction done, in `[0, 1]`.
///
/// # Errors
/// [`CompileError::DoesNotFit`] if not even one instruction fits the
/// scratchpad, [`CompileError::Unsupported`] and [`CompileError::Disconnected`]
/// if the machine lacks an operation or a connection.
pub fn plan_movement(
    flat: &FlatProgram,
    machine: &Resolved,
    progress: &mut dyn FnMut(f64) -> ControlFlow<()>,
) -> Result<MovementPlan, CompileError> {
    watch_movement(flat, machine, &mut |_, part| progress(part))
}

/// Is told now and then all steps so far, and the fraction that they are.
pub(crate) type Watch<'w> = dyn FnMut(&[Step], f64) -> ControlFlow<()> + 'w;

/// As [`plan_movement`]; at the end, `watch` is told all steps.
pub(crate) fn watch_movement(
    flat: &FlatProgram,
    machine: &Resolved,
    watch: &mut Watch<'_>,
) -> Result<MovementPlan, CompileError> {
    let topology = Topology::new(machine)?;
    // No step is made yet.
    let mover = Mover::new(flat, machine, &topology, &mut |part| watch(&[], part))?;
    mover.run(watch)
}

/// Whether the scratchpad holds every instruction's operands and result.
pub(crate) fn check_capacity(
    flat: &FlatProgram,
    live: &[bool],
    capacity: usize,
) -> Result<(), CompileError> {
    let needs = (0..flat.len())
        .filter(|&inst| live[inst])
        .map(|inst| distinct_sources(flat, inst).1 + 1)
        .max()
        .unwrap_or(usize::from(!flat.outputs.is_empty()));
    if needs > capacity {
        return Err(CompileError::DoesNotFit {
            what: "one instruction's operands and result in the scratchpad (vectors)".into(),
            needs: needs as u64,
            has: capacity as u64,
            fix: "enlarge the scratchpad, or lower log2 N".into(),
        });
    }
    Ok(())
}
