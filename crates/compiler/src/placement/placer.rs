//! The state of phase 3 and the steps of a segment.

use std::collections::HashMap;

use cyclotron_isa::{FlatProgram, Link, NO_SLOT, StreamOp};
use cyclotron_machine::{OpTiming, Resolved};

use super::cluster_choice::Prospect;
use super::join::Piece;
use super::network::Network;
use super::register_file::RegisterFiles;
use super::residents::{NEVER, NO_BANK, NO_RECORD, Residents};
use super::scratchpad::Places;
use super::segment::{Action, Address, Instruction, Segment, SegmentUses};
use super::streams::Recorder;
use crate::calendar::Calendars;
use crate::error::CompileError;
use crate::stats::PlacementStats;
use crate::topology::{Topology, op_timings};
use crate::uses::distinct_sources;

/// A machine as all segments of a program use it.
#[derive(Debug)]
pub(super) struct Site<'a> {
    pub machine: &'a Resolved,
    pub topology: Topology,
    pub timing: Vec<OpTiming>,
}

impl<'a> Site<'a> {
    pub fn new(flat: &FlatProgram, machine: &'a Resolved) -> Result<Self, CompileError> {
        let topology = Topology::new(machine)?;
        let timing = op_timings(flat, machine)?;
        let needs = (0..flat.len())
            .map(|inst| distinct_sources(flat, inst).1)
            .max();
        if needs > Some(usize::from(machine.regfile.slots)) || machine.regfile.slots == 0 {
            return Err(CompileError::DoesNotFit {
                what: "one instruction's operands in a register file (vectors)".into(),
                needs: needs.unwrap_or(1) as u64,
                has: u64::from(machine.regfile.slots),
                fix: "enlarge the register files, or lower log2 N".into(),
            });
        }
        Ok(Self {
            machine,
            topology,
            timing,
        })
    }
}

pub(super) struct Placer<'a> {
    pub site: &'a Site<'a>,
    pub segment: &'a Segment,
    pub calendars: Calendars,
    pub network: Network,
    pub regfiles: RegisterFiles,
    pub places: Places,
    pub residents: Residents,
    pub uses: SegmentUses,
    pub recorder: Recorder,
    pub stats: PlacementStats,
    /// Position in the segment.
    pub position: u32,
    /// Cycles of network ports that a transfer to a cluster takes.
    pub transfer: u64,
    /// Room for what is known of every cluster.
    pub prospects: Vec<Prospect>,
    /// First cycle at which a slot off-chip can be loaded that was stored to before.
    stored: HashMap<u32, u64>,
}

impl<'a> Placer<'a> {
    pub fn new(site: &'a Site<'a>, segment: &'a Segment) -> Self {
        let machine = site.machine;
        let mut calendars = Calendars::default();
        let network = Network::new(machine, &site.topology, &mut calendars);
        let first_bank = site.topology.banks[0];
        let mut residents = Residents::new(segment.places.len());
        let uses = SegmentUses::new(segment);
        for value in 0..segment.found {
            let record = residents.add(value, uses.next(value));
            let resident = residents.get_mut(record);
            let place = segment.places[value as usize];
            (resident.bank, resident.slot) = (place.bank, place.slot);
        }
        Self {
            site,
            segment,
            transfer: network.bank_to_cluster(first_bank, 0).1.span.max(1),
            prospects: vec![Prospect::default(); usize::from(machine.clusters)],
            calendars,
            network,
            regfiles: RegisterFiles::new(machine.clusters, machine.regfile.slots),
            places: Places::new(machine),
            residents,
            uses,
            recorder: Recorder::new(machine),
            stats: PlacementStats::default(),
            position: 0,
            stored: HashMap::new(),
        }
    }

    /// Places all steps; asks now and then, with how many were placed since, whether to
    /// go on, and gives nothing if not.
    pub fn run(mut self, mut go_on: impl FnMut(usize) -> bool) -> Option<(Piece, PlacementStats)> {
        const STEPS: usize = 1 << 12;
        let segment = self.segment;
        for actions in segment.actions.chunks(STEPS) {
            for &action in actions {
                match action {
                    Action::Load(value, address) => self.load(value, address),
                    Action::Store(value, address) => self.store(value, address),
                    Action::Evict(value) => self.evict(value),
                    Action::Keep(value) => self.keep(value),
                    Action::Compute(inst) => self.compute(&inst),
                }
                self.position += 1;
            }
            if !go_on(actions.len()) {
                return None;
            }
        }
        let (calendars, network) = (&self.calendars, &self.network);
        let machine = self.site.machine;
        let busy = |ports| calendars.busy(ports);
        self.stats.count_busy(machine, network, busy);
        Some((self.recorder.into_piece(), self.stats))
    }

    /// Brings a value into its place.
    fn load(&mut self, value: u32, address: Address) {
        let place = self.segment.places[value as usize];
        let path = self.network.load(address.channel, place.bank);
        let ready = self.stored.get(&address.index).copied().unwrap_or(0);
        let free_from = self.places.free_from(place);
        let from = ready.max(free_from.saturating_sub(path.delay));
        let at = path.earliest(&self.calendars, from);
        path.reserve(&mut self.calendars, at);
        let from = (address.channel, address.index);
        let written = self
            .recorder
            .load(&path, from, (place.bank, place.slot), at);
        let record = self.residents.add(value, self.uses.next(value));
        self.note_written(record, (written, path.span));
    }

    /// Notes that a value is written to its place.
    pub fn note_written(&mut self, record: u32, (at, span): (u64, u64)) {
        let resident = self.residents.get_mut(record);
        let place = self.segment.places[resident.value as usize];
        (resident.bank, resident.slot) = (place.bank, place.slot);
        resident.written = at;
        resident.written_end = at + span;
        resident.free_from = self.places.free_after(at, span);
    }

    /// Writes a value off-chip.
    fn store(&mut self, value: u32, address: Address) {
        let record = self.residents.of(value);
        self.ensure_written(record);
        let resident = self.residents.get(record);
        let (bank, slot) = (resident.bank, resident.slot);
        let Address { channel, index } = address;
        let path = self.network.store(bank, channel);
        let from = resident
            .written
            .max(resident.written_end.saturating_sub(path.span));
        let at = path.earliest(&self.calendars, from);
        path.reserve(&mut self.calendars, at);
        let stored = at + path.delay + path.span;
        let op = StreamOp::Read {
            slot,
            to: Link::Channel(channel),
        };
        self.recorder.bank(bank, at, op, at + path.span);
        let op = StreamOp::Store {
            address: index,
            bank,
        };
        self.recorder.channel(channel, at + path.route, op, stored);
        let free_from = self.places.free_after(at, path.span);
        let resident = self.residents.get_mut(record);
        resident.free_from = resident.free_from.max(free_from);
        self.stored.insert(index, stored);
        self.consume(record);
    }

    /// Sees that a value is in its place; nothing reads it any more before the border.
    fn keep(&mut self, value: u32) {
        let record = self.residents.of(value);
        self.ensure_written(record);
        self.consume(record);
    }

    fn ensure_written(&mut self, record: u32) {
        if self.residents.get(record).bank == NO_BANK {
            self.write_back(record);
        }
    }

    /// Ends a residency.
    fn evict(&mut self, value: u32) {
        let record = self.residents.of(value);
        debug_assert!(record != NO_RECORD, "evicted while absent");
        self.drop_copies(record);
        let resident = self.residents.get(record);
        if resident.bank != NO_BANK {
            let place = self.segment.places[value as usize];
            self.places.release(place, resident.free_from);
        }
        self.residents.remove(record);
    }

    /// Passes a use of a value; after the last one its copies in register files are freed.
    fn consume(&mut self, record: u32) {
        let resident = self.residents.get_mut(record);
        self.uses.consume(resident.value);
        let next = self.uses.next(resident.value);
        resident.next = next.unwrap_or(NEVER);
        if next.is_none() {
            self.drop_copies(record);
        }
    }

    fn drop_copies(&mut self, record: u32) {
        while let Some((cluster, slot)) = self.residents.pop_copy(record) {
            self.regfiles.release(cluster, slot);
        }
    }

    /// Executes an instruction.
    fn compute(&mut self, inst: &Instruction) {
        let machine = self.site.machine;
        let timing = self.site.timing[inst.op as usize];
        let span = u64::from(timing.occupancy);
        let operands = inst.operands();
        let cluster = self.choose_cluster(inst);
        let issue = self.network.issue(machine, cluster, inst.op, timing);
        let slots = self.gather(operands, &issue);
        let slots = &slots[..operands.len()];
        let (at, result_slot) = self.time_compute(operands, slots, &issue);
        let units = issue.units;
        let port = self.network.reserve_issue(&mut self.calendars, &issue, at);
        let kind = &machine.units[usize::from(timing.unit)];
        let unit = kind.first + (port - units.first) as u16;
        for (&operand, &slot) in operands.iter().zip(slots) {
            self.regfiles.read(cluster, slot, at, span);
            self.consume(self.residents.of(operand));
        }
        let written = at + result_delay(timing, machine);
        if self.regfiles.slot(cluster, result_slot).record != NO_RECORD {
            self.push_out(cluster, result_slot);
        }
        let next = self.uses.next(inst.result);
        let record = self.residents.add(inst.result, next);
        self.regfiles
            .occupy(cluster, result_slot, record, written, span);
        self.residents.add_copy(record, cluster, result_slot);
        let slot = |field: u8| slots.get(usize::from(field)).copied();
        let op = StreamOp::Compute {
            op: inst.op,
            modulus: inst.modulus,
            dst: result_slot,
            src: inst.fields.map(|field| slot(field).unwrap_or(NO_SLOT)),
            imm: inst.imm,
        };
        self.recorder.unit(cluster, unit, at, op, written + span);
        self.stats.computes += 1;
        self.stats.operands += operands.len() as u64;
    }
}

/// Cycles from an instruction's start to the first chunk of its result in the register file.
pub(crate) fn result_delay(timing: OpTiming, machine: &Resolved) -> u64 {
    let passes = if timing.multipass {
        timing.occupancy
    } else {
        0
    };
    u64::from(passes) + u64::from(timing.latency) + u64::from(machine.regfile.latency)
}
