//! Programs that are cut into many segments.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use cyclotron_checker::check;
use cyclotron_isa::{FlatProgram, MovementPlan, Schedule};
use cyclotron_machine::Resolved;
use rayon::ThreadPoolBuilder;

use super::line::place_steps;
use crate::error::{CompileError, proceed};
use crate::stats::PlacementStats;
use crate::{legalize, plan_movement};

#[path = "../../tests/support/machines.rs"]
mod machines;
#[path = "../../tests/support/programs.rs"]
mod programs;
use machines::Shape;
use programs::Random;

type Placed = Result<((), Schedule, PlacementStats), CompileError>;

/// Places a plan on so many threads, stopping at a report.
fn place(
    (flat, plan): (&FlatProgram, &MovementPlan),
    machine: &Resolved,
    size: usize,
    (threads, last): (usize, usize),
) -> Placed {
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    let reports = AtomicUsize::new(0);
    let report = || {
        let before = reports.fetch_add(1, Ordering::Relaxed);
        match before + 1 >= last {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    };
    pool.expect("threads start").install(|| {
        let steps = |sink: &mut super::Sink<'_>| proceed(sink(&plan.steps, &mut |_| report()));
        place_steps(flat, machine, size, steps, &mut |_| report())
    })
}

fn prepare(seed: u64, machine: &Resolved, size: u64) -> Option<(FlatProgram, MovementPlan)> {
    let program = programs::random(seed, size);
    let program = legalize(&program, |op| machine.timing(op).is_some());
    let flat = FlatProgram::new(&program.expect("expressible")).expect("legal");
    let plan = plan_movement(&flat, machine, &mut |_| ControlFlow::Continue(()));
    Some((flat, plan.ok()?))
}

#[test]
fn short_segments_are_legal_and_the_same_on_any_threads() {
    let (mut refused, mut joined) = (0, 0);
    for seed in 0..200 {
        let mut random = Random(seed);
        random.next(2);
        let shape = Shape::random(&mut random);
        let machine = shape.resolve(10);
        let size = 1 + random.next(40) as usize;
        let Some((flat, plan)) = prepare(seed, &machine, 1 + random.next(200)) else {
            assert!(shape.is_tight(), "seed {seed}, {shape:?} refused");
            refused += 1;
            continue;
        };
        let program = (&flat, &plan);
        let Ok(((), schedule, stats)) = place(program, &machine, size, (1, usize::MAX)) else {
            assert!(shape.is_tight(), "seed {seed}, {shape:?} refused");
            refused += 1;
            continue;
        };
        if let Err(why) = check(&flat, &schedule, &machine) {
            panic!("seed {seed}, {size} instructions a segment, {shape:?}: {why}");
        }
        joined += usize::from(flat.len() > 2 * size);
        let other = place(program, &machine, size, (2, usize::MAX));
        assert!(other == Ok(((), schedule, stats)), "seed {seed}, {shape:?}");
    }
    assert!(
        refused < 60 && joined > 80,
        "{refused} refused, {joined} joined"
    );
}

#[test]
fn any_report_stops_all_threads() {
    let machine = Shape::f1().resolve(10);
    let (flat, plan) = prepare(1, &machine, 3000).expect("F1 is large enough");
    // How often one of two threads reports is a matter of chance.
    for (threads, last) in [(1, 1), (1, 2), (1, 7), (2, 1)] {
        let placed = place((&flat, &plan), &machine, 5, (threads, last));
        assert_eq!(
            placed.err(),
            Some(CompileError::Interrupted),
            "report {last}"
        );
    }
}

#[test]
fn borders_cost_little() {
    let machine = Shape::f1().resolve(14);
    let program = programs::inner_sums(14, 5, 16, 4);
    let program = legalize(&program, |op| machine.timing(op).is_some()).expect("expressible");
    let flat = FlatProgram::new(&program).expect("legal");
    let plan = plan_movement(&flat, &machine, &mut |_| ControlFlow::Continue(()));
    let plan = plan.expect("it fits");
    let cycles = |size| {
        let placed = place((&flat, &plan), &machine, size, (2, usize::MAX));
        placed.expect("it fits").1.cycles as f64
    };
    let (whole, halves) = (cycles(flat.len()), cycles(flat.len() / 2));
    let borders = (halves - whole) / whole;
    assert!(borders < 0.05, "{borders}");
}
