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
fn degrees_outside_the_range_are_refused() {
    for log_n in [0, 9, 15, 16, 64, u32::MAX] {
        let error = f1().resolve(log_n).expect_err("outside the range");
        assert!(
            matches!(error, MachineError::UnsupportedDegree { .. }),
            "{error}"
        );
    }
}
