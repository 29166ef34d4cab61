//! When a resource is free: a calendar of gaps that later reservations may fill.

use crate::turns::TurnBook;

/// Gaps that are remembered; the oldest are forgotten first.
const MAX_GAPS: usize = 48;

/// A free stretch of time `[start, end)`.
#[derive(Debug, Clone, Copy)]
struct Gap {
    start: u64,
    end: u64,
}

/// The free time of one resource (a unit, a port, a channel) that does one
/// thing at a time. The last gap never ends.
#[derive(Debug, Clone)]
pub(crate) struct Calendar {
    /// The gaps are those from `oldest` on; forgotten ones go now and then.
    gaps: Vec<Gap>,
    oldest: usize,
    /// Shorter gaps are of no use.
    shortest: u64,
    busy: u64,
}

impl Calendar {
    /// A free calendar for reservations of `shortest` cycles or more.
    pub fn new(shortest: u64) -> Self {
        Self {
            gaps: vec![Gap {
                start: 0,
                end: u64::MAX,
            }],
            oldest: 0,
            shortest: shortest.max(1),
            busy: 0,
        }
    }

    /// Cycles reserved so far.
    pub fn busy(&self) -> u64 {
        self.busy
    }

    fn gaps(&self) -> &[Gap] {
        &self.gaps[self.oldest..]
    }

    /// The first cycle at or after `from` from which `span` cycles are free.
    pub fn earliest(&self, from: u64, span: u64) -> u64 {
        let mut earliest = u64::MAX;
        // From the last gap, since most of what is asked for lies near the end.
        for gap in self.gaps().iter().rev() {
            if gap.end <= from {
                break;
            }
            let start = gap.start.max(from);
            if gap.end - start >= span.max(1) {
                earliest = start;
            }
        }
        earliest
    }

    /// The last cycle in `[from, until]` from which `span` cycles are free.
    pub fn latest(&self, from: u64, until: u64, span: u64) -> Option<u64> {
        for gap in self.gaps().iter().rev() {
            if gap.end <= from {
                return None;
            }
            if gap.start <= until && gap.end - gap.start >= span {
                let start = until.min(gap.end - span);
                if start >= from {
                    return Some(start);
                }
                return None;
            }
        }
        None
    }

    /// Reserves `[at, at + span)`, which must be free.
    pub fn reserve(&mut self, at: u64, span: u64) {
        if span == 0 {
            return;
        }
        self.busy += span;
        let after = self.gaps().iter().rposition(|gap| gap.start <= at);
        let k = self.oldest + after.expect("reservations fall into gaps");
        let gap = self.gaps[k];
        debug_assert!(at + span <= gap.end, "reservations fall into gaps");
        let before = at - gap.start >= self.shortest;
        let after = gap.end - (at + span) >= self.shortest;
        match (before, after) {
            (true, true) => {
                self.gaps[k].start = at + span;
                self.gaps.insert(
                    k,
                    Gap {
                        start: gap.start,
                        end: at,
                    },
                );
                if self.gaps().len() > MAX_GAPS {
                    self.oldest += 1;
                }
                if self.oldest > MAX_GAPS {
                    self.gaps.drain(..self.oldest);
                    self.oldest = 0;
                }
            }
            (true, false) => self.gaps[k].end = at,
            (false, true) => self.gaps[k].start = at + span,
            (false, false) => {
                self.gaps.remove(k);
            }
        }
    }
}

/// Interchangeable resources: calendars `first..first + count`.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Ports {
    pub first: u32,
    pub count: u16,
}

/// All calendars of a machine.
#[derive(Debug, Default)]
pub(crate) struct Calendars {
    list: Vec<Calendar>,
    /// Turns at the register files.
    pub turns: TurnBook,
}

impl Calendars {
    /// Adds `count` interchangeable resources.
    pub fn add(&mut self, count: u16, shortest: u64) -> Ports {
        let first = self.list.len() as u32;
        self.list
            .extend((0..count).map(|_| Calendar::new(shortest)));
        Ports { first, count }
    }

    fn of(&self, ports: Ports) -> &[Calendar] {
        &self.list[ports.first as usize..][..usize::from(ports.count)]
    }

    /// The first cycle from which one of the ports is free, and which.
    pub fn earliest(&self, ports: Ports, from: u64, span: u64) -> (u64, u32) {
        let mut best = (u64::MAX, ports.first);
        for (k, calendar) in self.of(ports).iter().enumerate() {
            let at = calendar.earliest(from, span);
            if at < best.0 {
                best = (at, ports.first + k as u32);
                if at == from {
                    break;
                }
            }
        }
        best
    }

    /// The last cycle in `[from, until]` from which one of the ports is free.
    pub fn latest(&self, ports: Ports, from: u64, until: u64, span: u64) -> Option<u64> {
        let each = self.of(ports).iter();
        each.filter_map(|calendar| calendar.latest(from, until, span))
            .max()
    }

    /// The cycle from which one of the ports has no reservations.
    pub fn open_from(&self, ports: Ports) -> u64 {
        let each = self.of(ports).iter();
        let last = each.map(|calendar| calendar.gaps[calendar.gaps.len() - 1].start);
        last.min().unwrap_or(0)
    }

    /// The cycle from which the ports have no reservations, on average.
    pub fn free_from(&self, ports: Ports) -> u64 {
        let each = self.of(ports).iter();
        let sum: u64 = each
            .map(|calendar| calendar.gaps[calendar.gaps.len() - 1].start)
            .sum();
        sum / u64::from(ports.count.max(1))
    }

    /// Whether one of the ports is free over `[at, at + span)`.
    pub fn is_free(&self, ports: Ports, at: u64, span: u64) -> bool {
        self.earliest(ports, at, span).0 == at
    }

    /// Reserves `[at, at + span)` on one of the ports that is free then; returns which.
    pub fn reserve(&mut self, ports: Ports, at: u64, span: u64) -> u32 {
        let mut port = ports.first;
        if ports.count > 1 || cfg!(debug_assertions) {
            let (free_at, free) = self.earliest(ports, at, span);
            debug_assert_eq!(free_at, at, "reserved while busy");
            port = free;
        }
        self.list[port as usize].reserve(at, span);
        port
    }

    /// Cycles reserved on all the ports together.
    pub fn busy(&self, ports: Ports) -> u64 {
        self.of(ports).iter().map(Calendar::busy).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_filled_and_forgotten_when_too_short() {
        let mut calendar = Calendar::new(10);
        calendar.reserve(20, 10);
        assert_eq!(calendar.earliest(0, 10), 0);
        assert_eq!(calendar.earliest(11, 10), 30);
        assert_eq!(calendar.latest(0, 25, 10), Some(10));
        assert_eq!(calendar.latest(0, 45, 10), Some(45));
        calendar.reserve(5, 10);
        assert_eq!(
            calendar.earliest(0, 5),
            30,
            "both pieces are shorter than 10"
        );
        assert_eq!(calendar.busy(), 20);
    }

    #[test]
    fn calendar_agrees_with_a_bitmap() {
        let mut calendar = Calendar::new(1);
        let mut busy = [false; 400];
        let mut state = 1u64;
        for _ in 0..40 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let from = (state >> 33) % 200;
            let span = 1 + (state >> 50) % 7;
            let at = calendar.earliest(from, span);
            let free = |t: u64| (t..t + span).all(|c| !busy[c as usize]);
            assert_eq!((from..).find(|&t| free(t)), Some(at));
            let latest = (0..=from).rev().find(|&t| free(t));
            assert_eq!(calendar.latest(0, from, span), latest);
            calendar.reserve(at, span);
            (at..at + span).for_each(|c| busy[c as usize] = true);
        }
    }
}
