//! Why a schedule cannot be simulated at all.

use cyclotron_isa::{Component, ExecuteError, Link, Op};

/// Why a simulation could not run.
#[derive(Debug, thiserror::Error)]
pub enum SimError {
    /// Whoever watches the progress stopped the simulation.
    #[error("the simulation was interrupted")]
    Interrupted,
    /// The ring is not the program's, or an input limb is missing or not canonical.
    #[error(transparent)]
    Execute(#[from] ExecuteError),
    /// The schedule is for another machine or ring degree.
    #[error("the schedule is for {what} {schedule}, but {given} is given")]
    OtherMachine {
        /// What differs.
        what: &'static str,
        /// The schedule's.
        schedule: String,
        /// The machine's or program's.
        given: String,
    },
    /// A stream belongs to no component, or to one that has a stream.
    #[error("stream of {component}: {why}")]
    Stream {
        /// The component.
        component: Component,
        /// What is wrong.
        why: &'static str,
    },
    /// An entry that the component cannot decode.
    #[error("{component}, entry {entry}, cycle {cycle}: {fault}")]
    Entry {
        /// The component.
        component: Component,
        /// Position in its stream.
        entry: usize,
        /// When it starts.
        cycle: u64,
        /// What is wrong.
        fault: EntryFault,
    },
    /// An off-chip slot is declared wrongly.
    #[error("off-chip slot {slot}: {why}")]
    Dram {
        /// Index of the slot.
        slot: usize,
        /// What is wrong.
        why: &'static str,
    },
    /// An output limb has no off-chip slot.
    #[error("output limb {output} has no off-chip slot")]
    NoOutputSlot {
        /// The output.
        output: usize,
    },
    /// The threads could not be started.
    #[error("cannot start {threads} threads: {why}")]
    Threads {
        /// How many.
        threads: usize,
        /// The system's reason.
        why: String,
    },
}

/// Why an entry cannot be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EntryFault {
    /// The component has another instruction set.
    #[error("this component does not execute such entries")]
    WrongComponent,
    /// The unit does not execute this operation.
    #[error("the unit does not execute {0}")]
    WrongUnit(Op),
    /// There is no such slot.
    #[error("slot {slot} does not exist: there are {slots}")]
    NoSuchSlot {
        /// The slot.
        slot: u32,
        /// How many there are.
        slots: u32,
    },
    /// There is no such modulus, constant, port or bank.
    #[error("{what} {index} does not exist: there are {count}")]
    OutOfRange {
        /// Which table.
        what: &'static str,
        /// The index.
        index: u64,
        /// Its size.
        count: u64,
    },
    /// An exponent that is no automorphism.
    #[error(
        "the automorphism {0} has no odd exponent below 2N, or an offset that is none of parts"
    )]
    BadExponent(u32),
    /// The link does not lead there.
    #[error("{0} does not connect these components")]
    NotConnected(Link),
    /// The off-chip slot belongs to another channel.
    #[error("off-chip slot {address} is attached to channel {home}")]
    WrongChannel {
        /// The slot.
        address: u32,
        /// Its channel.
        home: u16,
    },
}
