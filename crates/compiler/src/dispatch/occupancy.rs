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
    /// Count after all that is known.
    pub fn last(&self) -> i32 {
        self.last
    }

    /// Something enters (+1) or leaves (-1) at `at`.
    pub fn change(&mut self, at: u64, by: i32) {
        let place = self.changes.partition_point(|&(time, _)| time <= at);
        self.changes.insert(place, (at, by));
        self.last += by;
    }

    /// Forgets when changes up to `now` happened.
    pub fn advance(&mut self, now: u64) {
        let past = self.changes.partition_point(|&(time, _)| time <= now);
        self.changes.drain(..past);
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
        assert_eq!(occupancy.last(), 1);
    }
}
