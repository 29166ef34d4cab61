//! All entries of a schedule in the order in which they are replayed.

use std::iter::Peekable;

use cyclotron_isa::{Component, EntryIter, Schedule, Stream, StreamOp};

use crate::error::Place;

/// Entries that a stretch of time should hold, about.
const ENTRIES: usize = 1 << 13;

/// An entry and when it is replayed.
struct Event {
    /// The cycle, times 8, plus the phase.
    key: u64,
    component: Component,
    entry: usize,
    op: StreamOp,
}

/// A stream, read from its start.
struct Cursor<'a> {
    component: Component,
    entries: Peekable<EntryIter<'a>>,
    /// Entries that were read.
    count: usize,
    /// Cycle of the next entry; that of the last at the end.
    cycle: u64,
}

/// Calls `visit` with the entries by cycle, and within a cycle so that what is
/// delivered is there before it is taken: register files and banks delay by a cycle
/// at least, so stores, loads, routes and writes find their streams among earlier
/// reads, and reads and computations see what is written in their cycle.
///
/// # Cost
/// A stretch of time after the other is read from all streams and sorted, so the
/// memory does not grow with the schedule.
pub(crate) fn for_each_entry<E>(
    schedule: &Schedule,
    mut visit: impl FnMut(Place, &StreamOp) -> Result<(), E>,
) -> Result<(), E> {
    let mut cursors: Vec<Cursor<'_>> = schedule.streams.iter().map(Cursor::new).collect();
    let mut events = Vec::new();
    let mut stretch = 1024;
    loop {
        cursors.retain_mut(|cursor| cursor.entries.peek().is_some());
        let Some(first) = cursors.iter().map(|cursor| cursor.cycle).min() else {
            return Ok(());
        };
        let end = first.saturating_add(stretch);
        for cursor in &mut cursors {
            cursor.read_until(end, &mut events);
        }
        // Stable, and fast on what is a sequence of sorted runs.
        events.sort_by_key(|event: &Event| event.key);
        if events.len() > 2 * ENTRIES {
            stretch = (stretch / 2).max(1);
        } else if events.len() < ENTRIES / 2 {
            stretch = stretch.saturating_mul(2);
        }
        for event in events.drain(..) {
            let place = Place {
                component: event.component,
                entry: event.entry,
                cycle: event.key >> 3,
            };
            visit(place, &event.op)?;
        }
    }
}

impl<'a> Cursor<'a> {
    fn new(stream: &'a Stream) -> Self {
        let mut entries = stream.entries.iter().peekable();
        let cycle = entries.peek().map_or(0, |entry| u64::from(entry.wait));
        Self {
            component: stream.component,
            entries,
            count: 0,
            cycle,
        }
    }

    /// Takes the entries before a cycle.
    fn read_until(&mut self, end: u64, events: &mut Vec<Event>) {
        while self.cycle < end {
            let Some(entry) = self.entries.next() else {
                return;
            };
            events.push(Event {
                key: self.cycle << 3 | phase(&entry.op),
                component: self.component,
                entry: self.count,
                op: entry.op,
            });
            self.count += 1;
            let wait = self.entries.peek().map_or(0, |next| next.wait);
            self.cycle += u64::from(wait);
        }
    }
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
