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
