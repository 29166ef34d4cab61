//! The compact encoding of instruction streams: what a machine fetches.
//!
//! Streams repeat themselves: a unit executes few operations, its register file
//! has few slots, and it waits for similar times. So each stream starts with
//! tables of its own (the forms of its entries, the immediates of each form, the
//! widths of its fields), and an entry is the wait, the number of its form and
//! what the form leaves open, in as many bits as the stream needs:
//!
//! ```text
//! streams:  count(32) stream*
//! stream:   component entries(32) order(5) widths(7 x 6) forms(16) form* entry* 0-7 zeros
//! form:     kind(3) (operation(4) sources(3) immediates(32) width(6) value(width)* | link(17))?
//! entry:    wait(exponential Golomb of that order) form(*) field(*)*
//! ```
//!
//! Numbers are written with their most significant bit first. A stream starts
//! and ends on a byte, so that it can be fetched by itself. Every list of streams
//! reads back as it was, whether its entries make sense or not.

mod bits;
mod form;

use std::collections::HashMap;

use crate::encoding::bits::{BitReader, BitWriter, index_width, value_width};
use crate::encoding::form::{FIELDS, Form, fields, rebuild};
use crate::schedule::{Component, Entry, Stream};

/// Why bytes are no encoded streams.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EncodingError {
    /// They end before the last stream does.
    #[error("stream {stream}: the bytes end where its {what} should stand")]
    Truncated {
        /// Index of the stream; the number of streams if it was not reached.
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
    /// Bytes are left over.
    #[error("{count} bytes follow the last stream")]
    Trailing {
        /// How many.
        count: usize,
    },
}

/// Orders of the waits' code that are tried: an order of k suits waits around 2^k.
const ORDERS: u32 = 24;

/// Encodes streams.
///
/// # Cost
/// Two passes over the entries; some 2 to 4 bytes an entry come out.
#[must_use]
pub fn encode_streams(streams: &[Stream]) -> Vec<u8> {
    let mut out = BitWriter::default();
    out.put(streams.len() as u64, 32);
    for stream in streams {
        Tables::of(stream).write(stream, &mut out);
        out.align();
    }
    out.finish()
}

/// Decodes streams of at most `max_entries` entries, all together.
///
/// A bit can stand for an entry, which is 20 bytes once decoded, so the bytes
/// alone are no bound on what they decode to: the caller states one. An entry is an
/// operation, a store or a part of a transfer, so a program's size suggests it.
///
/// # Errors
/// [`EncodingError::TooMany`] if the bytes state more; others if they are not what
/// [`encode_streams`] writes.
///
/// # Cost
/// Memory, also where it fails: at most 128 bytes for each of `max_entries`, and 16
/// for each of `bytes`.
pub fn decode_streams(bytes: &[u8], max_entries: u64) -> Result<Vec<Stream>, EncodingError> {
    let mut reader = BitReader::new(bytes);
    let count = reader.get(32, "number of streams")?;
    let mut streams = Vec::new();
    let mut left = max_entries;
    for _ in 0..count {
        let stream = read_stream(&mut reader, left)?;
        left -= stream.entries.len() as u64;
        streams.push(stream);
        reader.align();
        reader.stream += 1;
    }
    match reader.bytes_left() {
        0 => Ok(streams),
        count => Err(EncodingError::Trailing { count }),
    }
}

/// What a stream's entries have in common.
struct Tables {
    forms: Vec<Form>,
    numbers: HashMap<Form, usize>,
    /// By form: the immediates, and their numbers.
    immediates: Vec<(Vec<u32>, HashMap<u32, usize>)>,
    widths: [u32; FIELDS],
    order: u32,
}

impl Tables {
    fn of(stream: &Stream) -> Self {
        let mut tables = Tables {
            forms: Vec::new(),
            numbers: HashMap::new(),
            immediates: Vec::new(),
            widths: [0; FIELDS],
            order: 0,
        };
        let mut bits = [0u64; ORDERS as usize];
        for entry in &stream.entries {
            for (order, bits) in (0..ORDERS).zip(&mut bits) {
                *bits += u64::from(golomb_width(entry.wait, order));
            }
            let (form, immediate) = Form::of(&entry.op);
            let number = *tables.numbers.entry(form).or_insert_with(|| {
                tables.forms.push(form);
                tables.immediates.push((Vec::new(), HashMap::new()));
                tables.forms.len() - 1
            });
            if let Some(immediate) = immediate {
                let (values, numbers) = &mut tables.immediates[number];
                numbers.entry(immediate).or_insert_with(|| {
                    values.push(immediate);
                    values.len() - 1
                });
            }
            for (field, value) in fields(&entry.op) {
                let width = &mut tables.widths[field as usize];
                *width = (*width).max(value_width(value));
            }
        }
        let cheapest = (0..ORDERS).zip(bits).min_by_key(|&(_, bits)| bits);
        tables.order = cheapest.map_or(0, |(order, _)| order);
        tables
    }

    fn write(&self, stream: &Stream, out: &mut BitWriter) {
        write_component(stream.component, out);
        out.put(stream.entries.len() as u64, 32);
        out.put(self.order.into(), 5);
        for width in self.widths {
            out.put(width.into(), 6);
        }
        out.put(self.forms.len() as u64, 16);
        for (form, (values, _)) in self.forms.iter().zip(&self.immediates) {
            form.write(values, out);
        }
        let form_width = index_width(self.forms.len());
        for entry in &stream.entries {
            let (form, immediate) = Form::of(&entry.op);
            let number = self.numbers[&form];
            put_golomb(entry.wait, self.order, out);
            out.put(number as u64, form_width);
            for (field, value) in fields(&entry.op) {
                out.put(value.into(), self.widths[field as usize]);
            }
            if let Some(immediate) = immediate {
                let (values, numbers) = &self.immediates[number];
                out.put(numbers[&immediate] as u64, index_width(values.len()));
            }
        }
    }
}

fn read_stream(reader: &mut BitReader<'_>, max_entries: u64) -> Result<Stream, EncodingError> {
    let component = read_component(reader)?;
    let count = reader.get(32, "number of entries")?;
    reader.at_most("entries", count, max_entries)?;
    let order = reader.get(5, "order of waits")? as u32;
    let mut widths = [0; FIELDS];
    for width in &mut widths {
        *width = reader.width()?;
    }
    let forms = reader.get(16, "number of forms")?;
    // Some entry has each form, and each immediate of a form.
    reader.at_most("forms", forms, count)?;
    let forms: Vec<(Form, Vec<u32>)> = (0..forms)
        .map(|_| Form::read(reader, count))
        .collect::<Result<_, _>>()?;
    // An entry has a bit at least: the one that ends its wait.
    reader.room(count, "entries")?;
    let mut entries = Vec::with_capacity(count as usize);
    for _ in 0..count {
        let wait = get_golomb(order, reader)?;
        let number = reader.get(index_width(forms.len()), "form")?;
        let Some((form, immediates)) = forms.get(number as usize) else {
            return Err(reader.unknown("form", number));
        };
        let op = rebuild(*form, immediates, &widths, reader)?;
        entries.push(Entry { wait, op });
    }
    Ok(Stream { component, entries })
}

fn write_component(component: Component, out: &mut BitWriter) {
    let (kind, first, second) = match component {
        Component::Unit { cluster, unit } => (0, cluster, unit),
        Component::RegFile { cluster } => (1, cluster, 0),
        Component::XbarPort { xbar, port } => (2, xbar, port),
        Component::Bank { bank } => (3, bank, 0),
        Component::Channel { channel } => (4, channel, 0),
    };
    out.put(kind, 3);
    out.put(first.into(), 16);
    out.put(second.into(), 16);
}

fn read_component(reader: &mut BitReader<'_>) -> Result<Component, EncodingError> {
    let kind = reader.get(3, "component")?;
    let first = reader.get(16, "component")? as u16;
    let second = reader.get(16, "component")? as u16;
    Ok(match kind {
        0 => Component::Unit {
            cluster: first,
            unit: second,
        },
        1 => Component::RegFile { cluster: first },
        2 => Component::XbarPort {
            xbar: first,
            port: second,
        },
        3 => Component::Bank { bank: first },
        4 => Component::Channel { channel: first },
        _ => return Err(reader.unknown("kind of component", kind)),
    })
}

/// Bits of a wait: with u = wait / 2^order + 1, the length of u in unary, u, the rest.
fn golomb_width(wait: u32, order: u32) -> u32 {
    let high = (u64::from(wait) >> order) + 1;
    2 * (u64::BITS - high.leading_zeros()) - 1 + order
}

fn put_golomb(wait: u32, order: u32, out: &mut BitWriter) {
    let high = (u64::from(wait) >> order) + 1;
    let length = u64::BITS - high.leading_zeros();
    out.put(0, length - 1);
    out.put(high, length);
    out.put(u64::from(wait) & ((1 << order) - 1), order);
}

fn get_golomb(order: u32, reader: &mut BitReader<'_>) -> Result<u32, EncodingError> {
    let mut zeros = 0;
    while reader.get(1, "wait")? == 0 {
        zeros += 1;
        if zeros > 32 {
            return Err(reader.unknown("wait of so many bits", zeros));
        }
    }
    let high = 1 << zeros | reader.get(zeros as u32, "wait")?;
    let wait = (u128::from(high) - 1) << order | u128::from(reader.get(order, "wait")?);
    u32::try_from(wait).map_err(|_| reader.unknown("wait", wait as u64))
}
