//! Wrong schedules, simulated: which words come out, and which violations.

use cyclotron_isa::testing::HashInputs;
use cyclotron_isa::text::parse_schedule;
use cyclotron_isa::{
    FlatProgram, InputProvider, LimbProgram, LimbType, Op, ProgramBuilder, Source,
};
use cyclotron_machine::{Bank, Channel, OpTiming, RegFile, Resolved, UnitKind, Xbar, XbarKind};
use cyclotron_ring::{Ring, Simd};
use cyclotron_simulator::{Options, SimError, Simulation, ViolationKind, simulate};

const LOG_N: u32 = 10;
const Q: u64 = 4293918721;

/// `%2 = %0 + %1` is the output.
fn program() -> LimbProgram {
    let mut b = ProgramBuilder::new("sum", LOG_N, 32, &[4293918721]);
    let x = b.ciphertext("x");
    let inputs = [0, 1].map(|poly| {
        let source = Source::Ciphertext {
            input: x,
            poly,
            limb: 0,
        };
        b.input(source, LimbType::eval(0))
    });
    let procedure = b.procedure("sum", |p| {
        let (a, b) = (p.param(LimbType::eval(0)), p.param(LimbType::eval(0)));
        vec![p.add(a, b)]
    });
    let results = b.call(procedure, &inputs, 0);
    let y = b.output_named("y");
    b.output(y, 0, 0, results[0]);
    b.finish()
}

fn machine() -> Resolved {
    let mut ops = [None; Op::ALL.len()];
    let timing = |unit| OpTiming {
        unit,
        occupancy: 8,
        latency: 4,
        multipass: false,
    };
    ops[Op::Add as usize] = Some(timing(0));
    ops[Op::Sub as usize] = Some(timing(0));
    ops[Op::Neg as usize] = Some(timing(1));
    ops[Op::AddC as usize] = Some(timing(0));
    let unit = |name: &str, first| UnitKind {
        name: name.to_owned(),
        count: 1,
        first,
    };
    let bank = |reads| Bank {
        group: 0,
        slots: 2,
        latency: 2,
        reads,
        writes: 1,
        single_port: false,
    };
    let xbar = |kind| Xbar {
        name: String::new(),
        kind,
        groups: vec![0],
        latency: 3,
        span: 8,
    };
    let channel = Channel {
        memory: 0,
        groups: vec![0],
        span: 16,
        latency: 20,
    };
    Resolved {
        name: "small".to_owned(),
        hash: "h".to_owned(),
        clock_mhz: 1000.0,
        word_bits: 32,
        log_n: LOG_N,
        vector_bytes: 4096,
        clusters: 2,
        units: vec![unit("add", 0), unit("neg", 1)],
        ops,
        regfile: RegFile {
            slots: 4,
            latency: 1,
            net_reads: 1,
            net_writes: 1,
        },
        groups: vec!["scratchpad".to_owned()],
        banks: vec![bank(2), bank(1)],
        xbars: vec![xbar(XbarKind::BankToCluster), xbar(XbarKind::ClusterToBank)],
        channels: vec![channel.clone(), channel],
    }
}

const LEGAL: &str = "schedule \"small\"
machine_hash \"h\"
log_n 10
cycles 96
dram d0 channel 0 input 0
dram d1 channel 0 input 1
dram d2 channel 0 output 0
stream unit 0 0
@49 add m0 r2 <- r0 r1
stream regfile 0
@33 write s0 <- xbar0
@49 write s1 <- xbar0
@54 read s2 -> xbar1
stream xbar 0 0
@30 route <- 0
@46 route <- 1
stream xbar 1 1
@55 route <- 0
stream bank 0
@20 write s0 <- channel0
@28 read s0 -> xbar0
stream bank 1
@36 write s0 <- channel0
@44 read s0 -> xbar0
@58 write s1 <- xbar1
@58 read s1 -> channel0
stream channel 0
@0 load d0 -> bank0
@16 load d1 -> bank1
@60 store d2 <- bank1
";

fn run(edits: &[(&str, &str)]) -> Result<Simulation<u32>, SimError> {
    let mut text = LEGAL.to_owned();
    for (from, to) in edits {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, to, 1);
    }
    let schedule = parse_schedule(&text).expect("well formed");
    let program = program();
    let flat = FlatProgram::new(&program).expect("flat");
    let ring = Ring::new(LOG_N, &program.moduli, Simd::Scalar).expect("a ring");
    let inputs = HashInputs::new(1, &program);
    simulate(
        &flat,
        &schedule,
        &machine(),
        &ring,
        &inputs,
        Options::default(),
    )
}

/// The output word by word: `%0` and `%1` where the two functions say so, else zeros.
fn sum(first: impl Fn(usize) -> bool, second: impl Fn(usize) -> bool) -> Vec<u32> {
    let program = program();
    let inputs = HashInputs::new(1, &program);
    let [a, b] = [0, 1].map(|i| {
        let input = program.inputs[i];
        InputProvider::<u32>::limb(&inputs, input.source, input.ty).expect("given")
    });
    let word = |i: usize| {
        let a = if first(i) { u64::from(a[i]) } else { 0 };
        let b = if second(i) { u64::from(b[i]) } else { 0 };
        ((a + b) % Q) as u32
    };
    (0..1 << LOG_N).map(word).collect()
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
    expect(&[(&[], sum(ALL, ALL), &[])]);
}

#[test]
fn early_reads_see_what_was_there_word_by_word() {
    // The bank's slot is written over 20..36 and read over 8 cycles: a read at 27
    // has words up to 7/8 of the vector, one at 20 only the first.
    let upto = |eighths: usize| move |i: usize| 8 * i <= eighths << LOG_N;
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
            sum(upto(7), ALL),
            &[
                ViolationKind::Unwritten { slot: 0 },
                ViolationKind::Mixed { slot: 0 },
            ],
        ),
        (
            &moved("@20 read", "@22 route", "@25 write"),
            sum(|i| i == 0, ALL),
            &[
                ViolationKind::Unwritten { slot: 0 },
                ViolationKind::Mixed { slot: 0 },
            ],
        ),
        // Equal spans: one cycle early is too early for every word.
        (
            &[("@49 add", "@48 add")],
            sum(ALL, NONE),
            &[ViolationKind::Unwritten { slot: 1 }],
        ),
        (
            &[("@49 add", "@50 add")],
            sum(NONE, NONE),
            &[ViolationKind::Unwritten { slot: 2 }],
        ),
    ]);
}

#[test]
fn missing_streams_are_zeros() {
    let nothing = ViolationKind::NothingArrives;
    expect(&[
        (&[("@0 load d0 -> bank0\n", "")], sum(NONE, ALL), &[nothing]),
        (
            &[("@30 route", "@31 route")],
            sum(NONE, ALL),
            &[nothing, nothing],
        ),
        (
            &[("@46 route <- 1", "@46 route <- 0")],
            sum(ALL, NONE),
            &[nothing],
        ),
        (&[("@60 store", "@61 store")], sum(NONE, NONE), &[nothing]),
        (
            &[("@49 write s1 <- xbar0\n", "")],
            sum(ALL, NONE),
            &[ViolationKind::Unwritten { slot: 1 }],
        ),
        (&[("@60 store d2 <- bank1\n", "")], sum(NONE, NONE), &[]),
        (
            &[(
                "@28 read s0 -> xbar0\n",
                "@28 read s0 -> xbar0\n@28 read s0 -> xbar0\n",
            )],
            sum(NONE, ALL),
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
            sum(ALL, NONE),
            &[busy],
        ),
        (
            // The sum finds the unit busy with another one.
            &[(
                "@49 add m0 r2 <- r0 r1",
                "@45 add m0 r3 <- r0 r0\n@49 add m0 r2 <- r0 r1",
            )],
            sum(NONE, NONE),
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
