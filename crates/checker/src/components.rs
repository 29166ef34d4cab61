//! The components of a machine during the replay: what they hold, what they
//! are busy with, what they are connected to.

use cyclotron_isa::{Component, Link};
use cyclotron_machine::{Bank, Resolved, XbarKind};

use crate::ports::Ports;
use crate::slot::Slot;
use crate::turns::BankTurns;
use crate::wires::Wire;

/// A register file or bank.
pub(crate) struct Memory {
    pub(crate) slots: Vec<Slot>,
    reads: Ports,
    /// `None` if `reads` serves for both.
    writes: Option<Ports>,
    pub(crate) wire: Wire,
}

impl Memory {
    fn new(slots: u16, reads: Ports, writes: Option<Ports>) -> Self {
        Self {
            slots: vec![Slot::default(); usize::from(slots)],
            reads,
            writes,
            wire: Wire::default(),
        }
    }

    fn bank(bank: &Bank) -> Self {
        if bank.single_port {
            return Self::new(bank.slots, Ports::new("the port", 1), None);
        }
        let reads = Ports::new("every read port", bank.reads);
        let writes = Ports::new("every write port", bank.writes);
        Self::new(bank.slots, reads, Some(writes))
    }

    pub(crate) fn read_ports(&mut self) -> &mut Ports {
        &mut self.reads
    }

    pub(crate) fn write_ports(&mut self) -> &mut Ports {
        self.writes.as_mut().unwrap_or(&mut self.reads)
    }
}

/// An output port of a crossbar, or a channel.
pub(crate) struct Path {
    pub(crate) busy: Ports,
    pub(crate) wire: Wire,
}

impl Path {
    fn new(what: &'static str) -> Self {
        Self {
            busy: Ports::new(what, 1),
            wire: Wire::default(),
        }
    }
}

/// All components of a machine.
pub(crate) struct Components<'a> {
    pub(crate) machine: &'a Resolved,
    /// Kind of every unit of a cluster.
    kind_of_unit: Vec<u16>,
    /// By cluster and unit.
    units: Vec<Ports>,
    pub(crate) regfiles: Vec<Memory>,
    /// What the banks of every register file are busy with.
    pub(crate) turns: Vec<BankTurns>,
    pub(crate) banks: Vec<Memory>,
    /// By crossbar and output port.
    xbars: Vec<Vec<Path>>,
    pub(crate) channels: Vec<Path>,
}

impl<'a> Components<'a> {
    pub(crate) fn new(machine: &'a Resolved) -> Self {
        let clusters = usize::from(machine.clusters);
        let units = clusters * usize::from(machine.units_per_cluster());
        let regfile = machine.regfile;
        let regfiles = (0..clusters).map(|_| {
            let reads = Ports::new("every read port", regfile.net_reads);
            let writes = Ports::new("every write port", regfile.net_writes);
            Memory::new(regfile.slots, reads, Some(writes))
        });
        let outputs = |kind| match kind {
            XbarKind::BankToCluster | XbarKind::ClusterToCluster => clusters,
            XbarKind::ClusterToBank => machine.banks.len(),
        };
        let ports = |kind| (0..outputs(kind)).map(|_| Path::new("the output port"));
        let channels = machine.channels.iter();
        Self {
            machine,
            kind_of_unit: (0u16..)
                .zip(&machine.units)
                .flat_map(|(kind, unit)| std::iter::repeat_n(kind, usize::from(unit.count)))
                .collect(),
            units: vec![Ports::new("the unit", 1); units],
            regfiles: regfiles.collect(),
            turns: vec![BankTurns::new(machine); clusters],
            banks: machine.banks.iter().map(Memory::bank).collect(),
            xbars: machine
                .xbars
                .iter()
                .map(|xbar| ports(xbar.kind).collect())
                .collect(),
            channels: channels.map(|_| Path::new("the channel")).collect(),
        }
    }

    pub(crate) fn exists(&self, component: Component) -> bool {
        match component {
            Component::Unit { cluster, unit } => {
                cluster < self.machine.clusters && usize::from(unit) < self.kind_of_unit.len()
            }
            Component::RegFile { cluster } => cluster < self.machine.clusters,
            Component::XbarPort { xbar, port } => {
                let ports = self.xbars.get(usize::from(xbar));
                ports.is_some_and(|ports| usize::from(port) < ports.len())
            }
            Component::Bank { bank } => usize::from(bank) < self.banks.len(),
            Component::Channel { channel } => usize::from(channel) < self.channels.len(),
        }
    }

    /// A unit that exists, and its kind.
    pub(crate) fn unit(&mut self, cluster: u16, unit: u16) -> (&mut Ports, u16) {
        let index = usize::from(cluster) * self.kind_of_unit.len() + usize::from(unit);
        (&mut self.units[index], self.kind_of_unit[usize::from(unit)])
    }

    /// An output port of a crossbar that exists.
    pub(crate) fn output(&mut self, xbar: u16, port: u16) -> &mut Path {
        &mut self.xbars[usize::from(xbar)][usize::from(port)]
    }

    /// Everything that carries streams.
    pub(crate) fn wires(&mut self) -> impl Iterator<Item = &mut Wire> {
        let memories = self.regfiles.iter_mut().chain(&mut self.banks);
        let paths = self.xbars.iter_mut().flatten().chain(&mut self.channels);
        let of_memories = memories.map(|memory| &mut memory.wire);
        of_memories.chain(paths.map(|path| &mut path.wire))
    }

    /// A register file or bank, and its latency.
    pub(crate) fn memory(&mut self, component: Component) -> (&mut Memory, u64) {
        match component {
            Component::RegFile { cluster } => {
                let latency = u64::from(self.machine.regfile.latency);
                (&mut self.regfiles[usize::from(cluster)], latency)
            }
            Component::Bank { bank } => {
                let bank = usize::from(bank);
                let latency = u64::from(self.machine.banks[bank].latency);
                (&mut self.banks[bank], latency)
            }
            other => unreachable!("{other} has no slots"),
        }
    }

    pub(crate) fn bank_in(&self, bank: u16, groups: &[u16]) -> bool {
        let bank = self.machine.banks.get(usize::from(bank));
        bank.is_some_and(|bank| groups.contains(&bank.group))
    }

    /// The span of a link, if what a register file or bank sends may enter it.
    pub(crate) fn sends(&self, from: Component, to: Link) -> Option<u64> {
        let machine = self.machine;
        match (to, from) {
            (Link::Xbar(x), from) => {
                let xbar = machine.xbars.get(usize::from(x))?;
                let enters = match (from, xbar.kind) {
                    (Component::Bank { bank }, XbarKind::BankToCluster) => {
                        self.bank_in(bank, &xbar.groups)
                    }
                    (
                        Component::RegFile { .. },
                        XbarKind::ClusterToBank | XbarKind::ClusterToCluster,
                    ) => true,
                    _ => false,
                };
                enters.then_some(u64::from(xbar.span))
            }
            (Link::Channel(c), Component::Bank { bank }) => {
                let channel = machine.channels.get(usize::from(c))?;
                let enters = self.bank_in(bank, &channel.groups);
                enters.then_some(u64::from(channel.span))
            }
            (Link::Channel(_), _) => None,
        }
    }

    /// The output port of a link that leads to a register file or bank.
    pub(crate) fn port_to(&self, to: Component, link: Link) -> Option<u16> {
        match (link, to) {
            (Link::Xbar(x), to) => {
                let xbar = self.machine.xbars.get(usize::from(x))?;
                match (to, xbar.kind) {
                    (Component::Bank { bank }, XbarKind::ClusterToBank) => {
                        self.bank_in(bank, &xbar.groups).then_some(bank)
                    }
                    (
                        Component::RegFile { cluster },
                        XbarKind::BankToCluster | XbarKind::ClusterToCluster,
                    ) => Some(cluster),
                    _ => None,
                }
            }
            (Link::Channel(c), Component::Bank { bank }) => {
                let channel = self.machine.channels.get(usize::from(c))?;
                self.bank_in(bank, &channel.groups).then_some(bank)
            }
            (Link::Channel(_), _) => None,
        }
    }
}
