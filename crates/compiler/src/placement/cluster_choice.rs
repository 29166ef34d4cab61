//! Which cluster executes an instruction.
//!
//! Every cluster gets a cost in cycles: when the instruction could start there,
//! plus what the transfers that this choice makes necessary cost others, since
//! the network ports of the register files are what a machine with small
//! register files runs out of first:
//! - a transfer for every operand that is not there,
//! - a transfer later for every value that the result will meet (the other
//!   operands of its readers, and of theirs) and that is somewhere else,
//! - a transfer for what is pushed out of a full register file.

use cyclotron_isa::Step;

use super::placer::Placer;
use super::residents::{NO_BANK, NO_RECORD};
use crate::uses::distinct_sources;

/// Steps of the plan within which a next use counts as near.
const NEAR: u64 = 2048;

/// A value that the result will meet, and how much that weighs, in 1/8 transfers.
#[derive(Debug, Clone, Copy)]
struct Partner {
    record: u32,
    weight: u64,
}

impl Placer<'_> {
    /// The cluster with the lowest cost.
    pub(super) fn choose_cluster(&self, inst: usize, sources: &[u32]) -> u16 {
        let op = self.flat.op[inst];
        let timing = self.timing[op as usize];
        let mut arrivals = [0; 3];
        for (arrival, &source) in arrivals.iter_mut().zip(sources) {
            *arrival = self.arrival(self.residents.of(source));
        }
        let mut partners = [Partner {
            record: NO_RECORD,
            weight: 0,
        }; 8];
        let partners = self.partners(inst, &mut partners);
        let transfer = self.transfer_cost();
        let mut best = (u64::MAX, 0);
        for cluster in 0..self.machine.clusters {
            let mut ready = 0;
            let mut moves: u64 = 0;
            for (&source, &arrival) in sources.iter().zip(&arrivals) {
                let record = self.residents.of(source);
                ready = ready.max(match self.residents.copy_in(record, cluster) {
                    Some(slot) => self.regfiles.slot(cluster, slot).written,
                    None => {
                        moves += 1;
                        let port = self.network.arrivals(cluster);
                        self.calendars.earliest(port, arrival, transfer).0
                    }
                });
            }
            // Waiting for a turn takes a few cycles anywhere: not worth the search.
            let issue = self.network.issue(self.machine, cluster, op, timing);
            let span = issue.span.max(1);
            let ready = ready.max(self.network.banks_done(&self.calendars, cluster));
            let start = self.calendars.earliest(issue.units, ready, span).0;
            let needed = moves + 1;
            let free = self.regfiles.free_count(cluster) as u64;
            let pushed = needed.saturating_sub(free + 1);
            let met: u64 = partners
                .iter()
                .filter(|partner| self.residents.copy_in(partner.record, cluster).is_none())
                .map(|partner| partner.weight)
                .sum();
            let cost = start + transfer * (moves + pushed) + transfer * met / 8;
            if cost < best.0 {
                best = (cost, cluster);
            }
        }
        best.1
    }

    /// Cycles of network ports that a transfer to a cluster takes.
    fn transfer_cost(&self) -> u64 {
        let bank = self.topology.banks[0];
        self.network.bank_to_cluster(bank, 0).1.span.max(1)
    }

    /// The values in register files that the result of an instruction will meet.
    fn partners<'p>(&self, inst: usize, list: &'p mut [Partner; 8]) -> &'p [Partner] {
        let result = self.flat.result(inst);
        let mut count = 0;
        for position in self.uses.upcoming::<2>(result) {
            let Some(reader) = self.reader(position) else {
                continue;
            };
            self.note_partners(reader, result, 8, (list, &mut count));
            let next = self.flat.result(reader);
            for position in self.uses.upcoming::<1>(next) {
                if let Some(reader) = self.reader(position) {
                    self.note_partners(reader, next, 6, (list, &mut count));
                }
            }
        }
        &list[..count]
    }

    fn reader(&self, position: u32) -> Option<usize> {
        match self.plan.steps[position as usize] {
            Step::Compute(inst) => Some(inst as usize),
            _ => None,
        }
    }

    fn note_partners(
        &self,
        reader: usize,
        value: u32,
        weight: u64,
        (list, count): (&mut [Partner; 8], &mut usize),
    ) {
        let (sources, n) = distinct_sources(self.flat, reader);
        for &source in sources[..n].iter().filter(|&&s| s != value) {
            let record = self.residents.of(source);
            let held = record != NO_RECORD && !self.residents.get(record).copies.is_empty();
            if held && *count < list.len() {
                list[*count] = Partner { record, weight };
                *count += 1;
            }
        }
    }

    /// What it costs, in cycles, to push a value out of a register file.
    pub(super) fn eviction_cost(&self, record: u32) -> u64 {
        let resident = self.residents.get(record);
        let transfer = self.transfer_cost();
        let next = self.uses.next(resident.value).unwrap_or(u32::MAX);
        let distance = u64::from(next.saturating_sub(self.position)).min(NEAR);
        let alone = resident.bank == NO_BANK && resident.copies.len() == 1;
        let near = transfer * 2 * (NEAR - distance) / NEAR;
        1 + near + if alone { transfer / 2 } else { 0 }
    }
}
