//! Schedules: one instruction stream per component.
//!
//! Control is distributed. A transfer from a scratchpad bank to a cluster is
//! three entries in three streams: the bank reads a slot, the crossbar's
//! output port routes the bank's port, and the register file writes what
//! arrives. They fit only if their cycles differ by exactly the latencies
//! between them; nothing stalls, and a component that reads a port on which
//! nothing arrives reads garbage.
//!
//! All components move a vector as a stream of chunks. An entry that starts at
//! cycle t and has occupancy o handles the chunk at fraction x of the vector at
//! cycle t + x o; its output's first chunk appears `latency` cycles after t.

use std::fmt;

use crate::entries::Entries;
use crate::op::Op;

/// No slot, in the operand fields of [`StreamOp::Compute`].
pub const NO_SLOT: u16 = u16::MAX;

/// A component with an instruction stream of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Component {
    /// Functional unit `unit` of a cluster: units are numbered within the
    /// cluster, all instances of the first kind, then of the second, and so on.
    Unit {
        /// The cluster.
        cluster: u16,
        /// The unit within it.
        unit: u16,
    },
    /// The network side of a cluster's register file.
    RegFile {
        /// The cluster.
        cluster: u16,
    },
    /// An output port of a crossbar.
    XbarPort {
        /// The crossbar, by index in the machine.
        xbar: u16,
        /// The output port: the cluster or bank that it leads to.
        port: u16,
    },
    /// A scratchpad bank; banks of all groups are numbered through.
    Bank {
        /// The bank.
        bank: u16,
    },
    /// An off-chip memory channel.
    Channel {
        /// The channel.
        channel: u16,
    },
}

/// Where a memory's network port leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Link {
    /// A crossbar, by index in the machine.
    Xbar(u16),
    /// An off-chip channel.
    Channel(u16),
}

impl fmt::Display for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Component::Unit { cluster, unit } => write!(f, "unit {cluster} {unit}"),
            Component::RegFile { cluster } => write!(f, "regfile {cluster}"),
            Component::XbarPort { xbar, port } => write!(f, "xbar {xbar} {port}"),
            Component::Bank { bank } => write!(f, "bank {bank}"),
            Component::Channel { channel } => write!(f, "channel {channel}"),
        }
    }
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Link::Xbar(xbar) => write!(f, "xbar{xbar}"),
            Link::Channel(channel) => write!(f, "channel{channel}"),
        }
    }
}

/// What a component does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StreamOp {
    /// A functional unit reads register-file slots and writes one.
    Compute {
        /// The operation.
        op: Op,
        /// Index of the destination's prime.
        modulus: u16,
        /// Slot of the result.
        dst: u16,
        /// Slots of the operands; [`NO_SLOT`] where there is none.
        src: [u16; 3],
        /// Constant index or automorphism ([`crate::part::automorphism`]).
        imm: u32,
    },
    /// A register file or bank puts the slot's contents on the link.
    Read {
        /// The slot.
        slot: u16,
        /// Where to.
        to: Link,
    },
    /// A register file or bank writes what arrives on the link into the slot.
    Write {
        /// The slot.
        slot: u16,
        /// Where from.
        from: Link,
    },
    /// A crossbar output port takes what arrives at an input port: the bank or
    /// cluster that it comes from.
    Route {
        /// The input port.
        from: u16,
    },
    /// A channel reads an off-chip slot towards a bank.
    Load {
        /// Index into [`Schedule::dram`].
        address: u32,
        /// The bank that receives it.
        bank: u16,
    },
    /// A channel writes what a bank sends to an off-chip slot.
    Store {
        /// Index into [`Schedule::dram`].
        address: u32,
        /// The bank that sends it.
        bank: u16,
    },
}

/// One entry of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Entry {
    /// Cycles since the start of the previous entry (since cycle 0 for the first).
    pub wait: u32,
    /// What to do.
    pub op: StreamOp,
}

/// The stream of one component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stream {
    /// Whose stream it is.
    pub component: Component,
    /// The entries in order of their cycles, packed.
    pub entries: Entries,
}

impl Stream {
    /// The entries with their absolute cycles.
    pub fn timed(&self) -> impl Iterator<Item = (u64, StreamOp)> + '_ {
        self.entries.iter().scan(0u64, |cycle, entry| {
            *cycle += u64::from(entry.wait);
            Some((*cycle, entry.op))
        })
    }
}

/// What an off-chip slot holds before the first cycle, or receives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DramContent {
    /// Input limb k of the limb program.
    Input(u32),
    /// Receives output limb k.
    Output(u32),
    /// Receives and gives back spilled values.
    Spill,
}

/// A vector of off-chip memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DramSlot {
    /// The channel that it is attached to.
    pub channel: u16,
    /// What it holds.
    pub content: DramContent,
}

/// The streams of all components, ordered by component.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Schedule {
    /// The machine's name.
    pub machine: String,
    /// Hash of the machine's description.
    pub machine_hash: String,
    /// log2 of the ring degree.
    pub log_n: u32,
    /// Off-chip slots.
    pub dram: Vec<DramSlot>,
    /// The streams.
    pub streams: Vec<Stream>,
    /// The cycle at which the last component finishes: the largest, over all
    /// entries that start at t, of: the end of the write of a compute's result
    /// (`w + occupancy`); `t + span` of a read, write, route or load;
    /// `t + span + latency` of a store (its slot may be loaded from then on).
    pub cycles: u64,
}
