//! The entries of a stream, packed.
//!
//! A schedule has several entries an instruction and is by far the largest thing
//! that a compilation makes, so entries are kept in bytes: a tag that says what kind
//! of entry it is, the wait, and its numbers, each in as many groups of seven bits as
//! it needs. This is how programs hold streams; what a machine fetches is
//! [`crate::encode_streams`].

mod iter;

use std::fmt;

use crate::schedule::{Entry, Link, NO_SLOT, StreamOp};
pub use iter::EntryIter;

/// Tags of entries that compute are the operation, with a bit for each operand at
/// these places; those of others have the highest bit.
const OPERANDS: u32 = 4;
const OTHER: u8 = 1 << 7;
/// Kinds of other entries, in the bits below.
const KIND: u32 = 4;
const READ: u8 = 0;
const WRITE: u8 = 1;
const ROUTE: u8 = 2;
const LOAD: u8 = 3;
const STORE: u8 = 4;
/// In the lowest bits of reads and writes: this bit for a channel, below it the
/// link's index, or that it follows as a number.
const CHANNEL: u8 = 1 << 3;
const FOLLOWS: u8 = CHANNEL - 1;

/// Most bytes of a wait.
const MOST_WAIT_BYTES: usize = 5;

/// Most entries from a mark to the next.
const STRIDE: usize = 64;

/// The entries of a stream in order, packed into some 4 to 9 bytes each.
#[derive(Clone, Default)]
pub struct Entries {
    bytes: Vec<u8>,
    len: usize,
    /// Entries, and the bytes where they start; the first is one of them.
    marks: Vec<Mark>,
    /// Entries since the last mark.
    unmarked: usize,
}

/// An entry that is found without reading those before it.
#[derive(Clone, Copy)]
struct Mark {
    entry: usize,
    byte: usize,
}

impl Entries {
    /// No entries.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes that the entries take.
    #[must_use]
    pub fn byte_count(&self) -> usize {
        self.bytes.len()
    }

    /// Appends an entry.
    #[inline]
    pub fn push(&mut self, entry: Entry) {
        self.mark();
        let out = &mut self.bytes;
        match entry.op {
            StreamOp::Compute {
                op,
                modulus,
                dst,
                src,
                imm,
            } => {
                let operands = (0..3).filter(|&k| src[k as usize] != NO_SLOT);
                let operands: u8 = operands.map(|k| 1 << (OPERANDS + k)).sum();
                out.push(op as u8 | operands);
                put(out, entry.wait);
                put(out, modulus.into());
                put(out, dst.into());
                for slot in src.into_iter().filter(|&slot| slot != NO_SLOT) {
                    put(out, slot.into());
                }
                put(out, imm);
            }
            StreamOp::Read { slot, to } => put_access(out, READ, entry.wait, (slot, to)),
            StreamOp::Write { slot, from } => put_access(out, WRITE, entry.wait, (slot, from)),
            StreamOp::Route { from } => {
                out.push(OTHER | ROUTE << KIND);
                put(out, entry.wait);
                put(out, from.into());
            }
            StreamOp::Load { address, bank } => {
                put_transfer(out, LOAD, entry.wait, (address, bank));
            }
            StreamOp::Store { address, bank } => {
                put_transfer(out, STORE, entry.wait, (address, bank));
            }
        }
        self.len += 1;
    }

    /// Puts a mark at the next entry if it is time for one.
    fn mark(&mut self) {
        if self.len == 0 || self.unmarked == STRIDE {
            self.marks.push(Mark {
                entry: self.len,
                byte: self.bytes.len(),
            });
            self.unmarked = 0;
        }
        self.unmarked += 1;
    }

    /// All entries of several lists one after the other; the first entry of each gets the
    /// wait that stands before its list.
    ///
    /// # Cost
    /// That of copying the bytes.
    #[must_use]
    pub fn concatenate(lists: Vec<(u32, Entries)>) -> Self {
        let (mut bytes, mut marks) = (0, 0);
        for (_, list) in &lists {
            bytes += list.bytes.len() + MOST_WAIT_BYTES;
            marks += list.marks.len();
        }
        let mut all = Self::new();
        all.bytes.reserve_exact(bytes);
        all.marks.reserve_exact(marks);
        for (wait, list) in lists {
            all.append(&list, wait);
        }
        all
    }

    /// Appends the entries of another list, the first of them after `wait` cycles.
    fn append(&mut self, list: &Entries, wait: u32) {
        let mut rest = list.iter();
        let Some(first) = rest.next() else {
            return;
        };
        self.unmarked = STRIDE;
        self.push(Entry { wait, ..first });
        // What comes after the first entry moves by as much as its end.
        let (end, from) = (self.bytes.len(), list.bytes.len() - rest.bytes.len());
        let entries = self.len - 1;
        self.marks.extend(list.marks[1..].iter().map(|mark| Mark {
            entry: mark.entry + entries,
            byte: mark.byte + end - from,
        }));
        self.bytes.extend_from_slice(rest.bytes);
        self.len = entries + list.len;
        self.unmarked = list.unmarked;
    }

    /// The entries in order.
    #[must_use]
    pub fn iter(&self) -> EntryIter<'_> {
        EntryIter {
            bytes: &self.bytes,
            left: self.len,
        }
    }

    /// An entry, `None` beyond the last.
    ///
    /// # Cost
    /// That of reading 64 entries at most.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<Entry> {
        let later = self.marks.partition_point(|mark| mark.entry <= index);
        let mark = self.marks[..later].last()?;
        let mut from = EntryIter {
            bytes: &self.bytes[mark.byte..],
            left: self.len - mark.entry,
        };
        from.nth(index - mark.entry)
    }

    /// Unpacks the entries, changes them, and packs them again.
    pub fn edit<T>(&mut self, change: impl FnOnce(&mut Vec<Entry>) -> T) -> T {
        let mut list = self.iter().collect();
        let result = change(&mut list);
        *self = list.into();
        result
    }

    /// Gives back memory that is reserved for further entries.
    pub fn shrink_to_fit(&mut self) {
        self.bytes.shrink_to_fit();
        self.marks.shrink_to_fit();
    }
}

fn put(out: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn put_access(out: &mut Vec<u8>, kind: u8, wait: u32, (slot, link): (u16, Link)) {
    let (bit, index) = match link {
        Link::Xbar(index) => (0, index),
        Link::Channel(index) => (CHANNEL, index),
    };
    let short = index.min(FOLLOWS.into()) as u8;
    out.push(OTHER | kind << KIND | bit | short);
    put(out, wait);
    if short == FOLLOWS {
        put(out, index.into());
    }
    put(out, slot.into());
}

fn put_transfer(out: &mut Vec<u8>, kind: u8, wait: u32, (address, bank): (u32, u16)) {
    out.push(OTHER | kind << KIND);
    put(out, wait);
    put(out, address);
    put(out, bank.into());
}

impl PartialEq for Entries {
    fn eq(&self, other: &Self) -> bool {
        (self.len, &self.bytes) == (other.len, &other.bytes)
    }
}

impl Eq for Entries {}

impl fmt::Debug for Entries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

impl Extend<Entry> for Entries {
    fn extend<I: IntoIterator<Item = Entry>>(&mut self, entries: I) {
        entries.into_iter().for_each(|entry| self.push(entry));
    }
}

impl FromIterator<Entry> for Entries {
    fn from_iter<I: IntoIterator<Item = Entry>>(entries: I) -> Self {
        let mut all = Self::new();
        all.extend(entries);
        all
    }
}

impl From<Vec<Entry>> for Entries {
    fn from(entries: Vec<Entry>) -> Self {
        entries.into_iter().collect()
    }
}

impl<'a> IntoIterator for &'a Entries {
    type Item = Entry;
    type IntoIter = EntryIter<'a>;

    fn into_iter(self) -> EntryIter<'a> {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::Op;

    fn entries() -> Vec<Entry> {
        let numbers = [0, 1, 127, 128, 16_383, 16_384, u32::MAX - 1, u32::MAX];
        let mut list = Vec::new();
        for (k, &wait) in numbers.iter().enumerate() {
            let short = (wait as u16).min(NO_SLOT - 1);
            let link = match k % 2 {
                0 => Link::Xbar(short),
                _ => Link::Channel(k as u16),
            };
            let mut src = [short, 3, 0];
            src[k % 3] = NO_SLOT;
            let ops = [
                StreamOp::Compute {
                    op: Op::ALL[k],
                    modulus: u16::MAX,
                    dst: short,
                    src,
                    imm: wait,
                },
                StreamOp::Read {
                    slot: short,
                    to: link,
                },
                StreamOp::Write {
                    slot: u16::MAX,
                    from: link,
                },
                StreamOp::Route { from: short },
                StreamOp::Load {
                    address: wait,
                    bank: short,
                },
                StreamOp::Store {
                    address: wait,
                    bank: u16::MAX,
                },
            ];
            list.extend(ops.map(|op| Entry { wait, op }));
        }
        list
    }

    #[test]
    fn entries_read_back() {
        let list = entries();
        let packed: Entries = list.iter().copied().collect();
        assert_eq!(packed.len(), list.len());
        assert_eq!(packed.iter().collect::<Vec<_>>(), list);
        assert_ne!(packed, Entries::from(list[1..].to_vec()));
    }

    #[test]
    fn any_entry_is_found_and_can_go() {
        let mut list = entries();
        for _ in 0..4 {
            list.extend(list.clone());
        }
        let mut packed = Entries::from(list.clone());
        for (k, &entry) in list.iter().enumerate() {
            assert_eq!(packed.get(k), Some(entry));
        }
        assert_eq!(packed.get(list.len()), None);
        packed.edit(|entries| entries.remove(3));
        list.remove(3);
        assert_eq!(packed, Entries::from(list));
    }

    #[test]
    fn lists_become_one_with_waits_between() {
        let mut list = entries();
        list.extend(list.clone());
        let parts = [(0, 0..3), (200, 3..3), (1, 3..70), (70_000, 70..96)];
        let packed = parts.clone().map(|(wait, range)| {
            let part = Entries::from(list[range].to_vec());
            (wait, part)
        });
        let mut all = Entries::concatenate(packed.into());
        for (wait, range) in parts.into_iter().filter(|(_, range)| !range.is_empty()) {
            list[range.start].wait = wait;
        }
        assert_eq!(all, Entries::from(list.clone()));
        for (k, &entry) in list.iter().enumerate() {
            assert_eq!(all.get(k), Some(entry));
        }
        all.extend(list.clone());
        assert_eq!(all.get(100), Some(list[100 - 96]));
        assert_eq!(all.get(2 * 96), None);
    }
}
