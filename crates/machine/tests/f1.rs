//! F1 as shipped: the numbers that the compiler sees.

use cyclotron_isa::Op;
use cyclotron_machine::{Machine, MachineError, Resolved, XbarKind};

fn f1() -> Machine {
    Machine::shipped("f1").unwrap_or_else(|error| panic!("{error}"))
}

fn at(log_n: u32) -> Resolved {
    f1().resolve(log_n)
        .unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn f1_at_16k_has_the_published_structure() {
    let f1 = at(14);
    assert_eq!(f1.name, "f1");
    assert_eq!(f1.vector_bytes, 65536);
    assert_eq!(f1.clusters, 16);
    assert_eq!(f1.units_per_cluster(), 6);
    assert_eq!(f1.regfile.slots, 8);
    let turns = f1.regfile.turns.expect("element-partitioned");
    assert_eq!((turns.banks, turns.accesses, turns.chunks), (8, 2, 128));
    assert_eq!(f1.banks.len(), 16);
    assert_eq!(f1.scratchpad_slots(), 1024);
    assert_eq!(f1.channels.len(), 2);
    assert!(
        f1.channels
            .iter()
            .all(|channel| channel.span == 128 && channel.latency == 300)
    );
    for kind in [
        XbarKind::BankToCluster,
        XbarKind::ClusterToBank,
        XbarKind::ClusterToCluster,
    ] {
        let xbar = &f1.xbars[f1.xbar(kind).expect("all three crossbars")];
        assert_eq!((xbar.span, xbar.latency), (128, 3));
    }
}

#[test]
fn f1_timings_are_the_dossiers() {
    let f1 = at(14);
    let timing = |op| {
        f1.timing(op)
            .map(|t| (t.unit, t.occupancy, t.latency, t.multipass))
    };
    assert_eq!(timing(Op::Ntt), Some((0, 128, 209, false)));
    assert_eq!(timing(Op::Intt), Some((0, 128, 209, false)));
    assert_eq!(timing(Op::AutEval), Some((1, 128, 274, false)));
    assert_eq!(timing(Op::AutCoeff), Some((1, 128, 274, false)));
    assert_eq!(timing(Op::Mul), Some((2, 128, 4, false)));
    assert_eq!(timing(Op::MulC), Some((2, 128, 4, false)));
    assert_eq!(timing(Op::Add), Some((3, 128, 1, false)));
    assert_eq!(timing(Op::Sub), Some((3, 128, 1, false)));
    assert_eq!(timing(Op::AddC), Some((3, 128, 1, false)));
    for op in [Op::Neg, Op::Mac, Op::SubMulC, Op::Dot, Op::BConv] {
        assert_eq!(timing(op), None);
    }
    assert_eq!(
        at(10).timing(Op::Ntt).map(|t| (t.occupancy, t.latency)),
        Some((8, 89))
    );
}

#[test]
fn the_banks_of_a_register_file_serve_all_ports_of_the_units() {
    // Section 3: 10 read and 6 write ports.
    let file = &f1().cluster.regfile;
    assert_eq!(
        file.banks * file.clock_mult,
        file.read_ports + file.write_ports
    );
    let ideal = f1().vary("cluster.regfile.element_partitioned", false);
    let ideal = ideal.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(ideal.resolve(14).expect("legal").regfile.turns, None);
}

#[test]
fn operations_that_banks_cannot_serve_are_refused() {
    for (key, value, why) in [
        (
            "cluster.regfile.clock_mult",
            1,
            "`ADD` with 2 operands at a time",
        ),
        (
            "cluster.regfile.banks",
            5,
            "`MUL` whose result comes 5 cycles after its operands",
        ),
    ] {
        let machine = f1().vary(key, value);
        let machine = machine.unwrap_or_else(|error| panic!("{error}"));
        let error = machine.resolve(14).expect_err(key).to_string();
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn degrees_outside_the_range_are_refused() {
    for log_n in [0, 9, 15, 16, 64, u32::MAX] {
        let error = f1().resolve(log_n).expect_err("outside the range");
        assert!(
            matches!(error, MachineError::UnsupportedDegree { .. }),
            "{error}"
        );
    }
}

#[test]
fn longer_polynomials_take_the_longest_vectors() {
    for (log_n, vectors) in [(10, 10), (14, 14), (15, 14), (17, 14)] {
        let resolved = f1().resolve_for_polynomials(log_n).expect("has vectors");
        assert_eq!(resolved, f1().resolve(vectors).expect("resolves"));
    }
    let error = f1().resolve_for_polynomials(9).expect_err("too short");
    assert!(error.to_string().contains("1024 to 16384 words"), "{error}");
    // 18 bits are enough for primes that are 1 modulo 2^17, for 2^16 words, but no longer.
    let narrow = f1().vary("moduli.bits_max", 18).expect("legal");
    assert!(narrow.resolve_for_polynomials(16).is_ok());
    let error = narrow.resolve_for_polynomials(17).expect_err("2^18 + 1");
    assert!(matches!(
        error,
        MachineError::WordTooSmall { log_n: 17, .. }
    ));
    // A memory is too small for a vector, however many a polynomial is.
    let small = f1().vary("scratchpad.kib_per_bank", 32).expect("legal");
    let error = small.resolve_for_polynomials(16).expect_err("too small");
    assert!(
        error
            .to_string()
            .contains("no vector of 65536 bytes (2^14 words)"),
        "{error}"
    );
}

/// Table 2 of the extended paper. Its entries are rounded to two digits after the
/// point, its totals to one.
#[test]
fn area_sums_are_those_of_table_2() {
    let budget = f1().budget(14).expect("a breakdown");
    let near = |prefix: &str, published: f64, rounding: f64| {
        let area = budget.area_mm2(prefix).expect("every area is known");
        assert!(
            (area - published).abs() <= rounding,
            "{prefix}: {area}, Table 2: {published}"
        );
    };
    near("cluster.cc", 63.52, 0.005);
    near("scratchpad.spad", 48.09, 0.005);
    near("xbar", 10.02, 0.005);
    near("offchip.hbm", 29.80, 0.005);
    near("", 151.4, 0.05);
}

/// Table 2 prints 8.75 W for a cluster where its own components sum to 8.76, and
/// totals that follow from 8.75: the sums differ by 16 x 0.01 W and rounding.
#[test]
fn power_sums_are_those_of_table_2() {
    let budget = f1().budget(14).expect("a breakdown");
    let near = |prefix: &str, published: f64, rounding: f64| {
        let power = budget.tdp_w(prefix).expect("every power is known");
        assert!(
            (power - published).abs() <= rounding,
            "{prefix}: {power}, Table 2: {published}"
        );
    };
    near("cluster.cc", 140.0, 0.16 + 0.005);
    near("scratchpad.spad", 20.35, 0.005);
    near("xbar", 19.65, 0.005);
    near("offchip.hbm", 0.45, 0.005);
    near("", 180.4, 0.16 + 0.055);
}

#[test]
fn a_sum_with_an_unknown_part_is_unknown() {
    let budget = f1().budget(14).expect("a breakdown");
    assert_eq!(budget.area_mm2("nothing"), None);
    let mut partial = budget.clone();
    partial.lines[0].each.area_mm2 = None;
    assert_eq!(partial.area_mm2(""), None);
    assert!(partial.area_mm2("scratchpad").is_some());
}

/// Section 5.3: "our approach allows for 6,186 prime moduli".
#[test]
fn f1_has_the_published_number_of_primes() {
    let moduli = f1().moduli;
    assert_eq!(
        (moduli.step(14), moduli.step(15), moduli.step(16)),
        (1 << 16, 1 << 16, 1 << 17)
    );
    let is_prime = |q: u64| {
        (3..)
            .step_by(2)
            .take_while(|d| d * d <= q)
            .all(|d| !q.is_multiple_of(d))
    };
    let candidates = (1u64..1 << 16).map(|k| (k << 16) + 1);
    let primes: Vec<u64> = candidates.filter(|&q| is_prime(q)).collect();
    assert_eq!(primes.len(), 6186);
    assert!(primes.iter().all(|&q| moduli.allows(q, 14)));
    assert!(!moduli.allows(primes[0] - 2, 14));
    assert!(!moduli.allows((1 << 33) + 1, 14));
    assert!(!moduli.allows(1, 14));
}

#[test]
fn overlays_are_the_papers_variants() {
    let units = |overlay: &str| {
        let machine = f1().with_overlay(overlay).expect("an overlay");
        assert_eq!(machine.name, format!("f1+{overlay}"));
        assert_ne!(machine.hash(), f1().hash());
        machine.resolve(14).expect("resolves")
    };
    let slow_ntt = units("lt_ntt");
    assert_eq!((slow_ntt.units[0].count, slow_ntt.units[1].first), (14, 14));
    assert_eq!(
        slow_ntt.timing(Op::Ntt).map(|t| t.occupancy),
        Some(14 * 128)
    );
    assert_eq!(slow_ntt.timing(Op::Ntt).map(|t| t.latency), Some(209));
    let slow_aut = units("lt_aut");
    assert_eq!(slow_aut.units[1].count, 128);
    assert_eq!(
        slow_aut.timing(Op::AutEval).map(|t| t.occupancy),
        Some(16384)
    );
    assert_eq!(units("t4_legacy").clusters, 20);

    let both = f1()
        .with_overlay("lt_ntt")
        .and_then(|m| m.with_overlay("t4_legacy"));
    assert_eq!(both.expect("stacks").name, "f1+lt_ntt+t4_legacy");
    let error = f1()
        .with_overlay("lt_nt")
        .expect_err("no such overlay")
        .to_string();
    assert!(error.contains("did you mean `lt_ntt`?"), "{error}");
}
