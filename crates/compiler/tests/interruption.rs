//! Whoever watches the progress can stop the compiler at any of its reports.

mod support;

use std::ops::ControlFlow;

use cyclotron_compiler::{CompileError, Options, Phase2, compile};
use support::{machines::Shape, programs};

#[test]
fn every_report_can_stop_the_compiler() {
    let machine = Shape::f1().resolve(14);
    let program = programs::inner_sums(14, 3, 3, 3);
    for phase2 in [Phase2::Greedy, Phase2::Csr] {
        let options = Options {
            phase2,
            ..Options::default()
        };
        let reports_until = |last: usize| {
            let mut reports = 0;
            let compiled = compile(&program, &machine, &options, &mut |_, _| {
                reports += 1;
                match reports == last {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                }
            });
            (reports, compiled.err())
        };
        let (all, error) = reports_until(usize::MAX);
        assert_eq!(error, None);
        assert!(all > 10, "{all} reports");
        for last in [1, 2, 3, 4, 5, 6, 8, all / 2, all - 1, all] {
            assert_eq!(
                reports_until(last),
                (last, Some(CompileError::Interrupted)),
                "{last} of {all}"
            );
        }
    }
}
