//! When the banks of a register file serve another access: "Turns" in
//! [`cyclotron_machine::Resolved`].
//!
//! Accesses whose starts have the same residue are always in the same bank, so
//! each residue has a list of its own. All accesses are equally long, so only the
//! few that start less than that length before or after a cycle matter there.

use cyclotron_machine::Turns;

/// Accesses of a residue that are remembered; the oldest are forgotten first.
const MAX_STARTS: usize = 128;

/// The turns at one register file: where its lists are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wheel {
    first: u32,
    turns: Turns,
}

/// All accesses that take turns.
#[derive(Debug, Default)]
pub(crate) struct TurnBook {
    residues: Vec<Residue>,
    /// By register file: its first residue's index, and when its banks would be done
    /// if they served all accesses without gaps.
    done: Vec<u64>,
}

/// The accesses to one register file whose starts have the same residue.
#[derive(Debug, Clone, Default)]
struct Residue {
    /// In order; once for each access.
    starts: Vec<u64>,
    /// Before this, accesses have been forgotten: nothing can start.
    floor: u64,
}

impl TurnBook {
    /// Adds a register file.
    pub fn add(&mut self, turns: Turns) -> Wheel {
        let first = self.residues.len() as u32;
        let count = self.residues.len() + usize::from(turns.banks);
        self.residues.resize(count, Residue::default());
        self.done.resize(count, 0);
        Wheel { first, turns }
    }
}

impl Wheel {
    /// Whether accesses of `span` cycles take turns.
    pub fn serves(&self, span: u64) -> bool {
        self.length() == span
    }

    /// About when the banks have served all that was noted.
    pub fn done(&self, book: &TurnBook) -> u64 {
        book.done[self.first as usize]
    }

    fn length(&self) -> u64 {
        u64::from(self.turns.chunks)
    }

    fn banks(&self) -> u64 {
        u64::from(self.turns.banks)
    }

    fn index(&self, cycle: u64) -> usize {
        self.first as usize + (cycle % self.banks()) as usize
    }

    /// The first cycle at or after `from` at which `count` accesses can start.
    pub fn earliest(&self, book: &TurnBook, from: u64, count: usize) -> u64 {
        self.first_start(from, |cycle| self.fits(book, cycle, count))
    }

    /// The first cycle at or after `from` at which an instruction can read `count`
    /// operands, and write its result `delay` cycles later.
    pub fn earliest_issue(&self, book: &TurnBook, from: u64, (count, delay): (usize, u64)) -> u64 {
        if delay < self.length() && delay.is_multiple_of(self.banks()) {
            // The result meets the operands: room for all of them, all the time.
            let end = delay + self.length();
            return self.first_start(from, |cycle| self.is_quiet(book, cycle, end, count + 1));
        }
        self.first_start(from, |cycle| {
            self.fits(book, cycle, count)?;
            let later = self.fits(book, cycle + delay, 1);
            later.map_err(|next| next.saturating_sub(delay))
        })
    }

    /// The first cycle at or after `from` at which `fits`, which gives another cycle
    /// before which it does not where it does not.
    fn first_start(&self, from: u64, fits: impl Fn(u64) -> Result<(), u64>) -> u64 {
        let mut best = u64::MAX;
        for cycle in from..from + self.banks() {
            let mut at = cycle;
            while at < best {
                match fits(at) {
                    Ok(()) => best = at,
                    Err(next) => {
                        let ahead = next.max(at + 1) - cycle;
                        at = cycle + ahead.next_multiple_of(self.banks());
                    }
                }
            }
            if best <= cycle + 1 {
                break;
            }
        }
        best
    }

    /// Whether `count` more accesses fit at a cycle; if not, one before which they do not.
    fn fits(&self, book: &TurnBook, cycle: u64, count: usize) -> Result<(), u64> {
        let residue = &book.residues[self.index(cycle)];
        if cycle < residue.floor {
            return Err(residue.floor);
        }
        let most = usize::from(self.turns.accesses).saturating_sub(count);
        let near = residue.near(cycle, cycle + self.length(), self.length());
        if near.len() <= most {
            return Ok(());
        }
        let overlap = |at: u64| {
            let running = |&&start: &&u64| start <= at && at < start + self.length();
            near.iter().filter(running).count()
        };
        let later = near.iter().copied().filter(|&start| start > cycle);
        match later.chain([cycle]).all(|at| overlap(at) <= most) {
            true => Ok(()),
            false => Err(near[0] + self.length()),
        }
    }

    /// Whether no more than `count` accesses less than there may be run at any time
    /// from a cycle to the one `span` later.
    fn is_quiet(&self, book: &TurnBook, cycle: u64, span: u64, count: usize) -> Result<(), u64> {
        let residue = &book.residues[self.index(cycle)];
        if cycle < residue.floor {
            return Err(residue.floor);
        }
        let near = residue.near(cycle, cycle + span, self.length());
        match near.len() + count <= usize::from(self.turns.accesses) {
            true => Ok(()),
            false => Err(near.first().map_or(cycle, |start| start + self.length())),
        }
    }

    /// The last cycle in `[from, until]` at which an access can start.
    pub fn latest(&self, book: &TurnBook, from: u64, until: u64) -> Option<u64> {
        let mut best = None;
        for cycle in (from..=until).rev().take(usize::from(self.turns.banks)) {
            let mut at = cycle;
            while best.is_none_or(|best| at > best) && self.fits(book, at, 1).is_err() {
                match at.checked_sub(self.banks()) {
                    Some(before) if before >= from => at = before,
                    _ => break,
                }
            }
            if self.fits(book, at, 1).is_ok() {
                best = best.max(Some(at));
            }
            if best.is_some_and(|best| best + 1 >= cycle) {
                break;
            }
        }
        best
    }

    /// Notes `count` accesses from a cycle at which they fit.
    pub fn reserve(&self, book: &mut TurnBook, at: u64, count: usize) {
        debug_assert!(self.fits(book, at, count).is_ok(), "reserved while busy");
        let length = self.length();
        let done = &mut book.done[self.first as usize];
        let served = self.banks() * u64::from(self.turns.accesses);
        *done = (*done).max(at) + length * count as u64 / served;
        let index = self.index(at);
        let residue = &mut book.residues[index];
        let place = residue.starts.partition_point(|&start| start <= at);
        for _ in 0..count {
            residue.starts.insert(place, at);
        }
        if residue.starts.len() > MAX_STARTS {
            let mut old = residue.starts.drain(..MAX_STARTS / 2);
            residue.floor = old.next_back().map_or(0, |start| start + length);
        }
    }
}

impl Residue {
    /// The accesses of `length` cycles that run at some time in `[cycle, end)`.
    fn near(&self, cycle: u64, end: u64, length: u64) -> &[u64] {
        if self
            .starts
            .last()
            .is_none_or(|&start| start + length <= cycle)
        {
            return &[];
        }
        let first = self
            .starts
            .partition_point(|&start| start + length <= cycle);
        let rest = &self.starts[first..];
        let count = rest.iter().take_while(|&&start| start < end).count();
        &rest[..count]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TURNS: Turns = Turns {
        banks: 4,
        accesses: 2,
        chunks: 16,
    };

    #[test]
    fn residues_fill_one_after_the_other() {
        let mut book = TurnBook::default();
        let wheel = book.add(TURNS);
        for expected in [100, 101, 102, 103] {
            let at = wheel.earliest(&book, 100, 2);
            assert_eq!(at, expected);
            wheel.reserve(&mut book, at, 2);
        }
        // Every bank is busy until the first accesses end.
        assert_eq!(wheel.earliest(&book, 100, 1), 116);
        assert_eq!(wheel.earliest(&book, 88, 1), 116);
        assert_eq!(wheel.earliest(&book, 85, 1), 85);
        assert_eq!(wheel.latest(&book, 0, 115), Some(87));
        assert_eq!(wheel.latest(&book, 88, 115), None);
        assert_eq!(wheel.latest(&book, 0, 200), Some(200));
    }

    #[test]
    fn turns_agree_with_counts_by_cycle() {
        let mut book = TurnBook::default();
        let wheel = book.add(TURNS);
        let mut running = vec![[0; 4]; 2000];
        let mut state = 7u64;
        for _ in 0..300 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let from = (state >> 33) % 800;
            let count = 1 + (state >> 50) as usize % 2;
            let free = |at: u64, count: i32| {
                let cycles = at as usize..at as usize + 16;
                running[cycles]
                    .iter()
                    .all(|r| r[at as usize % 4] + count <= 2)
            };
            let at = wheel.earliest(&book, from, count);
            assert_eq!((from..).find(|&at| free(at, count as i32)), Some(at));
            let latest = (0..=from).rev().find(|&at| free(at, 1));
            assert_eq!(wheel.latest(&book, 0, from), latest);
            let issue = wheel.earliest_issue(&book, from, (1, 5));
            let expected = (from..).find(|&at| free(at, 1) && free(at + 5, 1));
            assert_eq!(expected, Some(issue));
            wheel.reserve(&mut book, at, count);
            for cycle in at..at + 16 {
                running[cycle as usize][at as usize % 4] += count as i32;
            }
        }
    }

    #[test]
    fn what_is_forgotten_stays_busy() {
        let mut book = TurnBook::default();
        let wheel = book.add(TURNS);
        for round in 0..1000 {
            wheel.reserve(&mut book, 16 * round, 1);
        }
        let free = wheel.earliest(&book, 0, 1);
        assert_eq!(free, 1, "another residue");
        let at = |from: u64| {
            (from..)
                .step_by(4)
                .find(|&at| wheel.fits(&book, at, 1).is_ok())
        };
        assert!(at(0) > Some(10_000));
    }
}
