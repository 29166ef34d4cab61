//! What a transfer occupies, and when it can start.
//!
//! A transfer occupies several ports, each at a fixed delay after its start.
//! The search for a start asks each port in turn and repeats until all agree.

use crate::calendar::{Calendars, Ports};
use crate::turns::Wheel;

/// A port that a transfer occupies, `delay` cycles after its start.
#[derive(Debug, Clone, Copy, Default)]
struct Leg {
    ports: Ports,
    delay: u32,
}

/// A transfer of one vector.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Path {
    legs: [Leg; 4],
    count: u16,
    /// How many of the legs belong to the sending side.
    sending: u16,
    /// Turns at the register file that is read at the start, and at the one that
    /// is written at the end.
    read_turn: Option<Wheel>,
    write_turn: Option<Wheel>,
    /// Cycles that each port is occupied.
    pub span: u64,
    /// Cycles from the start to the route through the crossbar or the store by
    /// the channel.
    pub route: u64,
    /// Cycles from the start to the first chunk at the destination.
    pub delay: u64,
}

impl Path {
    /// By how many cycles a stream takes longer than a read over `span` cycles.
    pub fn slower_than(&self, span: u64) -> u64 {
        self.span.saturating_sub(span)
    }

    pub fn new(span: u64, route: u64, delay: u64) -> Self {
        Self {
            span,
            route,
            delay,
            ..Self::default()
        }
    }

    /// The sending side: a read port, and the link if several ports could use
    /// it at once (it carries one stream at a time).
    pub fn send(mut self, reads: Ports, link: Option<Ports>) -> Self {
        self = self.leg(reads, 0);
        if let Some(link) = link {
            self = self.leg(link, 0);
        }
        self.sending = self.count;
        self
    }

    /// The register files at the ends, whose banks serve the transfer in turns.
    pub fn turns(mut self, read: Option<Wheel>, write: Option<Wheel>) -> Self {
        let serves = |wheel: &Wheel| wheel.serves(self.span);
        self.read_turn = read.filter(serves);
        self.write_turn = write.filter(serves);
        self
    }

    /// A further port on the way.
    pub fn leg(mut self, ports: Ports, delay: u64) -> Self {
        let delay = u32::try_from(delay).expect("latencies are short");
        self.legs[usize::from(self.count)] = Leg { ports, delay };
        self.count += 1;
        self
    }

    /// The ports on the way, with their delays.
    fn legs(&self) -> impl Iterator<Item = (Ports, u64)> + '_ {
        let legs = self.legs[..usize::from(self.count)].iter();
        legs.map(|leg| (leg.ports, u64::from(leg.delay)))
    }

    /// Those of the receiving side.
    fn receiving(&self) -> impl Iterator<Item = (Ports, u64)> + '_ {
        self.legs().skip(usize::from(self.sending))
    }

    /// Cycles that a reservation takes: an unlimited link still carries only
    /// one stream a cycle.
    fn occupied(&self) -> u64 {
        self.span.max(1)
    }

    /// Ports and turns that have to agree on a start.
    fn parties(&self) -> usize {
        usize::from(self.count) + 2
    }

    /// The first start at or after `from` at which all ports are free.
    pub fn earliest(&self, calendars: &Calendars, from: u64) -> u64 {
        let (mut start, mut agreed, mut party) = (from, 0, 0);
        while agreed < self.parties() {
            let next = self.earliest_of(party, calendars, start);
            agreed = if next == start { agreed + 1 } else { 1 };
            start = next;
            party = if party + 1 == self.parties() {
                0
            } else {
                party + 1
            };
        }
        start
    }

    /// The first start that suits one party.
    fn earliest_of(&self, party: usize, calendars: &Calendars, from: u64) -> u64 {
        let count = usize::from(self.count);
        if party < count {
            let Leg { ports, delay } = self.legs[party];
            let delay = u64::from(delay);
            return calendars.earliest(ports, from + delay, self.occupied()).0 - delay;
        }
        let (turn, delay) = match party == count {
            true => (self.read_turn, 0),
            false => (self.write_turn, self.delay),
        };
        turn.map_or(from, |turn| {
            turn.earliest(&calendars.turns, from + delay, 1) - delay
        })
    }

    /// The last start in `[from, until]` at which all ports are free.
    pub fn latest(&self, calendars: &Calendars, from: u64, until: u64) -> Option<u64> {
        let (mut start, mut agreed, mut party) = (until, 0, 0);
        while agreed < self.parties() {
            let before = self.latest_of(party, calendars, from, start)?;
            agreed = if before == start { agreed + 1 } else { 1 };
            start = before;
            party = if party + 1 == self.parties() {
                0
            } else {
                party + 1
            };
        }
        Some(start)
    }

    /// The last start in `[from, until]` that suits one party.
    fn latest_of(&self, party: usize, calendars: &Calendars, from: u64, until: u64) -> Option<u64> {
        let count = usize::from(self.count);
        if party < count {
            let Leg { ports, delay } = self.legs[party];
            let delay = u64::from(delay);
            let (lo, hi) = (from + delay, until + delay);
            return Some(calendars.latest(ports, lo, hi, self.occupied())? - delay);
        }
        let (turn, delay) = match party == count {
            true => (self.read_turn, 0),
            false => (self.write_turn, self.delay),
        };
        let Some(turn) = turn else {
            return Some(until);
        };
        Some(turn.latest(&calendars.turns, from + delay, until + delay)? - delay)
    }

    /// Reserves all ports.
    pub fn reserve(&self, calendars: &mut Calendars, start: u64) {
        for (ports, delay) in self.legs() {
            calendars.reserve(ports, start + delay, self.occupied());
        }
        if let Some(turn) = self.read_turn {
            turn.reserve(&mut calendars.turns, start, 1);
        }
        self.reserve_write_turn(calendars, start);
    }

    fn reserve_write_turn(&self, calendars: &mut Calendars, start: u64) {
        if let Some(turn) = self.write_turn {
            turn.reserve(&mut calendars.turns, start + self.delay, 1);
        }
    }

    /// Whether the ports of the receiving side are free, for a transfer that
    /// shares its sending side with another.
    pub fn can_join(&self, calendars: &Calendars, start: u64) -> bool {
        let arrives = start + self.delay;
        let turn = |turn: Wheel| turn.earliest(&calendars.turns, arrives, 1) == arrives;
        self.write_turn.is_none_or(turn)
            && self
                .receiving()
                .all(|(ports, delay)| calendars.is_free(ports, start + delay, self.occupied()))
    }

    /// Reserves the receiving side only.
    pub fn join(&self, calendars: &mut Calendars, start: u64) {
        for (ports, delay) in self.receiving() {
            calendars.reserve(ports, start + delay, self.occupied());
        }
        self.reserve_write_turn(calendars, start);
    }
}
