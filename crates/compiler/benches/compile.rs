//! Flat instructions a second and bytes of memory an instruction, end to end,
//! and entries of the schedule checked a second, on a generated program of key
//! switches.
//!
//! `cargo bench -p cyclotron-compiler [-- MILLIONS]`: 10 million instructions
//! unless said otherwise. The memory is what the process had at its peak, by the
//! system's count, beyond what it had once the program was generated.
#![expect(
    clippy::print_stdout,
    reason = "a benchmark reports on standard output"
)]

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::Instant;

use cyclotron_checker::check;
use cyclotron_compiler::{Compiled, Options, compile};
use cyclotron_isa::LimbProgram;
use cyclotron_machine::Resolved;

#[path = "../tests/support/mod.rs"]
mod support;
use support::{machines::Shape, programs};

/// Ciphertexts that are rotated side by side.
const WIDTH: usize = 64;
const LEVEL: u16 = 5;

fn main() {
    let wanted = std::env::args().find_map(|word| word.parse::<f64>().ok());
    let wanted = wanted.unwrap_or(10.0) * 1e6;
    let machine = Shape::f1().resolve(14);
    let once = programs::inner_sums(14, LEVEL, WIDTH, 1);
    let once = compile_program(&once, &machine, false).flat.len() as f64;
    let program = programs::inner_sums(14, LEVEL, WIDTH, (wanted / once).ceil() as u32);
    let before = memory("VmRSS:");
    let start = Instant::now();
    let compiled = compile_program(&program, &machine, true);
    let seconds = start.elapsed().as_secs_f64();
    let peak = memory("VmHWM:");
    let (instructions, cycles) = (compiled.flat.len(), compiled.schedule.cycles);
    let rate = instructions as f64 / seconds;
    println!(
        "{instructions} instructions, {cycles} cycles, {seconds:.1} s: {rate:.0} instructions/s"
    );
    if let (Some(before), Some(peak)) = (before, peak) {
        let each = peak.saturating_sub(before) as f64 / instructions as f64;
        println!("{each:.0} bytes of memory an instruction at the peak");
    }
    let streams = &compiled.schedule.streams;
    let bytes: usize = streams.iter().map(|s| s.entries.byte_count()).sum();
    let start = Instant::now();
    let report = check(&compiled.flat, &compiled.schedule, &machine).expect("legal");
    let seconds = start.elapsed().as_secs_f64();
    let (entries, rate) = (report.entries, report.entries as f64 / seconds);
    let each = bytes as f64 / entries as f64;
    println!(
        "{entries} entries of {each:.1} bytes, checked in {seconds:.1} s: {rate:.0} entries/s"
    );
}

/// Compiles a program; prints the seconds of each phase where asked to.
fn compile_program(program: &LimbProgram, machine: &Resolved, report: bool) -> Compiled {
    let (mut began, mut seconds) = (Instant::now(), BTreeMap::new());
    let mut ended = |phase, _| {
        *seconds.entry(phase).or_insert(0.0) += began.elapsed().as_secs_f64();
        began = Instant::now();
        ControlFlow::Continue(())
    };
    let compiled = compile(program, machine, &Options::default(), &mut ended);
    let compiled = compiled.expect("the program fits");
    if report {
        let phases = seconds
            .iter()
            .map(|(phase, s)| format!("{phase:?} {s:.2} s"));
        println!("{}", phases.collect::<Vec<_>>().join(", "));
    }
    compiled
}

/// Bytes of memory that this process has (`VmRSS:`) or had at most (`VmHWM:`), where
/// the system tells.
fn memory(what: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with(what))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}
