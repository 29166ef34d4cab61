//! Programs compiled for a machine.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};

use cyclotron_checker::{CheckReport, check};
use cyclotron_compiler::{Compiled, LowerBound, Options, Phase, compile, lower_bound};
use cyclotron_isa::{FlatProgram, LimbProgram, Schedule, Traffic, encode_streams};
use cyclotron_lower::split;
use cyclotron_machine::{Machine, Resolved};
use cyclotron_schemes::Parameters;
use cyclotron_simulator::{Counts, Energy, Violation, count, energy, perfetto_trace};

use crate::error::SessionError;
use crate::interface::Interface;
use crate::plan::Plan;

/// Buckets of the activity over time.
const BUCKETS: usize = 100;

/// A schedule with everything that is needed to check, simulate and report it.
#[derive(Debug)]
pub struct MachineSchedule {
    pub(crate) params: Arc<Parameters>,
    pub(crate) interface: Interface,
    pub(crate) machine: Machine,
    pub(crate) resolved: Resolved,
    /// On vectors of the machine's length, legalized.
    pub(crate) program: LimbProgram,
    pub(crate) flat: FlatProgram,
    pub(crate) schedule: Schedule,
    /// Known after compilation, computed on request after loading.
    pub(crate) bound: OnceLock<LowerBound>,
}

/// A schedule's length, bound, traffic and use of the machine, counted from its
/// streams.
#[derive(Debug, Clone)]
pub struct ScheduleReport {
    /// The cycle at which the last component finishes.
    pub cycles: u64,
    /// The same in milliseconds of the machine's clock.
    pub milliseconds: f64,
    /// What no schedule of this limb program can beat, and what proves it.
    pub bound: LowerBound,
    /// Instructions of the legalized program.
    pub instructions: u64,
    /// Entries of all streams.
    pub entries: u64,
    /// Activity, traffic in bytes, and operations.
    pub counts: Counts,
}

/// What a simulation took and what went wrong in it.
#[derive(Debug, Clone)]
pub struct Simulated {
    /// Wall-clock seconds of the simulation.
    pub seconds: f64,
    /// Cycles of the machine.
    pub cycles: u64,
    /// The same in milliseconds of the machine's clock.
    pub milliseconds: f64,
    /// Off-chip traffic in bytes.
    pub traffic: Traffic,
    /// What went wrong, in the order of the cycles; the first ten thousand.
    pub violations: Vec<Violation>,
    /// How much went wrong: 0 for a schedule that [`MachineSchedule::check`] accepts.
    pub violation_count: u64,
}

impl MachineSchedule {
    /// Compiles a plan for a machine; polynomials longer than the machine's vectors are
    /// several vectors. `progress` is called with the phase and the
    /// fraction of it that is done; `Break` abandons the work.
    ///
    /// # Errors
    /// What the machine lacks, or what does not fit.
    pub fn compile(
        plan: &Plan,
        machine: &Machine,
        options: &Options,
        progress: &mut dyn FnMut(Phase, f64) -> ControlFlow<()>,
    ) -> Result<Self, SessionError> {
        let resolved = machine.resolve_for_polynomials(plan.program().log_n)?;
        let parts = split(plan.program(), resolved.log_n)?;
        let Compiled {
            program,
            flat,
            schedule,
            bound,
            ..
        } = compile(&parts, &resolved, options, progress)?;
        Ok(MachineSchedule {
            params: Arc::clone(plan.params()),
            interface: plan.interface().clone(),
            machine: machine.clone(),
            resolved,
            program,
            flat,
            schedule,
            bound: OnceLock::from(bound),
        })
    }

    /// The machine.
    #[must_use]
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The limb program on the machine's vectors, legalized.
    #[must_use]
    pub fn program(&self) -> &LimbProgram {
        &self.program
    }

    /// The streams.
    #[must_use]
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// Proves the schedule legal and equal to its limb program.
    ///
    /// # Errors
    /// [`SessionError::Check`] with the first fault.
    pub fn check(&self) -> Result<CheckReport, SessionError> {
        Ok(check(&self.flat, &self.schedule, &self.resolved)?)
    }

    /// The energy of what the schedule does, by component and event.
    #[must_use]
    pub fn energy(&self) -> Energy {
        energy(&self.schedule, &self.machine, &self.resolved)
    }

    /// What each kind of component does over time, in at most so many buckets of
    /// equal length.
    #[must_use]
    pub fn activity(&self, buckets: usize) -> Counts {
        count(&self.flat, &self.schedule, &self.resolved, buckets)
    }

    /// Writes the schedule as a trace for Perfetto.
    ///
    /// # Errors
    /// What `out` reports.
    pub fn write_trace(&self, out: &mut impl Write) -> io::Result<()> {
        perfetto_trace(&self.flat, &self.schedule, &self.resolved, out)
    }

    /// Bytes of all instruction streams in their compact encoding: what the
    /// machine fetches to execute the schedule once.
    #[must_use]
    pub fn instruction_bytes(&self) -> u64 {
        encode_streams(&self.schedule.streams).len() as u64
    }

    /// Counts what the schedule does.
    ///
    /// # Errors
    /// [`SessionError::Compile`] if the machine cannot execute the program at all.
    pub fn report(&self) -> Result<ScheduleReport, SessionError> {
        let bound = match self.bound.get() {
            Some(bound) => bound.clone(),
            None => {
                let bound = lower_bound(&self.flat, &self.resolved)?;
                self.bound.get_or_init(|| bound).clone()
            }
        };
        let counts = self.activity(BUCKETS);
        Ok(ScheduleReport {
            cycles: counts.cycles,
            milliseconds: self.resolved.seconds(counts.cycles) * 1e3,
            bound,
            instructions: self.flat.len() as u64,
            entries: self
                .schedule
                .streams
                .iter()
                .map(|s| s.entries.len() as u64)
                .sum(),
            counts,
        })
    }
}
