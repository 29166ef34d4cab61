//! Other machines, overlays, edits and the canonical form.

use cyclotron_isa::Op;
use cyclotron_machine::{Machine, MachineError, Param, Setting, XbarKind};

fn f1() -> Machine {
    Machine::shipped("f1").unwrap_or_else(|error| panic!("{error}"))
}

fn load(name: &str) -> Machine {
    let path = format!("{}/tests/machines/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    Machine::load(path).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn the_schema_covers_fab() {
    let fab = load("fab").resolve(16).expect("resolves");
    assert_eq!(fab.vector_bytes, 442_368);
    assert_eq!(
        (fab.regfile.slots, fab.scratchpad_slots()),
        (4, 5 * 16 + 2 * 8)
    );
    assert!(fab.banks[0].single_port && !fab.banks[5].single_port);
    assert_eq!(fab.xbars[0].groups, [0, 1]);
    assert_eq!(fab.xbar(XbarKind::ClusterToBank), Some(1));
    let ntt = fab.timing(Op::Ntt).expect("has an NTT");
    assert_eq!(
        (ntt.occupancy, ntt.latency, ntt.multipass),
        (1024, 1792, true)
    );
    assert_eq!(
        fab.timing(Op::Mac)
            .map(|t| (t.occupancy, t.latency, t.multipass)),
        Some((256, 31, false))
    );
    // 14.4 GB/s at 300 MHz are 48 bytes a cycle.
    assert_eq!((fab.channels.len(), fab.channels[0].span), (32, 9216));
    assert_eq!(load("fab").params["key_compression"], Param::Flag(true));
    let eight = load("fab").with_overlay("fab8").expect("an overlay");
    assert_eq!(eight.system.as_ref().map(|system| system.boards), Some(8));
}

#[test]
fn the_schema_covers_the_yashe_coprocessor() {
    let machine = load("he_coprocessor");
    let pau = &machine.cluster.units[0];
    assert_eq!(pau.ops.len(), 6);
    assert!(pau.ops["SMALL_CRT"].multipass);
    assert_eq!(machine.cluster.units[1].exclusive_with, ["pau"]);
    // Units that exclude each other are not what schedules can express.
    let error = machine.resolve(16).expect_err("not modelled");
    assert!(matches!(error, MachineError::NotModelled { .. }), "{error}");
}

#[test]
fn the_schema_covers_limbflow() {
    let machine = load("limbflow");
    let a = machine.resolve(16).expect("resolves");
    assert_eq!(a.scratchpad_slots(), 73);
    assert_eq!(
        a.timing(Op::AutEval)
            .map(|t| (t.unit, t.occupancy, t.latency)),
        Some((1, 512, 32))
    );
    let b = machine.with_overlay("set_b").expect("set B");
    assert_eq!((b.word_bits, b.vector_bytes(17)), (64, 1 << 20));
    assert_eq!(b.params["K"], Param::Integer(11));
    assert_eq!(
        b.params["fft_iter"],
        Param::Integer(4),
        "what an overlay does not name stays"
    );
    let c = machine.with_overlay("set_c").expect("set C");
    assert_eq!(
        (c.lanes, c.moduli.bits_max, c.moduli.step(16)),
        (512, 32, 1 << 17)
    );
}

#[test]
fn edits_change_one_key() {
    let machine = f1().vary("clusters", 4).expect("an edit");
    assert_eq!(machine.resolve(14).expect("resolves").clusters, 4);
    assert_eq!(machine.name, "f1");
    assert_ne!(machine.hash(), f1().hash());

    let edits: [(&str, Setting); 9] = [
        ("scratchpad.kib_per_bank", 1024.into()),
        ("scratchpad.spad.banks", 8.into()),
        ("offchip.gbps", 256.into()),
        ("offchip.hbm.latency_cycles", 100.into()),
        ("vars.lat_mul", 7.into()),
        ("cluster.cc.fu.ntt.count", "lgN - 9".into()),
        ("cluster.regfile.latency", 3.into()),
        ("xbar.latency", 9.into()),
        ("clock_mhz", 500.0.into()),
    ];
    let machine = f1()
        .with(edits)
        .and_then(|machine| machine.resolve(14))
        .expect("resolves");
    assert_eq!((machine.banks.len(), machine.banks[0].slots), (8, 16));
    // 256 GB/s at 500 MHz are the 512 bytes a cycle of the scratchpad's ports.
    assert_eq!(
        (machine.channels[0].span, machine.channels[0].latency),
        (128, 100)
    );
    assert_eq!(machine.timing(Op::Mul).map(|t| t.latency), Some(7));
    assert_eq!(machine.timing(Op::Ntt).map(|t| t.latency), Some(254));
    assert_eq!((machine.units[0].count, machine.regfile.latency), (5, 3));
    assert!(machine.xbars.iter().all(|xbar| xbar.latency == 9));
}

#[test]
fn wrong_edits_say_what_is_wrong() {
    let error = |key: &str, value: Setting| f1().vary(key, value).expect_err("wrong").to_string();
    let contains = |text: String, part: &str| assert!(text.contains(part), "{text}");
    contains(
        error("scratchpad.kib_per_bnk", 1.into()),
        "did you mean `kib_per_bank`?",
    );
    contains(
        error("scratchpads.banks", 1.into()),
        "did you mean `scratchpad`?",
    );
    contains(
        error("cluster.cc.fu.nt.count", 1.into()),
        "did you mean `ntt`?",
    );
    contains(
        error("clusters", 0.into()),
        "must be from 1 to 4096 clusters",
    );
    contains(
        error("clusters", "many".into()),
        "`cluster.cc.count` must be an integer (clusters), not a string",
    );
    contains(
        error("scratchpad.spad", 1.into()),
        "name the key to change in it",
    );
    contains(error("offchip.gbps", f64::NAN.into()), "must be above 0");
    contains(error("", 1.into()), "unknown key ``");
    contains(error("machine..name", 1.into()), "unknown key ``");
    contains(
        error("vars.lat_mul", f64::INFINITY.into()),
        "machine.vars.lat_mul",
    );
    contains(
        error("cluster.cc.fu.ntt.ops.NTT", "N/X".into()),
        "unknown name `X`",
    );
    contains(error("vars.lat_mul", (-100).into()), "must not be negative");
    contains(error("machine.name", "a b".into()), "cannot be a name");
    // Contradictions that two edits resolve together.
    contains(error("n_min", 32768.into()), "below `n_min`");
    let both = [("n_min", Setting::from(32768)), ("n_max", 32768.into())];
    assert_eq!(f1().with(both).expect("consistent").n_min, 32768);
}

#[test]
fn too_small_and_too_large_machines_are_typed_errors() {
    let resolve = |key: &str, value: Setting, log_n: u32| {
        f1().vary(key, value)
            .expect("a legal description")
            .resolve(log_n)
    };
    let error = resolve("cluster.regfile.kib", 32.into(), 14).expect_err("half a vector");
    assert!(
        matches!(
            error,
            MachineError::NoSlots {
                has_bytes: 32768,
                vector_bytes: 65536,
                ..
            }
        ),
        "{error}"
    );
    assert!(resolve("cluster.regfile.kib", 32.into(), 13).is_ok());
    let error = resolve("scratchpad.kib_per_bank", 63.into(), 14).expect_err("no vector");
    assert!(matches!(error, MachineError::NoSlots { .. }), "{error}");
    let error = resolve("scratchpad.kib_per_bank", (1 << 24).into(), 10).expect_err("2^22 slots");
    assert!(
        matches!(error, MachineError::TooMany { max: 65534, .. }),
        "{error}"
    );
    let error = resolve("cluster.fu.count", "N*4".into(), 14).expect_err("too many units");
    assert!(matches!(error, MachineError::TooMany { .. }), "{error}");
    let error = resolve("offchip.gbps", 1e-9.into(), 14).expect_err("too slow");
    assert!(matches!(error, MachineError::TooMany { .. }), "{error}");
    let error = resolve("scratchpad.latency", 0.into(), 14).expect_err("not modelled");
    assert!(matches!(error, MachineError::NotModelled { .. }), "{error}");

    let error = resolve("streams.issue_overhead_cycles", 1.into(), 14).expect_err("not modelled");
    assert!(matches!(error, MachineError::NotModelled { .. }), "{error}");

    let wide = f1().vary("n_max", 1 << 20).expect("a legal description");
    assert_eq!(
        wide.resolve(15).map(|at| at.vector_bytes).ok(),
        Some(131_072)
    );
    let small = wide.with([
        ("moduli.bits_max", Setting::from(17)),
        ("moduli.congruence", Setting::Integers(vec![1, 2])),
    ]);
    let small = small.expect("a legal description");
    let error = small.resolve(17).expect_err("18-bit primes at least");
    assert!(
        matches!(
            error,
            MachineError::WordTooSmall {
                needs: 19,
                bits_max: 17,
                ..
            }
        ),
        "{error}"
    );
    assert!(small.vary("clusters", 1).is_ok());
}

#[test]
fn unlimited_and_slow_memories_resolve() {
    let at = |key: &str, value: Setting| {
        f1().vary(key, value)
            .and_then(|m| m.resolve(14))
            .expect("resolves")
    };
    assert_eq!(at("offchip.gbps", "unlimited".into()).channels[0].span, 0);
    assert_eq!(at("offchip.gbps", 100.into()).channels[0].span, 656);
    assert_eq!(at("offchip.efficiency", 0.5.into()).channels[0].span, 256);
    // The scratchpad's port is the narrower end.
    assert_eq!(at("offchip.gbps", 4096.into()).channels[0].span, 128);
    assert_eq!(
        at("scratchpad.bytes_per_cycle", 256.into()).xbars[0].span,
        256
    );
    assert_eq!(
        at("scratchpad.bytes_per_cycle", 256.into()).xbars[2].span,
        128
    );
}

#[test]
fn the_canonical_form_reads_back() {
    for machine in [f1(), load("fab"), load("he_coprocessor"), load("limbflow")] {
        let text = machine.to_toml();
        let again = Machine::from_toml(&text, "canonical")
            .unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(again.hash(), machine.hash());
        assert_eq!(again.to_toml(), text);
        assert_eq!(*again, *machine);
    }
    let varied = f1()
        .with_overlay("lt_ntt")
        .and_then(|m| m.vary("offchip.gbps", 0.1))
        .expect("a variant");
    let again = Machine::from_toml(&varied.to_toml(), "canonical").expect("reads back");
    assert_eq!(
        again.resolve(13).expect("resolves"),
        varied.resolve(13).expect("resolves")
    );
}

#[test]
fn the_hash_is_that_of_the_contents() {
    let text = include_str!("../../../machines/f1.toml");
    let hash = |text: &str| {
        Machine::from_toml(text, "test")
            .expect("parses")
            .hash()
            .to_owned()
    };
    let same = [
        text.replace("\n", "\r\n"),
        format!("\u{feff}{text}"),
        text.replace("clock_mhz = 1000 ", "clock_mhz = 1_000.0 "),
        text.replace("from = \"spad\"", "from = [\"spad\"]"),
        text.replace("count = 16  ", "# count\ncount = 0x10"),
        text.replace("Table 5, column 2", "elsewhere"),
        text.replace("read_ports = 10 ", "")
            .replace("kib = 512 ", "read_ports = 10\nkib = 512 "),
        text.replace("[machine.overlay.t4_legacy]", "[machine.overlay.other]"),
    ];
    for variant in same {
        assert_ne!(variant, text);
        assert_eq!(hash(&variant), hash(text), "{variant}");
    }
    assert_ne!(
        hash(&text.replace("latency_cycles = 300", "latency_cycles = 301")),
        hash(text)
    );
    assert_eq!(f1().hash().len(), 64);
}

#[test]
fn files_that_cannot_be_read_are_typed_errors() {
    assert!(matches!(
        Machine::load("/nonexistent/m.toml"),
        Err(MachineError::Io { .. })
    ));
    assert!(matches!(
        Machine::open("nonexistent.toml"),
        Err(MachineError::Io { .. })
    ));
    let error = Machine::open("f2").expect_err("not shipped").to_string();
    assert!(
        error.contains("did you mean `f1`?") && error.contains("shipped machines: f1"),
        "{error}"
    );
    assert_eq!(Machine::open("f1").expect("shipped").name, "f1");

    let dir = std::env::temp_dir().join(format!("cyclotron-machine-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a directory");
    let file = |name: &str, bytes: &[u8]| {
        let path = dir.join(name);
        std::fs::write(&path, bytes).expect("a file");
        Machine::load(path)
    };
    let binary = file("binary.toml", b"schema = 1\n\nname = \"\xff\"");
    assert!(matches!(binary, Err(MachineError::NotUtf8 { line: 3, .. })));
    let large = file("large.toml", &vec![b'\n'; (1 << 18) + 1]);
    assert!(matches!(large, Err(MachineError::TooLarge { .. })));
    assert!(matches!(
        file("empty.toml", b""),
        Err(MachineError::Invalid(_))
    ));
    std::fs::remove_dir_all(&dir).expect("clean up");
    assert!(matches!(
        Machine::load(std::env::temp_dir()),
        Err(MachineError::Io { .. })
    ));
}
