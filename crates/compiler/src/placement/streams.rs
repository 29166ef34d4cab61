//! Packs the entries of all components into streams as they come.

use std::collections::HashMap;

use cyclotron_isa::{
    Component, DramContent, DramSlot, Entries, Entry, FlatProgram, Link, Schedule, StreamOp,
};
use cyclotron_machine::Resolved;

use super::join::{Piece, Strand, join};
use super::path::Path;
use crate::error::CompileError;

/// The inputs that have no home because nothing reads them, of so many in all.
pub(super) fn unread_inputs<H>(
    inputs: u32,
    homes: &HashMap<u32, H>,
) -> impl Iterator<Item = u32> + '_ {
    (0..inputs).filter(|value| !homes.contains_key(value))
}

/// Where a value lies off-chip.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Home {
    pub address: u32,
    pub channel: u16,
    /// First cycle at which it can be loaded.
    pub ready: u64,
}

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
    /// The longest wait between two.
    longest: u64,
    /// End of what ends last.
    end: u64,
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
    fn add(&mut self, at: u64, op: StreamOp, end: u64) {
        self.end = self.end.max(end);
        if at < self.last {
            self.late.push((at, op));
            return;
        }
        let after = |&&(other, _): &&Timed| other > at;
        let place = self.waiting.len() - self.waiting.iter().rev().take_while(after).count();
        self.waiting.insert(place, (at, op));
        if self.waiting.len() >= WAITING {
            for &(at, op) in &self.waiting[..WAITING / 2] {
                pack(
                    &mut self.packed,
                    (&mut self.last, &mut self.longest),
                    at,
                    op,
                );
            }
            self.waiting.drain(..WAITING / 2);
        }
    }

    /// All entries in order; those of the same cycle in the order in which they came.
    fn finish(mut self, component: Component) -> Strand {
        for &(at, op) in &self.waiting {
            pack(
                &mut self.packed,
                (&mut self.last, &mut self.longest),
                at,
                op,
            );
        }
        let (mut entries, mut last, mut longest) = (self.packed, self.last, self.longest);
        if !self.late.is_empty() {
            self.late.sort_by_key(|&(at, _)| at);
            let mut late = self.late.into_iter().peekable();
            let packed = std::mem::take(&mut entries);
            let mut cycle = 0;
            (last, longest) = (0, 0);
            for entry in &packed {
                cycle += u64::from(entry.wait);
                while let Some((at, op)) = late.next_if(|&(at, _)| at < cycle) {
                    pack(&mut entries, (&mut last, &mut longest), at, op);
                }
                pack(&mut entries, (&mut last, &mut longest), cycle, entry.op);
            }
            for (at, op) in late {
                pack(&mut entries, (&mut last, &mut longest), at, op);
            }
        }
        entries.shrink_to_fit();
        Strand {
            component,
            entries,
            last,
            longest,
            end: self.end,
        }
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
        self.units[index].add(at, op, end);
    }

    pub fn regfile(&mut self, cluster: u16, at: u64, op: StreamOp, end: u64) {
        self.cycles = self.cycles.max(end);
        self.regfiles[usize::from(cluster)].add(at, op, end);
    }

    pub fn xbar_port(&mut self, (xbar, port): (u16, u16), at: u64, op: StreamOp, end: u64) {
        self.cycles = self.cycles.max(end);
        self.xbar_ports[usize::from(xbar)][usize::from(port)].add(at, op, end);
    }

    pub fn bank(&mut self, bank: u16, at: u64, op: StreamOp, end: u64) {
        self.cycles = self.cycles.max(end);
        self.banks[usize::from(bank)].add(at, op, end);
    }

    pub fn channel(&mut self, channel: u16, at: u64, op: StreamOp, end: u64) {
        self.cycles = self.cycles.max(end);
        self.channels[usize::from(channel)].add(at, op, end);
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
        for value in unread_inputs(inputs, homes) {
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
        let mut recorder = self;
        let dram = std::mem::take(&mut recorder.dram);
        join(vec![recorder.into_piece()], dram, flat, machine)
    }

    /// The entries of every component.
    pub fn into_piece(self) -> Piece {
        let per_cluster = self.units_per_cluster;
        let units = self.units.into_iter().enumerate().map(|(k, track)| {
            let (cluster, unit) = ((k / per_cluster) as u16, (k % per_cluster) as u16);
            track.finish(Component::Unit { cluster, unit })
        });
        let regfiles = (0u16..)
            .zip(self.regfiles)
            .map(|(cluster, track)| track.finish(Component::RegFile { cluster }));
        let ports = (0u16..).zip(self.xbar_ports).flat_map(|(xbar, ports)| {
            (0u16..)
                .zip(ports)
                .map(move |(port, track)| track.finish(Component::XbarPort { xbar, port }))
        });
        let banks = (0u16..)
            .zip(self.banks)
            .map(|(bank, track)| track.finish(Component::Bank { bank }));
        let channels = (0u16..)
            .zip(self.channels)
            .map(|(channel, track)| track.finish(Component::Channel { channel }));
        let strands = units
            .chain(regfiles)
            .chain(ports)
            .chain(banks)
            .chain(channels);
        Piece {
            strands: strands.collect(),
            cycles: self.cycles,
        }
    }
}
