//! Flat instructions a second and bytes of memory an instruction, end to end,
//! on a generated program of key switches.
//!
//! `cargo bench -p cyclotron-compiler [-- MILLIONS]`: 10 million instructions
//! unless said otherwise.
#![expect(
    clippy::print_stdout,
    reason = "a benchmark reports on standard output"
)]

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::Instant;

use cyclotron_compiler::{Options, compile};

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
    let once = compile_program(1, &machine).0 as f64;
    let steps = (wanted / once).ceil() as u32;
    let before = peak_bytes();
    let start = Instant::now();
    let (instructions, cycles) = compile_program(steps, &machine);
    let seconds = start.elapsed().as_secs_f64();
    let rate = instructions as f64 / seconds;
    println!(
        "{instructions} instructions, {cycles} cycles, {seconds:.1} s: {rate:.0} instructions/s"
    );
    if let (Some(before), Some(after)) = (before, peak_bytes()) {
        let each = after.saturating_sub(before) as f64 / instructions as f64;
        println!("{each:.0} bytes of memory an instruction at the peak");
    }
}

/// Instructions and cycles of a program of so many rotations of every ciphertext.
fn compile_program(steps: u32, machine: &cyclotron_machine::Resolved) -> (usize, u64) {
    let program = programs::inner_sums(14, LEVEL, WIDTH, steps);
    let (mut began, mut seconds) = (Instant::now(), BTreeMap::new());
    let mut ended = |phase, _| {
        *seconds.entry(phase).or_insert(0.0) += began.elapsed().as_secs_f64();
        began = Instant::now();
        ControlFlow::Continue(())
    };
    let compiled = compile(&program, machine, &Options::default(), &mut ended);
    let compiled = compiled.expect("the program fits");
    if steps > 1 {
        let phases = seconds
            .iter()
            .map(|(phase, s)| format!("{phase:?} {s:.2} s"));
        println!("{}", phases.collect::<Vec<_>>().join(", "));
    }
    (compiled.flat.len(), compiled.schedule.cycles)
}

/// The most memory that this process ever had, where the system tells.
fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}
