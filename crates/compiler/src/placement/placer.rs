//! The state of phase 3 and the steps of the plan.

use std::collections::{HashMap, VecDeque};
use std::ops::ControlFlow;

use cyclotron_isa::{DramContent, FlatProgram, Link, MovementPlan, Schedule, Step, StreamOp};
use cyclotron_machine::{OpTiming, Resolved};

use super::cluster_choice::Prospect;
use super::network::Network;
use super::register_file::RegisterFiles;
use super::residents::{NO_BANK, NO_RECORD, PlanUses, Residents};
use super::scratchpad::Scratchpad;
use super::streams::Recorder;
use crate::calendar::Calendars;
use crate::error::{CompileError, proceed};
use crate::stats::PlacementStats;
use crate::topology::{Topology, op_timings};
use crate::uses::distinct_sources;

/// Where a value lies off-chip.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Home {
    pub address: u32,
    pub channel: u16,
    /// First cycle at which it can be loaded.
    pub ready: u64,
}

pub(super) struct Placer<'a> {
    pub flat: &'a FlatProgram,
    pub plan: &'a MovementPlan,
    pub machine: &'a Resolved,
    pub topology: Topology,
    pub timing: Vec<OpTiming>,
    pub calendars: Calendars,
    pub network: Network,
    pub regfiles: RegisterFiles,
    pub scratchpad: Scratchpad,
    pub residents: Residents,
    pub uses: PlanUses,
    pub recorder: Recorder,
    pub stats: PlacementStats,
    /// Position in the plan.
    pub position: u32,
    /// Cycles of network ports that a transfer to a cluster takes.
    pub transfer: u64,
    /// Room for what is known of every cluster.
    pub prospects: Vec<Prospect>,
    homes: HashMap<u32, Home>,
    /// Output limbs of a value that are not stored yet.
    outputs: HashMap<u32, VecDeque<u32>>,
}

impl<'a> Placer<'a> {
    pub fn new(
        flat: &'a FlatProgram,
        plan: &'a MovementPlan,
        machine: &'a Resolved,
    ) -> Result<Self, CompileError> {
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
        let mut calendars = Calendars::default();
        let network = Network::new(machine, &topology, &mut calendars);
        let mut outputs: HashMap<u32, VecDeque<u32>> = HashMap::new();
        for (k, &value) in (0u32..).zip(&flat.outputs) {
            outputs.entry(value).or_default().push_back(k);
        }
        Ok(Self {
            flat,
            plan,
            machine,
            timing,
            transfer: network.bank_to_cluster(topology.banks[0], 0).1.span.max(1),
            prospects: vec![Prospect::default(); usize::from(machine.clusters)],
            calendars,
            network,
            regfiles: RegisterFiles::new(machine.clusters, machine.regfile.slots),
            scratchpad: Scratchpad::new(machine, &topology),
            topology,
            residents: Residents::new(flat.value_count()),
            uses: PlanUses::new(flat, plan),
            recorder: Recorder::new(machine),
            stats: PlacementStats::default(),
            position: 0,
            homes: HashMap::new(),
            outputs,
        })
    }

    pub fn run(
        mut self,
        progress: &mut dyn FnMut(f64) -> ControlFlow<()>,
    ) -> Result<(Schedule, PlacementStats), CompileError> {
        let total = self.plan.steps.len();
        for (position, &step) in self.plan.steps.iter().enumerate() {
            self.position = position as u32;
            if position.is_multiple_of(1 << 12) {
                proceed(progress(position as f64 / total as f64))?;
            }
            match step {
                Step::Load(value) => self.load(value),
                Step::Store(value) => self.store(value),
                Step::Evict(value) => self.evict(value),
                Step::Compute(inst) => self.compute(inst as usize),
            }
        }
        self.recorder.name_unread_inputs(
            self.flat.inputs.len() as u32,
            &self.homes,
            self.topology.channels[0],
        );
        proceed(progress(1.0))?;
        self.count_busy();
        // Streams take more memory than anything else: what they do not need goes first.
        drop((self.uses, self.residents, self.homes));
        let schedule = self.recorder.finish(self.flat, self.machine)?;
        Ok((schedule, self.stats))
    }

    /// Brings a value into a bank; its home channel is chosen at the first load.
    fn load(&mut self, value: u32) {
        let home = self.homes.get(&value).copied();
        let mut best: Option<(u64, u16, u16)> = None;
        let candidates: Vec<(u16, u64)> = self.scratchpad.candidates().collect();
        for &channel in &self.topology.channels {
            if home.is_some_and(|home| home.channel != channel) {
                continue;
            }
            let from = home.map_or(0, |home| home.ready);
            let span = u64::from(self.machine.channels[usize::from(channel)].span).max(1);
            let (free, _) = self
                .calendars
                .earliest(self.network.channel(channel), from, span);
            for &(bank, free_from) in &candidates {
                let path = self.network.load(channel, bank);
                let start = free.max(free_from.saturating_sub(path.delay));
                if best.is_some_and(|(at, _, _)| start >= at) {
                    continue;
                }
                let at = path.earliest(&self.calendars, start);
                if best.is_none_or(|(before, _, _)| at < before) {
                    best = Some((at, channel, bank));
                }
                if at == free {
                    break;
                }
            }
        }
        let (at, channel, bank) = best.expect("a bank has a free slot");
        let home = home.unwrap_or_else(|| Home {
            address: self.recorder.dram_slot(channel, DramContent::Input(value)),
            channel,
            ready: 0,
        });
        self.homes.insert(value, home);
        let path = self.network.load(channel, bank);
        path.reserve(&mut self.calendars, at);
        let slot = self.scratchpad.take(bank);
        let from = (channel, home.address);
        let written = self.recorder.load(&path, from, (bank, slot), at);
        let record = self.residents.add(value);
        let free_from = self.scratchpad.free_after(written, path.span);
        let resident = self.residents.get_mut(record);
        resident.bank = bank;
        resident.slot = slot;
        resident.written = written;
        resident.written_end = written + path.span;
        resident.free_from = free_from;
    }

    /// Writes a value off-chip: to its next output slot, or to a spill slot.
    fn store(&mut self, value: u32) {
        let record = self.residents.of(value);
        if self.residents.get(record).bank == NO_BANK {
            self.write_back(record);
        }
        let resident = self.residents.get(record);
        let (bank, slot) = (resident.bank, resident.slot);
        let output = self.outputs.get_mut(&value).and_then(VecDeque::pop_front);
        let mut best: Option<(u64, u16)> = None;
        for &channel in &self.topology.channels {
            let path = self.network.store(bank, channel);
            let from = resident
                .written
                .max(resident.written_end.saturating_sub(path.span));
            let at = path.earliest(&self.calendars, from);
            if best.is_none_or(|(before, _)| at < before) {
                best = Some((at, channel));
            }
        }
        let (at, channel) = best.expect("a topology has a channel");
        let path = self.network.store(bank, channel);
        path.reserve(&mut self.calendars, at);
        let content = output.map_or(DramContent::Spill, DramContent::Output);
        let address = self.recorder.dram_slot(channel, content);
        let stored = at + path.delay + path.span;
        let op = StreamOp::Read {
            slot,
            to: Link::Channel(channel),
        };
        self.recorder.bank(bank, at, op, at + path.span);
        let op = StreamOp::Store { address, bank };
        self.recorder.channel(channel, at + path.route, op, stored);
        let free_from = self.scratchpad.free_after(at, path.span);
        let resident = self.residents.get_mut(record);
        resident.free_from = resident.free_from.max(free_from);
        self.homes.entry(value).or_insert(Home {
            address,
            channel,
            ready: stored,
        });
        self.uses.consume(value);
        self.release_if_unread(record);
    }

    /// Ends a residency.
    fn evict(&mut self, value: u32) {
        let record = self.residents.of(value);
        debug_assert!(record != NO_RECORD, "evicted while absent");
        self.uses.consume(value);
        self.drop_copies(record);
        let resident = self.residents.get(record);
        if resident.bank != NO_BANK {
            let (bank, slot, free_from) = (resident.bank, resident.slot, resident.free_from);
            self.scratchpad.give(bank, slot, free_from);
        }
        self.residents.remove(record);
    }

    /// Frees the register-file copies of a value that is not read before its eviction.
    pub fn release_if_unread(&mut self, record: u32) {
        let value = self.residents.get(record).value;
        if self.uses.next(value).is_none() {
            self.drop_copies(record);
        }
    }

    fn drop_copies(&mut self, record: u32) {
        while let Some((cluster, slot)) = self.residents.pop_copy(record) {
            self.regfiles.release(cluster, slot);
        }
    }

    /// Executes an instruction.
    fn compute(&mut self, inst: usize) {
        let timing = self.timing[self.flat.op[inst] as usize];
        let span = u64::from(timing.occupancy);
        let (sources, count) = distinct_sources(self.flat, inst);
        let sources = &sources[..count];
        let cluster = self.choose_cluster(inst, sources);
        let op = self.flat.op[inst];
        let issue = self.network.issue(self.machine, cluster, op, timing);
        let slots = self.gather(sources, &issue);
        let slots = &slots[..count];
        let (at, result_slot) = self.time_compute(sources, slots, &issue);
        let units = issue.units;
        let port = self.network.reserve_issue(&mut self.calendars, &issue, at);
        let kind = &self.machine.units[usize::from(timing.unit)];
        let unit = kind.first + (port - units.first) as u16;
        for (&source, &slot) in sources.iter().zip(slots) {
            self.regfiles.read(cluster, slot, at, span);
            self.uses.consume(source);
            self.release_if_unread(self.residents.of(source));
        }
        let written = at + result_delay(timing, self.machine);
        if self.regfiles.slot(cluster, result_slot).record != NO_RECORD {
            self.push_out(cluster, result_slot);
        }
        let record = self.residents.add(self.flat.result(inst));
        self.regfiles
            .occupy(cluster, result_slot, record, written, span);
        self.residents.add_copy(record, cluster, result_slot);
        let mut src = [u16::MAX; 3];
        for (field, &source) in src.iter_mut().zip(&self.flat.src[inst]) {
            if let Some(k) = sources.iter().position(|&s| s == source) {
                *field = slots[k];
            }
        }
        let op = StreamOp::Compute {
            op,
            modulus: self.flat.modulus[inst],
            dst: result_slot,
            src,
            imm: self.flat.imm[inst],
        };
        self.recorder.unit(cluster, unit, at, op, written + span);
        self.stats.computes += 1;
        self.stats.operands += count as u64;
    }

    fn count_busy(&mut self) {
        let calendars = &self.calendars;
        self.stats
            .count_busy(self.machine, &self.network, |ports| calendars.busy(ports));
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
