//! The least delays through memories and network, for the bound.

use cyclotron_machine::{Resolved, XbarKind};

use crate::topology::Topology;

/// The shortest ways through the memories and the network. A way is a delay
/// from its start to the first chunk at its end, and to the last.
#[derive(Debug, Clone, Copy)]
pub(super) struct Way {
    pub first: u64,
    pub last: u64,
}

impl Way {
    /// Nothing is slower.
    const WORST: Way = Way {
        first: u64::MAX,
        last: u64::MAX,
    };

    fn or_faster(self, other: Way) -> Way {
        Way {
            first: self.first.min(other.first),
            last: self.last.min(other.last),
        }
    }

    /// Earliest start of a reader that takes `span` cycles.
    pub fn start(self, span: u64) -> u64 {
        self.first.max(self.last.saturating_sub(span))
    }
}

/// What the bound needs to know about memories and network: least delays,
/// spans and most ports.
#[derive(Debug, Clone)]
pub(super) struct Fabric {
    /// From the start of a load to the register file.
    pub load: Way,
    /// From a bank's read to the register file.
    pub arrive: Way,
    /// From the start of a load to the start of a store of the same value.
    pub pass: u64,
    /// From the first chunk of a result in the register file to the end of its store.
    pub leave: u64,
    /// From the start of a load to the earliest read of the bank by a crossbar.
    pub loaded: u64,
    pub channel_span: u64,
    pub channel_latency: u64,
    pub transfer_span: u64,
    pub departure_span: u64,
    /// Vectors that can enter clusters at once.
    pub arrival_ports: u64,
    /// Vectors that can leave clusters at once.
    pub departure_ports: u64,
}

impl Fabric {
    pub fn new(machine: &Resolved, topology: &Topology) -> Self {
        let channels = || {
            topology
                .channels
                .iter()
                .map(|&c| &machine.channels[usize::from(c)])
        };
        let xbars = |of: &[u16]| -> Vec<(u64, u64)> {
            let each = topology
                .banks
                .iter()
                .map(|&b| &machine.xbars[usize::from(of[usize::from(b)])]);
            each.map(|x| (u64::from(x.latency), u64::from(x.span)))
                .collect()
        };
        let inward = xbars(&topology.to_clusters);
        let outward = xbars(&topology.from_clusters);
        let banks = topology
            .banks
            .iter()
            .map(|&b| &machine.banks[usize::from(b)]);
        let bank_latency = banks
            .clone()
            .map(|b| u64::from(b.latency))
            .min()
            .unwrap_or(0);
        let regfile_latency = u64::from(machine.regfile.latency);
        let channel_span = channels().map(|c| u64::from(c.span)).min().unwrap_or(0);
        let channel_latency = channels().map(|c| u64::from(c.latency)).min().unwrap_or(0);
        let span_of = |list: &[(u64, u64)]| list.iter().map(|x| x.1).min().unwrap_or(0);
        let mut load = Way::WORST;
        let mut arrive = Way::WORST;
        let mut loaded = u64::MAX;
        for &(latency, span) in &inward {
            let wait = channel_span.saturating_sub(span);
            let first = bank_latency + latency;
            arrive = arrive.or_faster(Way {
                first,
                last: first + span,
            });
            let first = channel_latency + wait + bank_latency + latency;
            load = load.or_faster(Way {
                first,
                last: first + span,
            });
            loaded = loaded.min(channel_latency + wait);
        }
        let leave = outward
            .iter()
            .map(|&(latency, span)| {
                let wait = span.saturating_sub(channel_span);
                regfile_latency + latency + wait + bank_latency + channel_span + channel_latency
            })
            .min()
            .unwrap_or(0);
        Self {
            load,
            arrive,
            pass: channel_latency + bank_latency,
            leave,
            loaded,
            channel_span,
            channel_latency,
            transfer_span: span_of(&inward),
            departure_span: span_of(&outward),
            arrival_ports: 0,
            departure_ports: 0,
        }
        .with_ports(machine, topology)
    }

    /// Counts the ports that transfers between banks and clusters go through.
    fn with_ports(self, machine: &Resolved, topology: &Topology) -> Self {
        let banks = topology
            .banks
            .iter()
            .map(|&b| &machine.banks[usize::from(b)]);
        let reads: u64 = banks.clone().map(|b| u64::from(b.reads.max(1))).sum();
        let writes: u64 = banks.map(|b| u64::from(b.writes.max(1))).sum();
        let xbars = |kind| machine.xbars.iter().filter(|x| x.kind == kind).count() as u64;
        let clusters = u64::from(machine.clusters);
        let inward = xbars(XbarKind::BankToCluster).min(u64::from(machine.regfile.net_writes));
        let outward = xbars(XbarKind::ClusterToBank).min(u64::from(machine.regfile.net_reads));
        Self {
            arrival_ports: reads.min(clusters * inward),
            departure_ports: writes.min(clusters * outward),
            ..self
        }
    }
}
