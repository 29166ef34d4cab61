//! Energy of what a schedule does: counts of events times the energy of one.
//!
//! A machine file gives the power of a component at work. An event costs that
//! power for the time that a fully used component takes for it:
//!
//! - an operation: the unit's power over its occupancy;
//! - an access to a register file or bank, a vector through a crossbar: the power
//!   over the cycles of a vector at full width, divided by the ports, because the
//!   published power is that of all ports at work;
//! - a vector over an off-chip interface: the channel's power over the transfer;
//!   and in the memory behind it, the picojoules of its bits.
//!
//! Power that flows when nothing happens is not described, and not counted.

use cyclotron_isa::{Component, Op, Schedule, StreamOp};
use cyclotron_machine::{Bandwidth, Bank, Description, Resolved, XbarKind};

/// One kind of event in one kind of component.
#[derive(Debug, Clone, PartialEq)]
pub struct EnergyLine {
    /// The component's path in the machine file, `cluster.cc.fu.ntt`;
    /// `offchip.NAME.memory` is the memory behind the interface `offchip.NAME`.
    pub component: String,
    /// An operation's mnemonic, or `operand read`, `result write`, `read`,
    /// `write`, `route`, `load` or `store` of a vector.
    pub event: &'static str,
    /// How many there are.
    pub count: u64,
    /// Of one event; `None` if the machine file does not say.
    pub picojoules: Option<f64>,
}

/// The energy of a schedule, by component and event.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Energy {
    /// What happens at least once, in the order of the machine file.
    pub lines: Vec<EnergyLine>,
}

impl EnergyLine {
    /// Joules of all events; `None` if the machine file does not say.
    #[must_use]
    pub fn joules(&self) -> Option<f64> {
        self.picojoules.map(|each| each * exact(self.count) * 1e-12)
    }
}

impl Energy {
    /// Joules of the components whose path starts with `prefix`; those of which
    /// nothing is known count nothing.
    #[must_use]
    pub fn joules(&self, prefix: &str) -> f64 {
        let within = |line: &&EnergyLine| line.component.starts_with(prefix);
        let lines = self.lines.iter().filter(within);
        lines.filter_map(EnergyLine::joules).sum()
    }
}

/// Vectors that a memory reads and writes.
#[derive(Debug, Clone, Copy, Default)]
struct Accesses {
    reads: u64,
    writes: u64,
}

/// Events of a schedule, by index in the machine.
struct Events {
    /// By operation and, within it, nothing else: an operation has one unit.
    operations: [u64; Op::ALL.len()],
    operands: Accesses,
    network: Accesses,
    groups: Vec<Accesses>,
    xbars: Vec<u64>,
    memories: Vec<Accesses>,
}

/// The energy of executing a schedule on the machine that `resolved` comes from.
/// Entries that make no sense count nothing.
///
/// # Cost
/// Linear in the entries.
#[must_use]
pub fn energy(schedule: &Schedule, description: &Description, resolved: &Resolved) -> Energy {
    let events = Events::of(schedule, description, resolved);
    let pricing = Pricing {
        description,
        resolved,
        microseconds: 1.0 / description.clock_mhz,
    };
    let mut lines = Vec::new();
    pricing.units(&events, &mut lines);
    pricing.register_files(&events, &mut lines);
    pricing.scratchpads(&events, &mut lines);
    pricing.xbars(&events, &mut lines);
    pricing.offchip(&events, &mut lines);
    lines.retain(|line| line.count > 0);
    Energy { lines }
}

impl Events {
    fn of(schedule: &Schedule, description: &Description, machine: &Resolved) -> Self {
        let mut events = Events {
            operations: [0; Op::ALL.len()],
            operands: Accesses::default(),
            network: Accesses::default(),
            groups: vec![Accesses::default(); machine.groups.len()],
            xbars: vec![0; machine.xbars.len()],
            memories: vec![Accesses::default(); description.offchip.len()],
        };
        for stream in &schedule.streams {
            for entry in &stream.entries {
                events.add(stream.component, &entry.op, machine);
            }
        }
        events
    }

    fn add(&mut self, component: Component, op: &StreamOp, machine: &Resolved) {
        match component {
            Component::Unit { .. } => {
                if let StreamOp::Compute { op, .. } = op {
                    self.operations[*op as usize] += 1;
                    self.operands.reads += op.field_sources() as u64;
                    self.operands.writes += 1;
                }
            }
            Component::RegFile { .. } => self.network.add(op),
            Component::Bank { bank } => {
                let group = machine.banks.get(usize::from(bank)).map(|b| b.group);
                if let Some(group) = group.and_then(|g| self.groups.get_mut(usize::from(g))) {
                    group.add(op);
                }
            }
            Component::XbarPort { xbar, .. } => {
                if let Some(count) = self.xbars.get_mut(usize::from(xbar)) {
                    *count += 1;
                }
            }
            Component::Channel { channel } => {
                let memory = machine.channels.get(usize::from(channel));
                let memory = memory.map(|c| usize::from(c.memory));
                if let Some(memory) = memory.and_then(|m| self.memories.get_mut(m)) {
                    memory.add(op);
                }
            }
        }
    }
}

impl Accesses {
    fn add(&mut self, op: &StreamOp) {
        match op {
            StreamOp::Read { .. } | StreamOp::Load { .. } => self.reads += 1,
            StreamOp::Write { .. } | StreamOp::Store { .. } => self.writes += 1,
            StreamOp::Compute { .. } | StreamOp::Route { .. } => {}
        }
    }
}

/// What one event costs.
struct Pricing<'a> {
    description: &'a Description,
    resolved: &'a Resolved,
    /// Of a cycle.
    microseconds: f64,
}

impl Pricing<'_> {
    /// Picojoules of `watts` over `cycles`: a watt for a microsecond is a million.
    fn picojoules(&self, watts: Option<f64>, cycles: f64) -> Option<f64> {
        watts.map(|watts| watts * cycles * self.microseconds * 1e6)
    }

    fn units(&self, events: &Events, lines: &mut Vec<EnergyLine>) {
        let cluster = &self.description.cluster;
        for (index, unit) in cluster.units.iter().enumerate() {
            for op in Op::ALL {
                let Some(timing) = self.resolved.timing(op) else {
                    continue;
                };
                if usize::from(timing.unit) == index {
                    let cycles = f64::from(timing.occupancy);
                    lines.push(EnergyLine {
                        component: format!("cluster.{}.fu.{}", cluster.name, unit.name),
                        event: op.name(),
                        count: events.operations[op as usize],
                        picojoules: self.picojoules(unit.cost.tdp_w, cycles),
                    });
                }
            }
        }
    }

    fn register_files(&self, events: &Events, lines: &mut Vec<EnergyLine>) {
        let cluster = &self.description.cluster;
        let file = &cluster.regfile;
        let ports = file.read_ports + file.write_ports + file.net_read_ports + file.net_write_ports;
        // A port is as wide as the units.
        let vector = exact(1 << self.resolved.log_n) / f64::from(self.description.lanes);
        let each = self.picojoules(file.cost.tdp_w, vector / f64::from(ports.max(1)));
        for (event, count) in [
            ("operand read", events.operands.reads),
            ("result write", events.operands.writes),
            ("read", events.network.reads),
            ("write", events.network.writes),
        ] {
            lines.push(EnergyLine {
                component: format!("cluster.{}.regfile", cluster.name),
                event,
                count,
                picojoules: each,
            });
        }
    }

    fn scratchpads(&self, events: &Events, lines: &mut Vec<EnergyLine>) {
        for (index, group) in self.description.scratchpads.iter().enumerate() {
            let bank = self
                .resolved
                .banks
                .iter()
                .find(|b| usize::from(b.group) == index);
            let ports = bank.map_or(1, ports_of);
            let vector = self.vector_bytes() / f64::from(group.bytes_per_cycle);
            let each = self.picojoules(group.cost.tdp_w, vector / f64::from(ports));
            let Accesses { reads, writes } = events.groups[index];
            for (event, count) in [("read", reads), ("write", writes)] {
                lines.push(EnergyLine {
                    component: format!("scratchpad.{}", group.name),
                    event,
                    count,
                    picojoules: each,
                });
            }
        }
    }

    fn xbars(&self, events: &Events, lines: &mut Vec<EnergyLine>) {
        for ((xbar, resolved), &count) in self
            .description
            .xbars
            .iter()
            .zip(&self.resolved.xbars)
            .zip(&events.xbars)
        {
            let outputs = match resolved.kind {
                XbarKind::ClusterToBank => self.resolved.banks.len(),
                _ => usize::from(self.resolved.clusters),
            };
            let cycles = f64::from(resolved.span) / exact(outputs.max(1) as u64);
            lines.push(EnergyLine {
                component: format!("xbar.{}", xbar.name),
                event: "route",
                count,
                picojoules: self.picojoules(xbar.cost.tdp_w, cycles),
            });
        }
    }

    fn offchip(&self, events: &Events, lines: &mut Vec<EnergyLine>) {
        let bytes = self.vector_bytes();
        for (memory, accesses) in self.description.offchip.iter().zip(&events.memories) {
            let cycles = match memory.bandwidth {
                Bandwidth::Unlimited => 0.0,
                Bandwidth::GbPerSecond(rate) => bytes / (rate * 1e3) / self.microseconds,
            };
            let interface = self.picojoules(memory.cost.tdp_w, cycles);
            let inside = memory.energy_pj_per_bit.map(|bit| bit * bytes * 8.0);
            let path = format!("offchip.{}", memory.name);
            for (component, each) in [
                (path.clone(), interface),
                (format!("{path}.memory"), inside),
            ] {
                for (event, count) in [("load", accesses.reads), ("store", accesses.writes)] {
                    lines.push(EnergyLine {
                        component: component.clone(),
                        event,
                        count,
                        picojoules: each,
                    });
                }
            }
        }
    }

    fn vector_bytes(&self) -> f64 {
        exact(self.resolved.vector_bytes)
    }
}

fn ports_of(bank: &Bank) -> u32 {
    if bank.single_port {
        1
    } else {
        u32::from(bank.reads + bank.writes).max(1)
    }
}

fn exact(count: u64) -> f64 {
    count as f64
}
