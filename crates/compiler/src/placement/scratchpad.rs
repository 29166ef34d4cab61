//! Slots of the scratchpad banks: those that are free, and when known places are.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use cyclotron_machine::Resolved;

use super::segment::Place;
use crate::topology::Topology;

/// Free slots by bank, each with the first cycle at which it may be written.
#[derive(Debug)]
pub(crate) struct Scratchpad {
    /// By machine index; unusable banks have none.
    free: Vec<BinaryHeap<Reverse<(u64, u16)>>>,
    usable: Vec<u16>,
    /// Where the search for a bank starts next.
    turn: usize,
    shortest_write: u64,
}

impl Scratchpad {
    pub fn new(machine: &Resolved, topology: &Topology) -> Self {
        let mut free = vec![BinaryHeap::new(); machine.banks.len()];
        for &bank in &topology.banks {
            let slots = 0..machine.banks[usize::from(bank)].slots;
            free[usize::from(bank)] = slots.map(|slot| Reverse((0, slot))).collect();
        }
        Self {
            free,
            usable: topology.banks.clone(),
            turn: 0,
            shortest_write: shortest_write(machine),
        }
    }

    /// When a slot may be overwritten that is read or written over `[at, at + span)`.
    pub fn free_after(&self, at: u64, span: u64) -> u64 {
        free_after(at, span, self.shortest_write)
    }

    /// The banks with a free slot, and when its first slot may be written; the
    /// order rotates from call to call.
    pub fn candidates(&mut self) -> impl Iterator<Item = (u16, u64)> + '_ {
        self.turn = (self.turn + 1) % self.usable.len();
        let (tail, head) = self.usable.split_at(self.turn);
        head.iter().chain(tail).filter_map(|&bank| {
            let first = self.free[usize::from(bank)].peek()?;
            Some((bank, first.0.0))
        })
    }

    /// Takes the first free slot of a bank.
    pub fn take(&mut self, bank: u16) -> u16 {
        let slot = self.free[usize::from(bank)].pop();
        slot.expect("the plan never holds more values than slots")
            .0
            .1
    }

    /// Gives a slot back.
    pub fn give(&mut self, bank: u16, slot: u16, free_from: u64) {
        self.free[usize::from(bank)].push(Reverse((free_from, slot)));
    }
}

/// When places may be written that the plan's order gives to values.
#[derive(Debug)]
pub(crate) struct Places {
    /// First cycle, by bank and slot.
    free_from: Vec<Vec<u64>>,
    shortest_write: u64,
}

impl Places {
    /// All places, free from the start.
    pub fn new(machine: &Resolved) -> Self {
        let slots = |count: u16| vec![0; usize::from(count)];
        Self {
            free_from: machine.banks.iter().map(|b| slots(b.slots)).collect(),
            shortest_write: shortest_write(machine),
        }
    }

    /// When a place may be overwritten that is read or written over `[at, at + span)`.
    pub fn free_after(&self, at: u64, span: u64) -> u64 {
        free_after(at, span, self.shortest_write)
    }

    /// First cycle at which a place may be written.
    pub fn free_from(&self, place: Place) -> u64 {
        self.free_from[usize::from(place.bank)][usize::from(place.slot)]
    }

    /// Notes that a place may be written from a cycle on.
    pub fn release(&mut self, place: Place, free_from: u64) {
        self.free_from[usize::from(place.bank)][usize::from(place.slot)] = free_from;
    }
}

/// A write follows a read or write chunk by chunk, unless it is the faster.
fn free_after(at: u64, span: u64, shortest_write: u64) -> u64 {
    at + 1 + span.saturating_sub(shortest_write)
}

/// Fewest cycles that a write of a bank takes.
fn shortest_write(machine: &Resolved) -> u64 {
    let links = machine.xbars.iter().map(|x| x.span);
    let channels = machine.channels.iter().map(|c| c.span);
    links.chain(channels).min().unwrap_or(0).into()
}
