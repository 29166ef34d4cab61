//! From streams to the dataflow graph: who takes what, when.

mod entries;

use std::collections::HashSet;

use cyclotron_isa::{Component, DramContent, FlatProgram, Link, Schedule, Stream, StreamOp};
use cyclotron_machine::{Resolved, Xbar};

use crate::error::{EntryFault, SimError};
use crate::graph::{Graph, Origin, Write};
use crate::layout::Layout;
use crate::streams::Sender;
use crate::turns::unserved;
use crate::violation::{Violation, ViolationKind, Violations};

/// A schedule as a graph.
pub(crate) struct Trace {
    pub(crate) graph: Graph,
    pub(crate) violations: Violations,
    /// The slot of every output limb.
    pub(crate) outputs: Vec<u32>,
    /// First off-chip slot; those before are on chip.
    pub(crate) first_dram: u32,
}

/// Where an entry stands.
#[derive(Debug, Clone, Copy)]
struct At {
    component: Component,
    stream: u32,
    entry: u32,
    cycle: u64,
}

impl At {
    fn fault(self, fault: EntryFault) -> SimError {
        SimError::Entry {
            component: self.component,
            entry: self.entry as usize,
            cycle: self.cycle,
            fault,
        }
    }

    fn violation(self, kind: ViolationKind) -> Violation {
        Violation {
            cycle: self.cycle,
            component: self.component,
            entry: self.entry as usize,
            kind,
        }
    }
}

/// Builds the graph.
///
/// # Errors
/// [`SimError`] for streams, entries and off-chip slots that cannot be decoded.
pub(crate) fn trace(
    program: &FlatProgram,
    schedule: &Schedule,
    machine: &Resolved,
) -> Result<Trace, SimError> {
    let mut tracer = Tracer::new(program, schedule, machine);
    tracer.declare_streams()?;
    let outputs = tracer.declare_dram()?;
    tracer.find_busy_ports()?;
    tracer.find_bank_conflicts();
    // Streams are joined backwards: what is sent, what is routed, what is taken.
    tracer.each_entry(Tracer::send)?;
    tracer.each_entry(Tracer::route)?;
    tracer.each_entry(Tracer::take)?;
    Ok(Trace {
        graph: tracer.graph,
        violations: tracer.violations,
        outputs,
        first_dram: tracer.layout.first_dram,
    })
}

/// The entries of a stream, and where they stand.
fn entries_of(number: u32, stream: &Stream) -> impl Iterator<Item = (At, StreamOp)> + '_ {
    let timed = (0..).zip(stream.timed());
    timed.map(move |(entry, (cycle, op))| {
        let at = At {
            component: stream.component,
            stream: number,
            entry,
            cycle,
        };
        (at, op)
    })
}

struct Tracer<'a> {
    program: &'a FlatProgram,
    schedule: &'a Schedule,
    machine: &'a Resolved,
    graph: Graph,
    violations: Violations,
    layout: Layout<'a>,
    regfiles: Vec<Sender>,
    banks: Vec<Sender>,
    channels: Vec<Sender>,
    /// By crossbar and output port.
    outputs: Vec<Vec<Sender>>,
    /// Entries that found their unit, port or bank busy.
    busy: HashSet<(u32, u32)>,
}

impl<'a> Tracer<'a> {
    fn new(program: &'a FlatProgram, schedule: &'a Schedule, machine: &'a Resolved) -> Self {
        let layout = Layout::new(machine);
        let senders = |count: usize| vec![Sender::default(); count];
        let outputs = |xbar: &Xbar| senders(layout.outputs(xbar.kind));
        Self {
            program,
            schedule,
            machine,
            graph: Graph::new(layout.first_dram + schedule.dram.len() as u32),
            violations: Violations::default(),
            regfiles: senders(usize::from(machine.clusters)),
            banks: senders(machine.banks.len()),
            channels: senders(machine.channels.len()),
            outputs: machine.xbars.iter().map(outputs).collect(),
            busy: HashSet::new(),
            layout,
        }
    }

    fn declare_streams(&self) -> Result<(), SimError> {
        let mut seen = HashSet::new();
        for &Stream { component, .. } in &self.schedule.streams {
            let why = match (self.layout.exists(component), seen.insert(component)) {
                (true, true) => continue,
                (false, _) => "the machine has no such component",
                (true, false) => "the component has a stream already",
            };
            return Err(SimError::Stream { component, why });
        }
        Ok(())
    }

    /// Puts the inputs into their slots; returns the slots of the outputs.
    fn declare_dram(&mut self) -> Result<Vec<u32>, SimError> {
        let mut outputs = vec![None; self.program.outputs.len()];
        for (slot, declared) in self.schedule.dram.iter().enumerate() {
            let fault = |why| Err(SimError::Dram { slot, why });
            if usize::from(declared.channel) >= self.channels.len() {
                return fault("its channel does not exist");
            }
            let location = self.layout.first_dram + slot as u32;
            match declared.content {
                DramContent::Input(input) => {
                    if input as usize >= self.program.inputs.len() {
                        return fault("the program has no such input limb");
                    }
                    let node = self.graph.node(Origin::Input(input), 0);
                    self.graph.writes.push(Write {
                        location,
                        start: 0,
                        span: 0,
                        node,
                    });
                }
                DramContent::Output(output) => match outputs.get_mut(output as usize) {
                    None => return fault("the program has no such output limb"),
                    Some(Some(_)) => return fault("the output limb has a slot already"),
                    Some(slot) => *slot = Some(location),
                },
                DramContent::Spill => {}
            }
        }
        let slot =
            |(output, slot): (usize, Option<u32>)| slot.ok_or(SimError::NoOutputSlot { output });
        outputs.into_iter().enumerate().map(slot).collect()
    }

    fn each_entry(
        &mut self,
        visit: fn(&mut Self, At, &StreamOp) -> Result<(), SimError>,
    ) -> Result<(), SimError> {
        let schedule = self.schedule;
        for (number, stream) in (0..).zip(&schedule.streams) {
            for (at, op) in entries_of(number, stream) {
                visit(self, at, &op)?;
            }
        }
        Ok(())
    }

    /// Finds the entries that start while their unit or all ports are busy.
    fn find_busy_ports(&mut self) -> Result<(), SimError> {
        let schedule = self.schedule;
        for (number, stream) in (0..).zip(&schedule.streams) {
            let (mut reads, mut writes) = self.layout.ports(stream.component);
            for (at, op) in entries_of(number, stream) {
                let span = self.span(at, &op)?;
                let ports = match (&op, &mut writes) {
                    (StreamOp::Write { .. }, Some(writes)) => writes,
                    _ => &mut reads,
                };
                if !ports.start(at.cycle, span) {
                    self.violations.add(at.violation(ViolationKind::Busy));
                    self.busy.insert((number, at.entry));
                }
            }
        }
        Ok(())
    }

    /// Finds the entries with an access that a register file's banks do not serve.
    fn find_bank_conflicts(&mut self) {
        for (stream, entry, cycle) in unserved(self.schedule, self.machine) {
            let component = self.schedule.streams[stream as usize].component;
            let at = At {
                component,
                stream,
                entry,
                cycle,
            };
            self.violations
                .add(at.violation(ViolationKind::BankConflict));
            self.busy.insert((stream, entry));
        }
    }

    /// Cycles for which an entry occupies its component; refuses entries that
    /// the component does not execute.
    fn span(&self, at: At, op: &StreamOp) -> Result<u32, SimError> {
        match (at.component, *op) {
            (Component::Unit { unit, .. }, StreamOp::Compute { op, .. }) => self
                .machine
                .timing(op)
                .filter(|timing| {
                    let kind = &self.machine.units[usize::from(timing.unit)];
                    op.field_sources() > 0
                        && (kind.first..kind.first.saturating_add(kind.count)).contains(&unit)
                })
                .map(|timing| timing.occupancy)
                .ok_or_else(|| at.fault(EntryFault::WrongUnit(op))),
            (
                Component::RegFile { .. } | Component::Bank { .. },
                StreamOp::Read { to: link, .. },
            ) => {
                if self.layout.enters(at.component, link) {
                    Ok(self.layout.link_span(link))
                } else {
                    Err(at.fault(EntryFault::NotConnected(link)))
                }
            }
            (
                Component::RegFile { .. } | Component::Bank { .. },
                StreamOp::Write { from: link, .. },
            ) => match self.layout.leaves(link, at.component) {
                Some(_) => Ok(self.layout.link_span(link)),
                None => Err(at.fault(EntryFault::NotConnected(link))),
            },
            (Component::XbarPort { xbar, .. }, StreamOp::Route { .. }) => {
                Ok(self.machine.xbars[usize::from(xbar)].span)
            }
            (
                Component::Channel { channel },
                StreamOp::Load { address, bank } | StreamOp::Store { address, bank },
            ) => {
                self.channel_entry(channel, address, bank)
                    .map_err(|fault| at.fault(fault))?;
                Ok(self.machine.channels[usize::from(channel)].span)
            }
            _ => Err(at.fault(EntryFault::WrongComponent)),
        }
    }

    fn channel_entry(&self, channel: u16, address: u32, bank: u16) -> Result<(), EntryFault> {
        let slots = self.schedule.dram.len() as u32;
        let slot = address;
        let declared = self.schedule.dram.get(address as usize);
        let home = declared
            .ok_or(EntryFault::NoSuchSlot { slot, slots })?
            .channel;
        if home != channel {
            return Err(EntryFault::WrongChannel { address, home });
        }
        let count = self.banks.len() as u64;
        if u64::from(bank) >= count {
            return Err(EntryFault::OutOfRange {
                what: "bank",
                index: u64::from(bank),
                count,
            });
        }
        let link = Link::Channel(channel);
        match self.layout.leaves(link, Component::Bank { bank }) {
            Some(_) => Ok(()),
            None => Err(EntryFault::NotConnected(link)),
        }
    }
}
