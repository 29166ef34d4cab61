//! Collects the entries of all components and turns them into streams.

use std::collections::HashMap;

use cyclotron_isa::{
    Component, DramContent, DramSlot, Entry, FlatProgram, Link, Schedule, Stream, StreamOp,
};
use cyclotron_machine::Resolved;

use super::path::Path;
use super::placer::Home;
use crate::error::CompileError;

/// An entry with its cycle.
type Timed = (u64, StreamOp);

/// The entries so far, unordered, by component.
#[derive(Debug)]
pub(crate) struct Recorder {
    units: Vec<Vec<Timed>>,
    units_per_cluster: usize,
    regfiles: Vec<Vec<Timed>>,
    xbar_ports: Vec<Vec<Vec<Timed>>>,
    banks: Vec<Vec<Timed>>,
    channels: Vec<Vec<Timed>>,
    /// The off-chip slots.
    pub dram: Vec<DramSlot>,
    cycles: u64,
}

impl Recorder {
    pub fn new(machine: &Resolved) -> Self {
        let clusters = usize::from(machine.clusters);
        let units_per_cluster = usize::from(machine.units_per_cluster());
        let ports = clusters.max(machine.banks.len());
        Self {
            units: vec![Vec::new(); clusters * units_per_cluster],
            units_per_cluster,
            regfiles: vec![Vec::new(); clusters],
            xbar_ports: vec![vec![Vec::new(); ports]; machine.xbars.len()],
            banks: vec![Vec::new(); machine.banks.len()],
            channels: vec![Vec::new(); machine.channels.len()],
            dram: Vec::new(),
            cycles: 0,
        }
    }

    /// Adds an entry of a functional unit that finishes at `end`.
    pub fn unit(&mut self, cluster: u16, unit: u16, at: u64, op: StreamOp, end: u64) {
        self.cycles = self.cycles.max(end);
        let index = usize::from(cluster) * self.units_per_cluster + usize::from(unit);
        self.units[index].push((at, op));
    }

    pub fn regfile(&mut self, cluster: u16, at: u64, op: StreamOp, end: u64) {
        self.cycles = self.cycles.max(end);
        self.regfiles[usize::from(cluster)].push((at, op));
    }

    pub fn xbar_port(&mut self, (xbar, port): (u16, u16), at: u64, op: StreamOp, end: u64) {
        self.cycles = self.cycles.max(end);
        self.xbar_ports[usize::from(xbar)][usize::from(port)].push((at, op));
    }

    pub fn bank(&mut self, bank: u16, at: u64, op: StreamOp, end: u64) {
        self.cycles = self.cycles.max(end);
        self.banks[usize::from(bank)].push((at, op));
    }

    pub fn channel(&mut self, channel: u16, at: u64, op: StreamOp, end: u64) {
        self.cycles = self.cycles.max(end);
        self.channels[usize::from(channel)].push((at, op));
    }

    /// Adds a load that starts at `at`: the read off chip, and the write into
    /// the bank's slot, whose first cycle it returns.
    pub fn load(
        &mut self,
        path: &Path,
        (channel, address): (u16, u32),
        (bank, slot): (u16, u16),
        at: u64,
    ) -> u64 {
        self.channel(
            channel,
            at,
            StreamOp::Load { address, bank },
            at + path.span,
        );
        let written = at + path.delay;
        let from = Link::Channel(channel);
        let op = StreamOp::Write { slot, from };
        self.bank(bank, written, op, written + path.span);
        written
    }

    /// Gives inputs that nothing reads an off-chip slot all the same.
    pub fn name_unread_inputs(&mut self, inputs: u32, homes: &HashMap<u32, Home>, channel: u16) {
        for value in (0..inputs).filter(|value| !homes.contains_key(value)) {
            self.dram_slot(channel, DramContent::Input(value));
        }
    }

    /// Adds an off-chip slot; returns its index.
    pub fn dram_slot(&mut self, channel: u16, content: DramContent) -> u32 {
        self.dram.push(DramSlot { channel, content });
        self.dram.len() as u32 - 1
    }

    /// The schedule.
    pub fn finish(self, flat: &FlatProgram, machine: &Resolved) -> Result<Schedule, CompileError> {
        let per_cluster = self.units_per_cluster;
        let units = self.units.into_iter().enumerate().map(|(k, entries)| {
            let (cluster, unit) = ((k / per_cluster) as u16, (k % per_cluster) as u16);
            (Component::Unit { cluster, unit }, entries)
        });
        let regfiles = (0u16..)
            .zip(self.regfiles)
            .map(|(cluster, entries)| (Component::RegFile { cluster }, entries));
        let ports = (0u16..).zip(self.xbar_ports).flat_map(|(xbar, ports)| {
            (0u16..)
                .zip(ports)
                .map(move |(port, entries)| (Component::XbarPort { xbar, port }, entries))
        });
        let banks = (0u16..)
            .zip(self.banks)
            .map(|(bank, entries)| (Component::Bank { bank }, entries));
        let channels = (0u16..)
            .zip(self.channels)
            .map(|(channel, entries)| (Component::Channel { channel }, entries));
        let streams = units
            .chain(regfiles)
            .chain(ports)
            .chain(banks)
            .chain(channels)
            .filter(|(_, entries)| !entries.is_empty())
            .map(|(component, entries)| stream(component, entries))
            .collect::<Result<_, CompileError>>()?;
        Ok(Schedule {
            machine: machine.name.clone(),
            machine_hash: machine.hash.clone(),
            log_n: flat.log_n,
            dram: self.dram,
            streams,
            cycles: self.cycles,
        })
    }
}

/// Orders entries and turns their cycles into waits.
fn stream(component: Component, mut entries: Vec<Timed>) -> Result<Stream, CompileError> {
    entries.sort_by_key(|&(at, _)| at);
    let mut before = 0;
    let entries = entries
        .into_iter()
        .map(|(at, op)| {
            let wait = u32::try_from(at - before).map_err(|_| CompileError::DoesNotFit {
                what: "the wait between two entries of a stream (cycles)".into(),
                needs: at - before,
                has: u64::from(u32::MAX),
                fix: "use a machine whose latencies differ less".into(),
            })?;
            before = at;
            Ok(Entry { wait, op })
        })
        .collect::<Result<_, CompileError>>()?;
    Ok(Stream { component, entries })
}
