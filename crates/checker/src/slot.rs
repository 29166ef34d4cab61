//! What a slot holds, chunk by chunk in time.

use crate::classes::Class;
use crate::error::Fault;

/// A value written over `[start, end)`.
#[derive(Debug, Clone, Copy)]
struct Write {
    start: u64,
    end: u64,
    class: Class,
}

/// A slot of a register file, bank or off-chip memory.
///
/// Entries are replayed in the order of their cycles, so reads come in order,
/// while a write is announced when its cause starts and may land after a write
/// that is announced later.
#[derive(Debug, Clone, Default)]
pub(crate) struct Slot {
    /// The last write that has begun, at the time of the last read.
    current: Option<Write>,
    /// Writes to come, in the order of their cycles.
    coming: Vec<Write>,
    /// Where the last read ends.
    read_end: u64,
    read: bool,
}

impl Slot {
    /// A slot that holds a value from the start.
    pub(crate) fn holding(class: Class) -> Self {
        Self {
            current: Some(Write {
                start: 0,
                end: 0,
                class,
            }),
            ..Self::default()
        }
    }

    /// The value that it holds in the end.
    pub(crate) fn last(&self) -> Option<Class> {
        let last = self.coming.last().or(self.current.as_ref());
        last.map(|write| write.class)
    }

    /// Announces a write. No read that is yet to come starts before the replay's
    /// cycle, which is at most `start`.
    pub(crate) fn write(
        &mut self,
        slot: u32,
        (start, end): (u64, u64),
        class: Class,
    ) -> Result<(), Fault> {
        if self.read && end <= self.read_end {
            return Err(Fault::Overwritten {
                slot,
                read_end: self.read_end,
                write: (start, end),
            });
        }
        let at = self.coming.partition_point(|other| other.start <= start);
        let before = match at {
            0 => self.current.as_ref(),
            at => Some(&self.coming[at - 1]),
        };
        let crossed = |other: &Write| Fault::WritesCross {
            slot,
            first: (other.start, other.end),
            second: (start, end),
        };
        // The first write of an off-chip input has no extent and no time of its own.
        if let Some(other) = before.filter(|w| w.end > 0 && !(w.start < start && w.end < end)) {
            return Err(crossed(other));
        }
        if let Some(other) = self.coming.get(at).filter(|w| w.end <= end) {
            return Err(crossed(other));
        }
        self.coming.insert(at, Write { start, end, class });
        Ok(())
    }

    /// Reads the slot over `[start, end)`: the class that all chunks belong to.
    pub(crate) fn read(
        &mut self,
        slot: u32,
        (start, end): (u64, u64),
        name: impl Fn(Class) -> String,
    ) -> Result<Class, Fault> {
        let begun = self.coming.partition_point(|write| write.start <= start);
        if let Some(last) = self.coming.drain(..begun).next_back() {
            self.current = Some(last);
        }
        let next = self.coming.first();
        let Some(current) = self.current else {
            return Err(match next {
                None => Fault::Unwritten { slot },
                Some(next) => too_early(slot, (start, end), next, name),
            });
        };
        if end < current.end {
            return Err(too_early(slot, (start, end), &current, name));
        }
        if let Some(next) = next.filter(|next| next.end <= end) {
            return Err(Fault::Overwritten {
                slot,
                read_end: end,
                write: (next.start, next.end),
            });
        }
        self.read_end = self.read_end.max(end);
        self.read = true;
        Ok(current.class)
    }
}

fn too_early(slot: u32, read: (u64, u64), write: &Write, name: impl Fn(Class) -> String) -> Fault {
    Fault::TooEarly {
        slot,
        value: name(write.class),
        read,
        write: (write.start, write.end),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(slot: &mut Slot, start: u64, end: u64) -> Result<Class, Fault> {
        slot.read(3, (start, end), |class| class.to_string())
    }

    #[test]
    fn a_read_follows_the_write_chunk_by_chunk() {
        let written = || {
            let mut slot = Slot::default();
            slot.write(3, (10, 20), 7).expect("empty");
            slot
        };
        // Neither start nor end may be earlier than the write's.
        assert_eq!(read(&mut written(), 10, 20), Ok(7));
        assert_eq!(read(&mut written(), 12, 20), Ok(7));
        assert_eq!(read(&mut written(), 10, 30), Ok(7));
        let early = |slot: &mut Slot, start, end| {
            matches!(read(slot, start, end), Err(Fault::TooEarly { .. }))
        };
        assert!(early(&mut written(), 9, 20));
        assert!(early(&mut written(), 10, 19));
        assert!(early(&mut written(), 15, 19));
        let empty = read(&mut Slot::default(), 0, 5);
        assert_eq!(empty, Err(Fault::Unwritten { slot: 3 }));
    }

    #[test]
    fn a_write_follows_the_reads_chunk_by_chunk() {
        // A read over 10..20, then a write that is announced later, or before.
        for (write, legal) in [
            ((11, 21), true),
            ((11, 20), false),
            ((15, 17), false),
            ((15, 40), true),
            ((20, 30), true),
        ] {
            let mut slot = Slot::holding(1);
            assert_eq!(read(&mut slot, 10, 20), Ok(1));
            assert_eq!(slot.write(3, write, 2).is_ok(), legal, "{write:?}");
            let mut slot = Slot::holding(1);
            slot.write(3, write, 2).expect("no read yet");
            assert_eq!(read(&mut slot, 10, 20).is_ok(), legal, "{write:?}");
        }
    }

    #[test]
    fn writes_do_not_cross() {
        for (second, legal) in [
            ((11, 21), true),
            ((10, 21), false),
            ((11, 20), false),
            ((9, 19), true),
            ((9, 20), false),
            ((5, 30), false),
            ((12, 18), false),
        ] {
            let mut slot = Slot::default();
            slot.write(3, (10, 20), 1).expect("empty");
            let result = slot.write(3, second, 2);
            assert_eq!(result.is_ok(), legal, "{second:?}: {result:?}");
            let last = if second.0 > 10 { 2 } else { 1 };
            assert!(!legal || slot.last() == Some(last));
        }
    }
}
