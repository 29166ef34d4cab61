//! Measures of a schedule.

use cyclotron_isa::Schedule;
use cyclotron_machine::Resolved;

use crate::calendar::Ports;
use crate::placement::network::Network;

/// What placement counted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PlacementStats {
    /// Instructions executed.
    pub computes: u64,
    /// Distinct operands of all instructions.
    pub operands: u64,
    /// Transfers to register files, from banks and other clusters.
    pub fetches: u64,
    /// Of these, transfers that share the read of another.
    pub shared_reads: u64,
    /// Transfers from register files to banks.
    pub write_backs: u64,
    /// Values pushed out of register files before their last use.
    pub evictions: u64,
    /// Busy cycles by unit kind, all instances together.
    pub unit_busy: Vec<u64>,
    /// Busy cycles of the channels, all together.
    pub channel_busy: u64,
    /// Busy cycles of the register files' network write ports, all together.
    pub arrival_busy: u64,
}

impl PlacementStats {
    /// Adds the counts of another part of the schedule.
    pub(crate) fn add(&mut self, other: &Self) {
        self.computes += other.computes;
        self.operands += other.operands;
        self.fetches += other.fetches;
        self.shared_reads += other.shared_reads;
        self.write_backs += other.write_backs;
        self.evictions += other.evictions;
        self.unit_busy.resize(other.unit_busy.len(), 0);
        for (busy, more) in self.unit_busy.iter_mut().zip(&other.unit_busy) {
            *busy += more;
        }
        self.channel_busy += other.channel_busy;
        self.arrival_busy += other.arrival_busy;
    }

    /// Fills in the busy cycles, given those of a group of ports.
    pub(crate) fn count_busy(
        &mut self,
        machine: &Resolved,
        network: &Network,
        busy: impl Fn(Ports) -> u64,
    ) {
        let kinds = machine.units.len();
        let clusters = 0..usize::from(machine.clusters);
        let of_kind = |kind: usize| {
            let each = clusters.clone().map(|c| network.units[c * kinds + kind]);
            each.map(&busy).sum()
        };
        self.unit_busy = (0..kinds).map(of_kind).collect();
        let channels = 0..machine.channels.len() as u16;
        self.channel_busy = channels.map(|c| busy(network.channel(c))).sum();
        let clusters = 0..machine.clusters;
        self.arrival_busy = clusters.map(|c| busy(network.arrivals(c))).sum();
    }
}

/// How busy a machine is under a schedule.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CompileStats {
    /// Name and busy fraction of every unit kind, in `[0, 1]`.
    pub unit_utilisation: Vec<(String, f64)>,
    /// Busy fraction of the off-chip channels.
    pub channel_utilisation: f64,
    /// Busy fraction of the register files' network write ports.
    pub network_utilisation: f64,
    /// Fraction of operands that were in the cluster's register file already.
    pub regfile_hit_rate: f64,
    /// The counts.
    pub placement: PlacementStats,
}

impl CompileStats {
    /// Relates the counts to the capacity of the machine.
    #[must_use]
    pub fn new(machine: &Resolved, schedule: &Schedule, placement: PlacementStats) -> Self {
        let share = |busy: u64, instances: u64| {
            let capacity = schedule.cycles * instances;
            if capacity == 0 {
                0.0
            } else {
                busy as f64 / capacity as f64
            }
        };
        let clusters = u64::from(machine.clusters);
        let units = machine.units.iter().zip(&placement.unit_busy);
        let ports = clusters * u64::from(machine.regfile.net_writes);
        let missed = placement.fetches as f64 / placement.operands.max(1) as f64;
        Self {
            unit_utilisation: units
                .map(|(kind, &busy)| {
                    (
                        kind.name.clone(),
                        share(busy, clusters * u64::from(kind.count)),
                    )
                })
                .collect(),
            channel_utilisation: share(placement.channel_busy, machine.channels.len() as u64),
            network_utilisation: share(placement.arrival_busy, ports),
            regfile_hit_rate: 1.0 - missed,
            placement,
        }
    }
}
