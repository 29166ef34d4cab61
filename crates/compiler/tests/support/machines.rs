//! Machines for tests, made by hand.

use cyclotron_isa::Op;
use cyclotron_machine::{
    Bank, Channel, OpTiming, RegFile, Resolved, Turns, UnitKind, Xbar, XbarKind,
};

use super::programs::Random;

/// What differs between the test machines.
#[derive(Debug, Clone)]
pub struct Shape {
    pub clusters: u16,
    pub regfile_slots: u16,
    pub net_ports: u16,
    pub banks: u16,
    pub bank_slots: u16,
    pub channels: u16,
    pub channel_span: u32,
    pub channel_latency: u32,
    /// Occupancy of every unit.
    pub occupancy: u32,
    pub xbar_span: u32,
    pub among_clusters: bool,
    pub multipass_ntt: bool,
    pub single_port: bool,
    /// Banks of a register file that serve two accesses a cycle, in turns; 0 if
    /// they never conflict.
    pub turn_banks: u16,
}

impl Shape {
    /// F1 at N = 2^14.
    pub fn f1() -> Self {
        Self {
            clusters: 16,
            regfile_slots: 8,
            net_ports: 2,
            banks: 16,
            bank_slots: 64,
            channels: 2,
            channel_span: 128,
            channel_latency: 300,
            occupancy: 128,
            xbar_span: 128,
            among_clusters: true,
            multipass_ntt: false,
            single_port: false,
            turn_banks: 8,
        }
    }

    /// One that may be too small for anything.
    pub fn random(random: &mut Random) -> Self {
        let mut one_of = |list: &[u32]| list[random.next(list.len() as u64) as usize];
        Self {
            clusters: one_of(&[1, 2, 3, 4, 7, 16]) as u16,
            regfile_slots: one_of(&[2, 3, 4, 8, 20]) as u16,
            net_ports: one_of(&[1, 1, 2]) as u16,
            banks: one_of(&[1, 2, 5, 16]) as u16,
            bank_slots: one_of(&[1, 2, 4, 16, 64]) as u16,
            channels: one_of(&[1, 2, 3]) as u16,
            channel_span: one_of(&[0, 16, 128, 700]),
            channel_latency: one_of(&[0, 30, 300, 1000]),
            occupancy: one_of(&[1, 16, 128]),
            xbar_span: one_of(&[8, 16, 128]),
            among_clusters: one_of(&[0, 1, 1]) == 1,
            multipass_ntt: one_of(&[0, 1]) == 1,
            single_port: one_of(&[0, 1]) == 1,
            // Results come 2, 5, 210 and 275 cycles after operands, which must not
            // be in the same bank.
            turn_banks: one_of(&[0, 7, 8]) as u16,
        }
    }

    /// Whether it may be too small for a program of [`super::programs::random`].
    pub fn is_tight(&self) -> bool {
        self.banks * self.bank_slots < 4 || self.regfile_slots < 3
    }

    pub fn resolve(&self, log_n: u32) -> Resolved {
        let mut ops = [None; Op::ALL.len()];
        let mut set = |list: &[Op], unit: u16, latency: u32| {
            for &op in list {
                ops[op as usize] = Some(OpTiming {
                    unit,
                    occupancy: self.occupancy,
                    latency,
                    multipass: unit == 0 && self.multipass_ntt,
                });
            }
        };
        set(&[Op::Ntt, Op::Intt], 0, 209);
        set(&[Op::AutEval, Op::AutCoeff], 1, 274);
        set(&[Op::Mul, Op::MulC], 2, 4);
        set(&[Op::Add, Op::Sub, Op::AddC], 3, 1);
        let kinds = [("ntt", 1), ("aut", 1), ("mul", 2), ("add", 2)];
        let mut first = 0;
        let units = kinds
            .iter()
            .map(|&(name, count)| {
                let kind = UnitKind {
                    name: name.into(),
                    count,
                    first,
                };
                first += count;
                kind
            })
            .collect();
        Resolved {
            name: "test".into(),
            hash: String::new(),
            clock_mhz: 1000.0,
            word_bits: 32,
            log_n,
            vector_bytes: 4 << log_n,
            clusters: self.clusters,
            units,
            ops,
            regfile: RegFile {
                slots: self.regfile_slots,
                latency: 1,
                net_reads: self.net_ports,
                net_writes: self.net_ports,
                turns: self.turns(),
            },
            groups: vec!["spad".into()],
            banks: (0..self.banks)
                .map(|_| Bank {
                    group: 0,
                    slots: self.bank_slots,
                    latency: 2,
                    reads: 1,
                    writes: 1,
                    single_port: self.single_port,
                })
                .collect(),
            xbars: self.xbars(),
            channels: (0..self.channels)
                .map(|_| Channel {
                    memory: 0,
                    groups: vec![0],
                    span: self.channel_span,
                    latency: self.channel_latency,
                })
                .collect(),
        }
    }

    fn turns(&self) -> Option<Turns> {
        (self.turn_banks > 0).then_some(Turns {
            banks: self.turn_banks,
            accesses: 2,
            chunks: self.occupancy,
        })
    }

    fn xbars(&self) -> Vec<Xbar> {
        let xbar = |name: &str, kind, groups: &[u16]| Xbar {
            name: name.into(),
            kind,
            groups: groups.to_vec(),
            latency: 3,
            span: self.xbar_span,
        };
        let mut list = vec![
            xbar("s2c", XbarKind::BankToCluster, &[0]),
            xbar("c2s", XbarKind::ClusterToBank, &[0]),
        ];
        if self.among_clusters {
            list.push(xbar("c2c", XbarKind::ClusterToCluster, &[]));
        }
        list
    }
}
