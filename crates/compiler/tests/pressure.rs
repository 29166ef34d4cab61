//! Scheduling by register pressure: a legal order that needs few places, with a cap.

mod support;

use std::ops::ControlFlow;

use cyclotron_checker::check;
use cyclotron_compiler::{
    CompileError, MOST_INSTRUCTIONS, Options, Phase2, compile, legalize, plan_by_pressure,
    plan_movement,
};
use cyclotron_isa::{FlatProgram, LimbProgram, LimbType, ProgramBuilder, Source, Step};
use support::{machines::Shape, programs};

/// Independent chains from one input, and then their sum.
fn chains(width: usize, length: usize) -> LimbProgram {
    let mut builder = ProgramBuilder::new("chains", 10, 32, &[65537]);
    let input = builder.ciphertext("x");
    let source = Source::Ciphertext {
        input,
        poly: 0,
        limb: 0,
    };
    let x = builder.input(source, LimbType::eval(0));
    let procedure = builder.procedure("chains", |b| {
        let x = b.param(LimbType::eval(0));
        let mut ends = vec![x; width];
        for step in 0..length {
            for (k, end) in ends.iter_mut().enumerate() {
                *end = b.mul_c(0, *end, (step * width + k + 2) as u64);
            }
        }
        let sum = ends.into_iter().reduce(|sum, end| b.add(sum, end));
        vec![sum.expect("a chain")]
    });
    let sum = builder.call(procedure, &[x], 0);
    let output = builder.output_named("y");
    builder.output(output, 0, 0, sum[0]);
    builder.finish()
}

fn flat(program: &LimbProgram) -> FlatProgram {
    let machine = Shape::f1().resolve(10);
    let legal = legalize(program, |op| machine.timing(op).is_some()).expect("legal");
    FlatProgram::new(&legal).expect("flat")
}

/// A machine whose scratchpad holds so many vectors.
fn with_places(places: u16) -> cyclotron_machine::Resolved {
    Shape {
        banks: 1,
        bank_slots: places,
        ..Shape::f1()
    }
    .resolve(10)
}

#[test]
fn scarce_places_are_enough_where_critical_paths_would_spill() {
    let flat = flat(&chains(64, 6));
    let plan = plan_by_pressure(&flat, &with_places(16), &mut |_| ControlFlow::Continue(()))
        .expect("fits");
    assert_eq!(plan.traffic.intermediate_stores, 0);
    assert_eq!(plan.traffic.total(), 2);
    // The program's order computes all chains side by side.
    let in_order =
        plan_movement(&flat, &with_places(16), &mut |_| ControlFlow::Continue(())).expect("fits");
    assert!(in_order.traffic.intermediate_stores > 0);
}

#[test]
fn plentiful_places_give_the_critical_path() {
    let flat = flat(&chains(8, 5));
    let plan = plan_by_pressure(&flat, &with_places(64), &mut |_| ControlFlow::Continue(()))
        .expect("fits");
    let order = plan.steps.iter().filter_map(|step| match step {
        Step::Compute(inst) => Some(*inst),
        _ => None,
    });
    let mut begun: Vec<u32> = order.take(12).map(|inst| inst % 8).collect();
    begun.sort_unstable();
    begun.dedup();
    assert!(begun.len() > 4, "only chains {begun:?} have begun");
}

#[test]
fn every_instruction_is_executed_once_after_its_operands() {
    let flat = flat(&programs::inner_sums(14, 3, 3, 2));
    let machine = Shape::f1().resolve(14);
    let plan = plan_by_pressure(&flat, &machine, &mut |_| ControlFlow::Continue(())).expect("fits");
    let mut done = vec![false; flat.len()];
    for step in &plan.steps {
        if let Step::Compute(inst) = *step {
            let operands = flat.sources(inst as usize);
            let mut computed = operands.filter_map(|value| flat.definition(value));
            assert!(computed.all(|operand| done[operand]), "{inst}");
            assert!(!done[inst as usize], "{inst} twice");
            done[inst as usize] = true;
        }
    }
    assert!(done.into_iter().all(|done| done));
}

#[test]
fn key_switches_are_scheduled_by_pressure_and_slower() {
    let machine = Shape {
        bank_slots: 16,
        ..Shape::f1()
    }
    .resolve(14);
    let program = programs::inner_sums(14, 4, 8, 5);
    let cycles = |phase2| {
        let options = Options {
            effort: 0,
            phase2,
            ..Options::default()
        };
        let compiled = compile(&program, &machine, &options, &mut |_, _| {
            ControlFlow::Continue(())
        })
        .expect("fits");
        check(&compiled.flat, &compiled.schedule, &machine).expect("legal");
        compiled.schedule.cycles
    };
    let (greedy, csr) = (cycles(Phase2::Greedy), cycles(Phase2::Csr));
    assert!(csr > greedy, "{csr} by pressure, {greedy} by movement");
}

#[test]
fn large_programs_are_refused() {
    let flat = flat(&chains(1 << 10, (MOST_INSTRUCTIONS >> 10) + 1));
    let refused = plan_by_pressure(&flat, &with_places(16), &mut |_| ControlFlow::Continue(()));
    match refused {
        Err(CompileError::TooLarge {
            instructions, most, ..
        }) => {
            assert_eq!(instructions, flat.len() as u64);
            assert_eq!(most, MOST_INSTRUCTIONS as u64);
        }
        other => panic!("{other:?}"),
    }
}
