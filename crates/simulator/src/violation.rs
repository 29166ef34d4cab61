//! What went wrong without stopping the hardware.

use std::fmt;

use cyclotron_isa::Component;

/// An entry that got or gave garbage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Violation {
    /// When the entry starts.
    pub cycle: u64,
    /// The component.
    pub component: Component,
    /// Position in its stream.
    pub entry: usize,
    /// What happened.
    pub kind: ViolationKind,
}

/// What happened to an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, thiserror::Error)]
pub enum ViolationKind {
    /// Nothing arrived on the link or port in this cycle.
    #[error("nothing arrives in this cycle")]
    NothingArrives,
    /// Two streams arrived at once.
    #[error("two streams arrive in this cycle")]
    TwoArrive,
    /// The unit, port or channel was busy.
    #[error("the unit, port or channel is busy")]
    Busy,
    /// So many accesses were in the same bank of the register file that it was not served.
    #[error("other accesses keep the bank of the register file busy")]
    BankConflict,
    /// Words of the slot had never been written.
    #[error("slot {slot} is read before it was ever written")]
    Unwritten {
        /// The slot.
        slot: u32,
    },
    /// The words read belong to several values.
    #[error("slot {slot} is read while it is being overwritten")]
    Mixed {
        /// The slot.
        slot: u32,
    },
    /// The operand depends on the entry's own result.
    #[error("an operand depends on the entry's own result")]
    Circular,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Violation {
            cycle,
            component,
            entry,
            kind,
        } = self;
        write!(f, "{component}, entry {entry}, cycle {cycle}: {kind}")
    }
}

/// Violations in the order of their cycles, up to a limit, and their number.
#[derive(Debug, Default)]
pub(crate) struct Violations {
    list: Vec<Violation>,
    count: u64,
}

/// How many violations are kept; a wrong schedule may have millions.
const LIMIT: usize = 10_000;

impl Violations {
    pub(crate) fn add(&mut self, violation: Violation) {
        self.count += 1;
        if self.list.len() < LIMIT {
            self.list.push(violation);
        }
    }

    pub(crate) fn finish(mut self) -> (Vec<Violation>, u64) {
        self.list.sort_unstable();
        (self.list, self.count)
    }
}
