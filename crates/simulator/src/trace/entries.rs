//! What one entry sends, routes, takes or computes.

use cyclotron_isa::kernel::Operation;
use cyclotron_isa::{Component, Link, Op, OpShape, StreamOp, part};
use cyclotron_machine::XbarKind;

use super::{At, Tracer};
use crate::error::{EntryFault, SimError};
use crate::graph::{NodeId, Origin, Read, Write, ZERO};
use crate::streams::Target;
use crate::turns::result_after;
use crate::violation::ViolationKind;

impl Tracer<'_> {
    fn location(&self, at: At, slot: u16) -> Result<u32, SimError> {
        let location = self.layout.location(at.component, slot);
        location.map_err(|fault| at.fault(fault))
    }

    fn is_busy(&self, at: At) -> bool {
        !self.busy.is_empty() && self.busy.contains(&(at.stream, at.entry))
    }

    /// A read of a slot by an entry.
    fn read_of(at: At, location: u32, span: u32) -> Read {
        Read {
            location,
            start: at.cycle,
            span,
            stream: at.stream,
            entry: at.entry,
        }
    }

    /// Reads of register files and banks, and loads: what they send.
    pub(super) fn send(&mut self, at: At, op: &StreamOp) -> Result<(), SimError> {
        let machine = self.machine;
        let (location, span, delay, target) = match (at.component, *op) {
            (Component::RegFile { .. }, StreamOp::Read { slot, to }) => {
                let location = self.location(at, slot)?;
                let delay = machine.regfile.latency;
                (location, self.layout.link_span(to), delay, Target::Link(to))
            }
            (Component::Bank { bank }, StreamOp::Read { slot, to }) => {
                let location = self.location(at, slot)?;
                let delay = machine.banks[usize::from(bank)].latency;
                (location, self.layout.link_span(to), delay, Target::Link(to))
            }
            (Component::Channel { channel }, StreamOp::Load { address, bank }) => {
                let channel = &machine.channels[usize::from(channel)];
                let location = self.layout.first_dram + address;
                (location, channel.span, channel.latency, Target::Bank(bank))
            }
            _ => return Ok(()),
        };
        let node = if self.is_busy(at) {
            ZERO
        } else {
            let read = self.graph.read(Self::read_of(at, location, span));
            self.graph.node(Origin::Copy(read), at.cycle)
        };
        let sender = match at.component {
            Component::RegFile { cluster } => &mut self.regfiles[usize::from(cluster)],
            Component::Bank { bank } => &mut self.banks[usize::from(bank)],
            Component::Channel { channel } => &mut self.channels[usize::from(channel)],
            Component::Unit { .. } | Component::XbarPort { .. } => return Ok(()),
        };
        sender.send(at.cycle + u64::from(delay), target, node);
        Ok(())
    }

    /// The stream that a sender's port shows to an entry in its cycle.
    fn arriving(&mut self, at: At, found: Result<NodeId, ViolationKind>) -> NodeId {
        found.unwrap_or_else(|kind| {
            self.violations.add(at.violation(kind));
            ZERO
        })
    }

    /// Routes: what the crossbars' output ports deliver.
    pub(super) fn route(&mut self, at: At, op: &StreamOp) -> Result<(), SimError> {
        let (Component::XbarPort { xbar, port }, &StreamOp::Route { from }) = (at.component, op)
        else {
            return Ok(());
        };
        let description = &self.machine.xbars[usize::from(xbar)];
        let inputs = match description.kind {
            XbarKind::BankToCluster => &self.banks,
            XbarKind::ClusterToBank | XbarKind::ClusterToCluster => &self.regfiles,
        };
        let sender = inputs.get(usize::from(from)).ok_or_else(|| {
            at.fault(EntryFault::OutOfRange {
                what: "input port",
                index: u64::from(from),
                count: inputs.len() as u64,
            })
        })?;
        let found = sender.at(at.cycle, Target::Link(Link::Xbar(xbar)));
        let node = self.arriving(at, found);
        let node = if self.is_busy(at) { ZERO } else { node };
        let arrives = at.cycle + u64::from(description.latency);
        let output = &mut self.outputs[usize::from(xbar)][usize::from(port)];
        output.send(arrives, Target::Output, node);
        Ok(())
    }

    /// Writes, stores and computations: what ends in a slot.
    pub(super) fn take(&mut self, at: At, op: &StreamOp) -> Result<(), SimError> {
        let machine = self.machine;
        let (location, start, span, found) = match (at.component, *op) {
            (component, StreamOp::Write { slot, from }) => {
                let location = self.location(at, slot)?;
                let port = self.layout.leaves(from, component).unwrap_or_default();
                let found = match from {
                    Link::Xbar(x) => {
                        let sender = &self.outputs[usize::from(x)][usize::from(port)];
                        sender.at(at.cycle, Target::Output)
                    }
                    Link::Channel(c) => {
                        self.channels[usize::from(c)].at(at.cycle, Target::Bank(port))
                    }
                };
                (location, at.cycle, self.layout.link_span(from), found)
            }
            (Component::Channel { channel: c }, StreamOp::Store { address, bank }) => {
                let sender = &self.banks[usize::from(bank)];
                let found = sender.at(at.cycle, Target::Link(Link::Channel(c)));
                let channel = &machine.channels[usize::from(c)];
                let there = at.cycle + u64::from(channel.span) + u64::from(channel.latency);
                (self.layout.first_dram + address, there, 0, found)
            }
            (Component::Unit { .. }, StreamOp::Compute { .. }) => return self.compute(at, op),
            _ => return Ok(()),
        };
        let node = self.arriving(at, found);
        let node = if self.is_busy(at) { ZERO } else { node };
        self.graph.writes.push(Write {
            location,
            start,
            span,
            node,
        });
        Ok(())
    }

    fn compute(&mut self, at: At, entry: &StreamOp) -> Result<(), SimError> {
        let &StreamOp::Compute {
            op,
            modulus,
            dst,
            src,
            imm,
        } = entry
        else {
            return Ok(());
        };
        let operation = self.operation(op, modulus, imm).map_err(|f| at.fault(f))?;
        let Some(timing) = self.machine.timing(op) else {
            return Err(at.fault(EntryFault::WrongUnit(op)));
        };
        let span = timing.occupancy;
        let first = self.graph.reads.len() as u32;
        let count = op.field_sources() as u8;
        for &slot in &src[..usize::from(count)] {
            let location = self.location(at, slot)?;
            self.graph.read(Self::read_of(at, location, span));
        }
        let node = if self.is_busy(at) {
            ZERO
        } else {
            let origin = Origin::Compute {
                operation,
                first,
                count,
            };
            self.graph.node(origin, at.cycle)
        };
        let location = self.location(at, dst)?;
        self.graph.writes.push(Write {
            location,
            start: at.cycle + result_after(self.machine, timing),
            span,
            node,
        });
        Ok(())
    }

    /// The operation that a unit decodes.
    fn operation(&self, op: Op, modulus: u16, imm: u32) -> Result<Operation, EntryFault> {
        let moduli = &self.program.moduli;
        let q = *moduli
            .get(usize::from(modulus))
            .ok_or(EntryFault::OutOfRange {
                what: "modulus",
                index: u64::from(modulus),
                count: moduli.len() as u64,
            })?;
        if op.shape() == OpShape::Automorphism
            && !part::is_automorphism(imm, self.program.log_n, self.program.log_parts)
        {
            return Err(EntryFault::BadExponent(imm));
        }
        let constants = &self.program.constants;
        let mut operation =
            Operation::new(op, modulus, imm, constants).ok_or(EntryFault::OutOfRange {
                what: "constant",
                index: u64::from(imm),
                count: constants.len() as u64,
            })?;
        if op.has_constant() {
            operation.scalar %= q;
        }
        Ok(operation)
    }
}
