//! The sum that is scheduled by hand, simulated.

use cyclotron_isa::testing::HashInputs;
use cyclotron_isa::text::parse_schedule;
use cyclotron_isa::{FlatProgram, Schedule};
use cyclotron_machine::Resolved;
use cyclotron_machine::testing::{SUM_SCHEDULE, sum_program};
use cyclotron_ring::{Ring, Simd};
use cyclotron_simulator::{Options, SimError, Simulation, simulate};

/// The schedule, with the first occurrence of each text replaced.
pub fn schedule(edits: &[(&str, &str)]) -> Schedule {
    let mut text = SUM_SCHEDULE.to_owned();
    for (from, to) in edits {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, to, 1);
    }
    parse_schedule(&text).expect("well formed")
}

/// Simulates it on a machine.
pub fn run(
    edits: &[(&str, &str)],
    machine: &Resolved,
    options: Options<'_>,
) -> Result<Simulation<u32>, SimError> {
    let program = sum_program();
    let flat = FlatProgram::new(&program).expect("flat");
    let ring = Ring::new(program.log_n, &program.moduli, Simd::Scalar).expect("a ring");
    let inputs = HashInputs::new(1, &program);
    simulate(&flat, &schedule(edits), machine, &ring, &inputs, options)
}
