//! Lower bounds on the cycles of any legal schedule.
//!
//! Every piece of work has a *head*, a cycle before which it cannot start, and
//! a *tail*, cycles that must pass after it until the schedule ends; both are
//! longest paths through the dataflow over the machine's latencies, and a head also
//! counts the loads that must come first ([`release`]). The pieces
//! of one resource with head at least h and tail at least t all happen in
//! `[h, C - t]`, so `C >= h + work / capacity + t`. The bound is the largest of
//! these over all resources and windows (h, t), the critical path (a window
//! with one piece) among them.
//!
//! Resources: each kind of unit; the off-chip channels, with compulsory
//! traffic only (one load of every input that is read, one store of every
//! output); transfers of inputs to the clusters and of outputs back, one each.
//! Nothing is assumed about the scratchpad, register files or the order of
//! instructions, and only instructions that outputs depend on count.

mod fabric;
mod paths;
mod release;
mod window;

use cyclotron_isa::FlatProgram;
use cyclotron_machine::Resolved;

use crate::error::{CompileError, Pause};
use crate::topology::{Topology, op_timings};
use crate::uses::live_instructions;
use fabric::Fabric;
use paths::Paths;
use window::{Piece, best_window};

/// A proven lower bound and what proves it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LowerBound {
    /// No legal schedule takes fewer cycles.
    pub cycles: u64,
    /// The resource that binds: a unit's name, `off-chip channels`,
    /// `transfers to clusters`, `transfers from clusters`, `critical path`, or
    /// `nothing` for an empty program.
    pub resource: String,
    /// The binding window's head: its work starts at this cycle or later.
    pub head: u64,
    /// The binding window's work, spread over all instances, in cycles.
    pub work: u64,
    /// The binding window's tail: so many cycles pass after its work.
    pub tail: u64,
    /// The bound of every resource by itself.
    pub by_resource: Vec<(String, u64)>,
}

/// Computes the lower bound of a legalized program on a machine.
///
/// # Errors
/// [`CompileError::Unsupported`] and [`CompileError::Disconnected`] if the
/// machine lacks an operation or a connection.
pub fn lower_bound(flat: &FlatProgram, machine: &Resolved) -> Result<LowerBound, CompileError> {
    lower_bound_until(flat, machine, &mut || Ok(()))
}

/// [`lower_bound`], abandoned when `pause` fails.
pub(crate) fn lower_bound_until(
    flat: &FlatProgram,
    machine: &Resolved,
    pause: Pause<'_>,
) -> Result<LowerBound, CompileError> {
    let topology = Topology::new(machine)?;
    let timing = op_timings(flat, machine)?;
    pause()?;
    let live = live_instructions(flat);
    let fabric = Fabric::new(machine, &topology);
    let paths = Paths::new(
        flat,
        &timing,
        &live,
        (&fabric, topology.channels.len() as u64),
        u64::from(machine.regfile.latency),
        pause,
    )?;
    let mut bound = LowerBound {
        resource: "nothing".to_owned(),
        ..LowerBound::default()
    };
    let clusters = u64::from(machine.clusters);
    for (kind, unit) in machine.units.iter().enumerate() {
        let pieces = (0..flat.len())
            .filter(|&inst| live[inst])
            .filter_map(|inst| {
                let timing = timing[flat.op[inst] as usize];
                (usize::from(timing.unit) == kind).then(|| Piece {
                    head: paths.head[inst],
                    work: u64::from(timing.occupancy),
                    tail: paths.tail[inst],
                })
            });
        bound.consider(
            &unit.name,
            pieces.collect(),
            clusters * u64::from(unit.count),
            pause,
        )?;
    }
    let channels = topology.channels.len() as u64;
    bound.consider(
        "off-chip channels",
        paths.channel_pieces(flat, &fabric),
        channels,
        pause,
    )?;
    let arriving = paths.arrival_pieces(flat, &fabric);
    let ports = fabric.arrival_ports;
    bound.consider("transfers to clusters", arriving, ports, pause)?;
    let leaving = paths.departure_pieces(flat, &fabric);
    let ports = fabric.departure_ports;
    bound.consider("transfers from clusters", leaving, ports, pause)?;
    let critical = (0..flat.len())
        .filter(|&inst| live[inst])
        .map(|inst| {
            let occupancy = u64::from(timing[flat.op[inst] as usize].occupancy);
            (
                paths.head[inst] + occupancy + paths.tail[inst],
                inst,
                occupancy,
            )
        })
        .max();
    if let Some((cycles, inst, work)) = critical {
        bound.by_resource.push(("critical path".to_owned(), cycles));
        if cycles >= bound.cycles {
            bound.cycles = cycles;
            bound.resource = "critical path".to_owned();
            (bound.head, bound.work, bound.tail) = (paths.head[inst], work, paths.tail[inst]);
        }
    }
    Ok(bound)
}

impl LowerBound {
    /// Takes a resource of `capacity` equal instances into account.
    fn consider(
        &mut self,
        resource: &str,
        pieces: Vec<Piece>,
        capacity: u64,
        pause: Pause<'_>,
    ) -> Result<(), CompileError> {
        let Some(window) = best_window(&pieces, capacity, pause)? else {
            return Ok(());
        };
        let cycles = window.head + window.work + window.tail;
        self.by_resource.push((resource.to_owned(), cycles));
        if cycles > self.cycles {
            self.cycles = cycles;
            self.resource = resource.to_owned();
            (self.head, self.work, self.tail) = (window.head, window.work, window.tail);
        }
        Ok(())
    }
}
