//! The ports of all components and the paths between them.

use cyclotron_isa::Op;
use cyclotron_machine::{Bank, OpTiming, Resolved};

use super::path::Path;
use super::placer::result_delay;
use crate::calendar::{Calendars, Ports};
use crate::topology::Topology;
use crate::turns::Wheel;

/// The ports of all components, and the latencies between them.
#[derive(Debug)]
pub(crate) struct Network {
    /// Units of every cluster and kind: `units[cluster * kinds + kind]`.
    pub units: Vec<Ports>,
    /// Turns at every register file; empty if there is nothing to wait for.
    wheels: Vec<Wheel>,
    regfile_reads: Vec<Ports>,
    regfile_writes: Vec<Ports>,
    bank_reads: Vec<Ports>,
    bank_writes: Vec<Ports>,
    /// Links from banks and clusters into crossbars; empty where one read port
    /// keeps them apart anyway.
    bank_links: Vec<Ports>,
    /// By crossbar and cluster.
    regfile_links: Vec<Vec<Ports>>,
    /// Output ports of every crossbar: `xbar_ports[xbar][port]`.
    xbar_ports: Vec<Vec<Ports>>,
    channels: Vec<Ports>,
    regfile_latency: u64,
    bank_latency: Vec<u64>,
    xbar_latency: Vec<u64>,
    xbar_span: Vec<u64>,
    channel_latency: Vec<u64>,
    channel_span: Vec<u64>,
    to_clusters: Vec<u16>,
    from_clusters: Vec<u16>,
    among_clusters: Option<u16>,
    first_bank: u16,
    clusters: usize,
    /// Paths by bank and cluster, by two clusters, by bank and cluster, found once.
    fetches: Vec<(u16, Path)>,
    exchanges: Vec<(u16, Path)>,
    returns: Vec<(u16, Path)>,
    /// Shortest span of a transfer into a register file.
    pub shortest_transfer: u64,
}

/// What an instruction needs on a cluster.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Issue {
    pub cluster: u16,
    /// The units that execute it.
    pub units: Ports,
    /// Cycles that it occupies one.
    pub span: u64,
    /// Cycles from its start to the first chunk of the result in the register file.
    pub delay: u64,
    /// Operands that it reads at its start.
    pub operands: usize,
}

impl Network {
    /// The network of a machine; its calendars are added to `calendars`.
    pub fn new(machine: &Resolved, topology: &Topology, calendars: &mut Calendars) -> Self {
        let of_xbars = machine.xbars.iter().map(|x| x.span).min();
        let of_channels = machine.channels.iter().map(|c| c.span).min();
        let transfer = u64::from(of_xbars.unwrap_or(1));
        let shortest = transfer.min(u64::from(of_channels.unwrap_or(1)));
        let clusters = usize::from(machine.clusters);
        let outputs = clusters.max(machine.banks.len());
        let regfile = machine.regfile;
        let several = u16::from(regfile.net_reads > 1);
        let mut wheels = Vec::new();
        if let Some(turns) = regfile.turns {
            wheels = repeat(clusters, || calendars.turns.add(turns));
        }
        let add = &mut |count, shortest| calendars.add(count, shortest);
        let units = add_units(machine, add);
        let regfile_reads = repeat(clusters, || add(regfile.net_reads, transfer));
        let regfile_writes = repeat(clusters, || add(regfile.net_writes, transfer));
        let regfile_links = repeat(machine.xbars.len(), || {
            repeat(clusters, || add(several, transfer))
        });
        let banks = &machine.banks;
        let bank_reads: Vec<Ports> = each(banks, |b| add(b.reads.max(1), shortest));
        let bank_links = each(banks, |b| add(u16::from(b.reads > 1), shortest));
        let own_writes = |b: &Bank| if b.single_port { 0 } else { b.writes.max(1) };
        let mut bank_writes: Vec<Ports> = each(banks, |b| add(own_writes(b), shortest));
        for (writes, &reads) in bank_writes.iter_mut().zip(&bank_reads) {
            if writes.count == 0 {
                *writes = reads;
            }
        }
        let xbar_ports = each(&machine.xbars, |x| {
            repeat(outputs, || add(1, u64::from(x.span)))
        });
        let channels = each(&machine.channels, |c| add(1, u64::from(c.span)));
        let mut network = Self {
            units,
            wheels,
            regfile_reads,
            regfile_writes,
            bank_reads,
            bank_writes,
            bank_links,
            regfile_links,
            xbar_ports,
            channels,
            regfile_latency: u64::from(machine.regfile.latency),
            bank_latency: machine.banks.iter().map(|b| u64::from(b.latency)).collect(),
            xbar_latency: machine.xbars.iter().map(|x| u64::from(x.latency)).collect(),
            xbar_span: machine.xbars.iter().map(|x| u64::from(x.span)).collect(),
            channel_latency: machine
                .channels
                .iter()
                .map(|c| u64::from(c.latency))
                .collect(),
            channel_span: machine.channels.iter().map(|c| u64::from(c.span)).collect(),
            to_clusters: topology.to_clusters.clone(),
            from_clusters: topology.from_clusters.clone(),
            among_clusters: topology.among_clusters,
            first_bank: topology.banks[0],
            clusters,
            fetches: Vec::new(),
            exchanges: Vec::new(),
            returns: Vec::new(),
            shortest_transfer: transfer,
        };
        network.find_paths(topology);
        network
    }

    /// Fills the tables of paths; those of banks that are not used stay empty.
    fn find_paths(&mut self, topology: &Topology) {
        let clusters = 0..self.clusters as u16;
        let banks = 0..self.bank_reads.len() as u16;
        for (bank, cluster) in banks.flat_map(|b| clusters.clone().map(move |c| (b, c))) {
            let usable = topology.banks.contains(&bank);
            let of =
                |found: &dyn Fn() -> (u16, Path)| if usable { found() } else { Default::default() };
            self.fetches
                .push(of(&|| self.find_bank_to_cluster(bank, cluster)));
            self.returns
                .push(of(&|| self.find_cluster_to_bank(cluster, bank)));
        }
        if let Some(xbar) = self.among_clusters {
            let pairs = clusters
                .clone()
                .flat_map(|a| clusters.clone().map(move |b| (a, b)));
            self.exchanges = pairs
                .map(|(from, to)| self.find_cluster_to_cluster(xbar, from, to))
                .collect();
        }
    }

    fn link(&self, ports: Ports) -> Option<Ports> {
        (ports.count > 0).then_some(ports)
    }

    fn wheel(&self, cluster: u16) -> Option<Wheel> {
        self.wheels.get(usize::from(cluster)).copied()
    }

    /// About when a cluster's register file has served all that it was asked for.
    pub fn banks_done(&self, calendars: &Calendars, cluster: u16) -> u64 {
        self.wheel(cluster)
            .map_or(0, |wheel| wheel.done(&calendars.turns))
    }

    /// The first start at or after `from` of an instruction on one of `units` of a
    /// cluster: when a unit and all its accesses to the register file are free.
    pub fn earliest_issue(&self, calendars: &Calendars, issue: &Issue, from: u64) -> u64 {
        let span = issue.span.max(1);
        let wheel = self.wheel(issue.cluster).filter(|w| w.serves(issue.span));
        let Some(wheel) = wheel else {
            return calendars.earliest(issue.units, from, span).0;
        };
        let mut at = from;
        loop {
            let free = calendars.earliest(issue.units, at, span).0;
            at = wheel.earliest_issue(&calendars.turns, free, (issue.operands, issue.delay));
            if at == free {
                return at;
            }
        }
    }

    /// Reserves a unit and the accesses; returns the unit's calendar.
    pub fn reserve_issue(&self, calendars: &mut Calendars, issue: &Issue, at: u64) -> u32 {
        let wheel = self.wheel(issue.cluster).filter(|w| w.serves(issue.span));
        if let Some(wheel) = wheel {
            wheel.reserve(&mut calendars.turns, at, issue.operands);
            wheel.reserve(&mut calendars.turns, at + issue.delay, 1);
        }
        calendars.reserve(issue.units, at, issue.span.max(1))
    }

    /// The units of a kind in a cluster.
    pub fn units_of(&self, machine: &Resolved, cluster: u16, kind: u16) -> Ports {
        self.units[usize::from(cluster) * machine.units.len() + usize::from(kind)]
    }

    /// What an instruction of a kind needs on a cluster.
    pub fn issue(&self, machine: &Resolved, cluster: u16, op: Op, timing: OpTiming) -> Issue {
        Issue {
            cluster,
            units: self.units_of(machine, cluster, timing.unit),
            span: u64::from(timing.occupancy),
            delay: result_delay(timing, machine),
            operands: op.field_sources(),
        }
    }

    /// Bank to cluster, and the crossbar that it takes.
    #[inline]
    pub fn bank_to_cluster(&self, bank: u16, cluster: u16) -> &(u16, Path) {
        &self.fetches[usize::from(bank) * self.clusters + usize::from(cluster)]
    }

    /// Cluster to cluster, if there is a crossbar among them.
    #[inline]
    pub fn cluster_to_cluster(&self, from: u16, to: u16) -> Option<&(u16, Path)> {
        self.among_clusters?;
        Some(&self.exchanges[usize::from(from) * self.clusters + usize::from(to)])
    }

    /// Cluster to bank, and the crossbar that it takes.
    #[inline]
    pub fn cluster_to_bank(&self, cluster: u16, bank: u16) -> (u16, Path) {
        self.returns[usize::from(bank) * self.clusters + usize::from(cluster)]
    }

    fn find_bank_to_cluster(&self, bank: u16, cluster: u16) -> (u16, Path) {
        let xbar = self.to_clusters[usize::from(bank)];
        let x = usize::from(xbar);
        let route = self.bank_latency[usize::from(bank)];
        let delay = route + self.xbar_latency[x];
        let path = Path::new(self.xbar_span[x], route, delay)
            .send(
                self.bank_reads[usize::from(bank)],
                self.link(self.bank_links[usize::from(bank)]),
            )
            .leg(self.xbar_ports[x][usize::from(cluster)], route)
            .leg(self.regfile_writes[usize::from(cluster)], delay)
            .turns(None, self.wheel(cluster));
        (xbar, path)
    }

    fn find_cluster_to_cluster(&self, xbar: u16, from: u16, to: u16) -> (u16, Path) {
        let x = usize::from(xbar);
        let route = self.regfile_latency;
        let delay = route + self.xbar_latency[x];
        let path = Path::new(self.xbar_span[x], route, delay)
            .send(
                self.regfile_reads[usize::from(from)],
                self.link(self.regfile_links[x][usize::from(from)]),
            )
            .leg(self.xbar_ports[x][usize::from(to)], route)
            .leg(self.regfile_writes[usize::from(to)], delay)
            .turns(self.wheel(from), self.wheel(to));
        (xbar, path)
    }

    fn find_cluster_to_bank(&self, cluster: u16, bank: u16) -> (u16, Path) {
        let xbar = self.from_clusters[usize::from(bank)];
        let x = usize::from(xbar);
        let route = self.regfile_latency;
        let delay = route + self.xbar_latency[x];
        let path = Path::new(self.xbar_span[x], route, delay)
            .send(
                self.regfile_reads[usize::from(cluster)],
                self.link(self.regfile_links[x][usize::from(cluster)]),
            )
            .leg(self.xbar_ports[x][usize::from(bank)], route)
            .leg(self.bank_writes[usize::from(bank)], delay)
            .turns(self.wheel(cluster), None);
        (xbar, path)
    }

    /// Cycles from a cluster to another through a bank.
    pub fn detour(&self, cluster: u16) -> u64 {
        let bank = self.first_bank;
        self.cluster_to_bank(cluster, bank).1.delay + self.bank_to_cluster(bank, 0).1.delay
    }

    /// Channel to bank: a load.
    pub fn load(&self, channel: u16, bank: u16) -> Path {
        let c = usize::from(channel);
        let delay = self.channel_latency[c];
        Path::new(self.channel_span[c], 0, delay)
            .leg(self.channels[c], 0)
            .leg(self.bank_writes[usize::from(bank)], delay)
    }

    /// Bank to channel: a store. Its delay is that after which the off-chip
    /// slot may be loaded, less the span.
    pub fn store(&self, bank: u16, channel: u16) -> Path {
        let c = usize::from(channel);
        let route = self.bank_latency[usize::from(bank)];
        Path::new(self.channel_span[c], route, route + self.channel_latency[c])
            .leg(self.bank_reads[usize::from(bank)], 0)
            .leg(self.channels[c], route)
    }

    /// The calendar of a channel.
    pub fn channel(&self, channel: u16) -> Ports {
        self.channels[usize::from(channel)]
    }

    /// The network write ports of a cluster's register file.
    pub fn arrivals(&self, cluster: u16) -> Ports {
        self.regfile_writes[usize::from(cluster)]
    }
}

/// Calendars of the units, by cluster and kind.
fn add_units(machine: &Resolved, add: &mut impl FnMut(u16, u64) -> Ports) -> Vec<Ports> {
    let shortest = |kind: usize| {
        let timings = machine.ops.iter().flatten();
        let own = timings.filter(|t| usize::from(t.unit) == kind);
        u64::from(own.map(|t| t.occupancy).min().unwrap_or(1))
    };
    let kinds = machine.units.len();
    let all = (0..machine.clusters).flat_map(|_| 0..kinds);
    all.map(|kind| add(machine.units[kind].count, shortest(kind)))
        .collect()
}

fn repeat<T>(count: usize, mut make: impl FnMut() -> T) -> Vec<T> {
    (0..count).map(|_| make()).collect()
}

fn each<S, T>(list: &[S], make: impl FnMut(&S) -> T) -> Vec<T> {
    list.iter().map(make).collect()
}
