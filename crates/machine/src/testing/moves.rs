//! How the naive scheduler moves a vector: over a crossbar, from and to off-chip memory.

use cyclotron_isa::{Component, DramContent, Link, StreamOp};

use super::scheduler::{Place, Scheduler, slack};
use super::state::Port;

impl Scheduler<'_> {
    fn bank_port(&mut self, bank: u16, write: bool) -> (Port, u64) {
        let info = self.machine.banks[usize::from(bank)];
        let (port, count) = match (info.single_port, write) {
            (true, _) => (Port::Bank(bank), 1),
            (false, true) => (Port::BankWrite(bank), info.writes),
            (false, false) => (Port::Bank(bank), info.reads),
        };
        (port, self.streams.free(port, count))
    }

    /// The component, its port for a read or write, when that is free, and its latency.
    fn end_of(&mut self, place: Place, write: bool) -> (Component, Port, u64, u64) {
        match place {
            Place::RegFile(cluster, _) => {
                let regfile = self.machine.regfile;
                let (port, count) = if write {
                    (Port::RegFileWrite(cluster), regfile.net_writes)
                } else {
                    (Port::RegFileRead(cluster), regfile.net_reads)
                };
                let free = self.streams.free(port, count);
                let component = Component::RegFile { cluster };
                (component, port, free, u64::from(regfile.latency))
            }
            Place::Bank(bank, _) => {
                let (port, free) = self.bank_port(bank, write);
                let latency = self.machine.banks[usize::from(bank)].latency;
                (Component::Bank { bank }, port, free, u64::from(latency))
            }
        }
    }

    /// Copies a value over a crossbar; each end is a place and its port number.
    pub(super) fn transfer(&mut self, value: u32, x: usize, from: (Place, u16), to: (Place, u16)) {
        let xbar = &self.machine.xbars[x];
        let (span, latency) = (u64::from(xbar.span), u64::from(xbar.latency));
        let (xbar, port) = (x as u16, to.1);
        let (sender, read_port, read_free, read_latency) = self.end_of(from.0, false);
        let (receiver, write_port, write_free, _) = self.end_of(to.0, true);
        let output = Port::Output(xbar, port);
        let delay = read_latency + latency;
        let start = read_free
            .max(write_free.saturating_sub(delay))
            .max(self.streams.free(output, 1).saturating_sub(read_latency))
            .max(self.streams.may_send(sender))
            .max(self.slot(from.0).readable(span))
            .max(self.slot(to.0).writable(span).saturating_sub(delay))
            + slack(&mut self.rng);
        let start = self.take_turns(start, |at| {
            let ends = [(from.0, at), (to.0, at + delay)].into_iter();
            let access = |(place, at)| match place {
                Place::RegFile(cluster, _) => Some((cluster, at, at + span)),
                Place::Bank(..) => None,
            };
            ends.filter_map(access).collect()
        });
        let (route, arrive) = (start + read_latency, start + delay);
        self.slot(from.0).read(start, span);
        self.slot(to.0).write(arrive, span, value);
        self.streams.occupy(read_port, start + span);
        self.streams.occupy(output, route + span);
        self.streams.occupy(write_port, arrive + span);
        self.streams.sends(sender, start);
        let (Place::RegFile(_, slot) | Place::Bank(_, slot)) = from.0;
        let link = Link::Xbar(xbar);
        let read = StreamOp::Read { slot, to: link };
        self.streams.add(sender, start, read, start + span);
        let component = Component::XbarPort { xbar, port };
        let op = StreamOp::Route { from: from.1 };
        self.streams.add(component, route, op, route + span);
        let (Place::RegFile(_, slot) | Place::Bank(_, slot)) = to.0;
        let write = StreamOp::Write { slot, from: link };
        self.streams.add(receiver, arrive, write, arrive + span);
        self.copies.entry(value).or_default().push(to.0);
    }

    /// Loads a value from off-chip memory into a bank slot.
    pub(super) fn load(&mut self, value: u32, bank: u16, slot: u16) {
        let address = match self.home.get(&value) {
            Some(&address) => address,
            None => {
                let address = self.new_dram(DramContent::Input(value));
                self.home.insert(value, address);
                address
            }
        };
        let c = self.dram[address as usize].declared.channel;
        let channel = &self.machine.channels[usize::from(c)];
        let (span, latency) = (u64::from(channel.span), u64::from(channel.latency));
        let place = Place::Bank(bank, slot);
        let (receiver, port, free, _) = self.end_of(place, true);
        let component = Component::Channel { channel: c };
        let start = free
            .saturating_sub(latency)
            .max(self.streams.free(Port::Channel(c), 1))
            .max(self.streams.may_send(component))
            .max(self.dram[address as usize].slot.readable(span))
            .max(self.slot(place).writable(span).saturating_sub(latency))
            + slack(&mut self.rng);
        let arrive = start + latency;
        self.dram[address as usize].slot.read(start, span);
        self.slot(place).write(arrive, span, value);
        self.streams.occupy(Port::Channel(c), start + span);
        self.streams.occupy(port, arrive + span);
        self.streams.sends(component, start);
        let load = StreamOp::Load { address, bank };
        self.streams.add(component, start, load, start + span);
        let from = Link::Channel(c);
        let write = StreamOp::Write { slot, from };
        self.streams.add(receiver, arrive, write, arrive + span);
        self.copies.entry(value).or_default().push(place);
    }

    /// Stores a bank slot to off-chip memory.
    pub(super) fn store(&mut self, bank: u16, slot: u16, address: u32, value: u32) {
        let c = self.dram[address as usize].declared.channel;
        let channel = &self.machine.channels[usize::from(c)];
        let (span, latency) = (u64::from(channel.span), u64::from(channel.latency));
        let place = Place::Bank(bank, slot);
        let (sender, port, free, read_latency) = self.end_of(place, false);
        let delay = read_latency + span + latency;
        let start =
            free.max(
                self.streams
                    .free(Port::Channel(c), 1)
                    .saturating_sub(read_latency),
            )
            .max(self.streams.may_send(sender))
            .max(self.slot(place).readable(span))
            .max(
                self.dram[address as usize]
                    .slot
                    .writable(0)
                    .saturating_sub(delay),
            ) + slack(&mut self.rng);
        let take = start + read_latency;
        self.slot(place).read(start, span);
        self.dram[address as usize]
            .slot
            .write(start + delay, 0, value);
        self.streams.occupy(port, start + span);
        self.streams.occupy(Port::Channel(c), take + span);
        self.streams.sends(sender, start);
        let to = Link::Channel(c);
        self.streams
            .add(sender, start, StreamOp::Read { slot, to }, start + span);
        let store = StreamOp::Store { address, bank };
        let component = Component::Channel { channel: c };
        self.streams.add(component, take, store, start + delay);
    }
}
