//! All phases in a row.

use std::cell::RefCell;
use std::ops::ControlFlow;

use cyclotron_isa::{FlatProgram, LimbProgram, MovementPlan, Schedule};
use cyclotron_machine::Resolved;

use crate::bound::{LowerBound, lower_bound_until};
use crate::error::{CompileError, proceed};
use crate::legalize::legalize;
use crate::movement::{plan_movement, watch_movement};
use crate::place::{only_in_order, place};
use crate::placement::line::{Sink, place_steps};
use crate::placement::segment_size;
use crate::pressure::plan_by_pressure;
use crate::stats::{CompileStats, PlacementStats};

/// A phase of the compiler, in the order in which they run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// Operations that the machine lacks are expanded.
    Legalize,
    /// The lower bound is computed.
    Bound,
    /// Off-chip movement is planned.
    Movement,
    /// Every component gets its stream.
    Placement,
}

/// How phase 2 finds the order of instructions and what is loaded and evicted when.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Phase2 {
    /// [`plan_movement`]: by priority, on a simplified machine.
    #[default]
    Greedy,
    /// [`plan_by_pressure`]: code scheduling that minimizes register usage.
    Csr,
}

/// How to compile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Compile time against quality, 0 (fastest) to 2; see [`place`].
    pub effort: u8,
    /// For what [`place`] tries at random.
    pub seed: u64,
    /// How off-chip movement is planned.
    pub phase2: Phase2,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            effort: 1,
            seed: 0,
            phase2: Phase2::default(),
        }
    }
}

/// Everything that compilation made.
#[derive(Debug, Clone)]
pub struct Compiled {
    /// The legalized program.
    pub program: LimbProgram,
    /// Its flat view.
    pub flat: FlatProgram,
    /// Its off-chip movement.
    pub plan: MovementPlan,
    /// The streams of all components.
    pub schedule: Schedule,
    /// What no schedule can beat.
    pub bound: LowerBound,
    /// How busy the machine is.
    pub stats: CompileStats,
}

/// Is told the phase and the fraction of it that is done.
type Progress<'p> = dyn FnMut(Phase, f64) -> ControlFlow<()> + 'p;

/// Compiles a limb program for a machine. `progress` is called with the phase
/// and the fraction of it that is done, in `[0, 1]`, every few thousand
/// instructions of movement and placement, and so often that it can abandon the
/// work, by `Break`, within some tenths of a second also elsewhere. It is called on
/// the calling thread only; the others of rayon's current pool help, and never change
/// what comes out.
///
/// # Errors
/// [`CompileError`] says what the machine lacks or what does not fit;
/// [`CompileError::Interrupted`] if `progress` says so.
pub fn compile(
    program: &LimbProgram,
    machine: &Resolved,
    options: &Options,
    progress: &mut Progress<'_>,
) -> Result<Compiled, CompileError> {
    check_match(program, machine)?;
    proceed(progress(Phase::Legalize, 0.0))?;
    let supported = |op| machine.timing(op).is_some();
    let program = legalize(program, supported).map_err(|error| match error {
        CompileError::Unsupported { op, .. } => CompileError::Unsupported {
            op,
            machine: machine.name.clone(),
        },
        other => other,
    })?;
    let flat = FlatProgram::new(&program)?;
    proceed(progress(Phase::Legalize, 1.0))?;
    let mut pause = || proceed(progress(Phase::Bound, 0.0));
    let bound = lower_bound_until(&flat, machine, &mut pause)?;
    proceed(progress(Phase::Bound, 1.0))?;
    let (plan, schedule, placement) =
        if only_in_order(&flat, options) && options.phase2 == Phase2::Greedy {
            plan_and_place(&flat, machine, progress)?
        } else {
            let mut planned = |part| progress(Phase::Movement, part);
            let plan = match options.phase2 {
                Phase2::Greedy => plan_movement(&flat, machine, &mut planned)?,
                Phase2::Csr => plan_by_pressure(&flat, machine, &mut planned)?,
            };
            let (schedule, placement) = place(&flat, &plan, machine, options, &mut |part| {
                progress(Phase::Placement, part)
            })?;
            (plan, schedule, placement)
        };
    let stats = CompileStats::new(machine, &schedule, placement);
    Ok(Compiled {
        program,
        flat,
        plan,
        schedule,
        bound,
        stats,
    })
}

/// Plans off-chip movement, and places what is planned meanwhile.
fn plan_and_place(
    flat: &FlatProgram,
    machine: &Resolved,
    progress: &mut Progress<'_>,
) -> Result<(MovementPlan, Schedule, PlacementStats), CompileError> {
    let progress = RefCell::new(progress);
    let report = |phase, part| (progress.borrow_mut())(phase, part);
    let plan = |sink: &mut Sink<'_>| {
        let mut taken = 0;
        watch_movement(flat, machine, &mut |steps, part| {
            report(Phase::Movement, part)?;
            sink(&steps[taken..], &mut |_| report(Phase::Movement, part))?;
            taken = steps.len();
            ControlFlow::Continue(())
        })
    };
    place_steps(flat, machine, segment_size(flat), plan, &mut |part| {
        report(Phase::Placement, part)
    })
}

/// Whether the program's vectors and words are the machine's.
fn check_match(program: &LimbProgram, machine: &Resolved) -> Result<(), CompileError> {
    let mismatch = |what, program, resolved| CompileError::Mismatch {
        machine: machine.name.clone(),
        what,
        program,
        resolved,
    };
    if program.log_n != machine.log_n {
        let (of_program, of_machine) = (u64::from(program.log_n), u64::from(machine.log_n));
        return Err(mismatch("log2 N", of_program, of_machine));
    }
    let widest = program
        .moduli
        .iter()
        .max()
        .map_or(0, |q| u64::BITS - q.leading_zeros());
    if widest > machine.word_bits {
        let (of_program, of_machine) = (u64::from(widest), u64::from(machine.word_bits));
        return Err(mismatch("primes of so many bits:", of_program, of_machine));
    }
    Ok(())
}
