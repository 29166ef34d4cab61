//! The symbolic replay.

use std::collections::HashSet;

use cyclotron_isa::{
    Component, DramContent, FlatProgram, Link, NO_SLOT, NONE, Op, OpShape, Schedule, StreamOp,
};
use cyclotron_machine::{Resolved, XbarKind};

use crate::classes::{Class, Classes, Key};
use crate::components::Components;
use crate::dram::declare_dram;
use crate::error::{CheckError, Fault, Place};
use crate::slot::Slot;
use crate::timeline::for_each_entry;
use crate::wires::Target;

/// What a legal schedule does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CheckReport {
    /// The cycle at which the last component finishes.
    pub cycles: u64,
    /// Entries of all streams.
    pub entries: u64,
    /// Operations that units execute.
    pub computes: u64,
    /// Vectors loaded from off-chip memory.
    pub loads: u64,
    /// Vectors stored to off-chip memory.
    pub stores: u64,
}

/// Proves that a schedule is legal on a machine and computes a program.
///
/// # Errors
/// The first fault in the order of the cycles; see [`CheckError`].
pub fn check(
    program: &FlatProgram,
    schedule: &Schedule,
    machine: &Resolved,
) -> Result<CheckReport, CheckError> {
    check_fit(program, schedule, machine)?;
    let classes = Classes::new(program)?;
    let mut replay = Replay::new(program, schedule, machine, &classes)?;
    for_each_entry(schedule, |place, op| replay.step(place, op))?;
    replay.finish()
}

/// The machine is the schedule's, and the program fits it.
fn check_fit(
    program: &FlatProgram,
    schedule: &Schedule,
    machine: &Resolved,
) -> Result<(), CheckError> {
    let pairs = [
        (
            "machine",
            schedule.machine_hash.clone(),
            machine.hash.clone(),
        ),
        (
            "log_n",
            schedule.log_n.to_string(),
            machine.log_n.to_string(),
        ),
    ];
    for (what, schedule, machine) in pairs {
        if schedule != machine {
            return Err(CheckError::OtherMachine {
                what,
                schedule,
                machine,
            });
        }
    }
    if machine.regfile.latency == 0 || machine.banks.iter().any(|bank| bank.latency == 0) {
        let why = "register files and banks need a latency of at least one cycle".to_owned();
        return Err(CheckError::Machine { why });
    }
    let program_fault = |why| Err(CheckError::Program { why });
    if program.log_n != machine.log_n {
        let (found, expected) = (program.log_n, machine.log_n);
        return program_fault(format!("its log_n is {found}, the machine's {expected}"));
    }
    let wide = |&&q: &&u64| u64::BITS - q.leading_zeros() > machine.word_bits;
    if let Some(q) = program.moduli.iter().find(wide) {
        let bits = machine.word_bits;
        return program_fault(format!("the modulus {q} does not fit {bits}-bit words"));
    }
    Ok(())
}

struct Replay<'a> {
    program: &'a FlatProgram,
    schedule: &'a Schedule,
    classes: &'a Classes<'a>,
    parts: Components<'a>,
    dram: Vec<Slot>,
    /// Off-chip slot of every output limb.
    output_slot: Vec<u32>,
    report: CheckReport,
}

impl<'a> Replay<'a> {
    fn new(
        program: &'a FlatProgram,
        schedule: &'a Schedule,
        machine: &'a Resolved,
        classes: &'a Classes<'a>,
    ) -> Result<Self, CheckError> {
        let parts = Components::new(machine);
        let mut seen = HashSet::new();
        for stream in &schedule.streams {
            let component = stream.component;
            let why = match (parts.exists(component), seen.insert(component)) {
                (true, true) => continue,
                (false, _) => "the machine has no such component",
                (true, false) => "the component has a stream already",
            };
            let why = why.to_owned();
            return Err(CheckError::Stream { component, why });
        }
        let (dram, output_slot) = declare_dram(program, schedule, machine)?;
        Ok(Self {
            program,
            schedule,
            classes,
            parts,
            dram,
            output_slot,
            report: CheckReport::default(),
        })
    }

    fn step(&mut self, place: Place, op: &StreamOp) -> Result<(), CheckError> {
        self.report.entries += 1;
        match (place.component, op) {
            (Component::Unit { cluster, unit }, StreamOp::Compute { .. }) => self
                .compute(place.cycle, cluster, unit, op)
                .map_err(|fault| CheckError::Entry { place, fault }),
            (Component::RegFile { .. } | Component::Bank { .. }, &StreamOp::Read { slot, to }) => {
                self.read(place, slot, to)
            }
            (
                Component::RegFile { .. } | Component::Bank { .. },
                &StreamOp::Write { slot, from },
            ) => self.write(place, slot, from),
            (Component::XbarPort { xbar, port }, &StreamOp::Route { from }) => {
                self.route(place, xbar, port, from)
            }
            (Component::Channel { channel }, &StreamOp::Load { address, bank }) => {
                self.load(place, channel, address, bank)
            }
            (Component::Channel { channel }, &StreamOp::Store { address, bank }) => {
                self.store(place, channel, address, bank)
            }
            (component, found) => {
                let expected = match component {
                    Component::Unit { .. } => "an operation",
                    Component::RegFile { .. } | Component::Bank { .. } => "a read or write",
                    Component::XbarPort { .. } => "a route",
                    Component::Channel { .. } => "a load or store",
                };
                let found = format!("{found:?}");
                let fault = Fault::WrongOperation { expected, found };
                Err(CheckError::Entry { place, fault })
            }
        }
    }

    fn finishes(&mut self, cycle: u64) {
        self.report.cycles = self.report.cycles.max(cycle);
    }

    fn compute(
        &mut self,
        cycle: u64,
        cluster: u16,
        unit: u16,
        entry: &StreamOp,
    ) -> Result<(), Fault> {
        let &StreamOp::Compute {
            op,
            modulus,
            dst,
            src,
            imm,
        } = entry
        else {
            unreachable!("called for computations");
        };
        let machine = self.parts.machine;
        let (busy, kind) = self.parts.unit(cluster, unit);
        let timing = machine
            .timing(op)
            .filter(|timing| timing.unit == kind && op.field_sources() > 0)
            .ok_or(Fault::WrongUnit { op })?;
        let busy_until = cycle + u64::from(timing.occupancy);
        busy.occupy(cycle, busy_until)?;
        let operands = op.field_sources();
        self.parts.turns[usize::from(cluster)].access(cycle, (cycle, busy_until), operands)?;
        let scalar = self.immediates(op, modulus, src, imm)?;
        let slots = &mut self.parts.regfiles[usize::from(cluster)].slots;
        let mut key = Key {
            op,
            modulus,
            scalar,
            src: [NONE; 3],
        };
        for (class, &slot) in key.src.iter_mut().zip(&src[..operands]) {
            let found = slot_of(slots, slot)?;
            *class = found.read(u32::from(slot), (cycle, busy_until), name)?;
        }
        let Some(result) = self.classes.lookup(key) else {
            return Err(Fault::NotInProgram {
                found: self.classes.describe(&key),
                near: self.classes.nearest(&key),
            });
        };
        let delay = u64::from(timing.latency) + u64::from(machine.regfile.latency);
        let start = if timing.multipass { busy_until } else { cycle } + delay;
        let end = start + u64::from(timing.occupancy);
        slot_of(slots, dst)?.write(u32::from(dst), (start, end), result)?;
        self.parts.turns[usize::from(cluster)].access(cycle, (start, end), 1)?;
        self.report.computes += 1;
        self.finishes(end);
        Ok(())
    }

    /// The scalar of an operation, after a look at the fields beside its slots.
    fn immediates(&self, op: Op, modulus: u16, src: [u16; 3], imm: u32) -> Result<u64, Fault> {
        let moduli = self.program.moduli.len() as u64;
        if u64::from(modulus) >= moduli {
            return Err(Fault::OutOfRange {
                what: "modulus",
                index: u64::from(modulus),
                count: moduli,
            });
        }
        let sources = op.field_sources();
        if let Some(extra) = src[sources..].iter().position(|&slot| slot != NO_SLOT) {
            let field = sources + extra;
            return Err(Fault::UnusedField { op, field });
        }
        let has_immediate = op.has_constant() || op.shape() == OpShape::Automorphism;
        if !has_immediate && imm != 0 {
            return Err(Fault::UnusedField { op, field: 3 });
        }
        self.classes.scalar(op, imm).ok_or(Fault::OutOfRange {
            what: "constant",
            index: u64::from(imm),
            count: self.program.constants.len() as u64,
        })
    }

    fn read(&mut self, place: Place, slot: u16, to: Link) -> Result<(), CheckError> {
        let at = |fault| CheckError::Entry { place, fault };
        let span = self.parts.sends(place.component, to).ok_or_else(|| {
            let what = "what the component sends";
            at(Fault::NotConnected { link: to, what })
        })?;
        let (memory, latency) = self.parts.memory(place.component);
        let end = place.cycle + span;
        memory.read_ports().occupy(place.cycle, end).map_err(at)?;
        self.network_turn(place, end)?;
        let (memory, _) = self.parts.memory(place.component);
        let class = slot_of(&mut memory.slots, slot)
            .and_then(|found| found.read(u32::from(slot), (place.cycle, end), name))
            .map_err(at)?;
        let arrives = place.cycle + latency;
        memory.wire.send(place, arrives, Target::Link(to), class)?;
        self.finishes(end);
        Ok(())
    }

    fn write(&mut self, place: Place, slot: u16, from: Link) -> Result<(), CheckError> {
        let at = |fault| CheckError::Entry { place, fault };
        let (span, class) = self.receive(place, from)?;
        let (memory, _) = self.parts.memory(place.component);
        let end = place.cycle + span;
        memory.write_ports().occupy(place.cycle, end).map_err(at)?;
        self.network_turn(place, end)?;
        let (memory, _) = self.parts.memory(place.component);
        slot_of(&mut memory.slots, slot)
            .and_then(|found| found.write(u32::from(slot), (place.cycle, end), class))
            .map_err(at)?;
        self.finishes(end);
        Ok(())
    }

    /// A network port's access from now to `end`, if it is to a register file.
    fn network_turn(&mut self, place: Place, end: u64) -> Result<(), CheckError> {
        let Component::RegFile { cluster } = place.component else {
            return Ok(());
        };
        let turns = &mut self.parts.turns[usize::from(cluster)];
        turns
            .access(place.cycle, (place.cycle, end), 1)
            .map_err(|fault| CheckError::Entry { place, fault })
    }

    /// What a link delivers to a register file or bank now, and the link's span.
    fn receive(&mut self, place: Place, link: Link) -> Result<(u64, Class), CheckError> {
        let machine = self.parts.machine;
        let Some(port) = self.parts.port_to(place.component, link) else {
            let what = "to what the component receives";
            let fault = Fault::NotConnected { link, what };
            return Err(CheckError::Entry { place, fault });
        };
        match link {
            Link::Xbar(x) => {
                let span = u64::from(machine.xbars[usize::from(x)].span);
                let wire = &mut self.parts.output(x, port).wire;
                let from = || format!("port {port} of {link}");
                Ok((span, wire.take(place, Target::Port, from)?))
            }
            Link::Channel(c) => {
                let span = u64::from(machine.channels[usize::from(c)].span);
                let wire = &mut self.parts.channels[usize::from(c)].wire;
                let from = || link.to_string();
                Ok((span, wire.take(place, Target::Bank(port), from)?))
            }
        }
    }

    fn route(&mut self, place: Place, x: u16, port: u16, from: u16) -> Result<(), CheckError> {
        let at = |fault| CheckError::Entry { place, fault };
        let xbar = &self.parts.machine.xbars[usize::from(x)];
        let link = Link::Xbar(x);
        let from_bank = xbar.kind == XbarKind::BankToCluster;
        let sources = if from_bank {
            &mut self.parts.banks
        } else {
            &mut self.parts.regfiles
        };
        let count = sources.len() as u64;
        let source = sources.get_mut(usize::from(from)).ok_or_else(|| {
            at(Fault::OutOfRange {
                what: "input port",
                index: u64::from(from),
                count,
            })
        })?;
        let what = if from_bank { "bank" } else { "cluster" };
        let class = source
            .wire
            .take(place, Target::Link(link), || format!("{what} {from}"))?;
        let end = place.cycle + u64::from(xbar.span);
        let output = self.parts.output(x, port);
        output.busy.occupy(place.cycle, end).map_err(at)?;
        let arrives = place.cycle + u64::from(xbar.latency);
        output.wire.send(place, arrives, Target::Port, class)?;
        self.finishes(end);
        Ok(())
    }

    /// The end of a transfer of the channel that starts now, after checks of its address.
    fn occupy_channel(&mut self, place: Place, channel: u16, address: u32) -> Result<u64, Fault> {
        let slots = self.dram.len() as u32;
        let declared = self.schedule.dram.get(address as usize);
        let slot = address;
        let declared = declared.ok_or(Fault::NoSuchSlot { slot, slots })?;
        if declared.channel != channel {
            let home = declared.channel;
            return Err(Fault::WrongChannel { address, home });
        }
        let span = u64::from(self.parts.machine.channels[usize::from(channel)].span);
        let end = place.cycle + span;
        let state = &mut self.parts.channels[usize::from(channel)];
        state.busy.occupy(place.cycle, end)?;
        Ok(end)
    }

    fn load(&mut self, place: Place, c: u16, address: u32, bank: u16) -> Result<(), CheckError> {
        let at = |fault| CheckError::Entry { place, fault };
        let channel = &self.parts.machine.channels[usize::from(c)];
        if !self.parts.bank_in(bank, &channel.groups) {
            let link = Link::Channel(c);
            let what = "to the bank that is loaded";
            return Err(at(Fault::NotConnected { link, what }));
        }
        let end = self.occupy_channel(place, c, address).map_err(at)?;
        let slot = &mut self.dram[address as usize];
        let class = slot.read(address, (place.cycle, end), name).map_err(at)?;
        let arrives = place.cycle + u64::from(channel.latency);
        let wire = &mut self.parts.channels[usize::from(c)].wire;
        wire.send(place, arrives, Target::Bank(bank), class)?;
        self.report.loads += 1;
        self.finishes(end);
        Ok(())
    }

    fn store(&mut self, place: Place, c: u16, address: u32, bank: u16) -> Result<(), CheckError> {
        let at = |fault| CheckError::Entry { place, fault };
        let end = self.occupy_channel(place, c, address).map_err(at)?;
        let banks = self.parts.banks.len() as u64;
        let source = self.parts.banks.get_mut(usize::from(bank)).ok_or_else(|| {
            at(Fault::OutOfRange {
                what: "bank",
                index: u64::from(bank),
                count: banks,
            })
        })?;
        let target = Target::Link(Link::Channel(c));
        let class = source.wire.take(place, target, || format!("bank {bank}"))?;
        match self.schedule.dram[address as usize].content {
            DramContent::Input(input) => {
                return Err(at(Fault::InputOverwritten { address, input }));
            }
            DramContent::Output(output) => {
                let expected = self.classes.of(self.program.outputs[output as usize]);
                if class != expected {
                    return Err(at(Fault::WrongOutput {
                        output,
                        expected: name(expected),
                        found: name(class),
                    }));
                }
            }
            DramContent::Spill => {}
        }
        let there = end + u64::from(self.parts.machine.channels[usize::from(c)].latency);
        let slot = &mut self.dram[address as usize];
        slot.write(address, (there, there), class).map_err(at)?;
        self.report.stores += 1;
        self.finishes(there);
        Ok(())
    }

    fn finish(mut self) -> Result<CheckReport, CheckError> {
        for wire in self.parts.wires() {
            wire.pass(u64::MAX)?;
        }
        for (output, &slot) in self.output_slot.iter().enumerate() {
            // Stores of anything else were refused.
            if self.dram[slot as usize].last().is_none() {
                let expected = name(self.classes.of(self.program.outputs[output]));
                let why = format!("expected {expected} in off-chip slot {slot}, found nothing");
                return Err(CheckError::Output { output, why });
            }
        }
        let (stated, found) = (self.schedule.cycles, self.report.cycles);
        if stated != found {
            return Err(CheckError::Cycles { stated, found });
        }
        Ok(self.report)
    }
}

fn slot_of(slots: &mut [Slot], slot: u16) -> Result<&mut Slot, Fault> {
    let count = slots.len() as u32;
    slots.get_mut(usize::from(slot)).ok_or(Fault::NoSuchSlot {
        slot: u32::from(slot),
        slots: count,
    })
}

fn name(class: Class) -> String {
    format!("%{class}")
}
