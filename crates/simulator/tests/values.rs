//! Simulated schedules give the limbs of the reference interpreter.

use cyclotron_isa::testing::{HashInputs, ProgramShape, TestRng, random_program};
use cyclotron_isa::{DramContent, FlatProgram, LimbProgram, StreamOp, interpret};
use cyclotron_machine::testing::{random_resolved, schedule_naively};
use cyclotron_ring::{Ring, Simd, Word, primes};
use cyclotron_simulator::{Options, simulate};
use std::ops::ControlFlow;

const LOG_N: u32 = 5;

fn program(seed: u64, moduli: &[u64], word_bits: u32) -> LimbProgram {
    let mut rng = TestRng::new(seed);
    let mut shape = ProgramShape::small(LOG_N, word_bits, moduli);
    shape.compound = false;
    shape.calls = 1 + rng.index(16);
    shape.instructions = 10 + rng.index(60);
    random_program(seed, &shape)
}

#[test]
fn simulated_limbs_are_the_interpreters() {
    fn run<W: Word>(moduli: &[u64], seeds: std::ops::Range<u64>) {
        let ring = Ring::<W>::new(LOG_N, moduli, Simd::Scalar).expect("a ring");
        for seed in seeds {
            let program = program(seed, moduli, W::BITS);
            let flat = FlatProgram::new(&program).expect("flat");
            let machine = random_resolved(seed, LOG_N);
            let schedule = schedule_naively(&flat, &machine, seed).expect("every operation");
            let inputs = HashInputs::new(seed, &program);
            let expected = interpret(&program, &ring, &inputs).expect("runs");
            let options = Options::default();
            let result = simulate(&flat, &schedule, &machine, &ring, &inputs, options);
            let result = result.unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            assert_eq!(result.violations, [], "seed {seed}");
            assert_eq!(result.violation_count, 0);
            assert_eq!(result.outputs, expected, "seed {seed}");
            assert_eq!(result.cycles, schedule.cycles);
        }
    }
    let small = primes::ntt_primes(1 << 32, 1 << 16, 3);
    run::<u32>(&small, 0..80);
    let large = primes::ntt_primes(1 << 61, 1 << 17, 3);
    run::<u64>(&large, 80..120);
}

#[test]
fn threads_change_nothing() {
    let moduli = primes::ntt_primes(1 << 32, 1 << 16, 3);
    let ring = Ring::<u32>::new(LOG_N, &moduli, Simd::Scalar).expect("a ring");
    for seed in 0..10 {
        let program = program(seed, &moduli, 32);
        let flat = FlatProgram::new(&program).expect("flat");
        let machine = random_resolved(seed, LOG_N);
        let mut schedule = schedule_naively(&flat, &machine, seed).expect("every operation");
        // Also where things go wrong.
        let stream = schedule.streams.len() / 2;
        let later = (seed % 3) as u32 * 17;
        schedule.streams[stream]
            .entries
            .edit(|entries| entries[0].wait += later);
        let inputs = HashInputs::new(seed, &program);
        let [one, three] = [1, 3].map(|threads| {
            let options = Options {
                threads,
                ..Options::default()
            };
            simulate(&flat, &schedule, &machine, &ring, &inputs, options).expect("runs")
        });
        assert_eq!(one.outputs, three.outputs);
        assert_eq!(one.violations, three.violations);
        assert_eq!(one.activity, three.activity);
    }
}

#[test]
fn counts_are_those_of_the_schedule() {
    let moduli = primes::ntt_primes(1 << 32, 1 << 16, 3);
    let ring = Ring::<u32>::new(LOG_N, &moduli, Simd::Scalar).expect("a ring");
    for seed in 0..20 {
        let program = program(seed, &moduli, 32);
        let flat = FlatProgram::new(&program).expect("flat");
        let machine = random_resolved(seed, LOG_N);
        let schedule = schedule_naively(&flat, &machine, seed).expect("every operation");
        let inputs = HashInputs::new(seed, &program);
        let seen = std::cell::Cell::new(0.0);
        let progress = |fraction: f64| {
            assert!(fraction >= seen.get() && fraction <= 1.0);
            seen.set(fraction);
            ControlFlow::Continue(())
        };
        let options = Options {
            buckets: 7,
            progress: Some(&progress),
            ..Options::default()
        };
        let result = simulate(&flat, &schedule, &machine, &ring, &inputs, options).expect("runs");
        let entries = || schedule.streams.iter().flat_map(|s| &s.entries);
        let transfers = entries()
            .filter(|e| matches!(e.op, StreamOp::Load { .. } | StreamOp::Store { .. }))
            .count() as u64;
        assert_eq!(result.traffic.total(), transfers * machine.vector_bytes);
        let outputs = flat.outputs.len() as u64;
        assert_eq!(result.traffic.outputs, outputs * machine.vector_bytes);
        let of_input = |c| matches!(c, DramContent::Input(_));
        let used = schedule.dram.iter().filter(|s| of_input(s.content)).count() as u64;
        let first = result.traffic.hints_compulsory + result.traffic.inputs_compulsory;
        assert_eq!(first, used * machine.vector_bytes);
        assert_eq!(result.operations.iter().sum::<u64>(), flat.len() as u64);
        for activity in &result.activity {
            let (sum, capacity) = (
                activity.buckets.iter().sum::<u64>(),
                // A register file and a bank may read and write at once, on two ports each.
                activity.instances * result.bucket_cycles * 4,
            );
            assert_eq!(sum, activity.busy_cycles, "{}", activity.kind);
            assert!(activity.buckets.iter().all(|&busy| busy <= capacity));
        }
        assert!(seen.get() == 1.0);
    }
}
