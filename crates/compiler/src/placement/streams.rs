//! Packs the entries of all components into streams as they come.

use std::collections::HashMap;

use cyclotron_isa::{
    Component, DramContent, DramSlot, Entries, Entry, FlatProgram, Link, Schedule, Stream, StreamOp,
};
use cyclotron_machine::Resolved;

use super::path::Path;
use super::placer::Home;
use crate::error::CompileError;

/// An entry with its cycle.
type Timed = (u64, StreamOp);

/// Entries that wait to be packed: so many may come before one that came earlier.
const WAITING: usize = 256;

/// The entries of one component so far. They come about in order: those that wait are
/// kept sorted, and the first of them are packed as further ones come. What comes even
/// later is put between the packed ones in the end.
#[derive(Debug, Clone, Default)]
struct Track {
    packed: Entries,
    /// Cycle of the last packed entry.
    last: u64,
    waiting: Vec<Timed>,
    late: Vec<Timed>,
    /// The longest wait.
    longest: u64,
}

/// The entries so far, by component.
#[derive(Debug)]
pub(crate) struct Recorder {
    units: Vec<Track>,
    units_per_cluster: usize,
    regfiles: Vec<Track>,
    xbar_ports: Vec<Vec<Track>>,
    banks: Vec<Track>,
    channels: Vec<Track>,
    /// The off-chip slots.
    pub dram: Vec<DramSlot>,
    cycles: u64,
}

impl Track {
    fn add(&mut self, at: u64, op: StreamOp) {
        if at < self.last {
            self.late.push((at, op));
            return;
        }
        let after = |&&(other, _): &&Timed| other > at;
        let place = self.waiting.len() - self.waiting.iter().rev().take_while(after).count();
        self.waiting.insert(place, (at, op));
        if self.waiting.len() >= WAITING {
            for (at, op) in self.waiting.drain(..WAITING / 2) {
                pack(
                    &mut self.packed,
                    (&mut self.last, &mut self.longest),
                    at,
                    op,
                );
            }
        }
    }

    /// All entries in order; those of the same cycle in the order in which they came.
    fn finish(mut self) -> (Entries, u64) {
        for &(at, op) in &self.waiting {
            pack(
                &mut self.packed,
                (&mut self.last, &mut self.longest),
                at,
                op,
            );
        }
        if self.late.is_empty() {
            self.packed.shrink_to_fit();
            return (self.packed, self.longest);
        }
        self.late.sort_by_key(|&(at, _)| at);
        let mut late = self.late.into_iter().peekable();
        let (mut all, mut clock, mut cycle) = (Entries::new(), (0, 0), 0);
        for entry in &self.packed {
            cycle += u64::from(entry.wait);
            while let Some((at, op)) = late.next_if(|&(at, _)| at < cycle) {
                pack(&mut all, (&mut clock.0, &mut clock.1), at, op);
            }
            pack(&mut all, (&mut clock.0, &mut clock.1), cycle, entry.op);
        }
        for (at, op) in late {
            pack(&mut all, (&mut clock.0, &mut clock.1), at, op);
        }
        (all, clock.1.max(self.longest))
    }
}

/// Packs an entry, given the cycle of the one before and the longest wait so far.
fn pack(entries: &mut Entries, (last, longest): (&mut u64, &mut u64), at: u64, op: StreamOp) {
    let wait = at - *last;
    (*last, *longest) = (at, wait.max(*longest));
    let wait = wait as u32;
    entries.push(Entry { wait, op });
}

impl Recorder {
    pub fn new(machine: &Resolved) -> Self {
        let clusters = usize::from(machine.clusters);
        let units_per_cluster = usize::from(machine.units_per_cluster());
        let ports = clusters.max(machine.banks.len());
        let tracks = |count| vec![Track::default(); count];
        Self {
            units: tracks(clusters * units_per_cluster),
            units_per_cluster,
            regfiles: tracks(clusters),
            xbar_ports: vec![tracks(ports); machine.xbars.len()],
            banks: tracks(machine.banks.len()),
            channels: tracks(machine.channels.len()),
            dram: Vec::new(),
            cycles: 0,
        }
    }

    /// Adds an entry of a functional unit that finishes at `end`.
    pub fn unit(&mut self, cluster: u16, unit: u16, at: u64, op: StreamOp, end: u64) {
        self.cycles = self.cycles.max(end);
        let index = usize::from(cluster) * self.units_per_cluster + usize::from(unit);
        self.units[index].add(at, op);
    }

    pub fn regfile(&mut self, cluster: u16, at: u64, op: StreamOp, end: u64) {
        self.cycles = self.cycles.max(end);
        self.regfiles[usize::from(cluster)].add(at, op);
    }

    pub fn xbar_port(&mut self, (xbar, port): (u16, u16), at: u64, op: StreamOp, end: u64) {
        self.cycles = self.cycles.max(end);
        self.xbar_ports[usize::from(xbar)][usize::from(port)].add(at, op);
    }

    pub fn bank(&mut self, bank: u16, at: u64, op: StreamOp, end: u64) {
        self.cycles = self.cycles.max(end);
        self.banks[usize::from(bank)].add(at, op);
    }

    pub fn channel(&mut self, channel: u16, at: u64, op: StreamOp, end: u64) {
        self.cycles = self.cycles.max(end);
        self.channels[usize::from(channel)].add(at, op);
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
            .map(|(component, track)| (component, track.finish()))
            .filter(|(_, (entries, _))| !entries.is_empty())
            .map(|(component, (entries, longest))| stream(component, entries, longest))
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

/// A stream, if its longest wait fits an entry.
fn stream(component: Component, entries: Entries, longest: u64) -> Result<Stream, CompileError> {
    if u32::try_from(longest).is_err() {
        return Err(CompileError::DoesNotFit {
            what: "the wait between two entries of a stream (cycles)".into(),
            needs: longest,
            has: u64::from(u32::MAX),
            fix: "use a machine whose latencies differ less".into(),
        });
    }
    Ok(Stream { component, entries })
}
