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

use cyclotron_isa::{NONE, Op};

use super::placer::Placer;
use super::residents::{NO_BANK, NO_RECORD};
use super::segment::{Action, Instruction};

/// Steps of the segment within which a next use counts as near.
const NEAR: u64 = 2048;

/// A value that the result will meet, and how much that weighs, in 1/8 transfers.
#[derive(Debug, Clone, Copy)]
struct Partner {
    record: u32,
    weight: u64,
}

/// What an instruction finds on a cluster.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Prospect {
    /// Bit k: operand k is there.
    held: u8,
    /// Weight of the partners that are there.
    met: u64,
    /// When the last operand that is there was written, and about when the register
    /// file has served all that it was asked for.
    ready: u64,
    /// When the last operand that is not there may arrive, 0 if all are.
    arrival: u64,
    /// Cost of transfers now and later, in cycles.
    extra: u64,
    /// The least that it may cost.
    least: u64,
}

impl Placer<'_> {
    /// The cluster with the lowest cost.
    pub(super) fn choose_cluster(&mut self, inst: &Instruction) -> u16 {
        let op = inst.op;
        let mut partners = [Partner {
            record: NO_RECORD,
            weight: 0,
        }; 8];
        let partners = self.partners(inst.result, &mut partners);
        let mut prospects = std::mem::take(&mut self.prospects);
        // The most promising cluster first: most others then need no closer look.
        let (first, second) = self.find_prospects(inst.operands(), partners, &mut prospects);
        let prospect = &prospects[usize::from(first)];
        let most = self.cost_at_most(first, prospect, op);
        let mut best = (most, first);
        if best > second {
            best = (self.cost(first, prospect, op), first);
            if best > second {
                for (cluster, prospect) in (0u16..).zip(&prospects) {
                    if cluster != first && (prospect.least, cluster) < best {
                        best = best.min((self.cost(cluster, prospect, op), cluster));
                    }
                }
            }
        }
        self.prospects = prospects;
        best.1
    }

    /// What is known of an instruction on every cluster without asking any calendar;
    /// returns the cluster that costs least as far as that tells, and what the next best
    /// costs at least.
    fn find_prospects(
        &self,
        sources: &[u32],
        partners: &[Partner],
        prospects: &mut [Prospect],
    ) -> (u16, (u64, u16)) {
        prospects.fill(Prospect::default());
        let mut arrivals = [0; 3];
        for (k, &source) in sources.iter().enumerate() {
            let record = self.residents.of(source);
            arrivals[k] = self.arrival(record);
            for &(cluster, slot) in &self.residents.get(record).copies {
                let prospect = &mut prospects[usize::from(cluster)];
                let written = self.regfiles.slot(cluster, slot).written;
                prospect.ready = prospect.ready.max(written);
                prospect.held |= 1 << k;
            }
        }
        let mut weight = 0;
        for partner in partners {
            weight += partner.weight;
            for &(cluster, _) in &self.residents.get(partner.record).copies {
                prospects[usize::from(cluster)].met += partner.weight;
            }
        }
        // By what is held: how many transfers there are, and when the last arrives.
        let mut moves = [(0, 0); 8];
        for (held, (moves, last)) in moves.iter_mut().enumerate() {
            for (k, &arrival) in arrivals[..sources.len()].iter().enumerate() {
                if held >> k & 1 == 0 {
                    *moves += 1u64;
                    *last = arrival.max(*last);
                }
            }
        }
        let transfer = self.transfer;
        let (mut first, mut second) = (u128::MAX, u128::MAX);
        for (cluster, prospect) in (0u16..).zip(prospects.iter_mut()) {
            let (moves, arrival) = moves[usize::from(prospect.held)];
            let free = self.regfiles.free_count(cluster) as u64;
            let pushed = (moves + 1).saturating_sub(free + 1);
            prospect.arrival = arrival;
            let later = transfer * (weight - prospect.met) / 8;
            prospect.extra = transfer * (moves + pushed) + later;
            let done = self.network.banks_done(&self.calendars, cluster);
            prospect.ready = prospect.ready.max(done);
            prospect.least = prospect.ready.max(arrival) + prospect.extra;
            let key = u128::from(prospect.least) << 16 | u128::from(cluster);
            second = second.min(first.max(key));
            first = first.min(key);
        }
        let least = u64::try_from(second >> 16).unwrap_or(u64::MAX);
        (first as u16, (least, second as u16))
    }

    /// What an instruction costs on a cluster at most: from some cycle on, nothing is
    /// reserved.
    fn cost_at_most(&self, cluster: u16, prospect: &Prospect, op: Op) -> u64 {
        let unit = self.site.timing[op as usize].unit;
        let units = self.network.units_of(self.site.machine, cluster, unit);
        let mut start = prospect.ready.max(self.calendars.open_from(units));
        if prospect.arrival > 0 {
            let port = self.calendars.open_from(self.network.arrivals(cluster));
            start = start.max(prospect.arrival).max(port);
        }
        start + prospect.extra
    }

    /// The cost of an instruction on a cluster.
    fn cost(&self, cluster: u16, prospect: &Prospect, op: Op) -> u64 {
        let mut ready = prospect.ready;
        if prospect.arrival > 0 {
            // The latest operand waits longest for the port.
            let port = self.network.arrivals(cluster);
            let arrival = self
                .calendars
                .earliest(port, prospect.arrival, self.transfer);
            ready = ready.max(arrival.0);
        }
        // Waiting for one turn takes a few cycles anywhere: not worth the search.
        let timing = self.site.timing[op as usize];
        let issue = self.network.issue(self.site.machine, cluster, op, timing);
        let start = self
            .calendars
            .earliest(issue.units, ready, issue.span.max(1));
        start.0 + prospect.extra
    }

    /// The values in register files that the result of an instruction will meet.
    fn partners<'p>(&self, result: u32, list: &'p mut [Partner; 8]) -> &'p [Partner] {
        let mut count = 0;
        for position in self.uses.upcoming::<2>(result) {
            let Some(reader) = self.reader(position) else {
                continue;
            };
            self.note_partners(reader, result, 8, (list, &mut count));
            let next = reader.result;
            for position in self.uses.upcoming::<1>(next) {
                if let Some(reader) = self.reader(position) {
                    self.note_partners(reader, next, 6, (list, &mut count));
                }
            }
        }
        &list[..count]
    }

    fn reader(&self, position: u32) -> Option<&Instruction> {
        match &self.segment.actions[position as usize] {
            Action::Compute(inst) => Some(inst),
            _ => None,
        }
    }

    fn note_partners(
        &self,
        reader: &Instruction,
        value: u32,
        weight: u64,
        (list, count): (&mut [Partner; 8], &mut usize),
    ) {
        let others = reader.operands.iter().filter(|&&o| o != value && o != NONE);
        for &operand in others {
            let record = self.residents.of(operand);
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
        let transfer = self.transfer;
        let distance = u64::from(resident.next.saturating_sub(self.position)).min(NEAR);
        let alone = resident.bank == NO_BANK && resident.copies.len() == 1;
        let near = transfer * 2 * (NEAR - distance) / NEAR;
        1 + near + if alone { transfer / 2 } else { 0 }
    }
}
