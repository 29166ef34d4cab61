//! The compact encoding of instruction streams: what a machine fetches.
//!
//! Streams repeat themselves: units of one kind execute few operations, register files
//! have few slots, waits are alike. So each number of an entry is written in a prefix
//! code (`prefix`) that is made for the schedule and shared by all streams: there is
//! one for each field of each form of entry, or one for each context where that is
//! shorter (`model`). And a transfer is written once: the entry of a crossbar port or
//! memory channel brings along the slots of the read and the write that belong to it,
//! whose cycles follow from its own (`transfers`).
//!
//! ```text
//! streams:  count(number) header* links model 0-7 zeros sequence*
//! header:   component entries(number) own(number, memories only)
//! sequence: (form numbers)* 0-7 zeros
//! ```
//!
//! The sequences of memories come last. Numbers are written with their most significant
//! bit first. A sequence starts and ends on a byte and has a history of its own, so that
//! it can be fetched by itself: its decoder reads a word at a time, and remembers
//! the last form and a number for each field. Every list of streams reads back as it
//! was, whether its entries make sense or not.

mod bits;
mod form;
mod memories;
mod model;
mod prefix;
mod transfers;

use std::collections::HashMap;

use crate::encoding::bits::{BitReader, BitWriter};
use crate::encoding::form::{Field, Form, Numbers, numbers, read_component, write_component};
use crate::encoding::memories::{Memories, is_memory, merge, places, with_slot};
use crate::encoding::model::{Counts, History, Model};
use crate::encoding::transfers::Links;
use crate::schedule::{Component, Entry, Stream, StreamOp};

/// Why bytes are no encoded streams.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EncodingError {
    /// They end before the last stream does.
    #[error("stream {stream}: the bytes end where its {what} should stand")]
    Truncated {
        /// Index of the stream; the number of streams in what they share.
        stream: usize,
        /// What was being read.
        what: &'static str,
    },
    /// A number names nothing.
    #[error("stream {stream}: there is no {what} {number}")]
    Unknown {
        /// Index of the stream.
        stream: usize,
        /// What is numbered.
        what: &'static str,
        /// The number.
        number: u64,
    },
    /// More of something than there may be.
    #[error("stream {stream}: {count} {what}, where at most {limit} are allowed")]
    TooMany {
        /// Index of the stream.
        stream: usize,
        /// What is counted.
        what: &'static str,
        /// The number that the bytes state.
        count: u64,
        /// How many there may be.
        limit: u64,
    },
    /// The lengths of a code's words are those of no complete prefix code.
    #[error("stream {stream}: the words of a code are too many or too few")]
    NoPrefixCode {
        /// The number of streams: codes are shared.
        stream: usize,
    },
    /// A memory's stream has fewer entries than it should.
    #[error("stream {stream}: {count} of its entries are missing")]
    Missing {
        /// Index of the stream.
        stream: usize,
        /// How many neither it nor a transfer has.
        count: u64,
    },
    /// Bytes are left over.
    #[error("{count} bytes follow the last stream")]
    Trailing {
        /// How many.
        count: usize,
    },
}

/// Orders of the codes of the header's numbers.
const STREAMS_ORDER: u32 = 4;
const ENTRIES_ORDER: u32 = 6;
const OWN_ORDER: u32 = 2;

/// Encodes streams.
///
/// # Cost
/// Two passes over the entries; some 1 to 2 bytes an entry come out. Memory: 30 bytes
/// for each entry of a bank or register file.
///
/// # Panics
/// If there are 2^32 streams, or 2^32 entries in one.
#[must_use]
pub fn encode_streams(streams: &[Stream]) -> Vec<u8> {
    let mut memories = Memories::of(streams);
    let links = Links::of(streams, &memories);
    let mut counts = Counts::default();
    let mut histories = vec![History::default(); streams.len()];
    let mut own = vec![0; streams.len()];
    walk(streams, &links, &mut memories, |stream, form, numbers| {
        counts.add(&mut histories[stream], form, numbers);
        own[stream] += 1;
    });
    let model = counts.model();

    let mut out = BitWriter::default();
    let count = |count: usize| u32::try_from(count).expect("fewer than 2^32");
    out.number(count(streams.len()), STREAMS_ORDER);
    for (stream, own) in streams.iter().zip(own) {
        write_component(stream.component, &mut out);
        out.number(count(stream.entries.len()), ENTRIES_ORDER);
        if is_memory(stream.component) {
            out.number(own, OWN_ORDER);
        }
    }
    links.write(&mut out);
    model.write(&mut out);
    memories.release();
    let mut last = None;
    let mut history = History::default();
    walk(streams, &links, &mut memories, |stream, form, numbers| {
        if last != Some(stream) {
            out.align();
            history = History::default();
            last = Some(stream);
        }
        model.put(&mut history, form, numbers, &mut out);
    });
    out.finish()
}

/// Visits the entries that are written, in their order: the stream's index, the form and
/// the numbers.
fn walk(
    streams: &[Stream],
    links: &Links,
    memories: &mut Memories,
    mut visit: impl FnMut(usize, Form, &Numbers),
) {
    for (place, stream) in streams.iter().enumerate() {
        let component = stream.component;
        if is_memory(component) {
            continue;
        }
        let mut cycle = 0;
        for entry in &stream.entries {
            cycle += u64::from(entry.wait);
            let mut numbers = numbers(entry.wait, &entry.op);
            let (read, write) = links.accesses(component, cycle, &entry.op);
            numbers[Field::Taken as usize] = memories.claim(read);
            numbers[Field::Put as usize] = memories.claim(write);
            visit(place, Form::of(component, &entry.op), &numbers);
        }
    }
    for (place, stream) in streams.iter().enumerate() {
        if is_memory(stream.component) {
            for entry in memories.left(place, stream) {
                let numbers = numbers(entry.wait, &entry.op);
                visit(place, Form::of(stream.component, &entry.op), &numbers);
            }
        }
    }
}

/// Decodes streams of at most `max_entries` entries, all together.
///
/// An entry that is the only one of its kind takes no bits, and 20 bytes once decoded,
/// so the bytes alone are no bound on what they decode to: the caller states one. An
/// entry is an operation, a store or a part of a transfer, so a program's size suggests it.
///
/// # Errors
/// [`EncodingError::TooMany`] if the bytes state more; others if they are not what
/// [`encode_streams`] writes.
///
/// # Cost
/// Memory, also where it fails: at most 128 bytes for each of `max_entries`, and 256
/// for each of `bytes`.
pub fn decode_streams(bytes: &[u8], max_entries: u64) -> Result<Vec<Stream>, EncodingError> {
    let mut reader = BitReader::new(bytes);
    let headers = read_headers(&mut reader, max_entries)?;
    reader.stream = headers.len();
    let links = Links::read(&mut reader)?;
    let entries = headers.iter().map(|header| header.entries).sum();
    let model = Model::read(&mut reader, entries)?;
    reader.align()?;
    let mut decoder = Decoder {
        places: places(headers.iter().map(|header| header.component)),
        brought: vec![Vec::new(); headers.len()],
        headers,
        links,
        model,
        reader,
    };
    let streams = decoder.streams()?;
    match decoder.reader.bytes_left() {
        0 => Ok(streams),
        count => Err(EncodingError::Trailing { count }),
    }
}

/// What stands first of a stream.
struct Header {
    component: Component,
    entries: u64,
    /// Entries that no transfer brings.
    own: u64,
}

fn read_headers(
    reader: &mut BitReader<'_>,
    max_entries: u64,
) -> Result<Vec<Header>, EncodingError> {
    let count = reader.number(STREAMS_ORDER, "number of streams")?;
    let mut headers = Vec::new();
    let mut left = max_entries;
    for stream in 0..count as usize {
        reader.stream = stream;
        let component = read_component(reader)?;
        let entries = reader.number(ENTRIES_ORDER, "number of entries")?.into();
        reader.at_most("entries", entries, left)?;
        left -= entries;
        let own = if is_memory(component) {
            reader.number(OWN_ORDER, "number of own entries")?.into()
        } else {
            entries
        };
        reader.at_most("own entries", own, entries)?;
        headers.push(Header {
            component,
            entries,
            own,
        });
    }
    Ok(headers)
}

struct Decoder<'a> {
    headers: Vec<Header>,
    places: HashMap<Component, usize>,
    links: Links,
    model: Model,
    reader: BitReader<'a>,
    /// By stream: what transfers brought, with its cycle.
    brought: Vec<Vec<(u64, StreamOp)>>,
}

impl Decoder<'_> {
    fn streams(&mut self) -> Result<Vec<Stream>, EncodingError> {
        let mut own = vec![Vec::new(); self.headers.len()];
        for memories in [false, true] {
            for (place, own) in own.iter_mut().enumerate() {
                if is_memory(self.headers[place].component) == memories {
                    *own = self.sequence(place)?;
                }
            }
        }
        let mut streams = Vec::with_capacity(own.len());
        for (place, own) in own.into_iter().enumerate() {
            let header = &self.headers[place];
            let found = (own.len() + self.brought[place].len()) as u64;
            if found < header.entries {
                return Err(EncodingError::Missing {
                    stream: place,
                    count: header.entries - found,
                });
            }
            self.reader.stream = place;
            let entries = merge(own, std::mem::take(&mut self.brought[place]));
            let too_long = || self.reader.unknown("wait of so many bits", 33);
            streams.push(Stream {
                component: header.component,
                entries: entries.ok_or_else(too_long)?.into(),
            });
        }
        Ok(streams)
    }

    /// The entries of one sequence.
    fn sequence(&mut self, place: usize) -> Result<Vec<Entry>, EncodingError> {
        let Header { component, own, .. } = self.headers[place];
        self.reader.stream = place;
        let mut history = History::default();
        let mut entries = Vec::with_capacity(own as usize);
        let mut cycle = 0;
        for _ in 0..own {
            let (form, numbers) = self.model.get(&mut history, &mut self.reader)?;
            let wait = numbers[Field::Wait as usize];
            cycle += u64::from(wait);
            let op = form.rebuild(&numbers, &self.reader)?;
            let (read, write) = self.links.accesses(component, cycle, &op);
            let ends = [(read, Field::Taken), (write, Field::Put)];
            for (access, field) in ends {
                let Some(slot) = numbers[field as usize].checked_sub(1) else {
                    continue;
                };
                let unknown = |_| self.reader.unknown("slot", slot.into());
                let slot = u16::try_from(slot).map_err(unknown)?;
                let access = access.and_then(|(at, cycle, access)| {
                    Some((*self.places.get(&at)?, cycle, with_slot(access, slot)))
                });
                let Some((memory, cycle, access)) = access else {
                    return Err(self.reader.unknown("memory of a transfer", place as u64));
                };
                let header = &self.headers[memory];
                let brought = &mut self.brought[memory];
                let found = header.own + brought.len() as u64 + 1;
                self.reader
                    .at_most("entries of a memory", found, header.entries)?;
                brought.push((cycle, access));
            }
            entries.push(Entry { wait, op });
        }
        self.reader.align()?;
        Ok(entries)
    }
}
