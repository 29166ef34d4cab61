//! Whoever watches the progress can stop the compiler at any of its reports.

mod support;

use std::ops::ControlFlow;

use cyclotron_compiler::{CompileError, Options, Phase, Phase2, compile};
use rayon::ThreadPoolBuilder;
use support::{machines::Shape, programs};

/// On one thread. More threads report as they have time.
fn alone<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    let pool = ThreadPoolBuilder::new().num_threads(1).build();
    pool.expect("a thread").install(work)
}

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
            let compiled = alone(|| {
                compile(&program, &machine, &options, &mut |_, _| {
                    reports += 1;
                    match reports == last {
                        true => ControlFlow::Break(()),
                        false => ControlFlow::Continue(()),
                    }
                })
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

/// A phase that goes through the program several times asks within each of them.
#[test]
fn large_programs_report_within_passes() {
    let machine = Shape::f1().resolve(14);
    let program = programs::inner_sums(14, 5, 64, 24);
    assert!(program.instruction_count() > 100_000);
    let options = Options {
        effort: 0,
        phase2: Phase2::Csr,
        ..Options::default()
    };
    let mut reports = Vec::new();
    let stopped = alone(|| {
        compile(&program, &machine, &options, &mut |phase, part| {
            reports.push((phase, part));
            match phase {
                Phase::Placement => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            }
        })
    });
    assert_eq!(stopped.err(), Some(CompileError::Interrupted));
    let of = |phase| reports.iter().filter(move |report| report.0 == phase);
    assert!(of(Phase::Bound).count() > 15, "{reports:?}");
    let (first, second) = (0.1..0.5, 0.6..1.0);
    for half in [first, second] {
        let within = of(Phase::Movement).any(|(_, part)| half.contains(part));
        assert!(within, "{reports:?}");
    }
}
