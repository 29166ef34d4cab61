//! Issuing an instruction, with its operands, just in time.

use cyclotron_isa::NONE;
use cyclotron_machine::OpTiming;

use super::engine::Engine;
use super::records::Draft;
use super::tasks::STORE;
use super::transfer::Transfer;
use crate::placement::placer::result_delay;
use crate::uses::distinct_sources;

/// Starts that are tried for an instruction.
const ROUNDS: u32 = 256;
/// Tries after which an operand may only come where there is room for good.
const EASY: u32 = 12;

/// An instruction that is being issued on a cluster.
#[derive(Debug, Clone, Copy)]
struct Attempt {
    inst: u32,
    cluster: u16,
    timing: OpTiming,
    /// Cycles that it reads.
    span: u64,
    operands: [u32; 3],
    count: usize,
    /// The start that is tried.
    at: u64,
}

/// Where an operand comes from.
enum Operand {
    /// A copy in the cluster.
    Here(u32),
    /// It has to be sent.
    Sent(Transfer),
}

/// Why an instruction cannot start when it should.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Obstacle {
    /// It may be worth trying a later cycle.
    Until(u64),
    /// Something must leave the register file.
    Full,
}

impl Engine<'_> {
    /// Issues an instruction on a cluster as early as possible; false if it cannot be.
    pub(super) fn issue(&mut self, inst: u32, cluster: u16) -> bool {
        let timing = self.timing[self.flat.op[inst as usize] as usize];
        let mut operands = [NONE; 3];
        let count = self.tasks.operands(inst).len();
        operands[..count].copy_from_slice(self.tasks.operands(inst));
        let mut attempt = Attempt {
            inst,
            cluster,
            timing,
            span: u64::from(timing.occupancy),
            operands,
            count,
            at: self.in_step(inst, cluster, result_delay(timing, self.machine)),
        };
        let issue = self.needs(inst, cluster);
        for round in 0..ROUNDS {
            attempt.at = self
                .network
                .earliest_issue(&self.calendars, &issue, attempt.at);
            match self.try_at(&attempt, round) {
                Ok(copies) => return self.execute(&attempt, &copies[..count]),
                Err(Obstacle::Until(later)) => attempt.at = later.max(attempt.at + 1),
                Err(Obstacle::Full) if self.spill(cluster, &operands[..count]) => {}
                Err(Obstacle::Full) => return false,
            }
        }
        false
    }

    /// First cycle at which it is of any use to start an instruction whose result takes
    /// `delay` cycles: until its only reader can start, the result would just take a slot.
    fn in_step(&self, inst: u32, cluster: u16, delay: u64) -> u64 {
        let stay = self.tasks.result[inst as usize];
        let &[user] = self.tasks.users.of(stay) else {
            return self.now;
        };
        let inside =
            user & STORE == 0 && self.cones.of[user as usize] == self.cones.of[inst as usize];
        if !self.policy.in_step || !inside {
            return self.now;
        }
        let mut ready = self.now;
        for &other in self.tasks.operands(user).iter().filter(|&&s| s != stay) {
            match self.copies.find(self.stays.get(other).copies, cluster) {
                Some(copy) => ready = ready.max(self.copies.get(copy).written),
                None => return self.now,
            }
        }
        let issue = self.needs(user, cluster);
        let start = self.network.earliest_issue(&self.calendars, &issue, ready);
        self.now.max(start.saturating_sub(delay))
    }

    /// Brings the operands, and looks for room for the result. What it brought stays
    /// reserved if it fails, for the next try.
    fn try_at(&mut self, attempt: &Attempt, round: u32) -> Result<[u32; 3], Obstacle> {
        let &Attempt {
            cluster, at, span, ..
        } = attempt;
        let operands = &attempt.operands[..attempt.count];
        if round >= EASY {
            self.check_room(attempt)?;
        }
        self.check_result(attempt, round)?;
        // What is brought takes a slot until it is read: nothing comes before everything can.
        for &stay in operands {
            self.find_operand(cluster, stay, (at, span))?;
        }
        let mut copies = [NONE; 3];
        for (copy, &stay) in copies.iter_mut().zip(operands) {
            *copy = self.provide(cluster, stay, (at, span))?;
        }
        // What was brought may take turns at the register file.
        let issue = self.needs(attempt.inst, cluster);
        let start = self.network.earliest_issue(&self.calendars, &issue, at);
        if start > at {
            return Err(Obstacle::Until(start));
        }
        self.check_result(attempt, round)?;
        Ok(copies)
    }

    /// Whether there is room for the result.
    fn check_result(&self, attempt: &Attempt, round: u32) -> Result<(), Obstacle> {
        let &Attempt {
            cluster, at, span, ..
        } = attempt;
        let mut leaving = [0; 3];
        let mut count = 0;
        for &stay in &attempt.operands[..attempt.count] {
            let place = self.stays.get(stay);
            let copy = self.copies.find(place.copies, cluster);
            if let Some(copy) = copy.filter(|_| place.left == 1 && round < EASY)
                && self.copies.get(copy).open
            {
                leaving[count] = self.copies.free_from_after(copy, at, span);
                count += 1;
            }
        }
        let delay = result_delay(attempt.timing, self.machine);
        let occupancy = &self.occupancy[usize::from(cluster)];
        match occupancy.room_from(at + delay, self.slots(), &leaving[..count]) {
            Some(room) if room <= at + delay => Ok(()),
            Some(room) => Err(Obstacle::Until(room - delay)),
            None => Err(Obstacle::Full),
        }
    }

    /// After many tries: whether all that an instruction brings has room for good.
    fn check_room(&self, attempt: &Attempt) -> Result<(), Obstacle> {
        let outside = |&&stay: &&u32| {
            let copy = self
                .copies
                .find(self.stays.get(stay).copies, attempt.cluster);
            copy.is_none_or(|copy| !self.copies.get(copy).open)
        };
        let operands = attempt.operands[..attempt.count].iter();
        let others = operands.filter(outside).count().saturating_sub(1) as i32;
        let occupancy = &self.occupancy[usize::from(attempt.cluster)];
        match occupancy.room_from(attempt.at, self.slots() - others, &[]) {
            Some(room) if room <= attempt.at => Ok(()),
            Some(room) => Err(Obstacle::Until(room)),
            None => Err(Obstacle::Full),
        }
    }

    /// Vectors that a register file holds.
    fn slots(&self) -> i32 {
        i32::from(self.machine.regfile.slots)
    }

    /// A copy of a value in a cluster that can be read over `[at, at + span)`. If there is
    /// none it is brought just in time: it takes a slot from its arrival to the read.
    fn provide(
        &mut self,
        cluster: u16,
        stay: u32,
        (at, span): (u64, u64),
    ) -> Result<u32, Obstacle> {
        let copy = match self.find_operand(cluster, stay, (at, span))? {
            Operand::Here(copy) => copy,
            Operand::Sent(transfer) => self.commit_transfer(cluster, stay, transfer),
        };
        let kept = self.extend(copy, at, span);
        kept.then_some(copy).ok_or(Obstacle::Until(at + 1))
    }

    /// How a value can be read in a cluster over `[at, at + span)`.
    fn find_operand(
        &mut self,
        cluster: u16,
        stay: u32,
        (at, span): (u64, u64),
    ) -> Result<Operand, Obstacle> {
        let first = self.stays.get(stay).copies;
        if let Some(copy) = self.copies.find(first, cluster) {
            let readable = self.copies.get(copy).readable(span);
            if readable > at {
                return Err(Obstacle::Until(readable));
            }
            if self.can_extend(copy, at, span) {
                return Ok(Operand::Here(copy));
            }
            // Others have taken its slot since it was read last.
            self.stays.get_mut(stay).copies = self.copies.unlink(first, copy);
        }
        let last = self.copies.free_after(at, span) - 1;
        let occupancy = &self.occupancy[usize::from(cluster)];
        let Some(from) = occupancy.room_until(last, self.slots()) else {
            let room = occupancy.room_after(last, self.slots());
            let room = room.ok_or(Obstacle::Full)?;
            return Err(Obstacle::Until(at + room - last));
        };
        if let Some(transfer) = self.find_late_transfer(cluster, stay, from, (at, span)) {
            return Ok(Operand::Sent(transfer));
        }
        let transfer = self.find_transfer(cluster, stay, from);
        let later = transfer.map_or(at + self.beat, |transfer| transfer.in_time(span));
        Err(Obstacle::Until(later))
    }

    /// Whether a copy can be read over `[at, at + span)`: it has a slot until then.
    pub(super) fn can_extend(&self, copy: u32, at: u64, span: u64) -> bool {
        let state = self.copies.get(copy);
        let (before, after) = (
            self.copies.free_from(copy),
            self.copies.free_from_after(copy, at, span),
        );
        let occupancy = &self.occupancy[usize::from(state.cluster)];
        let known = before >= self.known_from();
        state.open || after <= before || (known && occupancy.fits(before, after, self.slots()))
    }

    /// Notes a read of a copy, if it has a slot until then.
    pub(super) fn extend(&mut self, copy: u32, at: u64, span: u64) -> bool {
        if !self.can_extend(copy, at, span) {
            return false;
        }
        let before = self.copies.free_from(copy);
        self.copies.read(copy, at, span);
        let after = self.copies.free_from(copy);
        let state = self.copies.get(copy);
        if !state.open && after > before {
            let occupancy = &mut self.occupancy[usize::from(state.cluster)];
            occupancy.change(before, 1);
            occupancy.change(after, -1);
        }
        true
    }

    /// Reserves a unit, notes all reads, makes the result. A result that others than
    /// its cone read goes to a bank at once: then its copy may leave at any time.
    fn execute(&mut self, attempt: &Attempt, copies: &[u32]) -> bool {
        let &Attempt {
            inst,
            cluster,
            timing,
            span,
            at,
            ..
        } = attempt;
        let issue = self.needs(inst, cluster);
        let units = issue.units;
        let port = self.network.reserve_issue(&mut self.calendars, &issue, at);
        let kind = &self.machine.units[usize::from(timing.unit)];
        let unit = kind.first + (port - units.first) as u16;
        self.left -= 1;
        self.alive += 1;
        for (k, &copy) in copies.iter().enumerate() {
            self.copies.read(copy, at, span);
            self.used(self.tasks.operands(inst)[k]);
        }
        let written = at + result_delay(timing, self.machine);
        let stay = self.tasks.result[inst as usize];
        let dst = self.open_copy(cluster, stay, (written, span));
        let draft = Draft::Compute {
            inst,
            cluster,
            unit,
            dst,
            src: self.fields(inst, copies),
        };
        self.drafts.push(at, draft);
        self.stats.computes += 1;
        self.stats.operands += copies.len() as u64;
        if self.stays.get(stay).left == 0 {
            self.leave(stay);
            return true;
        }
        let cone = self.cones.of[inst as usize];
        let mut users = self.tasks.users.of(stay).iter();
        let inside = |&user: &u32| user & STORE == 0 && self.cones.of[user as usize] == cone;
        if users.all(inside) {
            self.open[usize::from(cluster)].push(dst);
            return true;
        }
        if !self.write_back(stay) {
            return false;
        }
        self.close(dst);
        self.announce(stay, written, cone);
        true
    }

    /// The copies in the order of the instruction's fields, where a value may repeat.
    fn fields(&self, inst: u32, copies: &[u32]) -> [u32; 3] {
        let (distinct, n) = distinct_sources(self.flat, inst as usize);
        self.flat.src[inst as usize].map(|source| {
            let place = distinct[..n].iter().position(|&value| value == source);
            place.map_or(NONE, |k| copies[k])
        })
    }

    /// Writes a value that a cone keeps for itself to a bank; false if there is none.
    fn spill(&mut self, cluster: u16, pinned: &[u32]) -> bool {
        let here = usize::from(cluster);
        let urgency = |&copy: &u32| {
            let users = self.tasks.users.of(self.copies.get(copy).stay);
            users
                .last()
                .map_or(0, |&user| self.cones.inner[user as usize])
        };
        let free = |copy: &&u32| !pinned.contains(&self.copies.get(**copy).stay);
        let Some(&copy) = self.open[here]
            .iter()
            .filter(free)
            .max_by_key(|copy| urgency(copy))
        else {
            return false;
        };
        let stay = self.copies.get(copy).stay;
        self.stats.evictions += 1;
        if !self.write_back(stay) {
            return false;
        }
        self.open[here].retain(|&other| other != copy);
        self.close(copy);
        true
    }
}
