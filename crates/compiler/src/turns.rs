//! When the banks of a register file serve another access: "Turns" in
//! [`cyclotron_machine::Resolved`].
//!
//! Accesses whose starts have the same residue are always in the same bank, and
//! all accesses are equally long. So the time of a bank is a row of *places*, one
//! for every cycle with its residue, and an access takes as many places in a row as
//! such cycles pass until it ends. A row is kept as bits, one level for each number
//! of accesses that may run at once.

use cyclotron_machine::Turns;

/// Places of a row that are remembered; the oldest are forgotten first. A multiple of 64.
const PLACES: u64 = 1 << 15;
/// Places after the last access that are clear: more than an access takes.
const MARGIN: u64 = 1 << 12;
/// Most accesses at once that are made use of.
const MOST_ACCESSES: u16 = 8;

/// The turns at one register file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wheel {
    rotation: u32,
    /// Cycles of an access.
    length: u32,
}

/// All accesses that take turns.
#[derive(Debug, Default)]
pub(crate) struct TurnBook {
    rotations: Vec<Rotation>,
    /// When the banks would be done if they served all accesses without gaps, in cycles
    /// times the accesses that they serve at once.
    done: Vec<u64>,
}

/// The accesses to one register file.
#[derive(Debug)]
struct Rotation {
    turns: Turns,
    /// Places that an access takes.
    places: u32,
    /// log2 of the number of banks, where it is one.
    shift: Option<u32>,
    /// Rings of bits by residue and level: a place's bit at level k says that more
    /// than k accesses run there.
    bits: Vec<u64>,
    /// Places before this one are forgotten: nothing can start there. A multiple of 64.
    first: u64,
    /// No access is noted at this place or later.
    end: u64,
}

/// One level of a row.
#[derive(Debug, Clone, Copy)]
struct Row<'b> {
    bits: &'b [u64],
    end: u64,
    /// Places in a row that must be free.
    span: u32,
}

impl TurnBook {
    /// Adds a register file.
    pub fn add(&mut self, turns: Turns) -> Wheel {
        let turns = Turns {
            accesses: turns.accesses.clamp(1, MOST_ACCESSES),
            ..turns
        };
        let rows = usize::from(turns.banks) * usize::from(turns.accesses);
        self.rotations.push(Rotation {
            bits: vec![0; rows * (PLACES / 64) as usize],
            first: 0,
            end: 0,
            turns,
            places: turns.chunks.div_ceil(u32::from(turns.banks)),
            shift: (turns.banks.is_power_of_two()).then(|| turns.banks.trailing_zeros()),
        });
        self.done.push(0);
        Wheel {
            rotation: self.rotations.len() as u32 - 1,
            length: turns.chunks,
        }
    }
}

impl Wheel {
    /// Whether accesses of `span` cycles take turns.
    pub fn serves(&self, span: u64) -> bool {
        self.length() == span
    }

    /// About when the banks have served all that was noted.
    pub fn done(&self, book: &TurnBook) -> u64 {
        let (done, served) = (book.done[self.rotation as usize], self.of(book).served());
        match served.is_power_of_two() {
            true => done >> served.trailing_zeros(),
            false => done / served,
        }
    }

    fn length(&self) -> u64 {
        u64::from(self.length)
    }

    fn of<'b>(&self, book: &'b TurnBook) -> &'b Rotation {
        &book.rotations[self.rotation as usize]
    }

    /// The first cycle at or after `from` at which `count` accesses can start.
    pub fn earliest(&self, book: &TurnBook, from: u64, count: usize) -> u64 {
        let rotation = self.of(book);
        rotation.first_start(from, |place, residue, _| {
            rotation
                .row(residue, count, rotation.places)
                .first_free(place)
        })
    }

    /// The first cycle at or after `from` at which an instruction can read `count`
    /// operands, and write its result `delay` cycles later.
    pub fn earliest_issue(&self, book: &TurnBook, from: u64, (count, delay): (usize, u64)) -> u64 {
        let rotation = self.of(book);
        if delay < self.length() && delay.is_multiple_of(rotation.banks()) {
            // The result meets the operands: room for all of them, all the time.
            let span = (delay + self.length()).div_ceil(rotation.banks()) as u32;
            return rotation.first_start(from, |place, residue, _| {
                rotation.row(residue, count + 1, span).first_free(place)
            });
        }
        rotation.first_start(from, |place, residue, cycle| {
            let read = rotation.row(residue, count, rotation.places);
            let (later, residue) = rotation.place(cycle + delay);
            let write = rotation.row(residue, 1, rotation.places);
            let mut at = place;
            loop {
                let before = at;
                at = read.first_free(at);
                at = write.first_free(later + (at - place)) - (later - place);
                if at == before {
                    return at;
                }
            }
        })
    }

    /// The last cycle in `[from, until]` at which an access can start.
    pub fn latest(&self, book: &TurnBook, from: u64, until: u64) -> Option<u64> {
        let rotation = self.of(book);
        let from = from.max(rotation.first * rotation.banks());
        let mut best = None;
        for cycle in (from..=until).rev().take(usize::from(rotation.turns.banks)) {
            let (place, residue) = rotation.place(cycle);
            let row = rotation.row(residue, 1, rotation.places);
            if let Some(free) = row.last_free(rotation.first, place) {
                let at = cycle - (place - free) * rotation.banks();
                best = best.max((at >= from).then_some(at));
            }
            if best.is_some_and(|best| best + 1 >= cycle) {
                break;
            }
        }
        best
    }

    /// Notes `count` accesses from a cycle at which they fit.
    pub fn reserve(&self, book: &mut TurnBook, at: u64, count: usize) {
        debug_assert!(self.earliest(book, at, count) == at, "reserved while busy");
        let rotation = &mut book.rotations[self.rotation as usize];
        let accesses = usize::from(rotation.turns.accesses);
        let (place, residue) = rotation.place(at);
        let served = rotation.served();
        let done = &mut book.done[self.rotation as usize];
        *done = (*done).max(at * served) + self.length() * count as u64;
        rotation.extend(place + u64::from(rotation.places));
        let words = (PLACES / 64) as usize;
        let rows = &mut rotation.bits[residue as usize * accesses * words..][..accesses * words];
        let (mut at, mut left) = (place, rotation.places);
        while left > 0 {
            let bit = (at % 64) as u32;
            let taken = left.min(64 - bit);
            let mask = (u64::MAX >> (64 - taken)) << bit;
            let word = (at % PLACES / 64) as usize;
            for level in (count..accesses).rev() {
                rows[level * words + word] |= rows[(level - count) * words + word] & mask;
            }
            for level in 0..count.min(accesses) {
                rows[level * words + word] |= mask;
            }
            at += u64::from(taken);
            left -= taken;
        }
    }
}

impl Rotation {
    /// Accesses that all banks serve at once.
    fn served(&self) -> u64 {
        (self.banks() * u64::from(self.turns.accesses)).max(1)
    }

    fn banks(&self) -> u64 {
        u64::from(self.turns.banks)
    }

    /// The place of a cycle in its row, and the row's residue.
    fn place(&self, cycle: u64) -> (u64, u64) {
        match self.shift {
            Some(shift) => (cycle >> shift, cycle & ((1 << shift) - 1)),
            None => (cycle / self.banks(), cycle % self.banks()),
        }
    }

    /// Where `span` places must be free so that `count` more accesses can run.
    fn row(&self, residue: u64, count: usize, span: u32) -> Row<'_> {
        let accesses = usize::from(self.turns.accesses);
        let level = accesses.saturating_sub(count);
        let words = (PLACES / 64) as usize;
        let index = residue as usize * accesses + level;
        Row {
            bits: &self.bits[index * words..][..words],
            end: self.end,
            span,
        }
    }

    /// The first cycle at or after `from` in any row, where `find` gives the first
    /// place in a row at or after the place of a cycle.
    fn first_start(&self, from: u64, find: impl Fn(u64, u64, u64) -> u64) -> u64 {
        let from = from.max(self.first * self.banks());
        let mut best = u64::MAX;
        for cycle in from..from + self.banks() {
            let (place, residue) = self.place(cycle);
            let waits = find(place, residue, cycle) - place;
            best = best.min(cycle + waits * self.banks());
            if best <= cycle + 1 {
                break;
            }
        }
        best
    }

    /// Makes sure that the places before `end` are remembered.
    fn extend(&mut self, end: u64) {
        self.end = self.end.max(end);
        // What is beyond the end stays clear as far as a search looks.
        let first = self
            .end
            .saturating_sub(PLACES - MARGIN)
            .next_multiple_of(64);
        let forgotten = (first.saturating_sub(self.first)).min(PLACES);
        let words = (PLACES / 64) as usize;
        for place in (self.first..self.first + forgotten).step_by(64) {
            let word = (place % PLACES / 64) as usize;
            for row in self.bits.chunks_exact_mut(words) {
                row[word] = 0;
            }
        }
        self.first = self.first.max(first);
    }
}

impl Row<'_> {
    /// Up to 64 bits from a place on, and how many.
    fn word(&self, place: u64, left: u32) -> (u64, u32) {
        let bit = (place % 64) as u32;
        let count = left.min(64 - bit);
        let word = self.bits[(place % PLACES / 64) as usize] >> bit;
        (word & (u64::MAX >> (64 - count)), count)
    }

    /// The first place at or after `from` from which all places of the span are free.
    fn first_free(&self, from: u64) -> u64 {
        let mut start = from;
        while start < self.end {
            match self.last_busy(start) {
                None => return start,
                Some(last) => start = last + 1,
            }
        }
        start
    }

    /// The last busy place of the span from a place on.
    fn last_busy(&self, start: u64) -> Option<u64> {
        if self.span <= 64 {
            let bit = start % 64;
            let at = (start % PLACES / 64) as usize;
            let next = (at + 1) % (PLACES / 64) as usize;
            let pair = u128::from(self.bits[next]) << 64 | u128::from(self.bits[at]);
            let word = (pair >> bit) as u64 & (u64::MAX >> (64 - self.span));
            return (word != 0).then(|| start + u64::from(63 - word.leading_zeros()));
        }
        let mut busy = None;
        let (mut at, mut left) = (start, self.span);
        while left > 0 {
            let (word, count) = self.word(at, left);
            if word != 0 {
                busy = Some(at + u64::from(63 - word.leading_zeros()));
            }
            at += u64::from(count);
            left -= count;
        }
        busy
    }

    /// The last place in `[first, until]` from which all places of the span are free.
    fn last_free(&self, first: u64, until: u64) -> Option<u64> {
        let mut start = until;
        loop {
            if start < first {
                return None;
            }
            if start >= self.end {
                return Some(start);
            }
            let mut busy = None;
            let (mut at, mut left) = (start, self.span);
            while left > 0 && busy.is_none() {
                let (word, count) = self.word(at, left);
                if word != 0 {
                    busy = Some(at + u64::from(word.trailing_zeros()));
                }
                at += u64::from(count);
                left -= count;
            }
            match busy {
                None => return Some(start),
                Some(next) => start = next.checked_sub(u64::from(self.span))?,
            }
        }
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
    fn short_accesses_count_too() {
        let mut book = TurnBook::default();
        let wheel = book.add(Turns { chunks: 4, ..TURNS });
        for at in [100, 101, 102, 103] {
            wheel.reserve(&mut book, at, 1);
        }
        // 8 accesses at once, each of 4 cycles: 4 of them take 2 cycles from the last start.
        assert_eq!(wheel.done(&book), 103);
        (0..4).for_each(|at| wheel.reserve(&mut book, at, 1));
        assert_eq!(wheel.done(&book), 105);
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
        let rounds = PLACES;
        for round in 0..rounds {
            wheel.reserve(&mut book, 16 * round, 2);
        }
        let end = 16 * rounds;
        let first = wheel.earliest(&book, 0, 1);
        assert!(first > end - 4 * PLACES, "forgotten: {first} of {end}");
        assert!(first < end, "another row is free");
        assert_eq!(wheel.latest(&book, 0, first - 1), None);
        assert_eq!(wheel.latest(&book, 0, first), Some(first));
    }
}
