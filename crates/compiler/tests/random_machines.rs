//! Random programs on random machines: a legal schedule or a typed error.

mod support;

use std::ops::ControlFlow;

use cyclotron_checker::check;
use cyclotron_compiler::{CompileError, Options, Phase2, compile};
use support::{
    machines::Shape,
    programs::{self, Random},
};

#[test]
fn random_programs_compile_or_are_refused() {
    let mut refused = 0;
    for seed in 0..400 {
        let mut random = Random(seed);
        random.next(2);
        let shape = Shape::random(&mut random);
        let machine = shape.resolve(10);
        let program = programs::random(seed, 1 + random.next(300));
        let effort = (seed % 3) as u8;
        let options = Options {
            effort,
            seed,
            phase2: if seed % 4 == 3 {
                Phase2::Csr
            } else {
                Phase2::Greedy
            },
        };
        match compile(&program, &machine, &options, &mut |_, _| {
            ControlFlow::Continue(())
        }) {
            Ok(compiled) => {
                let (bound, schedule) = (compiled.bound, compiled.schedule);
                if let Err(why) = check(&compiled.flat, &schedule, &machine) {
                    panic!("seed {seed}, {shape:?}: {why}");
                }
                let (cycles, least) = (schedule.cycles, bound.cycles);
                assert!(
                    least <= cycles,
                    "seed {seed}, {shape:?}: {bound:?} but {cycles}"
                );
            }
            Err(CompileError::DoesNotFit { .. }) => {
                assert!(shape.is_tight(), "seed {seed}, {shape:?} refused");
                refused += 1;
            }
            Err(other) => panic!("seed {seed}, {shape:?}: {other}"),
        }
    }
    assert!(refused < 100, "{refused} refused");
}
