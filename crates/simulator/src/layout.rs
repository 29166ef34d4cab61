//! The machine's geometry: which components exist, what they are connected to,
//! and where their slots are.

use cyclotron_isa::{Component, Link};
use cyclotron_machine::{Bank, Resolved, XbarKind};

use crate::error::EntryFault;
use crate::streams::Busy;

/// A machine and the numbering of its slots: register files, banks, off-chip memory.
pub(crate) struct Layout<'a> {
    pub(crate) machine: &'a Resolved,
    first_of_bank: Vec<u32>,
    /// The first off-chip slot.
    pub(crate) first_dram: u32,
}

impl<'a> Layout<'a> {
    pub(crate) fn new(machine: &'a Resolved) -> Self {
        let mut next = u32::from(machine.clusters) * u32::from(machine.regfile.slots);
        let mut first_of = |bank: &Bank| {
            let first = next;
            next += u32::from(bank.slots);
            first
        };
        let first_of_bank = machine.banks.iter().map(&mut first_of).collect();
        Self {
            machine,
            first_of_bank,
            first_dram: next,
        }
    }

    /// Output ports of a kind of crossbar.
    pub(crate) fn outputs(&self, kind: XbarKind) -> usize {
        match kind {
            XbarKind::ClusterToBank => self.machine.banks.len(),
            XbarKind::BankToCluster | XbarKind::ClusterToCluster => {
                usize::from(self.machine.clusters)
            }
        }
    }

    pub(crate) fn exists(&self, component: Component) -> bool {
        let machine = self.machine;
        match component {
            Component::Unit { cluster, unit } => {
                cluster < machine.clusters && unit < machine.units_per_cluster()
            }
            Component::RegFile { cluster } => cluster < machine.clusters,
            Component::XbarPort { xbar, port } => machine
                .xbars
                .get(usize::from(xbar))
                .is_some_and(|xbar| usize::from(port) < self.outputs(xbar.kind)),
            Component::Bank { bank } => usize::from(bank) < machine.banks.len(),
            Component::Channel { channel } => usize::from(channel) < machine.channels.len(),
        }
    }

    /// The ports of a component, and those for writes where they are others.
    pub(crate) fn ports(&self, component: Component) -> (Busy, Option<Busy>) {
        match component {
            Component::RegFile { .. } => {
                let regfile = self.machine.regfile;
                (
                    Busy::new(regfile.net_reads),
                    Some(Busy::new(regfile.net_writes)),
                )
            }
            Component::Bank { bank } => {
                let bank = self.machine.banks[usize::from(bank)];
                match bank.single_port {
                    true => (Busy::new(1), None),
                    false => (Busy::new(bank.reads), Some(Busy::new(bank.writes))),
                }
            }
            _ => (Busy::new(1), None),
        }
    }

    pub(crate) fn link_span(&self, link: Link) -> u32 {
        match link {
            Link::Xbar(x) => self.machine.xbars[usize::from(x)].span,
            Link::Channel(c) => self.machine.channels[usize::from(c)].span,
        }
    }

    pub(crate) fn reaches(&self, groups: &[u16], bank: u16) -> bool {
        let bank = self.machine.banks.get(usize::from(bank));
        bank.is_some_and(|bank| groups.contains(&bank.group))
    }

    /// Whether a component may send onto a link.
    pub(crate) fn enters(&self, from: Component, link: Link) -> bool {
        let machine = self.machine;
        match (from, link) {
            (Component::Bank { bank }, Link::Channel(c)) => machine
                .channels
                .get(usize::from(c))
                .is_some_and(|channel| self.reaches(&channel.groups, bank)),
            (from, Link::Xbar(x)) => match (from, machine.xbars.get(usize::from(x))) {
                (Component::Bank { bank }, Some(xbar)) => {
                    xbar.kind == XbarKind::BankToCluster && self.reaches(&xbar.groups, bank)
                }
                (Component::RegFile { .. }, Some(xbar)) => xbar.kind != XbarKind::BankToCluster,
                _ => false,
            },
            _ => false,
        }
    }

    /// The output port of a link that leads to a component.
    pub(crate) fn leaves(&self, link: Link, to: Component) -> Option<u16> {
        let machine = self.machine;
        match (link, to) {
            (Link::Channel(c), Component::Bank { bank }) => {
                let channel = machine.channels.get(usize::from(c))?;
                self.reaches(&channel.groups, bank).then_some(bank)
            }
            (Link::Xbar(x), Component::Bank { bank }) => {
                let xbar = machine.xbars.get(usize::from(x))?;
                let leads = xbar.kind == XbarKind::ClusterToBank;
                (leads && self.reaches(&xbar.groups, bank)).then_some(bank)
            }
            (Link::Xbar(x), Component::RegFile { cluster }) => {
                let xbar = machine.xbars.get(usize::from(x))?;
                (xbar.kind != XbarKind::ClusterToBank).then_some(cluster)
            }
            _ => None,
        }
    }

    /// The number of a slot of a register file or bank.
    pub(crate) fn location(&self, component: Component, slot: u16) -> Result<u32, EntryFault> {
        let (first, slots) = match component {
            Component::Unit { cluster, .. } | Component::RegFile { cluster } => {
                let slots = self.machine.regfile.slots;
                (u32::from(cluster) * u32::from(slots), slots)
            }
            Component::Bank { bank } => {
                let bank = usize::from(bank);
                (self.first_of_bank[bank], self.machine.banks[bank].slots)
            }
            Component::XbarPort { .. } | Component::Channel { .. } => {
                return Err(EntryFault::WrongComponent);
            }
        };
        if slot < slots {
            return Ok(first + u32::from(slot));
        }
        let (slot, slots) = (u32::from(slot), u32::from(slots));
        Err(EntryFault::NoSuchSlot { slot, slots })
    }
}
