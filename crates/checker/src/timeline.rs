//! All entries of a schedule in the order in which they are replayed.

use cyclotron_isa::{Schedule, StreamOp};

use crate::error::CheckError;

/// An entry: which stream, which position, when.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Event {
    /// The cycle, times 8, plus the phase.
    key: u64,
    pub(crate) stream: u32,
    pub(crate) entry: u32,
}

impl Event {
    pub(crate) fn cycle(self) -> u64 {
        self.key >> 3
    }
}

/// Orders the entries by cycle, and within a cycle so that what is delivered is
/// there before it is taken: register files and banks delay by a cycle at least,
/// so stores, loads, routes and writes find their streams among earlier reads,
/// and reads and computations see what is written in their cycle.
pub(crate) fn timeline(schedule: &Schedule) -> Result<Vec<Event>, CheckError> {
    let count = schedule.streams.iter().map(|s| s.entries.len()).sum();
    let mut events = Vec::with_capacity(count);
    for (number, stream) in schedule.streams.iter().enumerate() {
        if stream.entries.len() > u32::MAX as usize >> 4 {
            let why = "it has more than 2^28 entries".to_owned();
            let component = stream.component;
            return Err(CheckError::Stream { component, why });
        }
        for (entry, (cycle, op)) in stream.timed().enumerate() {
            events.push(Event {
                key: cycle << 3 | phase(op),
                stream: number as u32,
                entry: entry as u32,
            });
        }
    }
    // Stable, and fast on what is a sequence of sorted runs.
    events.sort_by_key(|event| event.key);
    Ok(events)
}

fn phase(op: &StreamOp) -> u64 {
    match op {
        StreamOp::Store { .. } => 0,
        StreamOp::Load { .. } => 1,
        StreamOp::Route { .. } => 2,
        StreamOp::Write { .. } => 3,
        StreamOp::Read { .. } | StreamOp::Compute { .. } => 4,
    }
}
