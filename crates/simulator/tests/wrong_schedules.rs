//! Wrong schedules, simulated: which words come out, and which violations.

mod sum;

use std::cell::Cell;
use std::ops::ControlFlow;

use cyclotron_isa::InputProvider;
use cyclotron_isa::testing::HashInputs;
use cyclotron_machine::testing::{SUM_PRIME, sum_machine, sum_program};
use cyclotron_simulator::{Options, SimError, Simulation, ViolationKind};

fn run(edits: &[(&str, &str)]) -> Result<Simulation<u32>, SimError> {
    sum::run(edits, &sum_machine(), Options::default())
}

#[test]
fn a_simulation_can_be_stopped() {
    let reports = Cell::new(0);
    let stop = |_| {
        reports.set(reports.get() + 1);
        ControlFlow::Break(())
    };
    let options = Options {
        progress: Some(&stop),
        ..Options::default()
    };
    let found = sum::run(&[], &sum_machine(), options);
    assert!(matches!(found, Err(SimError::Interrupted)));
    assert_eq!(reports.get(), 1);
}

/// The output word by word: `%0` and `%1` where the two functions say so, else zeros.
fn sum_of(first: impl Fn(usize) -> bool, second: impl Fn(usize) -> bool) -> Vec<u32> {
    let program = sum_program();
    let inputs = HashInputs::new(1, &program);
    let [a, b] = [0, 1].map(|i| {
        let input = program.inputs[i];
        InputProvider::<u32>::limb(&inputs, input.source, input.ty).expect("given")
    });
    let word = |i: usize| {
        let a = if first(i) { u64::from(a[i]) } else { 0 };
        let b = if second(i) { u64::from(b[i]) } else { 0 };
        ((a + b) % SUM_PRIME) as u32
    };
    (0..program.n()).map(word).collect()
}

const ALL: fn(usize) -> bool = |_| true;
const NONE: fn(usize) -> bool = |_| false;

type Wrong<'a> = (&'a [(&'a str, &'a str)], Vec<u32>, &'a [ViolationKind]);

fn expect(cases: &[Wrong<'_>]) {
    for (edits, words, kinds) in cases {
        let run = run(edits).unwrap_or_else(|e| panic!("{edits:?}: {e}"));
        assert!(
            run.outputs[0].to_vec() == *words,
            "{edits:?}: {:?}",
            run.violations
        );
        let found: Vec<_> = run.violations.iter().map(|v| v.kind).collect();
        assert_eq!(found, *kinds, "{edits:?}");
    }
}

#[test]
fn the_legal_schedule_adds() {
    expect(&[(&[], sum_of(ALL, ALL), &[])]);
}

#[test]
fn early_reads_see_what_was_there_word_by_word() {
    // The bank's slot is written over 20..36 and read over 8 cycles: a read at 27
    // has words up to 7/8 of the vector, one at 20 only the first.
    let upto = |eighths: usize| move |i: usize| 8 * i <= eighths * sum_program().n();
    let moved = |read: &'static str, route: &'static str, write: &'static str| {
        [
            ("@28 read", read),
            ("@30 route", route),
            ("@33 write", write),
        ]
    };
    expect(&[
        (
            &moved("@27 read", "@29 route", "@32 write"),
            sum_of(upto(7), ALL),
            &[
                ViolationKind::Unwritten { slot: 0 },
                ViolationKind::Mixed { slot: 0 },
            ],
        ),
        (
            &moved("@20 read", "@22 route", "@25 write"),
            sum_of(|i| i == 0, ALL),
            &[
                ViolationKind::Unwritten { slot: 0 },
                ViolationKind::Mixed { slot: 0 },
            ],
        ),
        // Equal spans: one cycle early is too early for every word.
        (
            &[("@49 add", "@48 add")],
            sum_of(ALL, NONE),
            &[ViolationKind::Unwritten { slot: 1 }],
        ),
        (
            &[("@49 add", "@50 add")],
            sum_of(NONE, NONE),
            &[ViolationKind::Unwritten { slot: 2 }],
        ),
    ]);
}

#[test]
fn missing_streams_are_zeros() {
    let nothing = ViolationKind::NothingArrives;
    expect(&[
        (
            &[("@0 load d0 -> bank0\n", "")],
            sum_of(NONE, ALL),
            &[nothing],
        ),
        (
            &[("@30 route", "@31 route")],
            sum_of(NONE, ALL),
            &[nothing, nothing],
        ),
        (
            &[("@46 route <- 1", "@46 route <- 0")],
            sum_of(ALL, NONE),
            &[nothing],
        ),
        (
            &[("@60 store", "@61 store")],
            sum_of(NONE, NONE),
            &[nothing],
        ),
        (
            &[("@49 write s1 <- xbar0\n", "")],
            sum_of(ALL, NONE),
            &[ViolationKind::Unwritten { slot: 1 }],
        ),
        (&[("@60 store d2 <- bank1\n", "")], sum_of(NONE, NONE), &[]),
        (
            &[(
                "@28 read s0 -> xbar0\n",
                "@28 read s0 -> xbar0\n@28 read s0 -> xbar0\n",
            )],
            sum_of(NONE, ALL),
            &[ViolationKind::TwoArrive],
        ),
    ]);
}

#[test]
fn busy_ports_and_units_give_zeros() {
    let busy = ViolationKind::Busy;
    expect(&[
        (
            // One cycle early the channel is still busy with the first load.
            &[("@16 load", "@15 load"), ("@36 write", "@35 write")],
            sum_of(ALL, NONE),
            &[busy],
        ),
        (
            // The sum finds the unit busy with another one.
            &[(
                "@49 add m0 r2 <- r0 r1",
                "@45 add m0 r3 <- r0 r0\n@49 add m0 r2 <- r0 r1",
            )],
            sum_of(NONE, NONE),
            &[busy],
        ),
    ]);
}

#[test]
fn what_no_machine_has_is_an_error() {
    for (from, to, message) in [
        ("<- r0 r1", "<- r0 r9", "slot 9 does not exist: there are 4"),
        ("<- r0 r1", "<- r0", "slot 65535 does not exist"),
        (
            "add m0 r2 <- r0 r1",
            "neg m0 r2 <- r0",
            "the unit does not execute neg",
        ),
        ("add m0", "add m1", "modulus 1 does not exist"),
        (
            "@30 route <- 0",
            "@30 route <- 2",
            "input port 2 does not exist",
        ),
        (
            "@44 read s0 -> xbar0",
            "@44 read s0 -> xbar1",
            "xbar1 does not connect",
        ),
        (
            "@16 load d1",
            "@16 load d7",
            "slot 7 does not exist: there are 3",
        ),
        (
            "@16 load d1 -> bank1",
            "@16 load d1 -> bank2",
            "bank 2 does not exist",
        ),
        (
            "d1 channel 0",
            "d1 channel 1",
            "off-chip slot 1 is attached to channel 1",
        ),
        (
            "stream bank 0\n",
            "stream bank 0\n@9 route <- 0\n",
            "does not execute such",
        ),
        (
            "stream bank 0",
            "stream bank 2",
            "the machine has no such component",
        ),
        (
            "stream bank 0",
            "stream bank 1",
            "the component has a stream already",
        ),
        ("input 1", "input 2", "the program has no such input limb"),
        ("output 0", "spill", "output limb 0 has no off-chip slot"),
        (
            "\"h\"",
            "\"g\"",
            "the schedule is for machine g, but h is given",
        ),
    ] {
        let error = run(&[(from, to)]).expect_err(to).to_string();
        assert!(error.contains(message), "{to}: {error}");
    }
}
