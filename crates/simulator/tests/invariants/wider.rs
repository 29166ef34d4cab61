//! More units, more ports or more bandwidth never make a schedule slower that keeps
//! its assignment. Why, and for which machines, says the re-timing.

use cyclotron_checker::check;
use cyclotron_machine::Resolved;
use cyclotron_machine::testing::retime;

use crate::cases::{Case, compiled, machine, naive};

/// Re-times, and proves that the result is legal and computes the program.
fn retimed(case: &Case, to: &Resolved) -> Case {
    let schedule = retime(&case.schedule, &case.machine, to);
    let what = format!("{}, re-timed", case.what);
    let report = check(&case.flat, &schedule, to).unwrap_or_else(|e| panic!("{what}: {e}"));
    assert_eq!(report.cycles, schedule.cycles, "{what}");
    let again = Case {
        what,
        program: case.program.clone(),
        flat: case.flat.clone(),
        machine: to.clone(),
        schedule,
        ..*case
    };
    assert_eq!(again.simulate(1).cycles, report.cycles);
    again
}

/// Schedules for `less`, re-timed there and for `more`; how many get faster.
fn compare(
    seeds: std::ops::Range<u64>,
    less: impl Fn(&mut Resolved),
    more: impl Fn(&mut Resolved),
) -> u32 {
    let mut faster = 0;
    for seed in seeds {
        let mut from = without_turns(machine(seed));
        less(&mut from);
        let mut to = from.clone();
        more(&mut to);
        let cases = [compiled(seed, from.clone()), naive(seed, from)];
        for case in cases.into_iter().flatten() {
            let before = retimed(&case, &case.machine);
            assert!(
                before.schedule.cycles <= case.schedule.cycles,
                "{}",
                case.what
            );
            let after = retimed(&case, &to);
            let (before, after) = (before.schedule.cycles, after.schedule.cycles);
            assert!(after <= before, "{}: {after} after {before}", case.what);
            faster += u32::from(after < before);
        }
    }
    faster
}

/// Turns at register files hold for starts modulo a number, so more of anything may
/// make a start wait for another.
fn without_turns(mut machine: Resolved) -> Resolved {
    machine.regfile.turns = None;
    machine
}

fn all_spans(machine: &mut Resolved, change: impl Fn(u32) -> u32) {
    for timing in machine.ops.iter_mut().flatten() {
        timing.occupancy = change(timing.occupancy);
    }
    machine
        .xbars
        .iter_mut()
        .for_each(|xbar| xbar.span = change(xbar.span));
    for channel in &mut machine.channels {
        channel.span = change(channel.span);
    }
}

#[test]
fn more_units_are_never_slower() {
    let more = |machine: &mut Resolved| {
        let mut first = 0;
        for kind in &mut machine.units {
            kind.count += 1;
            kind.first = first;
            first += kind.count;
        }
    };
    let faster = compare(300..340, |_| {}, more);
    assert!(faster > 10, "{faster} got faster");
}

#[test]
fn more_ports_are_never_slower() {
    let more = |machine: &mut Resolved| {
        machine.regfile.net_reads += 1;
        machine.regfile.net_writes += 1;
        for bank in machine.banks.iter_mut().filter(|bank| !bank.single_port) {
            bank.reads += 1;
            bank.writes += 1;
        }
    };
    let faster = compare(340..380, |_| {}, more);
    assert!(faster > 10, "{faster} got faster");
}

#[test]
fn twice_the_width_of_everything_is_never_slower() {
    let less = |machine: &mut Resolved| {
        machine
            .ops
            .iter_mut()
            .flatten()
            .for_each(|timing| timing.multipass = false);
        all_spans(machine, |span| 2 * span);
    };
    let faster = compare(380..420, less, |machine| {
        all_spans(machine, |span| span / 2)
    });
    assert!(faster > 30, "{faster} got faster");
}

#[test]
fn faster_channels_are_never_slower_while_they_are_the_slowest() {
    let slowest = |machine: &Resolved| {
        let units = machine.ops.iter().flatten().map(|timing| timing.occupancy);
        let spans = units.chain(machine.xbars.iter().map(|xbar| xbar.span));
        spans.max().expect("a unit")
    };
    let channels = |machine: &mut Resolved, times: u32| {
        let span = slowest(machine) * times;
        machine
            .channels
            .iter_mut()
            .for_each(|channel| channel.span = span);
    };
    for times in [2, 5] {
        let less = |machine: &mut Resolved| channels(machine, times);
        let faster = compare(420..440, less, |machine| channels(machine, times - 1));
        assert!(faster > 10, "{faster} got faster");
    }
}

/// Why the channels must stay the slowest, and no link is widened alone: behind a
/// slow producer a fast link starts late, and with it everything that follows.
#[test]
fn one_wider_link_may_be_slower() {
    let slower = (440..480).any(|seed| {
        let from = without_turns(machine(seed));
        let mut to = from.clone();
        to.xbars.iter_mut().for_each(|xbar| xbar.span = 1);
        let Some(case) = naive(seed, from) else {
            return false;
        };
        let [before, after] = [&case.machine, &to].map(|machine| retimed(&case, machine));
        before.schedule.cycles < after.schedule.cycles
    });
    assert!(slower, "then the rule of the re-timing can be simpler");
}
