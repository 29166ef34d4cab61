//! Which value to evict: the one whose next use is furthest.

use std::collections::BinaryHeap;

/// Key of a value that no instruction reads any more.
pub(crate) const NEVER: u32 = u32::MAX;

/// Candidates for eviction, clean and dirty apart, each a heap by next use.
///
/// Entries are not removed when a value is used or evicted; whoever pops one
/// asks whether it still holds. The next use of a value only moves away, and
/// every move pushes an entry, so the newest entry of a value is exact.
#[derive(Debug, Default)]
pub(crate) struct Victims {
    clean: BinaryHeap<(u32, u32)>,
    dirty: BinaryHeap<(u32, u32)>,
}

impl Victims {
    /// Adds a value with its next use.
    pub fn push(&mut self, dirty: bool, next_use: u32, value: u32) {
        self.heap(dirty).push((next_use, value));
    }

    /// The candidate with the furthest next use for which `holds` is true.
    pub fn peek(
        &mut self,
        dirty: bool,
        mut holds: impl FnMut(u32, u32) -> bool,
    ) -> Option<(u32, u32)> {
        let heap = self.heap(dirty);
        while let Some(&(next_use, value)) = heap.peek() {
            if holds(next_use, value) {
                return Some((next_use, value));
            }
            heap.pop();
        }
        None
    }

    /// Drops entries that no longer hold, if there are many more than `resident` values.
    pub fn prune(&mut self, resident: usize, mut holds: impl FnMut(bool, u32, u32) -> bool) {
        for dirty in [false, true] {
            let heap = self.heap(dirty);
            if heap.len() > 4 * resident + 4096 {
                heap.retain(|&(next_use, value)| holds(dirty, next_use, value));
            }
        }
    }

    fn heap(&mut self, dirty: bool) -> &mut BinaryHeap<(u32, u32)> {
        if dirty {
            &mut self.dirty
        } else {
            &mut self.clean
        }
    }
}

/// Of the furthest clean and the furthest dirty candidate, the one to evict
/// when the program has reached instruction `oldest`. A dirty value costs a
/// store and a load later, a clean one only the load, so a dirty one must be
/// twice as far. A value that nobody reads any more goes first.
pub(crate) fn cheaper(
    clean: Option<(u32, u32)>,
    dirty: Option<(u32, u32)>,
    oldest: u32,
) -> Option<(u32, u32)> {
    let (Some(c), Some(d)) = (clean, dirty) else {
        return clean.or(dirty);
    };
    let distance = |next: u32| u64::from(next.saturating_sub(oldest));
    if d.0 == NEVER || distance(d.0) > 2 * distance(c.0) {
        Some(d)
    } else {
        Some(c)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn furthest_valid_candidate_is_found() {
        let mut victims = Victims::default();
        for (next, value) in [(5, 1), (9, 2), (7, 3)] {
            victims.push(false, next, value);
        }
        assert_eq!(victims.peek(false, |_, v| v != 2), Some((7, 3)));
        assert_eq!(victims.peek(true, |_, _| true), None);
    }

    #[test]
    fn dirty_value_must_be_twice_as_far() {
        let clean = Some((20, 1));
        assert_eq!(cheaper(clean, Some((29, 2)), 10), clean);
        assert_eq!(cheaper(clean, Some((31, 2)), 10), Some((31, 2)));
        assert_eq!(cheaper(clean, Some((NEVER, 2)), 10), Some((NEVER, 2)));
        assert_eq!(cheaper(None, Some((11, 2)), 10), Some((11, 2)));
    }
}
