//! What can be wrong with a schedule.

use std::fmt;

use cyclotron_isa::{Component, Link, Op};

/// An entry of a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Place {
    /// The component in whose stream it stands.
    pub component: Component,
    /// Its position in the stream, from 0.
    pub entry: usize,
    /// The cycle at which it starts.
    pub cycle: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Place {
            component,
            entry,
            cycle,
        } = self;
        write!(f, "{component}, entry {entry}, cycle {cycle}")
    }
}

/// Why a schedule was rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CheckError {
    /// The schedule is for another machine or ring degree.
    #[error("the schedule is for {what} {schedule}, but the machine is {machine}")]
    OtherMachine {
        /// What differs.
        what: &'static str,
        /// The schedule's.
        schedule: String,
        /// The machine's.
        machine: String,
    },
    /// The machine cannot be checked.
    #[error("the machine cannot be checked: {why}")]
    Machine {
        /// What must change.
        why: String,
    },
    /// The program is malformed or does not fit the machine's words.
    #[error("the program cannot be checked: {why}")]
    Program {
        /// What must change.
        why: String,
    },
    /// An off-chip slot is declared wrongly.
    #[error("off-chip slot {slot}: {why}")]
    Dram {
        /// Index of the slot.
        slot: usize,
        /// What is wrong.
        why: String,
    },
    /// A component has no place in the machine or has two streams.
    #[error("stream of {component}: {why}")]
    Stream {
        /// The component.
        component: Component,
        /// What is wrong.
        why: String,
    },
    /// An entry is wrong.
    #[error("{place}: {fault}")]
    Entry {
        /// The entry.
        place: Place,
        /// What is wrong with it.
        fault: Fault,
    },
    /// An output does not end in its slot.
    #[error("output limb {output}: {why}")]
    Output {
        /// Its number.
        output: usize,
        /// Expected and found.
        why: String,
    },
    /// The stated number of cycles is wrong.
    #[error("the schedule states {stated} cycles, but its last component finishes at {found}")]
    Cycles {
        /// In the schedule.
        stated: u64,
        /// As replayed.
        found: u64,
    },
}

/// What is wrong with an entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The component, or all its ports of the kind, are occupied.
    #[error("{what} is busy until cycle {until}")]
    Busy {
        /// Unit, port or channel.
        what: &'static str,
        /// When it is free.
        until: u64,
    },
    /// More accesses meet in the banks of a register file than these serve.
    #[error(
        "the access from cycle {start} makes {found} that are in the same bank in every cycle: a \
         bank serves {most}"
    )]
    BankConflict {
        /// First cycle of the access.
        start: u64,
        /// Accesses that overlap.
        found: usize,
        /// Accesses that a bank serves in a cycle.
        most: u16,
    },
    /// There is no such slot.
    #[error("slot {slot} does not exist: there are {slots}")]
    NoSuchSlot {
        /// The slot.
        slot: u32,
        /// How many there are.
        slots: u32,
    },
    /// The component does not do this.
    #[error("expected {expected}, found {found}")]
    WrongOperation {
        /// What it could do.
        expected: &'static str,
        /// What the entry says.
        found: String,
    },
    /// The unit does not execute this operation.
    #[error("the unit does not execute {op}")]
    WrongUnit {
        /// The operation.
        op: Op,
    },
    /// The modulus, constant, input port, bank or channel does not exist.
    #[error("{what} {index} does not exist: there are {count}")]
    OutOfRange {
        /// Which table.
        what: &'static str,
        /// The index.
        index: u64,
        /// The size of the table.
        count: u64,
    },
    /// A field that the operation does not use is set.
    #[error("{op} does not use its field {field}, but it is set")]
    UnusedField {
        /// The operation.
        op: Op,
        /// Source number, or 3 for the immediate.
        field: usize,
    },
    /// The link does not lead there.
    #[error("{link} does not connect {what}")]
    NotConnected {
        /// The link.
        link: Link,
        /// The two ends.
        what: &'static str,
    },
    /// No stream arrives in this cycle.
    #[error("expected a stream from {from} in this cycle, found {found}")]
    NothingArrives {
        /// Where it should come from.
        from: String,
        /// What arrives next or last there.
        found: String,
    },
    /// Two streams appear at one port in one cycle.
    #[error("two streams appear in cycle {cycle} where {to} takes them")]
    Ambiguous {
        /// Who takes them.
        to: String,
        /// When they appear.
        cycle: u64,
    },
    /// Nobody takes the stream that the entry sends.
    #[error("nobody takes the stream that appears in cycle {cycle} for {to}")]
    NotTaken {
        /// Who should.
        to: String,
        /// When it appears.
        cycle: u64,
    },
    /// Nothing has been written into the slot, or not by this cycle.
    #[error("slot {slot} holds nothing yet")]
    Unwritten {
        /// The slot.
        slot: u32,
    },
    /// Chunks are read before they are there.
    #[error(
        "slot {slot} is read over {}..{}, but {value} is written over {}..{}",
        .read.0, .read.1, .write.0, .write.1
    )]
    TooEarly {
        /// The slot.
        slot: u32,
        /// The value that is being written.
        value: String,
        /// Start and end of the read.
        read: (u64, u64),
        /// Start and end of the write.
        write: (u64, u64),
    },
    /// Chunks are overwritten before they are read.
    #[error(
        "slot {slot} is read until cycle {read_end}, but overwritten over {}..{}",
        .write.0, .write.1
    )]
    Overwritten {
        /// The slot.
        slot: u32,
        /// The last cycle of the reads.
        read_end: u64,
        /// Start and end of the write.
        write: (u64, u64),
    },
    /// Two writes into a slot cross.
    #[error(
        "slot {slot} is written over {}..{} and over {}..{}",
        .first.0, .first.1, .second.0, .second.1
    )]
    WritesCross {
        /// The slot.
        slot: u32,
        /// Start and end of one.
        first: (u64, u64),
        /// Start and end of the other.
        second: (u64, u64),
    },
    /// The program has no instruction that computes this.
    #[error("no instruction of the program computes {found}{}", expected(.near))]
    NotInProgram {
        /// What the entry computes.
        found: String,
        /// The instruction of the program that is most like it.
        near: Option<String>,
    },
    /// The off-chip slot belongs to another channel.
    #[error("off-chip slot {address} is attached to channel {home}")]
    WrongChannel {
        /// The slot.
        address: u32,
        /// Its channel.
        home: u16,
    },
    /// A store into a slot that holds an input.
    #[error("off-chip slot {address} holds input limb {input} and must not be overwritten")]
    InputOverwritten {
        /// The slot.
        address: u32,
        /// The input.
        input: u32,
    },
    /// A store of another value than the output's into its slot.
    #[error("expected {expected} in the slot of output limb {output}, found {found}")]
    WrongOutput {
        /// The output.
        output: u32,
        /// Its value.
        expected: String,
        /// What is stored.
        found: String,
    },
}

fn expected(near: &Option<String>) -> String {
    near.as_ref()
        .map_or_else(String::new, |near| format!("; the program has {near}"))
}
