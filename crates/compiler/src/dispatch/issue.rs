//! Issuing an instruction, and making room for it in a register file.

use cyclotron_isa::NONE;
use cyclotron_machine::OpTiming;

use super::engine::Engine;
use super::records::Draft;
use super::tasks::STORE;
use crate::placement::placer::result_delay;
use crate::placement::residents::NO_BANK;
use crate::uses::distinct_sources;

/// Rounds in which a result may wait for its operands to leave. Where writes are
/// shorter than reads they leave later whenever the result starts later.
const ROUNDS: u32 = 8;

impl Engine<'_> {
    /// Issues an instruction on a cluster as early as possible.
    pub(super) fn issue(&mut self, inst: u32, cluster: u16) {
        let timing = self.timing[self.flat.op[inst as usize] as usize];
        self.begin(inst, cluster);
        let mut operands = [NONE; 3];
        let count = self.tasks.operands(inst).len();
        operands[..count].copy_from_slice(self.tasks.operands(inst));
        let operands = &operands[..count];
        let placed = self.gather(cluster, operands).and_then(|copies| {
            let at = self.find_start(inst, cluster, operands, &copies[..count])?;
            Some((copies, at))
        });
        let Some((copies, at)) = placed else {
            self.stuck = true;
            return;
        };
        self.execute(inst, cluster, (at, timing), &copies[..count]);
    }

    /// Brings the operands to a cluster.
    fn gather(&mut self, cluster: u16, operands: &[u32]) -> Option<[u32; 3]> {
        let mut copies = [NONE; 3];
        for (copy, &stay) in copies.iter_mut().zip(operands) {
            let first = self.stays.get(stay).copies;
            *copy = self.copies.find(first, cluster).unwrap_or(NONE);
        }
        for (k, &stay) in operands.iter().enumerate() {
            if copies[k] == NONE {
                copies[k] = self.fetch(cluster, stay, &copies)?;
            }
        }
        Some(copies)
    }

    /// Reserves a unit, notes all reads, opens the result.
    fn execute(&mut self, inst: u32, cluster: u16, (at, timing): (u64, OpTiming), copies: &[u32]) {
        let span = u64::from(timing.occupancy);
        let issue = self.needs(inst, cluster);
        let units = issue.units;
        let port = self.network.reserve_issue(&mut self.calendars, &issue, at);
        let kind = &self.machine.units[usize::from(timing.unit)];
        let unit = kind.first + (port - units.first) as u16;
        self.issued[inst as usize] = true;
        self.left -= 1;
        self.alive += 1;
        for (k, &copy) in copies.iter().enumerate() {
            self.copies.read(copy, at, span);
            self.used(self.tasks.operands(inst)[k]);
        }
        let written = at + result_delay(timing, self.machine);
        let stay = self.tasks.result[inst as usize];
        let dst = self.open_copy(cluster, stay, (written, span));
        let draft = Draft::Compute {
            inst,
            cluster,
            unit,
            dst,
            src: self.fields(inst, copies),
        };
        self.drafts.push(at, draft);
        self.stats.computes += 1;
        self.stats.operands += copies.len() as u64;
        if self.stays.get(stay).left == 0 {
            self.leave(stay);
        } else {
            self.announce(stay, written);
        }
    }

    /// The copies in the order of the instruction's fields, where a value may repeat.
    fn fields(&self, inst: u32, copies: &[u32]) -> [u32; 3] {
        let (distinct, n) = distinct_sources(self.flat, inst as usize);
        self.flat.src[inst as usize].map(|source| {
            let place = distinct[..n].iter().position(|&value| value == source);
            place.map_or(NONE, |k| copies[k])
        })
    }

    /// The first start at which the result has room; pushes out what must go.
    fn find_start(
        &mut self,
        inst: u32,
        cluster: u16,
        operands: &[u32],
        copies: &[u32],
    ) -> Option<u64> {
        let issue = self.needs(inst, cluster);
        let (span, delay) = (issue.span, issue.delay);
        let slots = i32::from(self.machine.regfile.slots);
        let readable = copies.iter().map(|&c| self.copies.get(c).readable(span));
        let mut from = readable.max().unwrap_or(0).max(self.now);
        for round in 0.. {
            let at = self.network.earliest_issue(&self.calendars, &issue, from);
            let mut leaving = [0; 3];
            let mut count = 0;
            for (&stay, &copy) in operands.iter().zip(copies) {
                if self.stays.get(stay).left == 1 && round < ROUNDS {
                    leaving[count] = self.copies.free_from_after(copy, at, span);
                    count += 1;
                }
            }
            let occupancy = &self.occupancy[usize::from(cluster)];
            match occupancy.room_from(at + delay, slots, &leaving[..count]) {
                Some(room) if room <= at + delay => return Some(at),
                Some(room) => from = (room - delay).max(at + 1),
                None if self.push_out(cluster, copies) => {}
                None => return None,
            }
        }
        None
    }

    /// Brings a value to a cluster; returns its copy there. `pinned` copies stay.
    fn fetch(&mut self, cluster: u16, stay: u32, pinned: &[u32]) -> Option<u32> {
        let in_bank = self.stays.get(stay).bank != NO_BANK;
        if !in_bank && self.topology.among_clusters.is_none() && !self.write_back(stay) {
            return None;
        }
        let slots = i32::from(self.machine.regfile.slots);
        let from = loop {
            let occupancy = &self.occupancy[usize::from(cluster)];
            match occupancy.room_from(self.now, slots, &[]) {
                Some(from) => break from,
                None if self.push_out(cluster, pinned) => {}
                None => return None,
            }
        };
        let transfer = self.find_transfer(cluster, stay, from)?;
        Some(self.commit_transfer(cluster, stay, transfer))
    }

    /// Pushes the copy out of a register file that is missed least; false if there is none.
    fn push_out(&mut self, cluster: u16, pinned: &[u32]) -> bool {
        let mut best = (u64::MAX, NONE);
        for index in 0..self.open[usize::from(cluster)].len() {
            let copy = self.open[usize::from(cluster)][index];
            if !pinned.contains(&copy) {
                best = best.min((self.eviction_cost(copy), copy));
            }
        }
        let copy = best.1;
        if copy == NONE {
            return false;
        }
        let stay = self.copies.get(copy).stay;
        if self.is_alone(copy) && !self.write_back(stay) {
            return false;
        }
        let first = self.stays.get(stay).copies;
        self.stays.get_mut(stay).copies = self.copies.unlink(first, copy);
        self.close(copy);
        self.stats.evictions += 1;
        true
    }

    /// Whether a copy is the only one of its value on the chip.
    fn is_alone(&self, copy: u32) -> bool {
        let state = self.copies.get(copy);
        let place = self.stays.get(state.stay);
        place.bank == NO_BANK && place.copies == copy && state.next == NONE
    }

    /// What it costs to push a copy out: ports first, then how soon it is missed.
    fn eviction_cost(&mut self, copy: u32) -> u64 {
        let state = *self.copies.get(copy);
        let end = self.tasks.users.end(state.stay);
        let mut cursor = self.stays.get(state.stay).cursor;
        let mut user = STORE;
        while cursor < end {
            user = self.tasks.users.at(cursor);
            if user & STORE != 0 || !self.issued[user as usize] {
                break;
            }
            cursor += 1;
        }
        self.stays.get_mut(state.stay).cursor = cursor;
        let (ready, rank) = if user & STORE != 0 {
            (false, 0)
        } else {
            let inst = user as usize;
            (self.missing[inst] == 0, self.tasks.rank[inst])
        };
        let in_flight = u64::from(state.written > self.now);
        let alone = u64::from(self.is_alone(copy));
        let cost = alone + 2 * u64::from(ready) + 4 * in_flight;
        cost << 32 | u64::from(u32::MAX - rank)
    }
}
