//! Prints how good and how fast schedules of key-switch programs are.
#![expect(clippy::print_stdout, reason = "a report for people")]

use std::ops::ControlFlow;
use std::time::Instant;

use cyclotron_checker::check;
use cyclotron_compiler::{Options, legalize, lower_bound, place, plan_movement};
use cyclotron_isa::FlatProgram;

#[path = "../tests/support/mod.rs"]
mod support;
use support::{machines::Shape, programs};

fn main() {
    let mut shapes = vec![("f1", Shape::f1())];
    let mut narrow = Shape::f1();
    narrow.net_ports = 1;
    shapes.push(("f1 1 port", narrow));
    let mut ideal = Shape::f1();
    ideal.turn_banks = 0;
    shapes.push(("f1 no turns", ideal));
    let cases = [
        ("chain 40", programs::inner_sums(14, 5, 1, 40)),
        ("13 x 10", programs::inner_sums(14, 5, 13, 10)),
        ("4 x 13", programs::inner_sums(14, 5, 4, 13)),
        ("40 x 3", programs::inner_sums(14, 5, 40, 3)),
    ];
    for (shape_name, shape) in &shapes {
        let machine = shape.resolve(14);
        for (name, program) in &cases {
            let start = Instant::now();
            let legal = legalize(program, |op| machine.timing(op).is_some()).expect("legal");
            let flat = FlatProgram::new(&legal).expect("flat");
            let t0 = start.elapsed();
            let plan =
                plan_movement(&flat, &machine, &mut |_| ControlFlow::Continue(())).expect("plan");
            let t1 = start.elapsed();
            let (schedule, stats) = place(&flat, &plan, &machine, &Options::default(), &mut |_| {
                ControlFlow::Continue(())
            })
            .expect("schedule");
            let t2 = start.elapsed();
            let legal = check(&flat, &schedule, &machine);
            let bound = lower_bound(&flat, &machine).expect("bound");
            let busy = |k: usize, count: u64| stats.unit_busy[k] / (16 * count);
            println!(
                "{shape_name:10} {name:9} n={} cycles={} /bound={:.3} ({}) ntt={} mul={} add={} chan={} ports={} fetch/inst={:.2} wb={} ev={} | flat {:?} move {:?} place {:?} {:.0} inst/s {:?}",
                flat.len(),
                schedule.cycles,
                schedule.cycles as f64 / bound.cycles as f64,
                bound.resource,
                busy(0, 1),
                busy(2, 2),
                busy(3, 2),
                stats.channel_busy / 2,
                stats.arrival_busy / (16 * u64::from(shape.net_ports)),
                stats.fetches as f64 / flat.len() as f64,
                stats.write_backs,
                stats.evictions,
                t0,
                t1 - t0,
                t2 - t1,
                flat.len() as f64 / t2.as_secs_f64(),
                legal,
            );
        }
    }
}
