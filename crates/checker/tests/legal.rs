//! Legal schedules of random programs on random machines are accepted.

use cyclotron_checker::check;
use cyclotron_isa::testing::{ProgramShape, TestRng, random_program};
use cyclotron_isa::{FlatProgram, StreamOp};
use cyclotron_machine::testing::{random_resolved, schedule_naively};

const PRIMES: [u64; 3] = [4293918721, 4293525505, 786433];

/// A random program without list operations, flat.
fn random_flat(seed: u64) -> FlatProgram {
    let mut rng = TestRng::new(seed);
    let mut shape = ProgramShape::small(10, 32, &PRIMES);
    shape.compound = false;
    shape.calls = 1 + rng.index(16);
    shape.instructions = 10 + rng.index(60);
    FlatProgram::new(&random_program(seed, &shape)).expect("flat")
}

#[test]
fn naive_schedules_are_accepted() {
    let (mut spills, mut entries) = (0, 0);
    for seed in 0..300 {
        let flat = random_flat(seed);
        let machine = random_resolved(seed, 10);
        let schedule = schedule_naively(&flat, &machine, seed).expect("every operation");
        let report = check(&flat, &schedule, &machine).unwrap_or_else(|e| panic!("{seed}: {e}"));
        assert_eq!(report.cycles, schedule.cycles);
        assert_eq!(report.computes, flat.len() as u64);
        entries += report.entries;
        let loads = |op: &StreamOp| matches!(op, StreamOp::Load { .. });
        let streams = schedule.streams.iter().flat_map(|s| &s.entries);
        let found = streams.filter(|e| loads(&e.op)).count() as u64;
        assert_eq!(report.loads, found);
        spills += report.stores - flat.outputs.len() as u64;
    }
    assert!(spills > 100, "{spills}");
    assert!(entries > 50_000, "{entries}");
}
