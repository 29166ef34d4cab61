//! Phase 3: every cycle of every component.
//!
//! There are two ways to place a plan. *In its order* ([`crate::placement`]):
//! fast, and it always ends. *By the clock* ([`crate::dispatch`]): far better
//! schedules, slower, and in a small scratchpad it may get stuck. Policies of the
//! second are tried as long as the program's size and the effort allow, and the
//! schedule with the fewest cycles wins. The first way is taken only where all
//! policies got stuck, and beside them where it costs next to nothing.
//!
//! Neither moves a vector off-chip or on-chip-from-off-chip that the plan does not.

use cyclotron_isa::{FlatProgram, MovementPlan, Schedule};
use cyclotron_machine::Resolved;

use crate::compile::Options;
use crate::dispatch::{Policy, dispatch};
use crate::error::CompileError;
use crate::placement::place_in_order;
use crate::stats::PlacementStats;

/// Instructions that may be placed by the clock, by effort, all trials together.
const BUDGET: [u64; 3] = [0, 1 << 18, 1 << 21];
/// Most trials, whatever the program's size.
const MOST_TRIALS: u64 = 24;
/// Trials in a row without a better schedule, by effort, after which no more are made.
const PATIENCE: [u64; 3] = [0, 4, 12];
/// Programs of at most so many instructions are also placed in the plan's order.
const SMALL: u64 = 1 << 12;
/// Part of the scratchpad, in eighths, that loads leave to results: at first, and
/// once a trial got stuck.
const RESERVE: u64 = 1;
const MOST_RESERVE: u64 = 4;

/// Places a movement plan of a legalized program on a machine.
///
/// Effort 0 takes the plan's order; 1 tries up to 2^18 instructions in all by
/// the clock, 2 up to 2^21. The trials after the first few are drawn with
/// `seed`; the same options always give the same schedule. `progress` is called
/// now and then with the fraction done, in `[0, 1]`.
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
    let effort = usize::from(options.effort).min(BUDGET.len() - 1);
    let size = (flat.len() as u64).max(1);
    let trials = (BUDGET[effort] / size).min(MOST_TRIALS);
    let share = 1.0 / (trials + 1) as f64;
    let mut in_order = || place_in_order(flat, plan, machine, &mut |part| progress(part * share));
    let mut best = if trials == 0 || size <= SMALL {
        Some(in_order()?)
    } else {
        None
    };
    let (mut next, mut failures, mut reserve) = (0, 0, RESERVE);
    for trial in 0..trials {
        let policy = Policy {
            reserve,
            ..Policy::of_trial(next, options.seed)
        };
        let done = (trial + 1) as f64;
        let mut report = |part: f64| progress((done + part) * share);
        let found = dispatch(flat, plan, machine, policy, &mut report)?;
        if found.is_none() && reserve < MOST_RESERVE {
            reserve = MOST_RESERVE;
            continue;
        }
        next += 1;
        failures += 1;
        if let Some(found) = found
            && best
                .as_ref()
                .is_none_or(|best| found.0.cycles < best.0.cycles)
        {
            best = Some(found);
            failures = 0;
        }
        if failures >= PATIENCE[effort] {
            break;
        }
    }
    let best = match best {
        Some(best) => best,
        None => place_in_order(flat, plan, machine, &mut |_| {})?,
    };
    progress(1.0);
    Ok(best)
}
