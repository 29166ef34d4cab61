//! What the lower bound takes into account.

mod support;

use std::ops::ControlFlow;

use cyclotron_compiler::{Options, compile};
use cyclotron_isa::{LimbProgram, LimbType, ProgramBuilder, Source};
use support::machines::Shape;

/// The sum of `inputs` limbs, and `transforms` of its multiples.
fn transforms_of_a_sum(inputs: u8, transforms: u64) -> LimbProgram {
    let mut builder = ProgramBuilder::new("sum", 14, 32, &[(1 << 31) + 65537]);
    let input = builder.ciphertext("x");
    let limbs: Vec<u32> = (0..inputs)
        .map(|poly| {
            let source = Source::Ciphertext {
                input,
                poly,
                limb: 0,
            };
            builder.input(source, LimbType::eval(0))
        })
        .collect();
    let procedure = builder.procedure("transforms", |b| {
        let params: Vec<u32> = limbs.iter().map(|_| b.param(LimbType::eval(0))).collect();
        let sum = params[1..].iter().fold(params[0], |sum, &x| b.add(sum, x));
        (0..transforms)
            .map(|k| {
                let multiple = b.mul_c(0, sum, k + 2);
                b.intt(multiple)
            })
            .collect()
    });
    let results = builder.call(procedure, &limbs, 0);
    let output = builder.output_named("y");
    for (poly, &value) in (0u8..).zip(&results) {
        builder.output(output, poly, 0, value);
    }
    builder.finish()
}

#[test]
fn work_begins_when_all_loads_that_it_needs_are_there() {
    let mut shape = Shape::f1();
    shape.clusters = 1;
    let machine = shape.resolve(14);
    let program = transforms_of_a_sum(60, 80);
    let compiled = compile(&program, &machine, &Options::default(), &mut |_, _| {
        ControlFlow::Continue(())
    })
    .expect("fits");
    // The last of 60 loads through two channels begins after 29 others, and then the only
    // transform unit has 80 vectors to do.
    let least = 29 * 128 + 300 + 80 * 128;
    let (bound, cycles) = (compiled.bound.cycles, compiled.schedule.cycles);
    assert!(bound >= least, "{bound} of {least}");
    assert!(bound <= cycles, "{bound}, but {cycles}");
}
