//! Joins pieces of a schedule, one after the other.
//!
//! A piece is shifted so far that whatever it occupies has ended what it did in the pieces
//! before: then nothing of one piece meets anything of another, and what a piece left in the
//! scratchpad or off-chip is there. Register files and units of a cluster count as one, since
//! units access slots. Clusters, ports, banks and channels that end their work earlier than
//! others may begin the next piece while those are busy.

use std::collections::BTreeMap;

use cyclotron_isa::{Component, DramSlot, Entries, FlatProgram, Schedule, Stream};
use cyclotron_machine::Resolved;

use crate::error::CompileError;

/// The entries of one component in a piece.
#[derive(Debug)]
pub(crate) struct Strand {
    pub component: Component,
    pub entries: Entries,
    /// Cycle of the last entry.
    pub last: u64,
    /// The longest wait between two entries.
    pub longest: u64,
    /// End of what ends last.
    pub end: u64,
}

/// A part of a schedule with cycles of its own.
#[derive(Debug)]
pub(crate) struct Piece {
    /// The same components in the same order in all pieces.
    pub strands: Vec<Strand>,
    pub cycles: u64,
}

impl Strand {
    /// Cycle of the first entry, if there is one.
    fn first(&self) -> Option<u64> {
        let first = self.entries.iter().next();
        first.map(|entry| entry.wait.into())
    }
}

/// What must not be used by two pieces at once.
fn exclusive(component: Component) -> Component {
    match component {
        Component::Unit { cluster, .. } => Component::RegFile { cluster },
        other => other,
    }
}

/// The schedule of pieces in their order, with all slots off-chip.
pub(crate) fn join(
    mut pieces: Vec<Piece>,
    dram: Vec<DramSlot>,
    flat: &FlatProgram,
    machine: &Resolved,
) -> Result<Schedule, CompileError> {
    let shifts = shifts(&pieces);
    let cycles = pieces
        .iter()
        .zip(&shifts)
        .map(|(p, shift)| p.cycles + shift);
    let cycles = cycles.max().unwrap_or(0);
    let mut streams = Vec::new();
    for k in 0..pieces.first().map_or(0, |piece| piece.strands.len()) {
        let component = pieces[0].strands[k].component;
        let (mut lists, mut last, mut longest) = (Vec::new(), 0, 0);
        for (piece, shift) in pieces.iter_mut().zip(&shifts) {
            let strand = &mut piece.strands[k];
            let Some(first) = strand.first() else {
                continue;
            };
            let wait = first + shift - last;
            last = strand.last + shift;
            longest = strand.longest.max(wait).max(longest);
            lists.push((wait as u32, std::mem::take(&mut strand.entries)));
        }
        if !lists.is_empty() {
            check_wait(longest)?;
            let entries = Entries::concatenate(lists);
            streams.push(Stream { component, entries });
        }
    }
    Ok(Schedule {
        machine: machine.name.clone(),
        machine_hash: machine.hash.clone(),
        log_n: flat.log_n,
        dram,
        streams,
        cycles,
    })
}

/// By how many cycles each piece is shifted.
fn shifts(pieces: &[Piece]) -> Vec<u64> {
    let mut ends: BTreeMap<Component, u64> = BTreeMap::new();
    let mut shifts = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let used = || piece.strands.iter().filter(|s| !s.entries.is_empty());
        let needed = used().filter_map(|strand| {
            // A slot may be written the cycle after its last reading ended.
            let free = ends.get(&exclusive(strand.component))? + 1;
            Some(free.saturating_sub(strand.first()?))
        });
        let shift = needed.max().unwrap_or(0);
        for strand in used() {
            let end = ends.entry(exclusive(strand.component)).or_default();
            *end = (*end).max(strand.end + shift);
        }
        shifts.push(shift);
    }
    shifts
}

/// Whether a wait fits an entry.
fn check_wait(longest: u64) -> Result<(), CompileError> {
    if u32::try_from(longest).is_ok() {
        return Ok(());
    }
    Err(CompileError::DoesNotFit {
        what: "the wait between two entries of a stream (cycles)".into(),
        needs: longest,
        has: u64::from(u32::MAX),
        fix: "use a machine whose latencies differ less, or split the program if some part of the \
              machine is idle for so long"
            .into(),
    })
}
