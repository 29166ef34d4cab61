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

use std::sync::atomic::{AtomicU64, Ordering};

use cyclotron_isa::{FlatProgram, MovementPlan, Schedule};
use cyclotron_machine::Resolved;

use crate::abreast::{Report, abreast};
use crate::compile::Options;
use crate::dispatch::{Policy, dispatch};
use crate::error::{CompileError, proceed};
use crate::placement::place_in_order;
use crate::stats::PlacementStats;

/// Instructions that may be placed by the clock, by effort, all trials together.
const BUDGET: [u64; 3] = [0, 1 << 19, 1 << 23];
/// Most trials, whatever the program's size, by effort.
const MOST_TRIALS: [u64; 3] = [0, 96, 512];
/// Policies that are tried at the same time, each as if it were alone: so many vary the same
/// best one.
const ABREAST: u64 = 4;
/// Trials in a row without a better schedule, by effort, after which no more are made.
const PATIENCE: [u32; 3] = [0, 32, 160];
/// Programs of at most so many instructions are also placed in the plan's order.
const SMALL: u64 = 1 << 12;

/// A schedule, and how busy it keeps the machine.
type Placed = (Schedule, PlacementStats);

fn effort(options: &Options) -> usize {
    usize::from(options.effort).min(BUDGET.len() - 1)
}

/// How often a program is placed by the clock.
fn trials(flat: &FlatProgram, options: &Options) -> u64 {
    let (size, effort) = ((flat.len() as u64).max(1), effort(options));
    (BUDGET[effort] / size).min(MOST_TRIALS[effort])
}

/// Whether a program is placed in the plan's order only, which can begin before the plan
/// is complete.
pub(crate) fn only_in_order(flat: &FlatProgram, options: &Options) -> bool {
    trials(flat, options) == 0
}

/// The best that several policies make of a plan in at most `most` cycles, the first of equals.
///
/// Each ends when it is later than another is. So the threads' speed decides how long policies
/// are followed, but never which one is best.
fn try_all(
    flat: &FlatProgram,
    plan: &MovementPlan,
    machine: &Resolved,
    (policies, most): (&[Policy], u64),
    progress: &mut Report<'_>,
) -> Result<Option<(Policy, Placed)>, CompileError> {
    let most = AtomicU64::new(most);
    let found = abreast(
        policies.len(),
        |index, report| {
            let found = dispatch(flat, plan, machine, (policies[index], &most), report)?;
            let cycles = |found: &Placed| found.0.cycles;
            let before = found
                .as_ref()
                .map(|found| most.fetch_min(cycles(found), Ordering::Relaxed));
            Ok(found.filter(|found| before.is_some_and(|before| cycles(found) <= before)))
        },
        progress,
    )?;
    let found = policies.iter().copied().zip(found);
    let found = found.filter_map(|(policy, found)| Some((policy, found?)));
    Ok(found.min_by_key(|(_, found)| found.0.cycles))
}

/// Places a movement plan of a legalized program on a machine.
///
/// Effort 0 takes the plan's order; 1 tries up to 2^19 instructions in all by
/// the clock, 2 up to 2^23. The trials after the first few are drawn with
/// `seed`, or vary the best so far; the same options always give the same schedule. `progress` is called
/// now and then with the fraction done, in `[0, 1]`; `Break` abandons the work.
///
/// # Errors
/// [`CompileError::DoesNotFit`] if a register file cannot hold one
/// instruction's operands; [`CompileError::Unsupported`] and
/// [`CompileError::Disconnected`] if the machine lacks an operation or a
/// connection; [`CompileError::Interrupted`] if `progress` says so.
pub fn place(
    flat: &FlatProgram,
    plan: &MovementPlan,
    machine: &Resolved,
    options: &Options,
    progress: &mut Report<'_>,
) -> Result<Placed, CompileError> {
    let effort = effort(options);
    let size = flat.len() as u64;
    let trials = trials(flat, options);
    let share = 1.0 / (trials + 1) as f64;
    let mut in_order = || place_in_order(flat, plan, machine, &mut |part| progress(part * share));
    let mut best = if trials == 0 || size <= SMALL {
        Some(in_order()?)
    } else {
        None
    };
    let (mut chosen, mut failures) = (None, 0);
    let mut trial = 0;
    while trial < trials && failures < PATIENCE[effort] {
        let next = trials.min(trial + ABREAST);
        let policy = |trial| Policy::of_trial(trial, options.seed, chosen.as_ref());
        let policies: Vec<Policy> = (trial..next).map(policy).collect();
        let most = best
            .as_ref()
            .map_or(u64::MAX, |best| best.0.cycles.saturating_sub(1));
        let (done, round) = ((trial + 1) as f64, policies.len() as f64);
        let mut report = |part: f64| progress((done + part * round) * share);
        let found = try_all(flat, plan, machine, (&policies, most), &mut report)?;
        failures += policies.len() as u32;
        if let Some((policy, found)) = found {
            (best, chosen) = (Some(found), Some(policy));
            failures = 0;
        }
        trial = next;
    }
    let best = match best {
        Some(best) => best,
        None => place_in_order(flat, plan, machine, &mut |_| progress(1.0))?,
    };
    proceed(progress(1.0))?;
    Ok(best)
}
