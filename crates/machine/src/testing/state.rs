//! What the naive scheduler knows of slots, ports and streams.

use std::collections::{BTreeMap, HashMap};

use cyclotron_isa::{Component, Entry, Stream, StreamOp};

/// Times of a slot's last write and of all its reads.
#[derive(Debug, Clone, Default)]
pub(super) struct Slot {
    /// The value that it holds, if that is still needed.
    pub(super) value: Option<u32>,
    write: Option<(u64, u64)>,
    read_start: Option<u64>,
    read_end: u64,
}

impl Slot {
    /// The earliest cycle of a read of `span` cycles.
    pub(super) fn readable(&self, span: u64) -> u64 {
        let (start, end) = self.write.unwrap_or_default();
        start.max(end.saturating_sub(span))
    }

    /// The earliest cycle of a write of `span` cycles.
    pub(super) fn writable(&self, span: u64) -> u64 {
        let after_reads = self.read_start.map_or(0, |start| {
            (start + 1).max((self.read_end + 1).saturating_sub(span))
        });
        let after_write = self.write.map_or(0, |(start, end)| {
            (start + 1).max((end + 1).saturating_sub(span))
        });
        after_reads.max(after_write)
    }

    pub(super) fn read(&mut self, start: u64, span: u64) {
        self.read_start = self.read_start.max(Some(start));
        self.read_end = self.read_end.max(start + span);
    }

    pub(super) fn write(&mut self, start: u64, span: u64, value: u32) {
        self.write = Some((start, start + span));
        self.value = Some(value);
    }
}

/// A unit, port or channel, or a group of equal ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Port {
    Unit(u16, u16),
    RegFileRead(u16),
    RegFileWrite(u16),
    Bank(u16),
    BankWrite(u16),
    Output(u16, u16),
    Channel(u16),
}

/// Occupancy of ports and the streams written so far.
#[derive(Debug, Default)]
pub(super) struct Streams {
    free_at: HashMap<Port, Vec<u64>>,
    last_send: HashMap<Component, u64>,
    entries: BTreeMap<Component, Vec<(u64, StreamOp)>>,
    pub(super) cycles: u64,
}

impl Streams {
    /// The earliest cycle at which one of `count` such ports is free.
    pub(super) fn free(&mut self, port: Port, count: u16) -> u64 {
        let ports = self.free_at.entry(port).or_default();
        ports.resize(usize::from(count), 0);
        ports.iter().copied().min().unwrap_or(u64::MAX)
    }

    /// Occupies the port that [`Self::free`] found.
    pub(super) fn occupy(&mut self, port: Port, until: u64) {
        let ports = self.free_at.get_mut(&port).expect("asked before");
        let earliest = ports.iter_mut().min().expect("there is one");
        *earliest = until;
    }

    /// The earliest cycle at which a component may send another stream.
    pub(super) fn may_send(&self, component: Component) -> u64 {
        self.last_send.get(&component).map_or(0, |cycle| cycle + 1)
    }

    pub(super) fn sends(&mut self, component: Component, cycle: u64) {
        self.last_send.insert(component, cycle);
    }

    /// Adds an entry that ends at `end`.
    pub(super) fn add(&mut self, component: Component, cycle: u64, op: StreamOp, end: u64) {
        self.entries.entry(component).or_default().push((cycle, op));
        self.cycles = self.cycles.max(end);
    }

    /// The streams in the order of their components.
    pub(super) fn finish(self) -> (Vec<Stream>, u64) {
        let streams = self.entries.into_iter().map(|(component, mut entries)| {
            entries.sort_by_key(|&(cycle, _)| cycle);
            let mut last = 0;
            let entries = entries
                .into_iter()
                .map(|(cycle, op)| Entry {
                    wait: u32::try_from(cycle - std::mem::replace(&mut last, cycle))
                        .expect("a test schedule is short"),
                    op,
                })
                .collect();
            Stream { component, entries }
        });
        (streams.collect(), self.cycles)
    }
}
