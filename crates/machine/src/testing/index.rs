//! What belongs together in a legal schedule: the entries of a transfer, and the
//! accesses to a slot between one write and the next.

use std::collections::{BTreeMap, HashMap};

use cyclotron_isa::{Component, Link, NO_SLOT, Schedule, StreamOp};

use crate::{Resolved, XbarKind};

/// An entry of a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Site {
    /// Number of its stream.
    pub stream: usize,
    /// Position in the stream.
    pub entry: usize,
}

/// A memory with slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Memory {
    /// The register file of a cluster.
    RegFile(u16),
    /// A bank.
    Bank(u16),
    /// All off-chip memory. A store writes when it is done, over no time.
    OffChip,
}

/// A read or a write of a slot.
#[derive(Debug, Clone, Copy)]
pub struct Access {
    /// Whose.
    pub site: Site,
    /// Which operand of an instruction, else 0.
    pub field: usize,
    /// The first cycle.
    pub start: u64,
    /// The cycle after the last.
    pub end: u64,
}

/// A value in a slot, from its write until the next.
#[derive(Debug)]
pub struct Life {
    /// Where.
    pub memory: Memory,
    /// The slot in it.
    pub slot: u32,
    /// How it got there.
    pub write: Access,
    /// In the order of their cycles.
    pub reads: Vec<Access>,
    /// The life before, in the same slot.
    pub before: Option<usize>,
    /// The life after.
    pub after: Option<usize>,
}

/// Where a value comes from: from different origins come different values, or the
/// same instruction's twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// An instruction.
    Computed(Site),
    /// An off-chip slot that is never stored to before.
    Loaded(u32),
}

/// The index of a legal schedule.
#[derive(Debug, Default)]
pub struct ScheduleIndex {
    /// Every life. Inputs in off-chip memory have none.
    pub lives: Vec<Life>,
    /// The life that an entry begins.
    pub begun: HashMap<Site, usize>,
    /// The lives that an entry reads, with the numbers of the operands.
    pub read: HashMap<Site, Vec<(usize, usize)>>,
    /// Number of every component's stream.
    pub stream_of: HashMap<Component, usize>,
    /// Transfers: the sender's entry first, then routes, then writes or a store.
    families: Vec<Vec<Site>>,
    family_of: HashMap<Site, usize>,
}

impl ScheduleIndex {
    /// Indexes a schedule.
    ///
    /// # Panics
    /// If the schedule is not legal on the machine.
    #[must_use]
    pub fn new(schedule: &Schedule, machine: &Resolved) -> Self {
        let mut index = Self::default();
        for (number, stream) in schedule.streams.iter().enumerate() {
            index.stream_of.insert(stream.component, number);
        }
        index.join_transfers(schedule, machine);
        index.find_lives(schedule, machine);
        index
    }

    /// All entries that move together with this one: its transfer, or itself.
    #[must_use]
    pub fn family(&self, site: Site) -> Vec<Site> {
        let family = self.family_of.get(&site);
        family.map_or_else(|| vec![site], |&family| self.families[family].clone())
    }

    /// Where the value of a life comes from.
    #[must_use]
    pub fn origin(&self, life: usize, schedule: &Schedule) -> Origin {
        let mut life = life;
        loop {
            let sender = self.family(self.lives[life].write.site)[0];
            let entries = &schedule.streams[sender.stream].entries;
            let entry = entries.get(sender.entry).expect("a site is an entry");
            life = match (entry.op, self.read.get(&sender)) {
                (StreamOp::Compute { .. }, _) => return Origin::Computed(sender),
                (StreamOp::Load { address, .. }, None) => return Origin::Loaded(address),
                (_, lives) => lives.expect("a sender reads")[0].0,
            };
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
                (Component::Channel { channel }, StreamOp::Store { bank, .. }) => {
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
        let mut slots: BTreeMap<(Memory, u32), [Vec<Access>; 2]> = BTreeMap::new();
        for (site, component, cycle, op) in entries(schedule) {
            let memory = match component {
                Component::Unit { cluster, .. } | Component::RegFile { cluster } => {
                    Memory::RegFile(cluster)
                }
                Component::Bank { bank } => Memory::Bank(bank),
                Component::Channel { .. } => Memory::OffChip,
                Component::XbarPort { .. } => continue,
            };
            for (field, slot, offset, span, write) in accesses(machine, component, &op) {
                let start = cycle + offset;
                slots.entry((memory, slot)).or_default()[usize::from(write)].push(Access {
                    site,
                    field,
                    start,
                    end: start + span,
                });
            }
        }
        for ((memory, slot), [mut reads, mut writes]) in slots {
            reads.sort_by_key(|access| access.start);
            writes.sort_by_key(|access| access.start);
            self.split(memory, slot, &reads, &writes);
        }
    }

    /// Divides the accesses to a slot among its lives.
    fn split(&mut self, memory: Memory, slot: u32, reads: &[Access], writes: &[Access]) {
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

/// The slots that an entry reads and writes: operand, slot, cycles from the entry's
/// start to the access, its length, and whether it is a write.
pub fn accesses(
    machine: &Resolved,
    component: Component,
    op: &StreamOp,
) -> Vec<(usize, u32, u64, u64, bool)> {
    let busy = busy(machine, component, op);
    match *op {
        StreamOp::Compute { op, dst, src, .. } => {
            let timing = machine.timing(op).expect("executed");
            let passes = if timing.multipass { busy } else { 0 };
            let delay = passes + u64::from(timing.latency + machine.regfile.latency);
            let used = src.into_iter().enumerate().filter(|&(_, s)| s != NO_SLOT);
            let reads = used.map(|(field, slot)| (field, u32::from(slot), 0, busy, false));
            let write = (0, u32::from(dst), delay, busy, true);
            reads.chain([write]).collect()
        }
        StreamOp::Read { slot, .. } => vec![(0, u32::from(slot), 0, busy, false)],
        StreamOp::Write { slot, .. } => vec![(0, u32::from(slot), 0, busy, true)],
        StreamOp::Load { address, .. } => vec![(0, address, 0, busy, false)],
        StreamOp::Store { address, .. } => {
            let Component::Channel { channel } = component else {
                return Vec::new();
            };
            let latency = machine.channels[usize::from(channel)].latency;
            vec![(0, address, busy + u64::from(latency), 0, true)]
        }
        StreamOp::Route { .. } => Vec::new(),
    }
}

/// Cycles for which an entry occupies its unit, port or channel.
#[must_use]
pub fn busy(machine: &Resolved, component: Component, op: &StreamOp) -> u64 {
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

/// The ports of its component that an entry uses one of: whether they are those for
/// writes only, and how many there are.
#[must_use]
pub fn ports(machine: &Resolved, component: Component, op: &StreamOp) -> (bool, u16) {
    let writes = matches!(op, StreamOp::Write { .. });
    match component {
        Component::RegFile { .. } if writes => (true, machine.regfile.net_writes),
        Component::RegFile { .. } => (false, machine.regfile.net_reads),
        Component::Bank { bank } => {
            let bank = machine.banks[usize::from(bank)];
            match (bank.single_port, writes) {
                (true, _) => (false, 1),
                (false, true) => (true, bank.writes),
                (false, false) => (false, bank.reads),
            }
        }
        _ => (false, 1),
    }
}

/// The output port of a crossbar or channel that leads to a register file or bank.
#[must_use]
pub fn port_of(component: Component) -> u16 {
    match component {
        Component::RegFile { cluster } => cluster,
        Component::Bank { bank } => bank,
        _ => u16::MAX,
    }
}

/// All entries with their sites, components and cycles, stream by stream.
pub fn entries(schedule: &Schedule) -> impl Iterator<Item = (Site, Component, u64, StreamOp)> + '_ {
    let streams = schedule.streams.iter().enumerate();
    streams.flat_map(|(number, stream)| {
        let timed = stream.timed().enumerate();
        timed.map(move |(entry, (cycle, op))| {
            let site = Site {
                stream: number,
                entry,
            };
            (site, stream.component, cycle, op)
        })
    })
}
