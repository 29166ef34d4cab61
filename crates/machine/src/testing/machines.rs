//! Random resolved machines.

use cyclotron_isa::Op;
use cyclotron_isa::testing::TestRng;

use crate::{Bank, Channel, OpTiming, RegFile, Resolved, Turns, UnitKind, Xbar, XbarKind};

/// A random machine: 1 to 16 clusters, units that share or split the
/// operations, register files of 4 to 12 vectors, one or two groups of banks
/// (single-ported or not), turns at the register files or not, crossbars with or without a direct one between
/// clusters, 1 to 3 channels of limited or unlimited bandwidth. It executes
/// every operation but `DOT` and `BCONV`. The same seed gives the same machine.
#[must_use]
pub fn random_resolved(seed: u64, log_n: u32) -> Resolved {
    let mut rng = TestRng::new(seed ^ 0x6d61_6368_696e_6573);
    let (units, mut ops) = random_units(&mut rng);
    let groups = 1 + rng.index(2);
    let regfile = RegFile {
        slots: 4 + rng.index(9) as u16,
        latency: 1 + rng.index(3) as u32,
        net_reads: 1 + rng.index(2) as u16,
        net_writes: 1 + rng.index(2) as u16,
        turns: None,
    };
    let banks = random_banks(&mut rng, groups);
    let all_groups: Vec<u16> = (0..groups as u16).collect();
    let mut kinds = vec![XbarKind::BankToCluster, XbarKind::ClusterToBank];
    if rng.chance(70) {
        kinds.push(XbarKind::ClusterToCluster);
    }
    let mut xbars: Vec<Xbar> = kinds
        .into_iter()
        .map(|kind| Xbar {
            name: format!("{kind:?}"),
            kind,
            groups: match kind {
                XbarKind::ClusterToCluster => Vec::new(),
                _ => all_groups.clone(),
            },
            latency: rng.index(5) as u32,
            span: 1 + rng.index(40) as u32,
        })
        .collect();
    let turns = random_turns(seed, &mut ops, &mut xbars);
    let channels = (0..1 + rng.index(3))
        .map(|_| Channel {
            memory: 0,
            groups: all_groups.clone(),
            span: if rng.chance(15) {
                0
            } else {
                1 + rng.index(80) as u32
            },
            latency: rng.index(120) as u32,
        })
        .collect();
    Resolved {
        name: format!("random {seed}"),
        hash: format!("random {seed}"),
        clock_mhz: 1000.0,
        word_bits: 64,
        log_n,
        vector_bytes: 8 << log_n,
        clusters: 1 + rng.index(16) as u16,
        units,
        ops,
        regfile: RegFile { turns, ..regfile },
        groups: all_groups.iter().map(|g| format!("group {g}")).collect(),
        banks,
        xbars,
        channels,
    }
}

/// Turns in two machines of three. Two crossbars of three and three of four
/// operations that can then take them.
fn random_turns(
    seed: u64,
    ops: &mut [Option<OpTiming>; Op::ALL.len()],
    xbars: &mut [Xbar],
) -> Option<Turns> {
    let mut rng = TestRng::new(seed ^ 0x7475_726e_7300_0000);
    let turns = Turns {
        banks: 1 + rng.index(8) as u16,
        accesses: 2 + rng.index(3) as u16,
        chunks: 1 + rng.index(40) as u32,
    };
    if rng.chance(33) {
        return None;
    }
    for op in Op::ALL {
        // A result may come when its operands are in the same bank.
        let possible = op.field_sources() < usize::from(turns.accesses);
        let takes_turns = possible && rng.chance(75);
        if let Some(timing) = &mut ops[op as usize] {
            match takes_turns {
                true => timing.occupancy = turns.chunks,
                false => timing.occupancy += u32::from(timing.occupancy == turns.chunks),
            }
        }
    }
    for xbar in xbars.iter_mut().filter(|_| rng.chance(67)) {
        xbar.span = turns.chunks;
    }
    Some(turns)
}

fn random_banks(rng: &mut TestRng, groups: usize) -> Vec<Bank> {
    let bank_slots = if rng.chance(50) { 2 } else { 12 };
    (0..2 + rng.index(9))
        .map(|i| {
            let single_port = rng.chance(20);
            let mut ports = || {
                if single_port {
                    1
                } else {
                    1 + rng.index(2) as u16
                }
            };
            let (reads, writes) = (ports(), ports());
            Bank {
                group: (i % groups) as u16,
                slots: 3 + rng.index(bank_slots) as u16,
                latency: 1 + rng.index(3) as u32,
                reads,
                writes,
                single_port,
            }
        })
        .collect()
}

type Units = (Vec<UnitKind>, [Option<OpTiming>; Op::ALL.len()]);

fn random_units(rng: &mut TestRng) -> Units {
    let kinds = 1 + rng.index(4) as u16;
    let mut first = 0;
    let units: Vec<_> = (0..kinds)
        .map(|kind| {
            let count = 1 + rng.index(2) as u16;
            let unit = UnitKind {
                name: format!("unit {kind}"),
                count,
                first,
            };
            first += count;
            unit
        })
        .collect();
    let ops = Op::ALL.map(|op| {
        (op.field_sources() > 0).then(|| OpTiming {
            unit: match op {
                Op::Ntt | Op::Intt => 0,
                Op::AutEval | Op::AutCoeff => 1 % kinds,
                Op::Mul | Op::MulC | Op::Mac | Op::SubMulC => 2 % kinds,
                _ => 3 % kinds,
            },
            occupancy: 1 + rng.index(48) as u32,
            latency: rng.index(30) as u32,
            multipass: rng.chance(20),
        })
    });
    (units, ops)
}
