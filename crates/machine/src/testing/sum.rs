//! One addition, its machine and a schedule of it by hand, legal to the cycle:
//! what tests of single faults edit.

use cyclotron_isa::{LimbProgram, LimbType, Op, ProgramBuilder, Source};

use crate::{Bank, Channel, OpTiming, RegFile, Resolved, UnitKind, Xbar, XbarKind};

const LOG_N: u32 = 10;

/// The prime of [`sum_program`].
pub const SUM_PRIME: u64 = 4_293_918_721;

/// `%2 = %0 + %1` is the output; N = 2^10, one prime, 32-bit words.
#[must_use]
pub fn sum_program() -> LimbProgram {
    let mut b = ProgramBuilder::new("sum", LOG_N, 32, &[SUM_PRIME]);
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

/// Two clusters of an adder and a negator, two banks, two channels, at N = 2^10.
#[must_use]
pub fn sum_machine() -> Resolved {
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
            turns: None,
        },
        groups: vec!["scratchpad".to_owned()],
        banks: vec![bank(2), bank(1)],
        xbars: vec![xbar(XbarKind::BankToCluster), xbar(XbarKind::ClusterToBank)],
        channels: vec![channel.clone(), channel],
    }
}

/// The text of a schedule of [`sum_program`] on [`sum_machine`].
pub const SUM_SCHEDULE: &str = "schedule \"small\"
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
