//! A machine at one ring degree: every formula evaluated, every capacity in
//! vectors. The compiler, the checker and the simulator see machines only in
//! this form.
//!
//! # Timing
//! All components move a vector (one limb) as a stream of chunks. An entry of a
//! component's stream starts at cycle t:
//!
//! - *Compute*: the unit is busy for `occupancy` cycles and reads its operands'
//!   register-file slots over `[t, t + occupancy)`. The result is written over
//!   `[w, w + occupancy)` with `w = t + latency + regfile.latency`. A multipass
//!   operation writes it at once, at `w = t + occupancy + latency + regfile.latency`.
//! - *Read* of a slot onto a link: the slot is read over `[t, t + span)`, `span`
//!   the link's; the stream appears on the link at `t + latency` of the register
//!   file or bank.
//! - *Route*: takes the stream that appears on the input port at exactly t, gives
//!   it to the output port at `t + latency` of the crossbar; the output port is
//!   busy for `span` cycles. Several output ports may take the same stream.
//! - *Write*: takes the stream that the link delivers at exactly t, writes the
//!   slot over `[t, t + span)`.
//! - *Load*: the channel is busy for `span` cycles and delivers to the bank at
//!   `t + latency`. *Store*: takes the stream that the bank puts on the channel's
//!   link at exactly t; the off-chip slot may be loaded from `t + span + latency`.
//!
//! A read over `[r, r + sr)` sees a write over `[w, w + sw)` if `r >= w` and
//! `r + sr >= w + sw` (no chunk is read before it is there). A slot may be
//! overwritten by a write over `[w, w + sw)` after a read over `[r, r + sr)` if
//! `w > r` and `w + sw > r + sr`.
//!
//! # Ports
//! A unit, a crossbar output port and a channel do one thing at a time. A
//! register file has `net_reads` and `net_writes` network ports, a bank `reads`
//! and `writes` (or, if `single_port`, one port for both); each is busy for the
//! span of its transfer.
//!
//! # Turns
//! Where a register file has [`Turns`], chunk k of every vector is in bank k modulo
//! `banks`. An access (a unit's read of one operand, its write of the result, a
//! network port's read or write) that starts at cycle s and moves one chunk a cycle
//! is in bank (c - s) modulo `banks` at cycle c: with a common residue of s modulo
//! `banks`, two accesses that overlap are always in the same bank, otherwise never.
//! A bank serves `accesses` of them a cycle, so of the accesses to one register file
//! whose starts have equal residues at most `accesses` overlap. The operands of an
//! instruction are so many accesses, also where they are one slot. Accesses of
//! another span than `chunks` move through buffers at the unit or crossbar, which no
//! description has, and take no turns.
//!
//! Streams are told apart by where and when they appear, so no two may appear in
//! the same cycle on one input port of a link (from one cluster or bank into one
//! crossbar or channel, or from one channel to one bank). Every stream is taken
//! by somebody: a read without a route or store, or a route or load without a
//! write, is an error. Register files and banks have a latency of at least one
//! cycle. Writes into one slot do not cross: the later one starts and ends later.
//! An input or output limb has exactly one off-chip slot.

use cyclotron_isa::Op;

/// How a unit executes one operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpTiming {
    /// Index into [`Resolved::units`].
    pub unit: u16,
    /// Cycles that the unit is busy.
    pub occupancy: u32,
    /// Cycles from the first chunk in to the first chunk out.
    pub latency: u32,
    /// The result exists only when all passes are done.
    pub multipass: bool,
}

/// A kind of functional unit in every cluster.
#[derive(Debug, Clone, PartialEq)]
pub struct UnitKind {
    /// The unit's name.
    pub name: String,
    /// Instances in each cluster.
    pub count: u16,
    /// Number of the first instance within the cluster.
    pub first: u16,
}

/// The register file of every cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegFile {
    /// Vectors that it holds.
    pub slots: u16,
    /// Cycles from a read to the data, and from a unit's output to a readable slot.
    pub latency: u32,
    /// Network ports that read it.
    pub net_reads: u16,
    /// Network ports that write it.
    pub net_writes: u16,
    /// What its banks allow; `None` if they never conflict.
    pub turns: Option<Turns>,
}

impl RegFile {
    /// The turns that an access of `span` cycles takes, if it does.
    #[must_use]
    pub fn turns_of(&self, span: u32) -> Option<Turns> {
        self.turns.filter(|turns| turns.chunks == span)
    }
}

/// How a register file's banks are shared: see the module's documentation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turns {
    /// Banks that vectors are striped over.
    pub banks: u16,
    /// Accesses that a bank serves in a cycle.
    pub accesses: u16,
    /// Chunks of a vector: cycles of the accesses that take turns.
    pub chunks: u32,
}

/// A scratchpad bank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bank {
    /// Index of its group in [`Resolved::groups`].
    pub group: u16,
    /// Vectors that it holds.
    pub slots: u16,
    /// Cycles from a read to the data.
    pub latency: u32,
    /// Read ports.
    pub reads: u16,
    /// Write ports.
    pub writes: u16,
    /// Reads and writes share one port.
    pub single_port: bool,
}

/// What a crossbar connects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum XbarKind {
    /// Input ports are banks, output ports clusters.
    BankToCluster,
    /// Input ports are clusters, output ports banks.
    ClusterToBank,
    /// Both are clusters.
    ClusterToCluster,
}

/// A crossbar.
#[derive(Debug, Clone, PartialEq)]
pub struct Xbar {
    /// Its name.
    pub name: String,
    /// What it connects.
    pub kind: XbarKind,
    /// For the kinds with banks: the banks' groups that it reaches.
    pub groups: Vec<u16>,
    /// Cycles from input to output port.
    pub latency: u32,
    /// Cycles that one vector takes.
    pub span: u32,
}

/// An off-chip memory channel.
#[derive(Debug, Clone, PartialEq)]
pub struct Channel {
    /// Index of the off-chip memory in the file.
    pub memory: u16,
    /// The banks' groups that it reaches.
    pub groups: Vec<u16>,
    /// Cycles that one vector takes; 0 if the bandwidth is unlimited.
    pub span: u32,
    /// Cycles from the start of a load to the first chunk.
    pub latency: u32,
}

/// A machine at one ring degree.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolved {
    /// The machine's name, overlays included.
    pub name: String,
    /// Hash of its description.
    pub hash: String,
    /// Clock in MHz.
    pub clock_mhz: f64,
    /// Bits of the words it computes on.
    pub word_bits: u32,
    /// log2 of the ring degree.
    pub log_n: u32,
    /// Bytes of one stored vector.
    pub vector_bytes: u64,
    /// Number of identical clusters.
    pub clusters: u16,
    /// Kinds of unit in each.
    pub units: Vec<UnitKind>,
    /// Timing by operation number (`op as usize`); `None` where the machine lacks it.
    pub ops: [Option<OpTiming>; Op::ALL.len()],
    /// The register file of each cluster.
    pub regfile: RegFile,
    /// Names of the scratchpad groups.
    pub groups: Vec<String>,
    /// All banks of all groups.
    pub banks: Vec<Bank>,
    /// The crossbars.
    pub xbars: Vec<Xbar>,
    /// The off-chip channels.
    pub channels: Vec<Channel>,
}

impl Resolved {
    /// How the machine executes `op`, if it does.
    #[must_use]
    pub fn timing(&self, op: Op) -> Option<OpTiming> {
        self.ops[op as usize]
    }

    /// Units in one cluster.
    #[must_use]
    pub fn units_per_cluster(&self) -> u16 {
        self.units.iter().map(|kind| kind.count).sum()
    }

    /// Vectors that all banks hold.
    #[must_use]
    pub fn scratchpad_slots(&self) -> u64 {
        self.banks.iter().map(|bank| u64::from(bank.slots)).sum()
    }

    /// The first crossbar of a kind.
    #[must_use]
    pub fn xbar(&self, kind: XbarKind) -> Option<usize> {
        self.xbars.iter().position(|xbar| xbar.kind == kind)
    }

    /// Seconds that `cycles` take.
    #[must_use]
    pub fn seconds(&self, cycles: u64) -> f64 {
        #[expect(
            clippy::cast_precision_loss,
            reason = "cycle counts are far below 2^52"
        )]
        let cycles = cycles as f64;
        cycles / (self.clock_mhz * 1e6)
    }
}
