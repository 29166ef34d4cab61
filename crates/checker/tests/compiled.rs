//! Compiled schedules: accepted, and simulated to the interpreter's limbs.

use std::ops::ControlFlow;

use cyclotron_checker::check;
use cyclotron_compiler::{CompileError, Options, compile};
use cyclotron_isa::testing::{HashInputs, ProgramShape, TestRng, random_program};
use cyclotron_isa::{interpret, interpret_plan};
use cyclotron_machine::testing::random_resolved;
use cyclotron_machine::{Machine, Resolved};
use cyclotron_ring::{Ring, Simd, primes};
use cyclotron_simulator::simulate;

const LOG_N: u32 = 10;

/// Whether it fits.
fn verify(seed: u64, machine: &Resolved, ring: &Ring<u32>, moduli: &[u64]) -> bool {
    let mut rng = TestRng::new(seed);
    let mut shape = ProgramShape::small(LOG_N, 32, moduli);
    shape.calls = 1 + rng.index(12);
    shape.instructions = 5 + rng.index(40);
    let program = random_program(seed, &shape);
    let compiled = match compile(&program, machine, &Options::default(), &mut |_, _| {
        ControlFlow::Continue(())
    }) {
        Ok(compiled) => compiled,
        Err(CompileError::DoesNotFit { .. }) => return false,
        Err(other) => panic!("seed {seed}: {other}"),
    };
    let report = check(&compiled.flat, &compiled.schedule, machine)
        .unwrap_or_else(|e| panic!("seed {seed} on {}: {e}", machine.name));
    assert!(compiled.bound.cycles <= report.cycles, "seed {seed}");
    let inputs = HashInputs::new(seed, &program);
    let expected = interpret(&program, ring, &inputs).expect("runs");
    let planned = interpret_plan(&compiled.flat, &compiled.plan, ring, &inputs);
    assert_eq!(planned.expect("a legal plan"), expected, "seed {seed}");
    let options = cyclotron_simulator::Options::default();
    let run = simulate(
        &compiled.flat,
        &compiled.schedule,
        machine,
        ring,
        &inputs,
        options,
    );
    let run = run.expect("decodes");
    assert_eq!(run.violations, [], "seed {seed}");
    assert_eq!(run.outputs, expected, "seed {seed}");
    assert_eq!(run.cycles, report.cycles);
    let traffic = compiled.plan.traffic.scaled(machine.vector_bytes);
    assert_eq!(run.traffic.total(), traffic.total(), "seed {seed}");
    true
}

#[test]
fn compiled_schedules_are_legal_and_right() {
    let moduli = primes::ntt_primes(1 << 32, 1 << 16, 3);
    let ring = Ring::<u32>::new(LOG_N, &moduli, Simd::Scalar).expect("a ring");
    let f1 = Machine::shipped("f1").expect("shipped");
    let f1 = f1.resolve(LOG_N).expect("resolves");
    let mut fit = 0;
    for seed in 0..12 {
        assert!(verify(seed, &f1, &ring, &moduli), "seed {seed} fits F1");
    }
    for seed in 12..72 {
        let machine = random_resolved(seed, LOG_N);
        fit += u32::from(verify(seed, &machine, &ring, &moduli));
    }
    assert!(fit > 30, "{fit} of 60 fit");
}
