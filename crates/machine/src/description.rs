//! A machine description as typed values, units as in the file.

use std::collections::BTreeMap;

use crate::formula::{Formula, Ratio, Scope};
use crate::words::{
    BuiltAs, Dataflow, Issue, KeySwitch, KeySwitchPolicy, OffchipPolicy, Order, SchemeName,
    StreamOwner,
};

/// Everything that a machine file says, overlays applied.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Description {
    /// The name, names of applied overlays appended with `+`.
    pub name: String,
    /// Where the numbers come from.
    pub source: Option<String>,
    /// What it is built as.
    pub kind: BuiltAs,
    /// Clock of every cycle count, in MHz; above 0.
    pub clock_mhz: f64,
    /// Bits of the words that the units compute on: 2 to 64.
    pub word_bits: u32,
    /// Bytes of one stored word, padding included: at least `word_bits / 8`.
    pub store_bytes: f64,
    /// Words that a fully pipelined unit takes each cycle: a power of two.
    pub lanes: u32,
    /// Words of the shortest vector: a power of two.
    pub n_min: u32,
    /// Words of the longest vector: a power of two, at least `n_min`.
    pub n_max: u32,
    /// Who starts instructions.
    pub issue: Issue,
    /// Schemes that it supports.
    pub schemes: Vec<SchemeName>,
    /// Primes that it computes with.
    pub moduli: Moduli,
    /// What the compiler may do.
    pub compiler: CompilerKnobs,
    /// Parameters that it was published with, for information.
    pub params: BTreeMap<String, Param>,
    /// The variables of formulas.
    pub vars: BTreeMap<String, Ratio>,
    /// The clusters.
    pub cluster: Cluster,
    /// Scratchpad groups.
    pub scratchpads: Vec<Scratchpad>,
    /// Crossbars.
    pub xbars: Vec<Crossbar>,
    /// Off-chip memories.
    pub offchip: Vec<Offchip>,
    /// Links to other machines.
    pub links: Vec<MachineLink>,
    /// Instruction streams.
    pub streams: Option<Streams>,
    /// Machines that work together.
    pub system: Option<System>,
}

impl Description {
    /// What formulas are evaluated with at N = 2^`log_n`.
    pub(crate) fn scope(&self, log_n: u32) -> Scope<'_> {
        Scope {
            n: 1 << log_n,
            lanes: u64::from(self.lanes),
            vars: &self.vars,
        }
    }
}

/// Primes that a machine computes with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moduli {
    /// Bits of the longest prime; at most the word's.
    pub bits_max: u32,
    /// Every prime is 1 modulo this power of two.
    pub one_mod: u64,
    /// How many different primes its tables hold; `None`: any number.
    pub count: Option<u32>,
}

impl Moduli {
    /// What every prime is 1 modulo when transforms have N = 2^`log_n` words: the
    /// larger of the machine's congruence and 2N.
    #[must_use]
    pub fn step(&self, log_n: u32) -> u64 {
        self.one_mod.max(2u64 << log_n.min(62))
    }

    /// Whether the machine computes modulo the prime `q` at N = 2^`log_n`: its
    /// length and its congruence.
    #[must_use]
    pub fn allows(&self, q: u64, log_n: u32) -> bool {
        let bits = u64::BITS - q.leading_zeros();
        bits <= self.bits_max && q > 1 && q % self.step(log_n) == 1
    }
}

/// What the compiler may do for a machine. `None` and empty: no preference.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CompilerKnobs {
    /// Order of homomorphic operations.
    pub order: Option<Order>,
    /// Off-chip scheduling.
    pub offchip: Option<OffchipPolicy>,
    /// Key-switch variants to choose from; empty: any.
    pub keyswitch: Vec<KeySwitch>,
    /// How to choose.
    pub keyswitch_policy: Option<KeySwitchPolicy>,
    /// The inner product starts on limbs that base conversion leaves unchanged.
    pub keyswitch_split_kskip: bool,
    /// First products of base conversion are shared.
    pub bconv_reuse_premul: bool,
    /// Loop orders to choose from; empty: any.
    pub dataflow: Vec<Dataflow>,
}

/// A published parameter.
#[derive(Debug, Clone, PartialEq)]
pub enum Param {
    /// An integer.
    Integer(i64),
    /// Another number.
    Number(f64),
    /// A yes or no.
    Flag(bool),
    /// Several integers.
    Integers(Vec<i64>),
}

/// Area and power of one instance of something; `None` where not known.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Cost {
    /// Square millimetres.
    pub area_mm2: Option<f64>,
    /// Thermal design power in watts.
    pub tdp_w: Option<f64>,
}

/// The compute clusters, all alike.
#[derive(Debug, Clone, PartialEq)]
pub struct Cluster {
    /// The name.
    pub name: String,
    /// How many: 1 to 4096.
    pub count: u32,
    /// Kinds of functional unit.
    pub units: Vec<Unit>,
    /// The register file of each.
    pub regfile: RegisterFile,
}

/// A kind of functional unit.
#[derive(Debug, Clone, PartialEq)]
pub struct Unit {
    /// The name.
    pub name: String,
    /// Instances in each cluster, at least 1.
    pub count: Formula,
    /// Operations by their names in machine files.
    pub ops: BTreeMap<String, UnitOp>,
    /// Operands that it reads at a time.
    pub reads: u32,
    /// Results that it writes at a time.
    pub writes: u32,
    /// Units that cannot work while it does.
    pub exclusive_with: Vec<String>,
    /// Units that the source says work at the same time.
    pub overlaps_with: Vec<String>,
    /// Modular multipliers in one unit.
    pub mod_multipliers: Option<u32>,
    /// DSP blocks in one unit.
    pub dsp: Option<u32>,
    /// Of one unit.
    pub cost: Cost,
}

/// How a unit executes an operation, as functions of the vector length.
#[derive(Debug, Clone, PartialEq)]
pub struct UnitOp {
    /// Cycles that the unit is busy, at least 1.
    pub occupancy: Formula,
    /// Cycles from the first words in to the first words out.
    pub latency: Formula,
    /// The result exists only when all passes are done.
    pub multipass: bool,
}

/// The register file of a cluster.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RegisterFile {
    /// Capacity in KiB.
    pub kib: u32,
    /// Banks that a vector is striped over.
    pub banks: u32,
    /// Chunk k of every vector is in bank k modulo the banks, so that accesses
    /// must start at different times to be in different banks.
    pub element_partitioned: bool,
    /// Its clock over the machine's.
    pub clock_mult: u32,
    /// Ports that units read.
    pub read_ports: u32,
    /// Ports that units write.
    pub write_ports: u32,
    /// Ports that crossbars read.
    pub net_read_ports: u32,
    /// Ports that crossbars write.
    pub net_write_ports: u32,
    /// Cycles from a read to the data.
    pub latency: u32,
    /// Of one register file.
    pub cost: Cost,
}

/// A group of equal scratchpad banks.
#[derive(Debug, Clone, PartialEq)]
pub struct Scratchpad {
    /// The name.
    pub name: String,
    /// Number of banks.
    pub banks: u32,
    /// Capacity of one bank in KiB.
    pub kib_per_bank: u32,
    /// Width of a port.
    pub bytes_per_cycle: u32,
    /// Read ports of a bank.
    pub read_ports: u32,
    /// Write ports of a bank.
    pub write_ports: u32,
    /// Reads and writes share one port.
    pub single_port: bool,
    /// Their clock over the machine's.
    pub clock_mult: u32,
    /// Cycles from a read to the data.
    pub latency: u32,
    /// Of one bank.
    pub cost: Cost,
}

/// Which memories something reaches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// Every scratchpad group.
    AllGroups,
    /// These groups, or the cluster.
    Named(Vec<String>),
}

/// A crossbar.
#[derive(Debug, Clone, PartialEq)]
pub struct Crossbar {
    /// The name.
    pub name: String,
    /// Where its input ports are.
    pub from: Reach,
    /// Where its output ports are.
    pub to: Reach,
    /// Width of a port.
    pub bytes_per_cycle: u32,
    /// Cycles from input to output port.
    pub latency: u32,
    /// Of the crossbar.
    pub cost: Cost,
}

/// The bandwidth of a channel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bandwidth {
    /// It never limits.
    Unlimited,
    /// In 10^9 bytes per second; above 0.
    GbPerSecond(f64),
}

/// An off-chip memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Offchip {
    /// The name.
    pub name: String,
    /// Independent channels.
    pub channels: u32,
    /// Bandwidth of one channel.
    pub bandwidth: Bandwidth,
    /// Cycles from the start of a load to its first words.
    pub latency_cycles: u32,
    /// Share of the bandwidth that transfers reach: above 0, at most 1.
    pub efficiency: f64,
    /// Scratchpad groups that it loads into and stores from.
    pub attach: Reach,
    /// Longest burst in bytes.
    pub burst_bytes: Option<u32>,
    /// Bursts under way in a channel; `None`: any number.
    pub outstanding: Option<u32>,
    /// Capacity of all channels in GiB; `None`: any.
    pub capacity_gib: Option<f64>,
    /// Picojoules of a transferred bit.
    pub energy_pj_per_bit: Option<f64>,
    /// Of one channel's interface.
    pub cost: Cost,
}

/// A link to other machines.
#[derive(Debug, Clone, PartialEq)]
pub struct MachineLink {
    /// The name.
    pub name: String,
    /// Bandwidth in 10^9 bits per second.
    pub gbit_per_s: f64,
    /// Width on the machine's side in bits.
    pub user_bits: Option<u32>,
    /// Clock on the machine's side in MHz.
    pub user_mhz: Option<f64>,
    /// Microseconds from the first bit sent to the first received.
    pub latency_us: f64,
}

/// Instruction streams.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Streams {
    /// Components with a stream of their own.
    pub components: Vec<StreamOwner>,
    /// Bytes of an entry in off-chip memory; 0: not fetched from there.
    pub instr_bytes: u32,
    /// Cycles to start an instruction when a host issues it.
    pub issue_overhead_cycles: u32,
}

/// Machines that work together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct System {
    /// How many.
    pub boards: u32,
    /// How they are connected.
    pub topology: Option<String>,
    /// What is distributed over them.
    pub parallel: Option<String>,
}
