//! The text forms of plans, schedules and bundles read back exactly and survive damage.

use std::collections::BTreeMap;

use cyclotron_isa::testing::{ProgramShape, TestRng, random_program};
use cyclotron_isa::text::{Bundle, parse_plan, parse_schedule, print_plan, print_schedule};
use cyclotron_isa::{
    Component, DramContent, DramSlot, Entry, IsaError, Link, MovementPlan, NO_SLOT, Op, Schedule,
    Step, Stream, StreamOp, Traffic,
};

/// Nonsense that has every form of entry.
fn random_schedule(seed: u64) -> Schedule {
    let mut rng = TestRng::new(seed);
    let mut small = move || rng.below(9) as u16;
    let mut rng = TestRng::new(!seed);
    let mut entry = || {
        let link = [Link::Xbar(small()), Link::Channel(small())][rng.index(2)];
        let op = match rng.below(7) {
            0 => StreamOp::Read {
                slot: small(),
                to: link,
            },
            1 => StreamOp::Write {
                slot: small(),
                from: link,
            },
            2 => StreamOp::Route { from: small() },
            3 => StreamOp::Load {
                address: u32::MAX,
                bank: small(),
            },
            4 => StreamOp::Store {
                address: 7,
                bank: small(),
            },
            _ => StreamOp::Compute {
                op: rng.pick(&Op::ALL),
                modulus: small(),
                dst: small(),
                src: [
                    small(),
                    [NO_SLOT, 3][rng.index(2)],
                    [NO_SLOT, 0][rng.index(2)],
                ],
                imm: [0, 1, u32::MAX][rng.index(3)],
            },
        };
        let wait = [0, 1, 128, u32::MAX][rng.index(4)];
        Entry { wait, op }
    };
    let components = [
        Component::Unit {
            cluster: 0,
            unit: 65535,
        },
        Component::RegFile { cluster: 3 },
        Component::XbarPort { xbar: 1, port: 2 },
        Component::Bank { bank: 9 },
        Component::Channel { channel: 0 },
    ];
    Schedule {
        machine: "a \"machine\"".to_owned(),
        machine_hash: "0123abc".to_owned(),
        log_n: 14,
        dram: [
            DramContent::Input(5),
            DramContent::Output(0),
            DramContent::Spill,
        ]
        .map(|content| DramSlot {
            channel: 1,
            content,
        })
        .to_vec(),
        streams: components
            .map(|component| Stream {
                component,
                entries: (0..40).map(|_| entry()).collect(),
            })
            .to_vec(),
        cycles: u64::MAX,
    }
}

#[test]
fn schedules_read_back() {
    for seed in 0..50 {
        let schedule = random_schedule(seed);
        let text = print_schedule(&schedule);
        let read = parse_schedule(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_eq!(read, schedule);
    }
    assert_eq!(parse_schedule("").ok(), None);
}

#[test]
fn edited_lines_mean_what_they_say() {
    let text = "schedule \"m\"\nmachine_hash \"h\"\nlog_n 10\ncycles 99 ; roughly\n\n\
                dram d0 channel 0 input 3\nstream unit 0 1\n@5 mul m1 r3 <- r1 r2\n\
                +0 addc m1 r3 <- r1 c7\n@12 mac m0 r0 <- r1 r2 r3\nstream bank 2\n\
                \t@0  read s7 -> channel1\n@4 write s1 <- xbar0\n";
    let schedule = parse_schedule(text).expect("legal text");
    let waits: Vec<Vec<u32>> = schedule
        .streams
        .iter()
        .map(|s| s.entries.iter().map(|e| e.wait).collect())
        .collect();
    assert_eq!(waits, [vec![5, 0, 7], vec![0, 4]]);
    for (from, to, line, why) in [
        ("@12 mac", "@4 mac", 10, "before the previous entry's, 5"),
        ("@12 mac", "@99999999999 mac", 10, "at most 2^32 - 1 cycles"),
        ("@5 mul", "@x mul", 8, "expected a cycle"),
        ("mul m1", "mol m1", 8, "unknown entry `mol`"),
        ("mul m1", "mul m70000", 8, "expected a modulus as `mNUMBER`"),
        (
            "<- r1 r2\n",
            "<- r1 r2 r3 r4\n",
            8,
            "expected the end of the line",
        ),
        ("c7", "k7", 9, "expected an immediate as `cNUMBER`"),
        ("stream unit 0 1\n", "", 7, "needs a `stream`"),
        ("channel1", "chanel1", 12, "expected a link"),
        ("d0 channel", "d1 channel", 6, "expected `d0`"),
        ("cycles 99", "cycles 99\ncycles 98", 5, "given twice"),
        ("log_n 10\n", "", 13, "lacks its `log_n`"),
        ("stream bank 2", "stream tank 2", 11, "found `tank`"),
    ] {
        assert!(text.contains(from), "{from}");
        let error = parse_schedule(&text.replacen(from, to, 1)).expect_err(to);
        let message = error.to_string();
        assert!(
            message.starts_with(&format!("line {line}:")),
            "{to}: {message}"
        );
        assert!(message.contains(why), "{to}: {message}");
    }
}

fn bundle(seed: u64) -> Bundle {
    let shape = ProgramShape::small(5, 32, &[4293918721, 786433]);
    Bundle {
        meta: BTreeMap::from([
            ("program".to_owned(), "lola \"mnist\"".to_owned()),
            ("seed".to_owned(), seed.to_string()),
        ]),
        machine_toml: "[machine]\nname = \"f1\" # == program\n\n== schedule\n| x\n".to_owned(),
        program: random_program(seed, &shape),
        schedule: random_schedule(seed),
    }
}

#[test]
fn bundles_read_back() {
    for seed in 0..20 {
        let mut bundle = bundle(seed);
        if seed == 3 {
            bundle.machine_toml = "no line feed".to_owned();
            bundle.meta.clear();
        }
        let text = bundle.print();
        let read = Bundle::parse(&text).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(read, bundle);
    }
    let mut empty = bundle(1);
    empty.machine_toml.clear();
    assert_eq!(Bundle::parse(&empty.print()).expect("reads"), empty);
}

#[test]
fn damaged_bundles_give_errors_with_lines() {
    let text = bundle(5).print();
    let lines = text.lines().count();
    let newer = text.replacen("cyclotron_bundle 1", "cyclotron_bundle 2", 1);
    let error = Bundle::parse(&newer).expect_err("newer").to_string();
    assert!(error.contains("use a newer release"), "{error}");
    let mut rng = TestRng::new(9);
    for _ in 0..3000 {
        let mut bytes = text.clone().into_bytes();
        for _ in 0..1 + rng.below(3) {
            let at = rng.index(bytes.len());
            match rng.below(4) {
                0 => bytes[at] = b"0123456789%$mck=\n \"\\;-@+|"[rng.index(25)],
                1 => {
                    bytes.remove(at);
                }
                2 => bytes.insert(at, b'9'),
                _ => bytes.truncate(at.max(1)),
            }
        }
        let Ok(damaged) = String::from_utf8(bytes) else {
            continue;
        };
        match Bundle::parse(&damaged) {
            Ok(_) => {}
            Err(IsaError::Parse { line, .. }) => assert!(line <= lines + 4, "{line} of {lines}"),
            Err(other) => panic!("not a parse error: {other}"),
        }
    }
}

#[test]
fn plans_read_back() {
    let plan = MovementPlan {
        capacity: 1024,
        steps: vec![
            Step::Load(0),
            Step::Compute(7),
            Step::Store(u32::MAX),
            Step::Evict(3),
        ],
        traffic: Traffic {
            hints_compulsory: 1,
            hints_other: 2,
            inputs_compulsory: 3,
            inputs_other: 4,
            outputs: 5,
            intermediate_loads: 6,
            intermediate_stores: u64::MAX,
        },
    };
    let text = print_plan(&plan);
    assert_eq!(parse_plan(&text).expect("reads back"), plan);
    for (from, to, line, why) in [
        ("load $0", "load 0", 9, "expected a value as `$NUMBER`"),
        ("load $0", "lode $0", 9, "unknown step `lode`"),
        (
            "traffic outputs",
            "traffic output",
            6,
            "`output` is none of",
        ),
        (
            "load $0",
            "movement_plan 3",
            9,
            "a plan begins with its one",
        ),
        ("movement_plan 1024\n", "", 1, "a plan begins with its one"),
    ] {
        let message = parse_plan(&text.replacen(from, to, 1))
            .expect_err(to)
            .to_string();
        assert!(
            message.starts_with(&format!("line {line}:")),
            "{to}: {message}"
        );
        assert!(message.contains(why), "{to}: {message}");
    }
    assert!(parse_plan("").is_err());
}
