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
/// Variants of F1 beside the shipped one.
const VARIANTS: u64 = 24;

fn sweep(ckks: bool) {
    let f1 = Machine::shipped("f1").expect("F1 ships");
    let (mut ran, mut refused) = (0, 0);
    for seed in 0..PROGRAMS {
        let program = generator::program(seed, ckks);
        let variant = seed % (VARIANTS + 1);
        let machine = if variant == 0 {
            f1.clone()
        } else {
            machines::variant(&f1, variant)
        };
        match run(&program, &machine, seed) {
            Outcome::Ran => ran += 1,
            Outcome::DoesNotFit(why) => {
                assert_ne!(variant, 0, "F1 as shipped must run program {seed}: {why}");
                assert!(!why.is_empty());
                refused += 1;
            }
        }
    }
    assert!(ran >= PROGRAMS * 9 / 10, "{ran} ran, {refused} did not fit");
}

#[test]
fn ckks_programs_agree_everywhere() {
    sweep(true);
}

#[test]
fn bgv_programs_agree_everywhere() {
    sweep(false);
}
