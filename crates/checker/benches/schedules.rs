//! Entries a second of what touches every entry of a schedule: printing,
//! reading, checking, and simulating at a tiny ring degree, where everything but
//! the kernels counts.
//!
//! `cargo bench -p cyclotron-checker`

#![expect(
    clippy::print_stdout,
    reason = "a benchmark reports on standard output"
)]

use std::time::Instant;

use cyclotron_checker::check;
use cyclotron_isa::testing::{HashInputs, ProgramShape, random_program};
use cyclotron_isa::text::{parse_schedule, print_schedule};
use cyclotron_isa::{FlatProgram, Schedule};
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
