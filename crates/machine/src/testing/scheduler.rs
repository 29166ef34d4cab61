//! A naive scheduler.

use std::collections::HashMap;

use cyclotron_isa::testing::TestRng;
use cyclotron_isa::{Component, DramContent, DramSlot, FlatProgram, NO_SLOT, Schedule, StreamOp};

use super::state::{Port, Slot, Streams};
use super::turns::{Access, TurnBook};
use crate::{OpTiming, Resolved, XbarKind};

/// A legal schedule of a program, or `None` if the machine lacks an operation.
///
/// # Panics
/// If the machine has fewer than four register-file slots in a cluster, fewer
/// than six bank slots, or banks that a crossbar or channel does not reach;
/// [`super::random_resolved`] makes no such machine.
#[must_use]
pub fn schedule_naively(program: &FlatProgram, machine: &Resolved, seed: u64) -> Option<Schedule> {
    if program.op.iter().any(|&op| machine.timing(op).is_none()) {
        return None;
    }
    let mut scheduler = Scheduler::new(program, machine, seed);
    for inst in 0..program.len() {
        scheduler.instruction(inst);
    }
    for (output, &value) in (0..).zip(&program.outputs) {
        scheduler.output(output, value);
    }
    let (streams, cycles) = scheduler.streams.finish();
    Some(Schedule {
        machine: machine.name.clone(),
        machine_hash: machine.hash.clone(),
        log_n: machine.log_n,
        dram: scheduler.dram.iter().map(|slot| slot.declared).collect(),
        streams,
        cycles,
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    RegFile(u16, u16),
    Bank(u16, u16),
}

pub(super) struct DramState {
    pub(super) declared: DramSlot,
    pub(super) slot: Slot,
}

pub(super) struct Scheduler<'a> {
    program: &'a FlatProgram,
    pub(super) machine: &'a Resolved,
    pub(super) rng: TestRng,
    pub(super) streams: Streams,
    turns: TurnBook,
    regfiles: Vec<Vec<Slot>>,
    banks: Vec<Vec<Slot>>,
    pub(super) dram: Vec<DramState>,
    /// On-chip copies of every value that is still needed.
    pub(super) copies: HashMap<u32, Vec<Place>>,
    /// Off-chip copies.
    pub(super) home: HashMap<u32, u32>,
    free_spills: Vec<u32>,
    uses: Vec<u32>,
    /// Values that must stay where they are.
    pinned: Vec<u32>,
}

impl<'a> Scheduler<'a> {
    fn new(program: &'a FlatProgram, machine: &'a Resolved, seed: u64) -> Self {
        let mut uses = vec![0; program.value_count()];
        for inst in 0..program.len() {
            program.sources(inst).for_each(|v| uses[v as usize] += 1);
        }
        program.outputs.iter().for_each(|&v| uses[v as usize] += 1);
        let regfile = vec![Slot::default(); usize::from(machine.regfile.slots)];
        Self {
            program,
            machine,
            rng: TestRng::new(seed),
            streams: Streams::default(),
            turns: TurnBook::default(),
            regfiles: vec![regfile; usize::from(machine.clusters)],
            banks: machine
                .banks
                .iter()
                .map(|bank| vec![Slot::default(); usize::from(bank.slots)])
                .collect(),
            dram: Vec::new(),
            copies: HashMap::new(),
            home: HashMap::new(),
            free_spills: Vec::new(),
            uses,
            pinned: Vec::new(),
        }
    }

    fn instruction(&mut self, inst: usize) {
        let program = self.program;
        let timing = self.machine.timing(program.op[inst]).expect("checked");
        let kind = &self.machine.units[usize::from(timing.unit)];
        let cluster = self.rng.index(usize::from(self.machine.clusters)) as u16;
        let unit = kind.first + self.rng.index(usize::from(kind.count)) as u16;
        let sources: Vec<u32> = program.sources(inst).collect();
        self.pinned.clone_from(&sources);
        let mut src = [NO_SLOT; 3];
        for (slot, &value) in src.iter_mut().zip(&sources) {
            *slot = self.bring_to_regfile(value, cluster);
        }
        for &value in &sources {
            self.uses[value as usize] -= 1;
        }
        let dying = sources.iter().position(|&v| self.uses[v as usize] == 0);
        let dst = match dying {
            Some(k) if self.rng.chance(50) => src[k],
            _ => self.free_regfile_slot(cluster),
        };
        let value = program.result(inst);
        self.compute(inst, timing, (cluster, unit), src, dst);
        // What was in the slot dies with this instruction.
        let copies = self.copies.values_mut();
        copies.for_each(|places| places.retain(|&p| p != Place::RegFile(cluster, dst)));
        self.copies
            .insert(value, vec![Place::RegFile(cluster, dst)]);
        for value in sources.into_iter().chain([value]) {
            self.forget_if_dead(value);
        }
    }

    fn compute(
        &mut self,
        inst: usize,
        timing: OpTiming,
        (cluster, unit): (u16, u16),
        src: [u16; 3],
        dst: u16,
    ) {
        let program = self.program;
        let span = u64::from(timing.occupancy);
        let delay = u64::from(timing.latency)
            + u64::from(self.machine.regfile.latency)
            + if timing.multipass { span } else { 0 };
        let slots = &mut self.regfiles[usize::from(cluster)];
        let operands = src.into_iter().filter(|&s| s != NO_SLOT).map(usize::from);
        let count = operands.clone().count();
        let ready = operands.clone().map(|s| slots[s].readable(span)).max();
        let port = Port::Unit(cluster, unit);
        let start = ready
            .unwrap_or(0)
            .max(slots[usize::from(dst)].writable(span).saturating_sub(delay))
            .max(self.streams.free(port, 1))
            + slack(&mut self.rng);
        let start = self.take_turns(start, |at| {
            let read = (cluster, at, at + span);
            let write = (cluster, at + delay, at + delay + span);
            std::iter::repeat_n(read, count).chain([write]).collect()
        });
        let slots = &mut self.regfiles[usize::from(cluster)];
        operands.for_each(|s| slots[s].read(start, span));
        slots[usize::from(dst)].write(start + delay, span, program.result(inst));
        self.streams.occupy(port, start + span);
        let op = StreamOp::Compute {
            op: program.op[inst],
            modulus: program.modulus[inst],
            dst,
            src,
            imm: program.imm[inst],
        };
        let component = Component::Unit { cluster, unit };
        self.streams.add(component, start, op, start + delay + span);
    }

    /// The first start from which all accesses have their turns; takes them.
    pub(super) fn take_turns(&mut self, from: u64, accesses: impl Fn(u64) -> Vec<Access>) -> u64 {
        let machine = self.machine;
        let fits = |&at: &u64| self.turns.fits(machine, &accesses(at));
        let start = (from..).find(fits).expect("turns become free");
        self.turns.note(machine, &accesses(start));
        start
    }

    fn output(&mut self, output: u32, value: u32) {
        self.pinned = vec![value];
        let (bank, slot) = self.bring_to_bank(value);
        let address = self.new_dram(DramContent::Output(output));
        self.store(bank, slot, address, value);
        self.uses[value as usize] -= 1;
        self.forget_if_dead(value);
    }

    fn forget_if_dead(&mut self, value: u32) {
        if self.uses[value as usize] > 0 {
            return;
        }
        for place in self.copies.remove(&value).unwrap_or_default() {
            self.slot(place).value = None;
        }
        if let Some(address) = self.home.remove(&value)
            && self.dram[address as usize].declared.content == DramContent::Spill
        {
            self.free_spills.push(address);
        }
    }

    pub(super) fn slot(&mut self, place: Place) -> &mut Slot {
        match place {
            Place::RegFile(cluster, s) => &mut self.regfiles[usize::from(cluster)][usize::from(s)],
            Place::Bank(bank, s) => &mut self.banks[usize::from(bank)][usize::from(s)],
        }
    }

    fn places(&self, value: u32) -> &[Place] {
        self.copies.get(&value).map_or(&[], Vec::as_slice)
    }

    /// Brings a value into a cluster's register file.
    fn bring_to_regfile(&mut self, value: u32, cluster: u16) -> u16 {
        let here = self.places(value).iter().find_map(|&p| match p {
            Place::RegFile(c, s) if c == cluster => Some(s),
            _ => None,
        });
        if let Some(slot) = here {
            return slot;
        }
        let direct = self.machine.xbar(XbarKind::ClusterToCluster);
        let elsewhere = self.places(value).iter().find_map(|&p| match p {
            Place::RegFile(c, s) => Some((c, s)),
            Place::Bank(..) => None,
        });
        if let (Some(xbar), Some((from, slot))) = (direct, elsewhere)
            && self.rng.chance(60)
        {
            let dst = self.free_regfile_slot(cluster);
            let from = (Place::RegFile(from, slot), from);
            self.transfer(value, xbar, from, (Place::RegFile(cluster, dst), cluster));
            return dst;
        }
        let (bank, slot) = self.bring_to_bank(value);
        let dst = self.free_regfile_slot(cluster);
        let xbar = self.machine.xbar(XbarKind::BankToCluster).expect("has one");
        let from = (Place::Bank(bank, slot), bank);
        self.transfer(value, xbar, from, (Place::RegFile(cluster, dst), cluster));
        dst
    }

    /// Brings a value into a bank.
    fn bring_to_bank(&mut self, value: u32) -> (u16, u16) {
        let mut from = None;
        for &place in self.places(value) {
            match place {
                Place::Bank(bank, slot) => return (bank, slot),
                Place::RegFile(cluster, slot) => from = Some((cluster, slot)),
            }
        }
        let (bank, slot) = self.free_bank_slot();
        match from {
            Some((cluster, s)) => {
                let xbar = self.machine.xbar(XbarKind::ClusterToBank).expect("has one");
                let from = (Place::RegFile(cluster, s), cluster);
                self.transfer(value, xbar, from, (Place::Bank(bank, slot), bank));
            }
            None => self.load(value, bank, slot),
        }
        (bank, slot)
    }

    /// A slot that holds nothing that is needed.
    fn free_regfile_slot(&mut self, cluster: u16) -> u16 {
        let slots = &self.regfiles[usize::from(cluster)];
        let list: Vec<(u16, Option<u32>)> = (0..).zip(slots.iter().map(|s| s.value)).collect();
        let (slot, victim) = self.choose(&list);
        if let Some(value) = victim {
            if self.places(value).len() == 1 && !self.home.contains_key(&value) {
                self.pinned.push(value);
                self.bring_to_bank(value);
                self.pinned.pop();
            }
            self.drop_copy(value, Place::RegFile(cluster, slot));
        }
        slot
    }

    fn free_bank_slot(&mut self) -> (u16, u16) {
        let list: Vec<((u16, u16), Option<u32>)> = (0..)
            .zip(&self.banks)
            .flat_map(|(bank, slots)| {
                (0..)
                    .zip(slots)
                    .map(move |(i, slot)| ((bank, i), slot.value))
            })
            .collect();
        let ((bank, slot), victim) = self.choose(&list);
        if let Some(value) = victim {
            if self.places(value).len() == 1 && !self.home.contains_key(&value) {
                let address = match self.free_spills.pop() {
                    Some(address) => address,
                    None => self.new_dram(DramContent::Spill),
                };
                self.store(bank, slot, address, value);
                self.home.insert(value, address);
            }
            self.drop_copy(value, Place::Bank(bank, slot));
        }
        (bank, slot)
    }

    /// A random free slot, or the slot of a random value that is not pinned.
    fn choose<T: Copy>(&mut self, list: &[(T, Option<u32>)]) -> (T, Option<u32>) {
        let free: Vec<_> = list.iter().filter(|(_, v)| v.is_none()).copied().collect();
        if !free.is_empty() {
            return self.rng.pick(&free);
        }
        let pinned = &self.pinned;
        let evictable = |(_, v): &&(T, Option<u32>)| v.is_some_and(|v| !pinned.contains(&v));
        let victims: Vec<_> = list.iter().filter(evictable).copied().collect();
        self.rng.pick(&victims)
    }

    fn drop_copy(&mut self, value: u32, place: Place) {
        if let Some(places) = self.copies.get_mut(&value) {
            places.retain(|&p| p != place);
        }
        self.slot(place).value = None;
    }

    pub(super) fn new_dram(&mut self, content: DramContent) -> u32 {
        let channel = self.rng.index(self.machine.channels.len()) as u16;
        self.dram.push(DramState {
            declared: DramSlot { channel, content },
            slot: Slot::default(),
        });
        self.dram.len() as u32 - 1
    }
}

/// Mostly none, so that schedules are tight.
pub(super) fn slack(rng: &mut TestRng) -> u64 {
    if rng.chance(15) { rng.below(6) } else { 0 }
}
