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

use crate::abreast::abreast;
use crate::error::{CompileError, Pause, flow, proceed};
use crate::topology::{Topology, op_timings};
use crate::uses::live_instructions;
use fabric::Fabric;
use paths::Paths;
use window::{Piece, best_window};

/// Resources beside the units.
const OTHER_RESOURCES: [&str; 3] = [
    "off-chip channels",
    "transfers to clusters",
    "transfers from clusters",
];

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
    let clusters = u64::from(machine.clusters);
    let kinds = machine.units.len();
    let units = |kind: usize| {
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
        (
            pieces.collect(),
            clusters * u64::from(machine.units[kind].count),
        )
    };
    let resource = |index: usize| match index.checked_sub(kinds) {
        None => units(index),
        Some(0) => (
            paths.channel_pieces(flat, &fabric),
            topology.channels.len() as u64,
        ),
        Some(1) => (paths.arrival_pieces(flat, &fabric), fabric.arrival_ports),
        Some(_) => (
            paths.departure_pieces(flat, &fabric),
            fabric.departure_ports,
        ),
    };
    let windows = abreast(
        kinds + OTHER_RESOURCES.len(),
        |index, report| {
            let (pieces, capacity): (Vec<Piece>, u64) = resource(index);
            best_window(&pieces, capacity, &mut || proceed(report(0.0)))
        },
        &mut |_| flow(pause),
    )?;
    let mut bound = LowerBound {
        resource: "nothing".to_owned(),
        ..LowerBound::default()
    };
    let names = machine.units.iter().map(|unit| unit.name.as_str());
    for (name, window) in names.chain(OTHER_RESOURCES).zip(windows) {
        bound.consider(name, window);
    }
    let span = |inst: usize| u64::from(timing[flat.op[inst] as usize].occupancy);
    let instructions = (0..flat.len()).filter(|&inst| live[inst]);
    let paths = instructions.map(|inst| Piece {
        head: paths.head[inst],
        work: span(inst),
        tail: paths.tail[inst],
    });
    bound.consider_paths(paths);
    Ok(bound)
}

impl LowerBound {
    /// Takes the longest path into account, given every instruction with what must come
    /// before and after; of those on it, the last one binds.
    fn consider_paths(&mut self, instructions: impl Iterator<Item = Piece>) {
        let total = |piece: &Piece| piece.head + piece.work + piece.tail;
        let Some(longest) = instructions.max_by_key(total) else {
            return;
        };
        let cycles = total(&longest);
        self.by_resource.push(("critical path".to_owned(), cycles));
        if cycles >= self.cycles {
            self.cycles = cycles;
            self.resource = "critical path".to_owned();
            (self.head, self.work, self.tail) = (longest.head, longest.work, longest.tail);
        }
    }

    /// Takes the best window of a resource into account, if it has one.
    fn consider(&mut self, resource: &str, window: Option<Piece>) {
        let Some(window) = window else {
            return;
        };
        let cycles = window.head + window.work + window.tail;
        self.by_resource.push((resource.to_owned(), cycles));
        if cycles > self.cycles {
            self.cycles = cycles;
            self.resource = resource.to_owned();
            (self.head, self.work, self.tail) = (window.head, window.work, window.tail);
        }
    }
}
