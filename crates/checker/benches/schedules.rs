//! Entries a second of what touches every entry of a schedule: printing,
//! reading, checking, and simulating at a tiny ring degree, where everything but
//! the kernels counts.
//!
//! `cargo bench -p cyclotron-checker`

#![expect(
    clippy::print_stdout,
    reason = "a benchmark reports on standard output"
)]

use std::ops::ControlFlow;
use std::time::Instant;

use cyclotron_checker::check;
use cyclotron_compiler::{Compiled, compile};
use cyclotron_isa::testing::{HashInputs, ProgramShape, random_program};
use cyclotron_isa::text::{parse_schedule, print_schedule};
use cyclotron_isa::{
    FlatProgram, LimbProgram, LimbType, ProgramBuilder, Schedule, Source, interpret,
};
use cyclotron_machine::Machine;
use cyclotron_machine::testing::{random_resolved, schedule_naively};
use cyclotron_ring::{Ring, Simd, primes};
use cyclotron_simulator::{Options, simulate};

const LOG_N: u32 = 4;

fn main() {
    let moduli = primes::ntt_primes(1 << 32, 1 << 16, 4);
    let mut shape = ProgramShape::small(LOG_N, 32, &moduli);
    shape.compound = false;
    shape.procedures = 20;
    shape.instructions = 60;
    shape.calls = 1_000;
    let program = random_program(1, &shape);
    let flat = FlatProgram::new(&program).expect("flat");
    let machine = random_resolved(5, LOG_N);
    let schedule = schedule_naively(&flat, &machine, 1).expect("every operation");
    let entries: usize = schedule.streams.iter().map(|s| s.entries.len()).sum();
    println!(
        "{} instructions, {entries} entries, {} cycles",
        flat.len(),
        schedule.cycles
    );

    let (text, seconds) = best(|| print_schedule(&schedule));
    let megabytes = text.len() as f64 / 1e6;
    println!("print     {:7.1} MB/s", megabytes / seconds);
    let (read, seconds) = best(|| parse_schedule(&text).expect("reads back"));
    assert!(read == schedule);
    println!("parse     {:7.1} MB/s", megabytes / seconds);
    let (_, seconds) = best(|| check(&flat, &schedule, &machine).expect("legal"));
    report("check", entries, seconds);
    let ring = Ring::<u32>::new(LOG_N, &moduli, Simd::Scalar).expect("a ring");
    let inputs = HashInputs::new(1, &program);
    let run = |schedule: &Schedule| {
        simulate(
            &flat,
            schedule,
            &machine,
            &ring,
            &inputs,
            Options::default(),
        )
        .expect("runs")
    };
    let (_, seconds) = best(|| run(&schedule));
    report("simulate", entries, seconds);
    simulate_f1();
}

/// 16 chains of 1,000 instructions in all kinds, each of which matters.
fn chains(log_n: u32, moduli: &[u64]) -> LimbProgram {
    let mut b = ProgramBuilder::new("chains", log_n, 32, moduli);
    let x = b.ciphertext("x");
    let out = b.output_named("y");
    let step = b.procedure("step", |p| {
        let (a, b) = (p.param(LimbType::eval(0)), p.param(LimbType::eval(0)));
        let rotated = p.aut(a, 5);
        let product = p.mul(0, rotated, b);
        let coefficients = p.intt(product);
        let values = p.ntt(0, coefficients);
        vec![p.add(values, a)]
    });
    for limb in 0..16 {
        let mut input = |poly| {
            let source = Source::Ciphertext {
                input: x,
                poly,
                limb,
            };
            b.input(source, LimbType::eval(0))
        };
        let (mut a, factor) = (input(0), input(1));
        for node in 0..200 {
            a = b.call(step, &[a, factor], node)[0];
        }
        b.output(out, 0, limb, a);
    }
    b.finish()
}

/// A compiled program at N = 16K on F1: the simulator beside one kernel call an
/// instruction, as the reference interpreter makes them.
fn simulate_f1() {
    let log_n = 14;
    let moduli = primes::ntt_primes(1 << 32, 1 << 16, 1);
    let program = chains(log_n, &moduli);
    let f1 = Machine::shipped("f1").expect("shipped");
    let f1 = f1.resolve(log_n).expect("resolves");
    let options = cyclotron_compiler::Options::default();
    let compiled = compile(&program, &f1, &options, &mut |_, _| {
        ControlFlow::Continue(())
    })
    .expect("fits");
    let ring = Ring::<u32>::new(log_n, &moduli, Simd::detect().expect("a path")).expect("a ring");
    let inputs = HashInputs::new(1, &program);
    let (expected, seconds) = best(|| interpret(&compiled.program, &ring, &inputs).expect("runs"));
    let count = compiled.flat.len() as f64;
    println!("F1, N = 16K, {count} instructions, {}:", ring.simd());
    println!("interpret {:7.1} us an instruction", seconds * 1e6 / count);
    for threads in [1, 2] {
        let options = Options {
            threads,
            ..Options::default()
        };
        let (run, seconds) = best(|| {
            let Compiled { flat, schedule, .. } = &compiled;
            simulate(flat, schedule, &f1, &ring, &inputs, options).expect("runs")
        });
        assert!(run.outputs == expected);
        println!(
            "simulate  {:7.1} us an instruction, {threads} threads",
            seconds * 1e6 / count
        );
    }
}

fn report(what: &str, entries: usize, seconds: f64) {
    println!(
        "{what:9} {:7.2} million entries/s",
        entries as f64 / seconds / 1e6
    );
}

/// The result and the shortest time of five runs.
fn best<T>(run: impl Fn() -> T) -> (T, f64) {
    let timed = || {
        let start = Instant::now();
        let result = run();
        (result, start.elapsed().as_secs_f64())
    };
    let runs = (0..5).map(|_| timed());
    runs.min_by(|a, b| a.1.total_cmp(&b.1)).expect("five runs")
}
