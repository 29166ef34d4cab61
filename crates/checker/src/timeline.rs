//! All entries of a schedule in the order in which they are replayed.

use std::iter::Peekable;

use cyclotron_isa::{Component, EntryIter, Schedule, Stream, StreamOp};

use crate::error::Place;

/// Entries that a stretch of time should hold, about.
const ENTRIES: usize = 1 << 13;

/// The entries of a stretch of time.
#[derive(Default)]
struct Stretch {
    entries: Vec<(Place, StreamOp)>,
    /// For each: the cycle, times 8, plus the phase; and its number.
    order: Vec<(u64, u32)>,
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
/// memory does not grow with the schedule, but with the entries of one cycle.
pub(crate) fn for_each_entry<E>(
    schedule: &Schedule,
    mut visit: impl FnMut(Place, &StreamOp) -> Result<(), E>,
) -> Result<(), E> {
    let mut cursors: Vec<Cursor<'_>> = schedule.streams.iter().map(Cursor::new).collect();
    let mut stretch = Stretch::default();
    let mut length = 1024;
    loop {
        cursors.retain_mut(|cursor| cursor.entries.peek().is_some());
        let Some(first) = cursors.iter().map(|cursor| cursor.cycle).min() else {
            return Ok(());
        };
        let end = first.saturating_add(length);
        for cursor in &mut cursors {
            cursor.read_until(end, &mut stretch);
        }
        // Stable, and fast on what is a sequence of sorted runs.
        stretch.order.sort_by_key(|&(key, _)| key);
        if stretch.order.len() > 2 * ENTRIES {
            length = (length / 2).max(1);
        } else if stretch.order.len() < ENTRIES / 2 {
            length = length.saturating_mul(2);
        }
        for (_, number) in stretch.order.drain(..) {
            let (place, op) = stretch.entries[number as usize];
            visit(place, &op)?;
        }
        stretch.entries.clear();
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
    fn read_until(&mut self, end: u64, stretch: &mut Stretch) {
        while self.cycle < end {
            let Some(entry) = self.entries.next() else {
                return;
            };
            let number = stretch.entries.len() as u32;
            let key = self.cycle << 3 | phase(&entry.op);
            stretch.order.push((key, number));
            let place = Place {
                component: self.component,
                entry: self.count,
                cycle: self.cycle,
            };
            stretch.entries.push((place, entry.op));
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
