//! How full a register file is, and will be.

/// Vectors in one register file over time. Only counts matter while entries
/// are placed: intervals that never overlap more often than there are slots
/// can always be given slots afterwards.
#[derive(Debug, Clone, Default)]
pub(super) struct Occupancy {
    /// Changes of the count, by time.
    changes: Vec<(u64, i32)>,
    /// Count after the last change.
    last: i32,
}

impl Occupancy {
    /// Something enters (+1) or leaves (-1) at `at`.
    pub fn change(&mut self, at: u64, by: i32) {
        let place = self.changes.partition_point(|&(time, _)| time <= at);
        match place.checked_sub(1).map(|k| &mut self.changes[k]) {
            Some(same) if same.0 == at => same.1 += by,
            _ => self.changes.insert(place, (at, by)),
        }
        self.last += by;
    }

    /// Forgets when changes up to `now` happened.
    pub fn advance(&mut self, now: u64) {
        let past = self.changes.partition_point(|&(time, _)| time <= now);
        self.changes.drain(..past);
    }

    /// First cycle from which, up to and including `until`, one more fits among `slots`;
    /// `None` if none does at `until` itself.
    pub fn room_until(&self, until: u64, slots: i32) -> Option<u64> {
        let mut count = self.last;
        for &(time, by) in self.changes.iter().rev() {
            // `count` holds from `time` on.
            if time <= until {
                if count >= slots {
                    return None;
                }
                if count - by >= slots {
                    return Some(time);
                }
            }
            count -= by;
        }
        (count < slots).then_some(0)
    }

    /// Whether one more fits over `[from, to)`.
    pub fn fits(&self, from: u64, to: u64, slots: i32) -> bool {
        let mut count = self.last;
        for &(time, by) in self.changes.iter().rev() {
            if time < to && count + 1 > slots {
                return false;
            }
            if time <= from {
                return true;
            }
            count -= by;
        }
        count < slots
    }

    /// First cycle at or after `from` at which one more fits; `None` if there is none.
    pub fn room_after(&self, from: u64, slots: i32) -> Option<u64> {
        let total: i32 = self.changes.iter().map(|change| change.1).sum();
        let mut count = self.last - total;
        let mut index = 0;
        while index < self.changes.len() && self.changes[index].0 <= from {
            count += self.changes[index].1;
            index += 1;
        }
        let mut at = from;
        loop {
            if count < slots {
                return Some(at);
            }
            if index == self.changes.len() {
                return None;
            }
            at = self.changes[index].0;
            while index < self.changes.len() && self.changes[index].0 == at {
                count += self.changes[index].1;
                index += 1;
            }
        }
    }

    /// The first cycle from `from` on from which one more fits among `slots`
    /// forever, if also what leaves at the times `leaving` has left. `None` if
    /// there is no such cycle.
    pub fn room_from(&self, from: u64, slots: i32, leaving: &[u64]) -> Option<u64> {
        if self.last - leaving.len() as i32 + 1 > slots {
            return None;
        }
        let mut pending = [u64::MAX; 4];
        pending[..leaving.len()].copy_from_slice(leaving);
        pending.sort_unstable();
        let mut left = leaving.len();
        let mut count = self.last - leaving.len() as i32;
        let mut index = self.changes.len();
        // Backwards in time: the count before each change.
        while index > 0 || left > 0 {
            let change = index.checked_sub(1).map_or(0, |k| self.changes[k].0);
            let leave = left.checked_sub(1).map_or(0, |k| pending[k]);
            let time = change.max(leave);
            if time <= from {
                break;
            }
            if left > 0 && leave == time {
                left -= 1;
                count += 1;
            } else {
                index -= 1;
                count -= self.changes[index].1;
            }
            let same = index > 0 && self.changes[index - 1].0 == time;
            if !same && (left == 0 || pending[left - 1] != time) && count + 1 > slots {
                return Some(time);
            }
        }
        Some(from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_found_after_the_last_crowded_cycle() {
        let mut occupancy = Occupancy::default();
        occupancy.change(0, 1);
        occupancy.change(10, 1);
        assert_eq!(occupancy.room_from(0, 2, &[]), None);
        assert_eq!(occupancy.room_from(0, 3, &[]), Some(0));
        assert_eq!(occupancy.room_from(0, 2, &[25]), Some(25));
        occupancy.change(20, -1);
        assert_eq!(occupancy.room_from(0, 2, &[]), Some(20));
        assert_eq!(occupancy.room_from(30, 2, &[]), Some(30));
        occupancy.advance(10);
        assert_eq!(occupancy.room_from(0, 2, &[]), Some(20));
    }
    #[test]
    fn gaps_agree_with_counting_every_cycle() {
        let mut state = 3u64;
        let mut next = |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % below
        };
        for _ in 0..200 {
            let mut occupancy = Occupancy::default();
            let mut counts = [0; 80];
            for _ in 0..next(8) {
                let (from, length) = (next(50), 1 + next(20));
                occupancy.change(from, 1);
                occupancy.change(from + length, -1);
                (from..from + length).for_each(|cycle| counts[cycle as usize] += 1);
            }
            let slots = 1 + next(4) as i32;
            let free = |cycle: u64| counts[cycle as usize] < slots;
            let at = next(70);
            assert_eq!(occupancy.room_after(at, slots), (at..).find(|&t| free(t)));
            let crowded = (0..=at).rev().find(|&t| !free(t));
            let room = match crowded {
                Some(t) => (t < at).then_some(t + 1),
                None => Some(0),
            };
            assert_eq!(occupancy.room_until(at, slots), room);
            let to = at + 1 + next(80 - at - 1).min(9);
            assert_eq!(occupancy.fits(at, to, slots), (at..to).all(free));
        }
    }
}
