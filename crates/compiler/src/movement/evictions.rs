//! Which places are freed when, and what is stored before.

use super::mover::{ARRIVED, Mover, OFF_CHIP, UNSTORED};
use super::victims::{NEVER, cheaper};
use crate::uses::UseLists;

impl Mover<'_> {
    /// Evicts the value with the furthest next use, if that is after `needed`.
    pub(super) fn evict_for(&mut self, needed: u32) -> bool {
        let (state, cursor, uses, issued) =
            (&self.state, &mut self.cursor, &self.uses, &self.issued);
        let mut furthest = |dirty: bool| {
            self.victims.peek(dirty, |next, value| {
                let flags = state[value as usize];
                flags & ARRIVED != 0
                    && (flags & OFF_CHIP == 0) == dirty
                    && next == first_unissued(uses, issued, &mut cursor[value as usize], value)
            })
        };
        let victim = cheaper(furthest(false), furthest(true), self.oldest as u32);
        match victim {
            Some((next, value)) if next > needed => {
                self.evict(next, value);
                true
            }
            _ => false,
        }
    }

    fn evict(&mut self, next: u32, value: u32) {
        if self.has(value, UNSTORED) || !self.has(value, OFF_CHIP) {
            self.store(value);
        }
        self.drop_place(value);
        if next != NEVER {
            self.loads.push(next, value);
            self.for_each_waiting(value, |mover, reader| mover.missing[reader] += 1);
        }
    }

    /// Stores a value, to all its output limbs if it is an output.
    fn store(&mut self, value: u32) {
        let outputs = if self.has(value, UNSTORED) {
            self.output_count[&value]
        } else {
            0
        };
        for _ in 0..outputs.max(1) {
            self.use_channel();
        }
        self.ledger.store(value, outputs);
        self.state[value as usize] |= OFF_CHIP;
        self.state[value as usize] &= !UNSTORED;
    }

    /// Stores outputs while a channel is idle; returns when to look again.
    pub(super) fn store_outputs(&mut self) -> u64 {
        let mut freed = false;
        while let Some(&value) = self.unstored.front() {
            if self.has(value, UNSTORED) {
                let free_at = self.channel_free();
                if free_at > self.now {
                    return free_at;
                }
                self.store(value);
                self.release_or_requeue(value);
                freed = true;
            }
            self.unstored.pop_front();
        }
        if freed && !self.loads.is_empty() {
            self.now
        } else {
            u64::MAX
        }
    }

    /// After a use or store: frees a dead value, or notes its new next use.
    pub(super) fn release_or_requeue(&mut self, value: u32) {
        if !self.has(value, ARRIVED) {
            return;
        }
        let next = self.next_use(value);
        if next == NEVER && !self.has(value, UNSTORED) {
            self.drop_place(value);
        } else {
            self.victims.push(!self.has(value, OFF_CHIP), next, value);
        }
    }

    pub(super) fn prune_victims(&mut self) {
        let (state, cursor, uses, issued) =
            (&self.state, &mut self.cursor, &self.uses, &self.issued);
        self.victims.prune(self.resident, |dirty, next, value| {
            let flags = state[value as usize];
            flags & ARRIVED != 0
                && (flags & OFF_CHIP == 0) == dirty
                && next == first_unissued(uses, issued, &mut cursor[value as usize], value)
        });
    }
}

/// The first unissued reader of a value; advances its cursor.
fn first_unissued(uses: &UseLists, issued: &[bool], cursor: &mut u32, value: u32) -> u32 {
    let end = uses.end(value);
    while *cursor < end && issued[uses.at(*cursor) as usize] {
        *cursor += 1;
    }
    if *cursor < end {
        uses.at(*cursor)
    } else {
        NEVER
    }
}
