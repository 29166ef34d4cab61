//! Which memories reach each other, as placement uses them.
//!
//! A program's values may lie in any *usable* bank: one that all used channels
//! reach, and that exchanges vectors with the clusters in both directions. If
//! several crossbars connect a bank to the clusters, the fastest is used.

use cyclotron_isa::{FlatProgram, Op};
use cyclotron_machine::{OpTiming, Resolved, Xbar, XbarKind};

use crate::error::CompileError;

/// The usable part of a machine's memories and network.
#[derive(Debug, Clone)]
pub(crate) struct Topology {
    /// Usable banks, by machine index.
    pub banks: Vec<u16>,
    /// Crossbar from each machine bank to the clusters (meaningless for unusable banks).
    pub to_clusters: Vec<u16>,
    /// Crossbar from the clusters to each machine bank.
    pub from_clusters: Vec<u16>,
    /// Crossbar among clusters.
    pub among_clusters: Option<u16>,
    /// Usable channels, by machine index.
    pub channels: Vec<u16>,
    /// Vectors that the usable banks hold.
    pub capacity: u64,
}

impl Topology {
    pub fn new(machine: &Resolved) -> Result<Self, CompileError> {
        let disconnected = |what: &str| CompileError::Disconnected {
            machine: machine.name.clone(),
            what: what.to_owned(),
        };
        let fastest = |kind: XbarKind, group: Option<u16>| -> Option<u16> {
            let fits = |x: &Xbar| x.kind == kind && group.is_none_or(|g| x.groups.contains(&g));
            (0..machine.xbars.len())
                .filter(|&x| fits(&machine.xbars[x]))
                .min_by_key(|&x| (machine.xbars[x].span, machine.xbars[x].latency))
                .map(|x| x as u16)
        };
        let groups = 0..machine.groups.len() as u16;
        let slots = |group: u16| -> u64 {
            let banks = machine.banks.iter().filter(|bank| bank.group == group);
            banks.map(|bank| u64::from(bank.slots)).sum()
        };
        let connected: Vec<u16> = groups
            .filter(|&g| {
                fastest(XbarKind::BankToCluster, Some(g)).is_some()
                    && fastest(XbarKind::ClusterToBank, Some(g)).is_some()
            })
            .collect();
        let reached = |group: u16| machine.channels.iter().any(|c| c.groups.contains(&group));
        let main = connected
            .iter()
            .copied()
            .filter(|&g| reached(g))
            .max_by_key(|&g| slots(g))
            .ok_or_else(|| {
                disconnected(
                    "scratchpad with an off-chip channel and crossbars to and from the clusters",
                )
            })?;
        let channels: Vec<u16> = (0..machine.channels.len() as u16)
            .filter(|&c| machine.channels[usize::from(c)].groups.contains(&main))
            .collect();
        let usable = |group: u16| {
            let all = |c: &u16| machine.channels[usize::from(*c)].groups.contains(&group);
            connected.contains(&group) && channels.iter().all(all)
        };
        let banks: Vec<u16> = (0..machine.banks.len() as u16)
            .filter(|&b| usable(machine.banks[usize::from(b)].group))
            .collect();
        let xbar_of = |kind: XbarKind| -> Vec<u16> {
            let of = |bank: &cyclotron_machine::Bank| fastest(kind, Some(bank.group));
            machine
                .banks
                .iter()
                .map(|bank| of(bank).unwrap_or(u16::MAX))
                .collect()
        };
        Ok(Self {
            capacity: banks
                .iter()
                .map(|&b| u64::from(machine.banks[usize::from(b)].slots))
                .sum(),
            banks,
            to_clusters: xbar_of(XbarKind::BankToCluster),
            from_clusters: xbar_of(XbarKind::ClusterToBank),
            among_clusters: fastest(XbarKind::ClusterToCluster, None),
            channels,
        })
    }
}

/// Timing of every operation by number; operations that the program does not
/// use have a dummy.
pub(crate) fn op_timings(
    flat: &FlatProgram,
    machine: &Resolved,
) -> Result<Vec<OpTiming>, CompileError> {
    let mut used = [false; Op::ALL.len()];
    flat.op.iter().for_each(|&op| used[op as usize] = true);
    let dummy = OpTiming {
        unit: 0,
        occupancy: 1,
        latency: 0,
        multipass: false,
    };
    Op::ALL
        .into_iter()
        .map(|op| match machine.timing(op) {
            Some(timing) => Ok(timing),
            None if !used[op as usize] => Ok(dummy),
            None => Err(CompileError::Unsupported {
                op,
                machine: machine.name.clone(),
            }),
        })
        .collect()
}

/// How many instructions the machine can issue while a load is on its way.
pub(crate) fn latency_in_instructions(machine: &Resolved, topology: &Topology) -> usize {
    let timings = || machine.ops.iter().flatten();
    let load = topology
        .channels
        .iter()
        .map(|&c| &machine.channels[usize::from(c)])
        .map(|c| u64::from(c.latency) + 4 * u64::from(c.span))
        .max()
        .unwrap_or(0);
    let latency = timings()
        .map(|t| u64::from(t.latency + t.occupancy))
        .max()
        .unwrap_or(1);
    let occupancy = timings()
        .map(|t| u64::from(t.occupancy))
        .min()
        .unwrap_or(1)
        .max(1);
    let units = u64::from(machine.clusters) * u64::from(machine.units_per_cluster());
    let instructions = (load + latency) * units / occupancy;
    instructions.clamp(16, 1 << 16) as usize
}
