//! Random programs, random machines, and schedules of both the compiler and the
//! naive scheduler.

use std::ops::ControlFlow;

use cyclotron_compiler::{CompileError, compile};
use cyclotron_isa::testing::{HashInputs, ProgramShape, TestRng, random_program};
use cyclotron_isa::{FlatProgram, LimbProgram, Schedule, interpret};
use cyclotron_machine::testing::{random_resolved, schedule_naively};
use cyclotron_machine::{Machine, Resolved};
use cyclotron_ring::{LimbBuf, Ring, Simd, primes};
use cyclotron_simulator::{Options, Simulation, simulate};

const LOG_N: u32 = 6;

/// A legal schedule.
pub(crate) struct Case {
    pub(crate) what: String,
    pub(crate) program: LimbProgram,
    pub(crate) flat: FlatProgram,
    pub(crate) machine: Resolved,
    pub(crate) schedule: Schedule,
    /// The lower bound, if the compiler made the schedule.
    pub(crate) bound: Option<u64>,
    pub(crate) seed: u64,
}

/// The primes of all programs.
fn moduli() -> Vec<u64> {
    primes::ntt_primes(1 << 32, 1 << 16, 3)
}

fn program(seed: u64) -> LimbProgram {
    let mut rng = TestRng::new(seed);
    let mut shape = ProgramShape::small(LOG_N, 32, &moduli());
    shape.compound = false;
    shape.calls = 1 + rng.index(10);
    shape.instructions = 5 + rng.index(40);
    random_program(seed, &shape)
}

/// A random machine; every fourth is F1.
pub(crate) fn machine(seed: u64) -> Resolved {
    if !seed.is_multiple_of(4) {
        return random_resolved(seed, LOG_N);
    }
    let f1 = Machine::shipped("f1").expect("shipped");
    let mut f1 = f1.resolve(F1_LOG_N).expect("resolves");
    // The times of N = 2^14, the words of a small ring.
    f1.log_n = LOG_N;
    f1.vector_bytes = 4 << LOG_N;
    f1
}

const F1_LOG_N: u32 = 14;

/// The compiler's schedule on a machine, if the program fits.
pub(crate) fn compiled(seed: u64, machine: Resolved) -> Option<Case> {
    let program = program(seed);
    let options = cyclotron_compiler::Options::default();
    match compile(&program, &machine, &options, &mut |_, _| {
        ControlFlow::Continue(())
    }) {
        Ok(compiled) => Some(Case {
            what: format!("program {seed} compiled for {}", machine.name),
            program,
            flat: compiled.flat,
            machine,
            schedule: compiled.schedule,
            bound: Some(compiled.bound.cycles),
            seed,
        }),
        Err(CompileError::DoesNotFit { .. }) => None,
        Err(other) => panic!("{seed}: {other}"),
    }
}

/// The naive scheduler's schedule, if the machine has all operations.
pub(crate) fn naive(seed: u64, machine: Resolved) -> Option<Case> {
    let program = program(seed);
    let flat = FlatProgram::new(&program).expect("flat");
    Some(Case {
        what: format!("program {seed} scheduled naively for {}", machine.name),
        schedule: schedule_naively(&flat, &machine, seed)?,
        program,
        flat,
        machine,
        bound: None,
        seed,
    })
}

/// Schedules of both sorts.
pub(crate) fn cases(seeds: std::ops::Range<u64>) -> Vec<Case> {
    let both = |seed| [compiled(seed, machine(seed)), naive(seed, machine(seed))];
    seeds.flat_map(both).flatten().collect()
}

impl Case {
    /// Simulates on values, and compares them with the interpreter's.
    pub(crate) fn simulate(&self, threads: usize) -> Simulation<u32> {
        let options = Options {
            threads,
            ..Options::default()
        };
        let ring = Ring::new(LOG_N, &moduli(), Simd::Scalar).expect("a ring");
        let inputs = HashInputs::new(self.seed, &self.program);
        let run = simulate(
            &self.flat,
            &self.schedule,
            &self.machine,
            &ring,
            &inputs,
            options,
        );
        let run = run.unwrap_or_else(|e| panic!("{}: {e}", self.what));
        assert_eq!(run.violations, [], "{}", self.what);
        let expected: Vec<LimbBuf<u32>> = interpret(&self.program, &ring, &inputs).expect("runs");
        assert!(run.outputs == expected, "{}", self.what);
        run
    }
}
