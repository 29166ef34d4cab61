//! One small schedule by hand, legal to the cycle, and every fault that an
//! edit of one or two of its lines can make.

use cyclotron_checker::check;
use cyclotron_isa::FlatProgram;
use cyclotron_isa::text::parse_schedule;
use cyclotron_machine::testing::{SUM_SCHEDULE, sum_machine, sum_program};

fn program() -> FlatProgram {
    FlatProgram::new(&sum_program()).expect("flat")
}

fn verdict(text: &str) -> Result<u64, String> {
    let schedule = parse_schedule(text).expect("well formed");
    match check(&program(), &schedule, &sum_machine()) {
        Ok(report) => Ok(report.cycles),
        Err(error) => Err(error.to_string()),
    }
}

#[test]
fn the_schedule_is_legal_and_tight() {
    assert_eq!(verdict(SUM_SCHEDULE), Ok(96));
    // The second operand may come later, until the sum starts without it.
    let swapped = SUM_SCHEDULE.replace("<- r0 r1", "<- r1 r0");
    assert_eq!(verdict(&swapped), Ok(96), "addition commutes");
}

/// Edits of the legal schedule, and what the error says; nothing where the edit is legal.
type Case<'a> = (&'a [(&'a str, &'a str)], &'a str);

fn expect(cases: &[Case<'_>]) {
    for (edits, expected) in cases {
        let mut text = SUM_SCHEDULE.to_owned();
        for (from, to) in *edits {
            assert!(text.contains(from), "{from}");
            text = text.replacen(from, to, 1);
        }
        match verdict(&text) {
            Ok(_) => assert!(expected.is_empty(), "{edits:?} was accepted"),
            Err(found) => assert!(
                !expected.is_empty() && found.contains(expected),
                "{edits:?}: {found}"
            ),
        }
    }
}

#[test]
fn entries_moved_by_one_cycle() {
    expect(&[
        (
            &[("@49 add", "@48 add")],
            "unit 0 0, entry 0, cycle 48: slot 1 holds nothing yet",
        ),
        (
            &[("@54 read", "@53 read")],
            "regfile 0, entry 2, cycle 53: slot 2 is read over 53..61, but %2 is written over 54..62",
        ),
        (
            &[("@28 read", "@27 read")],
            "bank 0, entry 1, cycle 27: slot 0 is read over 27..35, but %0 is written over 20..36",
        ),
        (
            &[("@30 route", "@29 route")],
            "xbar 0 0, entry 0, cycle 29: expected a stream from bank 0 in this cycle, \
             found the next in cycle 30",
        ),
        (
            &[("@46 route", "@47 route")],
            "bank 1, entry 1, cycle 44: nobody takes the stream that appears in cycle 46 for xbar0",
        ),
        (
            &[("@60 store", "@61 store")],
            "bank 1, entry 3, cycle 58: nobody takes the stream",
        ),
        (
            &[("@58 write s1", "@57 write s1")],
            "bank 1, entry 2, cycle 57: expected a stream from port 1 of xbar1",
        ),
        (
            &[("@16 load", "@15 load")],
            "channel 0, entry 1, cycle 15: the channel is busy until cycle 16",
        ),
    ]);
}

#[test]
fn missing_entries() {
    expect(&[
        (
            &[("@0 load d0 -> bank0\n", "")],
            "bank 0, entry 0, cycle 20: expected a stream from channel0 in this cycle, \
             found none under way",
        ),
        (
            &[("@49 write s1 <- xbar0\n", "")],
            "unit 0 0, entry 0, cycle 49: slot 1 holds nothing yet",
        ),
        (
            &[
                ("@58 read s1 -> channel0\n", ""),
                ("@60 store d2 <- bank1\n", ""),
            ],
            "output limb 0: expected %2 in off-chip slot 2, found nothing",
        ),
        (
            &[("@49 add m0 r2 <- r0 r1\n", "")],
            "slot 2 holds nothing yet",
        ),
    ]);
}

#[test]
fn wrong_computations() {
    expect(&[
        (
            &[("<- r0 r1", "<- r0 r4")],
            "slot 4 does not exist: there are 4",
        ),
        (
            &[("<- r0 r1", "<- r0 r0")],
            "no instruction of the program computes add m0 %0 %0; \
                                       the program has %2 = add m0 %0 %1",
        ),
        (
            &[("add m0", "sub m0")],
            "no instruction of the program computes sub m0 %0 %1",
        ),
        (
            &[("add m0", "add m1")],
            "modulus 1 does not exist: there are 1",
        ),
        (
            &[("add m0 r2 <- r0 r1", "neg m0 r2 <- r0")],
            "the unit does not execute neg",
        ),
        (
            &[("<- r0 r1", "<- r0 r1 r1")],
            "add does not use its field 2",
        ),
        (
            &[("<- r0 r1", "<- r0 r1 i3")],
            "add does not use its field 3",
        ),
        (
            &[("add m0 r2 <- r0 r1", "addc m0 r2 <- r0 c0")],
            "constant 0 does not exist: there are 0",
        ),
    ]);
}

#[test]
fn wrong_transfers() {
    expect(&[
        (
            &[("@30 route <- 0", "@30 route <- 1")],
            "expected a stream from bank 1",
        ),
        (
            &[("@30 route <- 0", "@30 route <- 2")],
            "input port 2 does not exist: there are 2",
        ),
        (
            &[("@44 read s0 -> xbar0", "@44 read s0 -> xbar1")],
            "xbar1 does not connect",
        ),
        (
            &[("@54 read s2 -> xbar1", "@54 read s2 -> channel0")],
            "channel0 does not connect",
        ),
        (
            &[("@33 write s0 <- xbar0", "@33 write s0 <- xbar1")],
            "xbar1 does not connect",
        ),
        (
            &[("@16 load d1 -> bank1", "@16 load d1 -> bank2")],
            "channel0 does not connect",
        ),
        (
            &[("@16 load d1", "@16 load d7")],
            "slot 7 does not exist: there are 3",
        ),
        (
            &[("d1 channel 0", "d1 channel 1")],
            "off-chip slot 1 is attached to channel 1",
        ),
        (
            &[("@60 store d2", "@60 store d0")],
            "off-chip slot 0 holds input limb 0 and must not be overwritten",
        ),
        (
            &[("@58 read s1", "@58 read s0")],
            "expected %2 in the slot of output limb 0, found %1",
        ),
        (
            &[("stream bank 0\n", "stream bank 0\n@9 route <- 0\n")],
            "expected a read or write",
        ),
    ]);
}

#[test]
fn too_much_at_once() {
    expect(&[
        (
            &[("<- r0 r1\n", "<- r0 r1\n@56 add m0 r3 <- r0 r1\n")],
            "unit 0 0, entry 1, cycle 56: the unit is busy until cycle 57",
        ),
        (
            &[(
                "@44 read s0 -> xbar0\n",
                "@44 read s0 -> xbar0\n@51 read s0 -> xbar0\n",
            )],
            "bank 1, entry 2, cycle 51: every read port is busy until cycle 52",
        ),
        (
            &[(
                "@28 read s0 -> xbar0\n",
                "@28 read s0 -> xbar0\n@28 read s0 -> xbar0\n",
            )],
            "bank 0, entry 2, cycle 28: two streams appear in cycle 30 where xbar0 takes them",
        ),
        (
            &[(
                "<- r0 r1\n",
                "<- r0 r1\n@57 add m0 r2 <- r0 r1\n@65 add m0 r1 <- r0 r1\n",
            )],
            "",
        ),
    ]);
}

#[test]
fn the_frame_must_fit() {
    expect(&[
        (
            &[("cycles 96", "cycles 95")],
            "states 95 cycles, but its last component finishes at 96",
        ),
        (
            &[("\"h\"", "\"g\"")],
            "the schedule is for machine g, but the machine is h",
        ),
        (&[("log_n 10", "log_n 11")], "the schedule is for log_n 11"),
        (
            &[("input 1", "input 0")],
            "off-chip slot 1: input limb 0 has a slot already",
        ),
        (
            &[("input 1", "input 2")],
            "off-chip slot 1: the program has no input limb 2",
        ),
        (
            &[("d1 channel 0", "d1 channel 2")],
            "off-chip slot 1: channel 2 does not exist",
        ),
        (
            &[("output 0", "spill")],
            "output limb 0: it has no off-chip slot",
        ),
        (
            &[("stream bank 0", "stream bank 2")],
            "stream of bank 2: the machine has no such",
        ),
        (
            &[("stream bank 0", "stream bank 1")],
            "stream of bank 1: the component has a stream",
        ),
    ]);
}
