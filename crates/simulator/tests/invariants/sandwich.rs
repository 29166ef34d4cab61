//! No schedule beats the lower bound, or is slower than one thing at a time.

use cyclotron_isa::{Component, StreamOp};
use cyclotron_machine::testing::entries;

use crate::cases::{Case, cases};

/// Cycles of the schedule's work if each instruction and each transfer starts when
/// the one before has ended: the sum of all latencies and lengths on its way.
fn serial(case: &Case) -> u64 {
    let machine = &case.machine;
    let cycles = entries(&case.schedule).map(|(_, component, _, op)| match (component, op) {
        (_, StreamOp::Compute { op, .. }) => {
            let timing = machine.timing(op).expect("executed");
            let passes = 1 + u32::from(timing.multipass);
            timing.latency + machine.regfile.latency + passes * timing.occupancy
        }
        (Component::RegFile { .. }, StreamOp::Read { .. }) => machine.regfile.latency,
        (Component::Bank { bank }, StreamOp::Read { .. }) => {
            machine.banks[usize::from(bank)].latency
        }
        (Component::XbarPort { xbar, .. }, _) => {
            let xbar = &machine.xbars[usize::from(xbar)];
            xbar.latency + xbar.span
        }
        (Component::Channel { channel }, _) => {
            let channel = &machine.channels[usize::from(channel)];
            channel.latency + channel.span
        }
        // A write ends with the stream that it takes; after it a slot may be used.
        _ => 1,
    });
    cycles.map(u64::from).sum()
}

#[test]
fn bound_simulated_serial() {
    let (mut with_bound, mut factor) = (0, 0.0f64);
    for case in cases(0..80) {
        let run = case.simulate(1);
        assert_eq!(run.cycles, case.schedule.cycles, "{}", case.what);
        let serial = serial(&case);
        assert!(
            run.cycles <= serial,
            "{}: {} > {serial}",
            case.what,
            run.cycles
        );
        factor = factor.max(serial as f64 / run.cycles as f64);
        if let Some(bound) = case.bound {
            assert!(
                bound <= run.cycles,
                "{}: {bound} > {}",
                case.what,
                run.cycles
            );
            with_bound += 1;
        }
    }
    assert!(with_bound > 50, "{with_bound} fit");
    assert!(factor > 3.0, "at most {factor} times as fast as one by one");
}
