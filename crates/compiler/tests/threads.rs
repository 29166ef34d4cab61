//! Schedules do not depend on how many threads look for them.

mod support;

use std::ops::ControlFlow;

use cyclotron_compiler::{Options, compile};
use cyclotron_isa::Schedule;
use rayon::ThreadPoolBuilder;
use support::{machines::Shape, programs};

#[test]
fn trials_give_the_same_schedule_on_any_threads() {
    let machine = Shape::f1().resolve(14);
    let mut distinct = Vec::new();
    for (width, steps) in [(1, 8), (3, 3), (8, 2)] {
        let program = programs::inner_sums(14, 3, width, steps);
        for seed in 0..3 {
            let options = Options {
                seed,
                ..Options::default()
            };
            let on = |threads: usize| -> Schedule {
                let pool = ThreadPoolBuilder::new().num_threads(threads).build();
                let compiled = pool.expect("threads start").install(|| {
                    compile(&program, &machine, &options, &mut |_, _| {
                        ControlFlow::Continue(())
                    })
                });
                compiled.expect("the program fits").schedule
            };
            let alone = on(1);
            assert_eq!(on(2), alone, "{width} x {steps}, seed {seed}, two threads");
            assert_eq!(
                on(3),
                alone,
                "{width} x {steps}, seed {seed}, three threads"
            );
            distinct.push(alone.cycles);
        }
    }
    distinct.dedup();
    assert!(distinct.len() > 3, "seeds make no difference: {distinct:?}");
}
