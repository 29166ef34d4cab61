//! What belongs together in a legal schedule: the entries of a transfer, and the
//! accesses to a slot between one write and the next.

use std::collections::{BTreeMap, HashMap};

use cyclotron_isa::{Component, DramContent, Link, NO_SLOT, Schedule, StreamOp};
use cyclotron_machine::{Resolved, XbarKind};

use crate::draft::Site;

/// A register file or a bank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Memory {
    RegFile(u16),
    Bank(u16),
}

/// A read or a write of a slot.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Access {
    pub(crate) site: Site,
    /// Which operand of an instruction, else 0.
    pub(crate) field: usize,
    pub(crate) start: u64,
    pub(crate) end: u64,
}

/// A value in a slot, from its write until the next.
#[derive(Debug)]
pub(crate) struct Life {
    pub(crate) memory: Memory,
    pub(crate) slot: u16,
    pub(crate) write: Access,
    /// In the order of their cycles.
    pub(crate) reads: Vec<Access>,
    /// The life before, in the same slot.
    pub(crate) before: Option<usize>,
    /// The life after.
    pub(crate) after: Option<usize>,
}

/// Where a value comes from: different origins are different values, or the same
/// instruction twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    Computed(Site),
    Loaded(u32),
}

/// The index of a schedule.
pub(crate) struct Index {
    pub(crate) lives: Vec<Life>,
    /// The life that an entry begins.
    pub(crate) begun: HashMap<Site, usize>,
    /// The lives that an entry reads, with the numbers of the operands.
    pub(crate) read: HashMap<Site, Vec<(usize, usize)>>,
    /// Transfers: the sender's entry first, then routes, then writes or a store.
    families: Vec<Vec<Site>>,
    family_of: HashMap<Site, usize>,
    /// Stores by off-chip slot.
    stores: HashMap<u32, Vec<(u64, Site)>>,
    pub(crate) stream_of: HashMap<Component, usize>,
}

impl Index {
    pub(crate) fn new(schedule: &Schedule, machine: &Resolved) -> Self {
        let mut index = Index {
            lives: Vec::new(),
            begun: HashMap::new(),
            read: HashMap::new(),
            families: Vec::new(),
            family_of: HashMap::new(),
            stores: HashMap::new(),
            stream_of: HashMap::new(),
        };
        for (number, stream) in schedule.streams.iter().enumerate() {
            index.stream_of.insert(stream.component, number);
        }
        index.join_transfers(schedule, machine);
        index.find_lives(schedule, machine);
        index
    }

    /// All entries that move together with this one: its transfer, or itself.
    pub(crate) fn family(&self, site: Site) -> Vec<Site> {
        let family = self.family_of.get(&site);
        family.map_or_else(|| vec![site], |&family| self.families[family].clone())
    }

    /// Where the value of a life comes from.
    pub(crate) fn origin(&self, life: usize, schedule: &Schedule) -> Origin {
        let mut life = life;
        loop {
            let write = self.lives[life].write;
            let family = self.family(write.site);
            let mut sender = family[0];
            let entry = &schedule.streams[sender.stream].entries[sender.entry];
            match entry.op {
                StreamOp::Compute { .. } => return Origin::Computed(sender),
                StreamOp::Load { address, .. } => {
                    let content = schedule.dram[address as usize].content;
                    let stores = self.stores.get(&address);
                    let stored = stores.and_then(|stores| {
                        let before = stores.iter().filter(|(end, _)| *end <= write.start);
                        before.max().copied()
                    });
                    match (content, stored) {
                        (DramContent::Spill | DramContent::Output(_), Some((_, store))) => {
                            sender = self.family(store)[0];
                        }
                        _ => return Origin::Loaded(address),
                    }
                }
                _ => {}
            }
            life = self.read[&sender][0].0;
        }
    }

    /// Streams are joined by where and when they appear.
    fn join_transfers(&mut self, schedule: &Schedule, machine: &Resolved) {
        let mut senders = HashMap::new();
        let mut routes = HashMap::new();
        for (site, component, cycle, op) in entries(schedule) {
            let arrival = match (component, op) {
                (Component::RegFile { .. }, StreamOp::Read { to, .. }) => (
                    component,
                    Some(to),
                    None,
                    cycle + u64::from(machine.regfile.latency),
                ),
                (Component::Bank { bank }, StreamOp::Read { to, .. }) => {
                    let latency = machine.banks[usize::from(bank)].latency;
                    (component, Some(to), None, cycle + u64::from(latency))
                }
                (Component::Channel { channel }, StreamOp::Load { bank, .. }) => {
                    let latency = machine.channels[usize::from(channel)].latency;
                    (component, None, Some(bank), cycle + u64::from(latency))
                }
                _ => continue,
            };
            senders.insert(arrival, self.families.len());
            self.join(site, self.families.len());
        }
        for (site, component, cycle, op) in entries(schedule) {
            if let (Component::XbarPort { xbar, port }, StreamOp::Route { from }) = (component, op)
            {
                let description = &machine.xbars[usize::from(xbar)];
                let sender = match description.kind {
                    XbarKind::BankToCluster => Component::Bank { bank: from },
                    _ => Component::RegFile { cluster: from },
                };
                let family = senders[&(sender, Some(Link::Xbar(xbar)), None, cycle)];
                routes.insert((xbar, port, cycle + u64::from(description.latency)), family);
                self.join(site, family);
            }
        }
        for (site, component, cycle, op) in entries(schedule) {
            let family = match (component, op) {
                (
                    component,
                    StreamOp::Write {
                        from: Link::Xbar(xbar),
                        ..
                    },
                ) => routes[&(xbar, port_of(component), cycle)],
                (
                    component,
                    StreamOp::Write {
                        from: Link::Channel(channel),
                        ..
                    },
                ) => {
                    let bank = Some(port_of(component));
                    senders[&(Component::Channel { channel }, None, bank, cycle)]
                }
                (Component::Channel { channel }, StreamOp::Store { address, bank }) => {
                    let channel_of = &machine.channels[usize::from(channel)];
                    let end = cycle + u64::from(channel_of.span + channel_of.latency);
                    self.stores.entry(address).or_default().push((end, site));
                    let link = Some(Link::Channel(channel));
                    senders[&(Component::Bank { bank }, link, None, cycle)]
                }
                _ => continue,
            };
            self.join(site, family);
        }
    }

    fn join(&mut self, site: Site, family: usize) {
        if family == self.families.len() {
            self.families.push(Vec::new());
        }
        self.families[family].push(site);
        self.family_of.insert(site, family);
    }

    fn find_lives(&mut self, schedule: &Schedule, machine: &Resolved) {
        let mut slots: BTreeMap<(Memory, u16), (Vec<Access>, Vec<Access>)> = BTreeMap::new();
        for (site, component, cycle, op) in entries(schedule) {
            let memory = match component {
                Component::Unit { cluster, .. } | Component::RegFile { cluster } => {
                    Memory::RegFile(cluster)
                }
                Component::Bank { bank } => Memory::Bank(bank),
                _ => continue,
            };
            let mut access = |slot: u16, field: usize, start: u64, span: u64, write: bool| {
                let accesses = slots.entry((memory, slot)).or_default();
                let list = if write {
                    &mut accesses.1
                } else {
                    &mut accesses.0
                };
                let end = start + span;
                list.push(Access {
                    site,
                    field,
                    start,
                    end,
                });
            };
            let busy = busy(machine, component, &op);
            match op {
                StreamOp::Compute { op, dst, src, .. } => {
                    for (field, slot) in src.into_iter().enumerate() {
                        if slot != NO_SLOT {
                            access(slot, field, cycle, busy, false);
                        }
                    }
                    let timing = machine.timing(op).expect("executed");
                    let passes = if timing.multipass { busy } else { 0 };
                    let delay = passes + u64::from(timing.latency + machine.regfile.latency);
                    access(dst, 0, cycle + delay, busy, true);
                }
                StreamOp::Read { slot, .. } => access(slot, 0, cycle, busy, false),
                StreamOp::Write { slot, .. } => access(slot, 0, cycle, busy, true),
                _ => {}
            }
        }
        for ((memory, slot), (mut reads, mut writes)) in slots {
            reads.sort_by_key(|access| access.start);
            writes.sort_by_key(|access| access.start);
            self.split(memory, slot, &reads, &writes);
        }
    }

    /// Divides the accesses to a slot among its lives.
    fn split(&mut self, memory: Memory, slot: u16, reads: &[Access], writes: &[Access]) {
        let first = self.lives.len();
        for (number, &write) in writes.iter().enumerate() {
            let life = first + number;
            let next = writes.get(number + 1).map_or(u64::MAX, |next| next.start);
            let from = reads.partition_point(|read| read.start < write.start);
            let to = reads.partition_point(|read| read.start < next);
            for read in &reads[from..to] {
                let lives = self.read.entry(read.site).or_default();
                lives.push((life, read.field));
            }
            self.begun.insert(write.site, life);
            self.lives.push(Life {
                memory,
                slot,
                write,
                reads: reads[from..to].to_vec(),
                before: (number > 0).then(|| life - 1),
                after: (number + 1 < writes.len()).then_some(life + 1),
            });
        }
    }
}

/// Cycles for which an entry occupies its unit, port or channel.
pub(crate) fn busy(machine: &Resolved, component: Component, op: &StreamOp) -> u64 {
    let span_of = |link: Link| match link {
        Link::Xbar(x) => machine.xbars[usize::from(x)].span,
        Link::Channel(c) => machine.channels[usize::from(c)].span,
    };
    u64::from(match (component, *op) {
        (_, StreamOp::Compute { op, .. }) => machine.timing(op).map_or(0, |t| t.occupancy),
        (_, StreamOp::Read { to: link, .. } | StreamOp::Write { from: link, .. }) => span_of(link),
        (Component::XbarPort { xbar, .. }, _) => span_of(Link::Xbar(xbar)),
        (Component::Channel { channel }, _) => span_of(Link::Channel(channel)),
        _ => 0,
    })
}

/// The output port of a crossbar or channel that leads to a register file or bank.
pub(crate) fn port_of(component: Component) -> u16 {
    match component {
        Component::RegFile { cluster } => cluster,
        Component::Bank { bank } => bank,
        _ => u16::MAX,
    }
}

/// All entries with their sites, components and cycles.
pub(crate) fn entries(
    schedule: &Schedule,
) -> impl Iterator<Item = (Site, Component, u64, StreamOp)> + '_ {
    let streams = schedule.streams.iter().enumerate();
    streams.flat_map(|(number, stream)| {
        let timed = stream.timed().enumerate();
        timed.map(move |(entry, (cycle, &op))| {
            let site = Site {
                stream: number,
                entry,
            };
            (site, stream.component, cycle, op)
        })
    })
}
