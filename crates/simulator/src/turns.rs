//! Accesses that the banks of register files cannot serve.

use cyclotron_isa::{Component, Schedule, StreamOp};
use cyclotron_machine::{OpTiming, Resolved};

use crate::activity::extent;

/// An entry of a schedule: number of its stream, its number in the stream, its cycle.
pub(crate) type EntryAt = (u32, u32, u64);

/// Accesses that take turns; ordered as the banks serve them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Access {
    cluster: u16,
    residue: u64,
    start: u64,
    entry: EntryAt,
}

/// What an entry of a register file or of its units does to the register file.
struct Use {
    cluster: u16,
    /// When it starts, and how many accesses start then.
    reads: (u64, usize),
    /// When a unit's result starts.
    result: Option<u64>,
}

fn use_of(
    machine: &Resolved,
    component: Component,
    cycle: u64,
    op: &StreamOp,
) -> Option<(u32, Use)> {
    match (component, *op) {
        (Component::Unit { cluster, .. }, StreamOp::Compute { op, .. }) => {
            let timing = machine.timing(op)?;
            let used = Use {
                cluster,
                reads: (cycle, op.field_sources()),
                result: Some(cycle + result_after(machine, timing)),
            };
            Some((timing.occupancy, used))
        }
        (Component::RegFile { cluster }, op) => {
            let span = u32::try_from(extent(machine, component, &op).0).ok()?;
            let used = Use {
                cluster,
                reads: (cycle, 1),
                result: None,
            };
            Some((span, used))
        }
        _ => None,
    }
}

/// Cycles from the start of an operation to that of its result's write.
pub(crate) fn result_after(machine: &Resolved, timing: OpTiming) -> u64 {
    let passes = if timing.multipass {
        timing.occupancy
    } else {
        0
    };
    let delays = [passes, timing.latency, machine.regfile.latency];
    delays.map(u64::from).iter().sum()
}

/// The accesses of an entry that take turns: cluster and start of each.
pub(crate) fn accesses(
    machine: &Resolved,
    component: Component,
    cycle: u64,
    op: &StreamOp,
) -> impl Iterator<Item = (u16, u64)> {
    let used = use_of(machine, component, cycle, op)
        .filter(|&(span, _)| machine.regfile.turns_of(span).is_some());
    used.into_iter().flat_map(|(_, used)| {
        let (at, count) = used.reads;
        let reads = std::iter::repeat_n(at, count);
        reads.chain(used.result).map(move |at| (used.cluster, at))
    })
}

/// The entries of which an access is not served: of those that are in the same
/// bank at once, the first that started are.
pub(crate) fn unserved(schedule: &Schedule, machine: &Resolved) -> Vec<EntryAt> {
    let Some(turns) = machine.regfile.turns else {
        return Vec::new();
    };
    let (banks, length) = (u64::from(turns.banks.max(1)), u64::from(turns.chunks));
    let mut all = Vec::new();
    for (number, stream) in (0..).zip(&schedule.streams) {
        for (entry, (cycle, op)) in (0..).zip(stream.timed()) {
            let entry = (number, entry, cycle);
            let found = accesses(machine, stream.component, cycle, &op);
            all.extend(found.map(|(cluster, start)| Access {
                cluster,
                residue: start % banks,
                start,
                entry,
            }));
        }
    }
    all.sort_unstable();
    let mut late = Vec::new();
    for bank in all.chunk_by(|a, b| (a.cluster, a.residue) == (b.cluster, b.residue)) {
        // Starts of the accesses that are served, oldest first.
        let mut served = vec![None; usize::from(turns.accesses)];
        for access in bank {
            let free = served
                .iter_mut()
                .find(|start| start.is_none_or(|start: u64| start + length <= access.start));
            match free {
                Some(free) => *free = Some(access.start),
                None => late.push(access.entry),
            }
        }
    }
    late.sort_unstable();
    late.dedup();
    late
}
