//! Issuing instructions to free units.

use std::cmp::Reverse;

use super::mover::{Mover, UNSTORED};
use super::victims::NEVER;
use crate::uses::distinct_sources;

impl Mover<'_> {
    /// Issues ready instructions to free units; returns when to look again.
    pub(super) fn issue_instructions(&mut self) -> u64 {
        let mut wake = u64::MAX;
        for kind in 0..self.ready.len() {
            while let Some(&Reverse(inst)) = self.ready[kind].peek() {
                let inst = inst as usize;
                if self.issued[inst] || self.missing[inst] != 0 {
                    self.ready[kind].pop();
                    continue;
                }
                let Some(&Reverse(free_at)) = self.units[kind].peek() else {
                    break;
                };
                if free_at > self.now {
                    wake = wake.min(free_at);
                    break;
                }
                if !self.room_for_result(inst) {
                    break;
                }
                self.ready[kind].pop();
                self.issue(inst);
            }
        }
        wake
    }

    /// Makes sure that an instruction's result has a place, if it may have one now.
    fn room_for_result(&mut self, inst: usize) -> bool {
        let result = self.flat.result(inst);
        let first_use = self.uses.of(result).first().copied().unwrap_or(NEVER);
        if self.resident == self.capacity {
            let needed = if inst == self.oldest {
                inst as u32
            } else {
                first_use
            };
            return self.evict_for(needed);
        }
        let far_ahead = inst > self.oldest + self.horizon;
        if far_ahead && self.resident + self.headroom >= self.capacity {
            let (sources, n) = distinct_sources(self.flat, inst);
            return sources[..n].iter().any(|&s| self.dies_with(s, inst));
        }
        true
    }

    /// Whether the instruction is the last reader of a value that need not be stored.
    fn dies_with(&self, value: u32, inst: usize) -> bool {
        let open = self.cursor[value as usize]..self.uses.end(value);
        !self.has(value, UNSTORED)
            && open.into_iter().all(|position| {
                let reader = self.uses.at(position) as usize;
                reader == inst || self.issued[reader]
            })
    }

    fn issue(&mut self, inst: usize) {
        let timing = self.timing[self.flat.op[inst] as usize];
        let busy = u64::from(timing.occupancy);
        let passes = if timing.multipass { busy } else { 0 };
        let written = self.now + passes + u64::from(timing.latency) + self.regfile_latency;
        if let Some(mut unit) = self.units[usize::from(timing.unit)].peek_mut() {
            *unit = Reverse(self.now + busy);
        }
        self.issued[inst] = true;
        self.ledger.compute(inst);
        let result = self.flat.result(inst);
        self.place(result);
        self.arrivals.push(Reverse((written, result)));
        let (sources, n) = distinct_sources(self.flat, inst);
        for &source in &sources[..n] {
            self.release_or_requeue(source);
        }
        self.prune_victims();
        self.advance_oldest();
    }
}
