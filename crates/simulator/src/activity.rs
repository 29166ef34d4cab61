//! How busy the components are, and what they do.

use cyclotron_isa::{
    Component, DramContent, FlatProgram, Link, Op, Schedule, StreamOp, Traffic, TrafficClass,
};
use cyclotron_machine::{Bank, Resolved};

use crate::turns::{accesses, result_after};

/// What all components of a kind do together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Activity {
    /// The kind: a unit's, crossbar's or bank group's name, `register file` (its network
    /// ports), `channel` or `register file bank` (each access that one serves in a cycle).
    pub kind: String,
    /// Components of the kind.
    pub instances: u64,
    /// Cycles that they are busy, summed over them.
    pub busy_cycles: u64,
    /// The same by time: bucket i covers the cycles from `i * bucket_cycles`.
    pub buckets: Vec<u64>,
}

/// Everything that can be counted without values.
#[derive(Debug, Clone)]
pub struct Counts {
    /// The cycle at which the last component finishes.
    pub cycles: u64,
    /// Cycles of a bucket of [`Activity::buckets`].
    pub bucket_cycles: u64,
    /// How busy the components are, by kind.
    pub activity: Vec<Activity>,
    /// Off-chip traffic in bytes.
    pub traffic: Traffic,
    /// Operations, by `op as usize`.
    pub operations: [u64; Op::ALL.len()],
}

/// Cycles that an entry occupies its component, and cycles to the end of what
/// it does, both from its start.
pub(crate) fn extent(machine: &Resolved, component: Component, op: &StreamOp) -> (u64, u64) {
    let span = match (component, op) {
        (Component::Unit { .. }, StreamOp::Compute { op, .. }) => {
            let Some(timing) = machine.timing(*op) else {
                return (0, 0);
            };
            let busy = u64::from(timing.occupancy);
            return (busy, result_after(machine, timing) + busy);
        }
        (_, StreamOp::Read { to: link, .. } | StreamOp::Write { from: link, .. }) => match *link {
            Link::Xbar(x) => machine.xbars.get(usize::from(x)).map(|xbar| xbar.span),
            Link::Channel(c) => machine.channels.get(usize::from(c)).map(|c| c.span),
        },
        (Component::XbarPort { xbar, .. }, _) => {
            let xbar = machine.xbars.get(usize::from(xbar));
            xbar.map(|xbar| xbar.span)
        }
        (Component::Channel { channel }, op) => {
            let channel = machine.channels.get(usize::from(channel));
            if let (Some(channel), StreamOp::Store { .. }) = (channel, op) {
                let span = u64::from(channel.span);
                return (span, span + u64::from(channel.latency));
            }
            channel.map(|channel| channel.span)
        }
        _ => None,
    };
    let span = span.map_or(0, u64::from);
    (span, span)
}

/// Counts what a schedule does. Entries that make no sense count nothing.
#[must_use]
pub fn count(
    program: &FlatProgram,
    schedule: &Schedule,
    machine: &Resolved,
    buckets: usize,
) -> Counts {
    let mut cycles = 0;
    for stream in &schedule.streams {
        for (cycle, op) in stream.timed() {
            cycles = cycles.max(cycle + extent(machine, stream.component, &op).1);
        }
    }
    let buckets = buckets.clamp(1, 1 << 16);
    let mut counts = Counts {
        cycles,
        bucket_cycles: cycles.div_ceil(buckets as u64).max(1),
        activity: kinds(machine, buckets),
        traffic: Traffic::default(),
        operations: [0; Op::ALL.len()],
    };
    let banks = machine.regfile.turns.map(|_| counts.activity.len() - 1);
    for stream in &schedule.streams {
        let kind = kind_of(machine, stream.component);
        for (cycle, op) in stream.timed() {
            let busy = extent(machine, stream.component, &op).0;
            if let Some(activity) = kind.and_then(|kind| counts.activity.get_mut(kind)) {
                activity.add(cycle, busy, counts.bucket_cycles);
            }
            if let (Some(turns), Some(banks)) = (machine.regfile.turns, banks) {
                for (_, start) in accesses(machine, stream.component, cycle, &op) {
                    let length = u64::from(turns.chunks);
                    counts.activity[banks].add(start, length, counts.bucket_cycles);
                }
            }
            if let StreamOp::Compute { op, .. } = op {
                counts.operations[op as usize] += 1;
            }
        }
    }
    counts.traffic = traffic(program, schedule).scaled(machine.vector_bytes);
    counts
}

impl Activity {
    fn new(kind: &str, instances: usize, buckets: usize) -> Self {
        Self {
            kind: kind.to_owned(),
            instances: instances as u64,
            busy_cycles: 0,
            buckets: vec![0; buckets],
        }
    }

    fn add(&mut self, cycle: u64, busy: u64, width: u64) {
        self.busy_cycles += busy;
        let (mut at, end) = (cycle, cycle + busy);
        while at < end {
            let bucket = at / width;
            let next = end.min((bucket + 1) * width);
            match self.buckets.get_mut(bucket as usize) {
                Some(total) => *total += next - at,
                None => return,
            }
            at = next;
        }
    }
}

/// The kinds: units, register file, bank groups, crossbars, channel and, last, what
/// the banks of register files serve, if that is limited.
fn kinds(machine: &Resolved, buckets: usize) -> Vec<Activity> {
    let clusters = usize::from(machine.clusters);
    let mut kinds = Vec::new();
    for unit in &machine.units {
        let instances = clusters * usize::from(unit.count);
        kinds.push(Activity::new(&unit.name, instances, buckets));
    }
    // What is busy of a register file or a bank is a port.
    let ports = usize::from(machine.regfile.net_reads + machine.regfile.net_writes);
    kinds.push(Activity::new("register file", clusters * ports, buckets));
    for (group, name) in machine.groups.iter().enumerate() {
        let of_group = machine
            .banks
            .iter()
            .filter(|b| usize::from(b.group) == group);
        let ports = |b: &Bank| {
            if b.single_port {
                1
            } else {
                usize::from(b.reads + b.writes)
            }
        };
        kinds.push(Activity::new(name, of_group.map(ports).sum(), buckets));
    }
    for xbar in &machine.xbars {
        let instances = match xbar.kind {
            cyclotron_machine::XbarKind::ClusterToBank => machine.banks.len(),
            _ => clusters,
        };
        kinds.push(Activity::new(&xbar.name, instances, buckets));
    }
    kinds.push(Activity::new("channel", machine.channels.len(), buckets));
    if let Some(turns) = machine.regfile.turns {
        let served = usize::from(turns.banks) * usize::from(turns.accesses);
        let name = "register file bank";
        kinds.push(Activity::new(name, clusters * served, buckets));
    }
    kinds
}

fn kind_of(machine: &Resolved, component: Component) -> Option<usize> {
    let units = machine.units.len();
    let groups = machine.groups.len();
    match component {
        Component::Unit { unit, .. } => {
            let in_kind = |kind: &cyclotron_machine::UnitKind| {
                (kind.first..kind.first.saturating_add(kind.count)).contains(&unit)
            };
            machine.units.iter().position(in_kind)
        }
        Component::RegFile { .. } => Some(units),
        Component::Bank { bank } => {
            let bank = machine.banks.get(usize::from(bank))?;
            Some(units + 1 + usize::from(bank.group))
        }
        Component::XbarPort { xbar, .. } => Some(units + 1 + groups + usize::from(xbar)),
        Component::Channel { .. } => Some(units + 1 + groups + machine.xbars.len()),
    }
}

/// Off-chip traffic by class, in vectors.
fn traffic(program: &FlatProgram, schedule: &Schedule) -> Traffic {
    let mut traffic = Traffic::default();
    let mut seen = vec![false; schedule.dram.len()];
    for entry in schedule.streams.iter().flat_map(|stream| &stream.entries) {
        let (address, load) = match entry.op {
            StreamOp::Load { address, .. } => (address as usize, true),
            StreamOp::Store { address, .. } => (address as usize, false),
            _ => continue,
        };
        let Some(slot) = schedule.dram.get(address) else {
            continue;
        };
        let again = std::mem::replace(&mut seen[address], true);
        let class = match slot.content {
            DramContent::Input(input) => match program.inputs.get(input as usize) {
                Some(input) => input.source.traffic_class(),
                None => continue,
            },
            DramContent::Output(_) | DramContent::Spill => TrafficClass::Intermediates,
        };
        let first_output = matches!(slot.content, DramContent::Output(_)) && !again;
        let count = match (class, load) {
            (TrafficClass::Hints, true) if again => &mut traffic.hints_other,
            (TrafficClass::Hints, true) => &mut traffic.hints_compulsory,
            (TrafficClass::InputsOutputs, true) if again => &mut traffic.inputs_other,
            (TrafficClass::InputsOutputs, true) => &mut traffic.inputs_compulsory,
            (TrafficClass::Intermediates, true) => &mut traffic.intermediate_loads,
            (_, false) if first_output => &mut traffic.outputs,
            (_, false) => &mut traffic.intermediate_stores,
        };
        *count += 1;
    }
    traffic
}
