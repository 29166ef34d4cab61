//! A stretch of a plan, by itself.
//!
//! A segment knows the values that are on the chip while it lasts, each with its place in
//! the scratchpad and under a number of its own, and nothing of the rest of the program.
//! The values that it finds there, and those that it leaves there, are in their places at
//! its borders, and register files hold nothing then. So all segments of a plan can be
//! placed at once.

use cyclotron_isa::{NONE, Op};

use crate::uses::UseLists;

/// A slot of a bank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub bank: u16,
    pub slot: u16,
}

/// A slot off-chip.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Address {
    pub channel: u16,
    pub index: u32,
}

/// What a step does with values, given by their numbers in the segment.
#[derive(Debug, Clone, Copy)]
pub(super) enum Action {
    /// Brings a value from off-chip to its place.
    Load(u32, Address),
    /// Writes a value off-chip.
    Store(u32, Address),
    /// Ends a value's stay.
    Evict(u32),
    /// Sees that a value is in its place, at the end of the segment.
    Keep(u32),
    Compute(Instruction),
}

/// An instruction.
#[derive(Debug, Clone, Copy)]
pub(super) struct Instruction {
    pub op: Op,
    /// Which of the distinct operands each field reads, [`Self::NO_OPERAND`] for none.
    pub fields: [u8; 3],
    pub modulus: u16,
    pub imm: u32,
    /// The distinct operands, [`NONE`] after the last.
    pub operands: [u32; 3],
    pub result: u32,
}

impl Instruction {
    pub const NO_OPERAND: u8 = u8::MAX;

    /// The distinct operands.
    #[inline]
    pub fn operands(&self) -> &[u32] {
        let count = self.operands.iter().take_while(|&&o| o != NONE).count();
        &self.operands[..count]
    }
}

/// Steps of a plan, and the values on the chip meanwhile.
#[derive(Debug, Default)]
pub(super) struct Segment {
    pub actions: Vec<Action>,
    /// The place of every value.
    pub places: Vec<Place>,
    /// So many values, the first, are in their places from the start.
    pub found: u32,
}

/// Positions in a segment at which values are used, and how far it has come.
#[derive(Debug)]
pub(super) struct SegmentUses {
    lists: UseLists,
    cursor: Vec<u32>,
}

impl SegmentUses {
    pub fn new(segment: &Segment) -> Self {
        let lists = UseLists::collect(segment.places.len(), |add| {
            for (position, action) in (0u32..).zip(&segment.actions) {
                match action {
                    Action::Compute(inst) => {
                        inst.operands().iter().for_each(|&o| add(o, position));
                    }
                    &Action::Store(value, _) | &Action::Keep(value) => add(value, position),
                    Action::Evict(_) | Action::Load(..) => {}
                }
            }
        });
        let values = 0..segment.places.len() as u32;
        let cursor = values.map(|v| lists.start(v)).collect();
        Self { lists, cursor }
    }

    /// The position at which a value is used next.
    pub fn next(&self, value: u32) -> Option<u32> {
        self.upcoming::<1>(value).next()
    }

    /// Up to `N` further positions at which a value is used.
    #[inline]
    pub fn upcoming<const N: usize>(&self, value: u32) -> impl Iterator<Item = u32> + '_ {
        let cursor = self.cursor[value as usize];
        let end = self.lists.end(value).min(cursor + N as u32);
        (cursor..end).map(|k| self.lists.at(k))
    }

    /// Passes the current use of a value.
    pub fn consume(&mut self, value: u32) {
        self.cursor[value as usize] += 1;
    }
}
