//! Banks of register files: a schedule that breaks this rule and no other.

use cyclotron_checker::check;
use cyclotron_isa::FlatProgram;
use cyclotron_isa::text::parse_schedule;
use cyclotron_machine::testing::{SUM_SCHEDULE, sum_machine, sum_program};
use cyclotron_machine::{Resolved, Turns};

/// All accesses to its register files take 8 cycles.
fn machine(banks: u16, accesses: u16) -> Resolved {
    let mut machine = sum_machine();
    machine.regfile.turns = Some(Turns {
        banks,
        accesses,
        chunks: 8,
    });
    machine
}

fn verdict(text: &str, machine: &Resolved) -> Result<u64, String> {
    let schedule = parse_schedule(text).expect("well formed");
    let flat = FlatProgram::new(&sum_program()).expect("flat");
    let report = check(&flat, &schedule, machine);
    report
        .map(|report| report.cycles)
        .map_err(|error| error.to_string())
}

/// The sum, and all that follows, a cycle later.
fn later() -> String {
    let moved = [
        ("cycles 96", "cycles 97"),
        ("@49 add", "@50 add"),
        ("@54 read", "@55 read"),
        ("@55 route", "@56 route"),
        ("@58 write s1", "@59 write s1"),
        ("@58 read s1", "@59 read s1"),
        ("@60 store", "@61 store"),
    ];
    moved
        .iter()
        .fold(SUM_SCHEDULE.to_owned(), |text, (from, to)| {
            assert!(text.contains(from), "{from}");
            text.replacen(from, to, 1)
        })
}

#[test]
fn operands_meet_the_stream_that_is_still_being_written() {
    assert_eq!(verdict(SUM_SCHEDULE, &sum_machine()), Ok(96));
    // The second operand is written from 49, and both are read from 49.
    let conflict = verdict(SUM_SCHEDULE, &machine(4, 2)).expect_err("three in a bank");
    assert_eq!(
        conflict,
        "unit 0 0, entry 0, cycle 49: the access from cycle 49 makes 3 that are in the same bank \
         in every cycle: a bank serves 2"
    );
    assert_eq!(verdict(SUM_SCHEDULE, &machine(4, 3)), Ok(96));
    assert_eq!(verdict(&later(), &machine(4, 2)), Ok(97));
}

#[test]
fn a_result_meets_its_operands_if_it_comes_a_round_later() {
    // The result is written from 54, five cycles after the operands' start.
    let conflict = verdict(&later(), &machine(5, 2)).expect_err("three in a bank");
    assert!(
        conflict.contains("the access from cycle 55 makes 3"),
        "{conflict}"
    );
    assert_eq!(verdict(&later(), &machine(5, 4)), Ok(97));
    // With one bank, all that overlaps conflicts.
    assert!(verdict(&later(), &machine(1, 4)).is_err());
    assert_eq!(verdict(&later(), &machine(1, 5)), Ok(97));
}
