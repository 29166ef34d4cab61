//! How good schedules are, and that effort does not make this program's worse.

mod support;

use std::ops::ControlFlow;

use cyclotron_checker::check;
use cyclotron_compiler::{Options, compile};
use support::{machines::Shape, programs};

#[test]
fn effort_buys_better_schedules_of_key_switches() {
    let machine = Shape::f1().resolve(14);
    let program = programs::inner_sums(14, 4, 4, 5);
    let mut before = u64::MAX;
    for effort in 0..=2 {
        let options = Options {
            effort,
            ..Options::default()
        };
        let compiled = compile(&program, &machine, &options, &mut |_, _| {
            ControlFlow::Continue(())
        })
        .expect("fits");
        check(&compiled.flat, &compiled.schedule, &machine).expect("legal");
        let cycles = compiled.schedule.cycles;
        assert!(
            cycles <= before,
            "effort {effort}: {cycles}, before {before}"
        );
        if effort > 0 {
            let bound = compiled.bound.cycles;
            assert!(10 * cycles <= 13 * bound, "{cycles} of at least {bound}");
        }
        before = cycles;
    }
}

#[test]
fn equal_options_give_equal_schedules() {
    let machine = Shape::f1().resolve(14);
    let program = programs::inner_sums(14, 3, 3, 2);
    let schedule = |seed| {
        let options = Options {
            seed,
            ..Options::default()
        };
        let compiled = compile(&program, &machine, &options, &mut |_, _| {
            ControlFlow::Continue(())
        });
        compiled.expect("fits").schedule
    };
    assert_eq!(schedule(7), schedule(7));
}
