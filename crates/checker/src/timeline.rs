//! All entries of a schedule in the order in which they are replayed.

use std::iter::Peekable;

use cyclotron_isa::{Component, EntryIter, Schedule, Stream, StreamOp};

use crate::error::Place;

/// Entries that a stretch of time should hold, about.
const ENTRIES: usize = 1 << 13;

/// Cycles of a stretch at most.
const CYCLES: u64 = 1 << 13;

/// Bits of the phase of an entry, and values of a digit of what stretches are sorted by.
const PHASE: u32 = 3;
const DIGIT: usize = 1 << 8;

/// The entries of a stretch of time.
#[derive(Default)]
struct Stretch {
    /// Its first cycle.
    first: u64,
    entries: Vec<(Place, StreamOp)>,
    /// For each: the cycle from the first, times 8, plus the phase; and its number.
    order: Vec<(u16, u32)>,
    sorted: Vec<(u16, u32)>,
}

impl Stretch {
    /// Sorts `order` by its lowest digit, then by the other one: entries that agree in
    /// cycle and phase stay in their order.
    fn sort(&mut self) {
        for digit in [|key: u16| key & 0xff, |key| key >> 8] {
            let digit = |key| usize::from(digit(key));
            let mut ends = [0; DIGIT];
            for &(key, _) in &self.order {
                ends[digit(key)] += 1;
            }
            let mut sum = 0;
            for end in &mut ends {
                (*end, sum) = (sum, sum + *end);
            }
            self.sorted.resize(self.order.len(), (0, 0));
            for &item in &self.order {
                let place: &mut usize = &mut ends[digit(item.0)];
                self.sorted[*place] = item;
                *place += 1;
            }
            std::mem::swap(&mut self.order, &mut self.sorted);
        }
    }
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
    let mut length = CYCLES / 8;
    loop {
        cursors.retain_mut(|cursor| cursor.entries.peek().is_some());
        let Some(first) = cursors.iter().map(|cursor| cursor.cycle).min() else {
            return Ok(());
        };
        stretch.first = first;
        let end = first.saturating_add(length);
        for cursor in &mut cursors {
            cursor.read_until(end, &mut stretch);
        }
        stretch.sort();
        if stretch.order.len() > 2 * ENTRIES {
            length = (length / 2).max(1);
        } else if stretch.order.len() < ENTRIES / 2 {
            length = (2 * length).min(CYCLES);
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
            let key = ((self.cycle - stretch.first) as u16) << PHASE | phase(&entry.op);
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

fn phase(op: &StreamOp) -> u16 {
    match op {
        StreamOp::Store { .. } => 0,
        StreamOp::Load { .. } => 1,
        StreamOp::Route { .. } => 2,
        StreamOp::Write { .. } => 3,
        StreamOp::Read { .. } | StreamOp::Compute { .. } => 4,
    }
}

#[cfg(test)]
mod tests {
    use cyclotron_isa::{Entries, Entry, Link};

    use super::*;

    /// Streams whose stretches are full, nearly empty and far apart.
    fn schedule() -> Schedule {
        let ops = [
            StreamOp::Read {
                slot: 1,
                to: Link::Xbar(0),
            },
            StreamOp::Write {
                slot: 1,
                from: Link::Xbar(0),
            },
            StreamOp::Route { from: 0 },
            StreamOp::Load {
                address: 0,
                bank: 0,
            },
            StreamOp::Store {
                address: 0,
                bank: 0,
            },
        ];
        let entry = |stream: u32, k: u32| {
            let wait = match k % 10_000 {
                0 => u32::MAX - stream,
                1..9_000 => k.wrapping_mul(0x9e37_79b9).rotate_left(stream) >> 31,
                _ => (CYCLES as u32 >> 7) * (k % 7),
            };
            let op = ops[(k * (stream + 1)) as usize % ops.len()];
            Entry { wait, op }
        };
        let streams = (0..4).map(|stream| Stream {
            component: Component::Bank {
                bank: stream as u16,
            },
            entries: (0..25_000).map(|k| entry(stream, k)).collect::<Entries>(),
        });
        Schedule {
            streams: streams.collect(),
            ..Schedule::default()
        }
    }

    #[test]
    fn entries_come_by_cycle_then_phase_then_stream() {
        let schedule = schedule();
        let mut expected = Vec::new();
        for stream in &schedule.streams {
            let mut cycle = 0;
            for (number, entry) in stream.entries.iter().enumerate() {
                cycle += u64::from(entry.wait);
                expected.push((cycle, phase(&entry.op), stream.component, number));
            }
        }
        expected.sort_by_key(|&(cycle, phase, ..)| (cycle, phase));
        let mut found = Vec::new();
        let visited = for_each_entry(&schedule, |place, op| {
            found.push((place.cycle, phase(op), place.component, place.entry));
            Ok::<(), ()>(())
        });
        assert_eq!(visited, Ok(()));
        assert!(found == expected, "in another order");
    }
}
