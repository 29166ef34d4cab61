//! Values that are on the chip, and where.

use cyclotron_isa::NONE;

use super::tasks::Tasks;
use crate::placement::residents::{NO_BANK, Sent};

/// A value on the chip.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stay {
    /// Bank that holds it, or [`NO_BANK`], and its slot there.
    pub bank: u16,
    pub slot: u16,
    /// First open copy in a register file, or [`NONE`].
    pub copies: u32,
    /// It is loaded or computed, as far as the schedule goes.
    pub exists: bool,
    /// Users that are not issued.
    pub left: u32,
    /// First cycle of the write into the bank, and its end.
    pub written: u64,
    pub written_end: u64,
    /// First cycle at which the bank's slot may be overwritten.
    pub free_from: u64,
    /// The latest transfers to clusters.
    pub sent: [Option<Sent>; 2],
}

/// All stays.
#[derive(Debug)]
pub(super) struct Stays {
    list: Vec<Stay>,
}

impl Stays {
    pub fn new(tasks: &Tasks) -> Self {
        let users = &tasks.users;
        let list = (0..tasks.stays as u32).map(|stay| Stay {
            bank: NO_BANK,
            slot: 0,
            copies: NONE,
            left: users.end(stay) - users.start(stay),
            exists: false,
            written: 0,
            written_end: 0,
            free_from: 0,
            sent: [None; 2],
        });
        Self {
            list: list.collect(),
        }
    }

    pub fn get(&self, stay: u32) -> &Stay {
        &self.list[stay as usize]
    }

    pub fn get_mut(&mut self, stay: u32) -> &mut Stay {
        &mut self.list[stay as usize]
    }
}
