//! Random encrypted programs on random variants of F1: the CPU runtime, the
//! reference interpreter, the movement plan and the simulated schedule give
//! identical limbs, and what they decrypt to is what the clear gives.

mod generator;
mod machines;
mod pipeline;

use cyclotron_machine::Machine;
use pipeline::{Outcome, run};

/// Programs of each scheme; 200 in all.
const PROGRAMS: u64 = 100;
/// Variants of F1 beside the shipped one; every program runs on all of them.
const VARIANTS: u64 = 24;

fn sweep(ckks: bool) {
    let f1 = Machine::shipped("f1").expect("F1 ships");
    let variants = (1..=VARIANTS).map(|variant| machines::variant(&f1, variant));
    let machines: Vec<Machine> = std::iter::once(f1.clone()).chain(variants).collect();
    let (mut ran, mut refused) = (0, 0);
    for seed in 0..PROGRAMS {
        let program = generator::program(seed, ckks);
        for (number, machine) in machines.iter().enumerate() {
            match run(&program, machine, seed) {
                Outcome::Ran => ran += 1,
                Outcome::DoesNotFit(why) => {
                    assert_ne!(number, 0, "F1 as shipped must run program {seed}: {why}");
                    assert!(why.contains("fit"), "{why}");
                    refused += 1;
                }
            }
        }
    }
    let all = PROGRAMS * (VARIANTS + 1);
    assert!(
        ran >= all * 9 / 10,
        "of {all}, {ran} ran and {refused} did not fit"
    );
}

#[test]
fn ckks_programs_agree_everywhere() {
    sweep(true);
}

#[test]
fn bgv_programs_agree_everywhere() {
    sweep(false);
}
